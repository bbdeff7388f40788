"""The best candidate of a pool, or point of a box."""

from noregret.search.base import Ranking, Search
from noregret.search.box import BoxSearch, search_of
from noregret.search.enumeration import Enumeration

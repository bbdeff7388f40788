"""The best candidate of a pool, or point of a box."""

from noregret.search.base import Ranking, Search
from noregret.search.box import BoxSearch, search_of
from noregret.search.box_ascent import CENTRES, around
from noregret.search.enumeration import Enumeration

__all__ = ["CENTRES", "BoxSearch", "Enumeration", "Ranking", "Search", "around", "search_of"]

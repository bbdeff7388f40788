"""Where candidates live."""

from noregret.pools.array import Pool
from noregret.pools.base import Candidates, Domain, require_domain
from noregret.pools.box import Box
from noregret.pools.names import Keys
from noregret.pools.places import Picks, Places

__all__ = ["Box", "Candidates", "Domain", "Keys", "Picks", "Places", "Pool", "require_domain"]

"""Where candidates live."""

from noregret.pools.array import Pool
from noregret.pools.base import Candidates, Domain, require_domain
from noregret.pools.bits import BitPool
from noregret.pools.box import Box
from noregret.pools.files import read_pool
from noregret.pools.mapped import MappedPool
from noregret.pools.matching import hashed
from noregret.pools.names import Keys
from noregret.pools.places import Picks, Places
from noregret.pools.scales import BitSquares, Scales, as_numbers, numbers

__all__ = [
    "BitPool",
    "BitSquares",
    "Box",
    "Candidates",
    "Domain",
    "Keys",
    "MappedPool",
    "Picks",
    "Places",
    "Pool",
    "Scales",
    "as_numbers",
    "hashed",
    "numbers",
    "read_pool",
    "require_domain",
]

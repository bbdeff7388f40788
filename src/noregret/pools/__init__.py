"""Where candidates live."""

from noregret.pools.array import Pool
from noregret.pools.base import Candidates, Keys, require_pool

__all__ = ["Candidates", "Keys", "Pool", "require_pool"]

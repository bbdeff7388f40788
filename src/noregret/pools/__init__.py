"""Where candidates live."""

from noregret.pools.array import Pool
from noregret.pools.base import Candidates, Keys

__all__ = ["Candidates", "Keys", "Pool"]

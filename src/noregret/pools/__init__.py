"""Where candidates live."""

from noregret.pools.array import Pool
from noregret.pools.base import Candidates, Domain, Extensible, Keys, require_domain
from noregret.pools.bits import BitPool
from noregret.pools.box import Box
from noregret.pools.contexts import ContextPoints, ContextView, joined, parted
from noregret.pools.feature_scales import BitSquares, Scales, as_numbers, numbers
from noregret.pools.mapped import MappedPool
from noregret.pools.points import (
    CLOUD,
    NO_CONTEXTS,
    NO_ROWS,
    PER_POINT,
    Picks,
    Points,
    Renumbering,
    first_new,
)
from noregret.pools.row_lookup import Hashes, all_hashed, hashed, mixed, rows_from
from noregret.pools.stored import Names
from noregret.pools.switch_costs import (
    FlatSwitchCost,
    MatrixSwitchCosts,
    SwitchCosts,
    as_switch_costs,
)
from noregret.pools.tables.reading import read_pool
from noregret.pools.tables.sources import is_frame

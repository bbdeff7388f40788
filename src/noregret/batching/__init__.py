"""How often a choice is taken, and when a batch is full."""

from noregret.batching.base import BatchRule, BatchRuleBase, Choice, Fill
from noregret.batching.local_bound import Opening
from noregret.batching.ratio_rules import FixedSize, GlobalRatio, LocalRatio, ProductBound
from noregret.batching.repeat_rules import RarelySwitching, Repeat, Settle, Stay
from noregret.batching.run_order import order_cost, run_order

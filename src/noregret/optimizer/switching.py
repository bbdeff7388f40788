"""The order in which a batch is run, and what switches cost."""

from __future__ import annotations

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.batching import order_cost, run_order
from noregret.pools import FlatSwitchCost, Picks, Points, SwitchCosts


def order_of(runs: Picks, points: Points, costs: SwitchCosts, set_up: int | None) -> Indices | None:
    """Return an order of runs whose switches cost less than as they stand; None for that.

    Runs of one candidate come one after the other. O(m²) costs for m candidates of a batch, none
    for a single cost.
    """
    if not len(runs):
        return None
    _, first, place = np.unique(runs.rows, return_index=True, return_inverse=True)
    appears = np.argsort(np.argsort(first))[place]  # of each run, the candidate by appearance
    candidates = runs[np.sort(first)]
    if isinstance(costs, FlatSwitchCost):
        start = np.zeros(len(candidates)) if set_up is None else 1.0 * (candidates.rows != set_up)
        return _nearest_first(appears, 1.0, start) if costs.cost else None
    start = np.zeros(len(candidates))
    if set_up is not None:
        start = costs.between(points, points.picks(np.array([set_up])), candidates)[0]
    between = costs.between(points, candidates, candidates)
    others = between[~np.eye(len(between), dtype=np.bool_)]
    if len(others) and (others == others[0]).all():
        return _nearest_first(appears, float(others[0]), start)
    rank = np.argsort(run_order(between, start))
    found = np.argsort(rank[appears], kind="stable")
    before, after = (order_cost(order, between, start) for order in (appears, appears[found]))
    return found if after < before * (1 - 1e-12) else None


def _nearest_first(appears: Indices, cost: float, start: Vector) -> Indices | None:
    """Return the order of candidates as they appear, but for the first, if that costs less."""
    found = np.lexsort((appears, appears != np.argmin(start)))
    before, after = (
        start[order[0]] + cost * np.count_nonzero(order[1:] != order[:-1])
        for order in (appears, appears[found])
    )
    return found if after < before else None


def ordered(
    runs: Picks, points: Points, costs: SwitchCosts, set_up: int | None
) -> tuple[Indices | None, float]:
    """Return the order of `order_of`, and what the switches then cost."""
    order = order_of(runs, points, costs, set_up)
    return order, cost_of(runs if order is None else runs[order], points, costs, set_up)


def cost_of(runs: Picks, points: Points, costs: SwitchCosts, set_up: int | None) -> float:
    """Return what it costs to run candidates one after the other, from what is set up."""
    paid = 0.0
    before = None if set_up is None else points.picks(np.array([set_up]))
    for at in range(len(runs)):
        after = runs[at : at + 1]
        if before is not None and before.rows[0] != after.rows[0]:
            paid += float(costs.between(points, before, after)[0, 0])
        before = after
    return paid

"""The order in which a batch is run, and what switches cost."""

from __future__ import annotations

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.batching import order_cost, run_order
from noregret.pools import FlatSwitchCost, Picks, Points, SwitchCosts


def ordered(
    runs: Picks, points: Points, costs: SwitchCosts, set_up: int | None
) -> tuple[Indices | None, float]:
    """Return an order of runs whose switches cost less than as they stand, and what they then cost.

    Runs of one candidate come one after the other. None stands for the order that is given. O(m²)
    costs for m candidates of a batch, none for a single cost.
    """
    if not len(runs):
        return None, 0.0
    _, first, place = np.unique(runs.rows, return_index=True, return_inverse=True)
    appears = np.argsort(np.argsort(first))[place]  # of each run, the candidate by appearance
    candidates = runs[np.sort(first)]
    if isinstance(costs, FlatSwitchCost):
        start = np.zeros(len(candidates)) if set_up is None else 1.0 * (candidates.rows != set_up)
        order, switches = _nearest_first(appears, 1.0, start)
        return order if costs.cost else None, costs.cost * switches if switches else 0.0
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
    return (found, after) if after < before * (1 - 1e-12) else (None, before)


def _nearest_first(appears: Indices, cost: float, start: Vector) -> tuple[Indices | None, float]:
    """Return the order of candidates as they appear, but for the first, if that costs less."""
    found = np.lexsort((appears, appears != np.argmin(start)))
    before, after = (
        float(start[order[0]] + cost * np.count_nonzero(order[1:] != order[:-1]))
        for order in (appears, appears[found])
    )
    return (found, after) if after < before else (None, before)


def cost_of(way: Picks, points: Points, costs: SwitchCosts) -> float:
    """Return what it costs to go from one candidate to the next, all the way: O(switches)."""
    leaves = np.flatnonzero(way.rows[1:] != way.rows[:-1])
    if isinstance(costs, FlatSwitchCost):
        return costs.cost * len(leaves) if len(leaves) else 0.0
    legs = (costs.between(points, way[at : at + 1], way[at + 1 : at + 2]) for at in leaves)
    return float(sum(leg[0, 0] for leg in legs))

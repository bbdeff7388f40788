"""In which order candidates are run, where a switch between two of them has a cost of its own."""

from __future__ import annotations

import numpy as np

from noregret.arrays import Indices, Matrix, Vector

EXACT = 10  # candidates up to which the best order is found: O(2ⁿ·n²)
SWEEPS = 8  # over all moves, for more of them: O(n²) each
LONGEST = 3  # candidates that are moved together


def run_order(costs: Matrix, start: Vector) -> Indices:
    """Return an order of low cost, never above that given: the best for few candidates.

    `costs[i, j]` is that of going from i to j, `start[j]` that of beginning with j; nothing leads
    back. An order π costs  start[π₁] + Σ costs[π_k, π_{k+1}]. Up to ten candidates by dynamic
    programming over sets (Bellman 1962; Held & Karp 1962), beyond by the nearest next one, then
    reversed stretches (2-opt, Croes 1958) and moved ones (or-opt, Or 1976), while they gain.

    >>> costs = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    >>> run_order(costs, np.array([0.0, 2.0, 2.0]))
    array([0, 2, 1])
    """
    n = len(start)
    given = np.arange(n)
    found = _best(costs, start) if n <= EXACT else _improved(costs, start)
    if order_cost(found, costs, start) < order_cost(given, costs, start) * (1 - 1e-12):
        return found
    return given


def order_cost(order: Indices, costs: Matrix, start: Vector) -> float:
    """Return what an order costs."""
    return float(start[order[:1]].sum() + costs[order[:-1], order[1:]].sum())


def _best(costs: Matrix, start: Vector) -> Indices:
    """Return the best order: least[S, j] is the cost of running all of the set S, j the last."""
    n = len(start)
    least, before = np.full((1 << n, n), np.inf), np.zeros((1 << n, n), dtype=np.int64)
    least[1 << np.arange(n), np.arange(n)] = start
    for those in range(1, 1 << n):
        for last in range(n):
            rest = those ^ (1 << last)
            if those >> last & 1 and rest:
                through = least[rest] + costs[:, last]
                before[those, last] = at = int(np.argmin(through))
                least[those, last] = through[at]
    those, order = (1 << n) - 1, list[int]()
    last = int(np.argmin(least[those])) if n else 0
    while those:
        order.append(last)
        those, last = those ^ (1 << last), int(before[those, last])
    return np.array(order[::-1], dtype=np.int64)


def _improved(costs: Matrix, start: Vector) -> Indices:
    """Return the order of nearest neighbours, improved while some move gains."""
    # the start becomes a candidate of its own, in front, to which nothing leads
    n = len(start)
    C = np.zeros((n + 1, n + 1))
    C[:n, :n], C[n, :n] = costs, start
    order = np.concatenate([[n], _nearest(costs, start)])
    least = 1e-12 * float(C.max())
    for _ in range(SWEEPS):
        before = order.copy()
        for i in range(1, n + 1):
            order = _reversed(C, order, i, least)
        for length in range(1, LONGEST + 1):
            for i in range(1, n + 2 - length):
                order = _moved(C, order, i, length, least)
        if np.array_equal(order, before):
            break
    return order[1:]


def _nearest(costs: Matrix, start: Vector) -> Indices:
    order, left, to = list[int](), np.ones(len(start), dtype=np.bool_), start
    while left.any():
        at = int(np.argmin(np.where(left, to, np.inf)))
        order.append(at)
        left[at], to = False, costs[at]
    return np.array(order, dtype=np.int64)


def _reversed(C: Matrix, order: Indices, i: int, least: float) -> Indices:
    """Reverse the stretch from place i on that gains most, if one gains."""
    a, stretch = order[i - 1], order[i:]
    there, back = C[stretch[:-1], stretch[1:]], C[stretch[1:], stretch[:-1]]
    turned = np.concatenate([[0.0], np.cumsum(back - there)])
    change = C[a, stretch] - C[a, stretch[0]] + turned
    change[:-1] += C[stretch[0], stretch[1:]] - C[stretch[:-1], stretch[1:]]
    at = int(np.argmin(change))
    if change[at] >= -least:
        return order
    return np.concatenate([order[:i], stretch[at::-1], stretch[at + 1 :]])


def _moved(C: Matrix, order: Indices, i: int, length: int, least: float) -> Indices:
    """Move so many candidates from place i to where that gains most, if it gains."""
    part, rest = order[i : i + length], np.concatenate([order[:i], order[i + length :]])
    gain = C[order[i - 1], part[0]]
    if i + length < len(order):
        gain += C[part[-1], order[i + length]] - C[order[i - 1], order[i + length]]
    cost = C[rest, part[0]]
    cost[:-1] += C[part[-1], rest[1:]] - C[rest[:-1], rest[1:]]
    at = int(np.argmin(cost))
    if cost[at] - gain >= -least:
        return order
    return np.concatenate([rest[: at + 1], part, rest[at + 1 :]])

"""The order in which a batch is run: as cheap as can be found, and never worse than as given."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.arrays import Indices, Matrix, Vector
from noregret.batching import order_cost, run_order
from noregret.batching.run_order import EXACT


def problem(seed: int, n: int, *, ties: bool) -> tuple[Matrix, Vector]:
    """Costs that need not be symmetric nor keep the triangle inequality."""
    rng = np.random.default_rng(seed)
    costs, start = rng.random((n, n)), rng.random(n)
    if ties:
        costs, start = np.floor(3 * costs), np.floor(3 * start)
    np.fill_diagonal(costs, 0.0)
    return costs, start


@given(st.integers(0, 2**20), st.integers(0, 7), st.booleans())
def test_few_candidates_are_run_in_the_best_order_of_all(seed: int, n: int, ties: bool) -> None:
    """An hour of cooling down that need not have been."""
    costs, start = problem(seed, n, ties=ties)
    order = run_order(costs, start)
    assert sorted(order.tolist()) == list(range(n))
    every = (np.array(one, dtype=np.int64) for one in itertools.permutations(range(n)))
    least = min(order_cost(one, costs, start) for one in every)
    assert order_cost(order, costs, start) == pytest.approx(least, abs=1e-12)


@given(st.integers(0, 2**20), st.integers(EXACT + 1, 60), st.booleans())
def test_an_order_is_never_worse_than_as_given(seed: int, n: int, ties: bool) -> None:
    """Whoever gave a good order must not be given a worse one."""
    costs, start = problem(seed, n, ties=ties)
    order = run_order(costs, start)
    assert sorted(order.tolist()) == list(range(n))
    assert order_cost(order, costs, start) <= order_cost(np.arange(n), costs, start)
    assert run_order(costs, start).tolist() == order.tolist()


def better(order: Indices, costs: Matrix, start: Vector) -> Indices | None:
    """Return an order that a longer stretch moved makes cheaper, if there is one."""
    n, cost = len(order), order_cost(order, costs, start)
    for length, i in itertools.product(range(4, 12), range(n)):
        part, rest = order[i : i + length], np.delete(order, np.s_[i : i + length])
        for at in range(len(rest) + 1):
            other = np.insert(rest, at, part)
            if order_cost(other, costs, start) < cost - 1e-9:
                return other
    return None


def test_an_order_that_is_better_than_what_is_found_stays() -> None:
    """Whoever chose a good one, by whatever means, keeps it."""
    stays = 0
    for seed in range(15):
        costs, start = problem(seed, 24, ties=False)
        found = better(run_order(costs, start), costs, start)
        if found is not None:  # numbered as it is given
            costs, start = costs[np.ix_(found, found)], start[found]
            least = order_cost(np.arange(24), costs, start)
            assert order_cost(run_order(costs, start), costs, start) <= least
            stays += 1
    assert stays > 2


def test_moves_gain_much_on_the_nearest_next_one() -> None:
    """Also where there and back cost differently."""
    ratios = []
    for seed in range(8):
        costs, start = problem(seed, 60, ties=False)
        order, left, to = list[int](), set(range(60)), start
        while left:
            order.append(min(left, key=to.__getitem__))
            left.discard(order[-1])
            to = costs[order[-1]]
        nearest = order_cost(np.array(order), costs, start)
        ratios.append(order_cost(run_order(costs, start), costs, start) / nearest)
    assert np.mean(ratios) < 0.75


@given(st.integers(0, 2**20))
def test_a_line_is_walked_from_end_to_end(seed: int) -> None:
    """Where costs are distances on a line, from its end, the best order is known."""
    x = np.random.default_rng(seed).permutation(40).astype(np.float64)
    costs = np.abs(x[:, None] - x)
    order = run_order(costs, x)
    assert order_cost(order, costs, x) == pytest.approx(39.0)


def test_moves_come_near_the_best() -> None:
    """Four groups far from each other: three long ways, and each group nearly at its best."""
    far, near = 100.0, np.random.default_rng(3).random((9, 9))
    np.fill_diagonal(near, 0.0)
    costs = np.full((36, 36), far)
    for block in range(4):
        some = slice(9 * block, 9 * block + 9)
        costs[some, some] = near
    best = order_cost(run_order(near, np.zeros(9)), near, np.zeros(9))
    found = order_cost(run_order(costs, np.zeros(36)), costs, np.zeros(36))
    assert found <= 3 * far + 4 * 1.3 * best + 0.5


def test_a_thousand_take_about_a_second() -> None:
    """A batch is handed out while somebody waits."""
    x = np.random.default_rng(0).random((1000, 2))
    costs = np.abs(x[:, None] - x).sum(axis=2)
    start = time.process_time()
    order = run_order(costs, np.zeros(1000))
    assert time.process_time() - start < 3.0
    nearest = [0]
    for _ in range(999):
        to = costs[nearest[-1]].copy()
        to[nearest] = np.inf
        nearest.append(int(np.argmin(to)))
    by_hand = order_cost(np.array(nearest), costs, np.zeros(1000))
    assert order_cost(order, costs, np.zeros(1000)) < 0.95 * by_hand

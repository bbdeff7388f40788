"""How long a candidate is stayed on where a switch costs, within MINI's bound."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Never

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import noregret as nr
from noregret.batching import Choice, Fill, Opening
from noregret.errors import ArgumentError
from strategies import RKHSProblem, Scene, one, rounds, scenes

X = np.random.default_rng(3).random((60, 2))
F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])
PROBLEM = RKHSProblem(nr.Pool(X), nr.RBF(0.4), F, noise_std=0.5)
RTOL = 1e-6

costs = st.one_of(st.floats(0.0, 12.0), st.integers(0, 12), st.just(math.inf), st.just(1e308))
limits = st.floats(1.01, 40.0)


def choice(variance: float, room: int) -> Choice:
    return Choice(0, variance, variance, room, repeats_while_best=lambda most: min(most, 1))


def empty(ridge: float) -> Fill:
    """A batch with nothing in it, of a rule that asks for no variances."""

    def never(*_: object) -> Never:
        raise AssertionError

    return nr.Repeat().open(Opening(ridge, np.empty(0, dtype=np.bool_), never, never))


def stay_by_trial(limit: float, cost: float, share: float, owed: float, room: int) -> int:
    """Stay one evaluation longer while that is paid for, covered by (2) of batching, and asked for.

    The first is always given.
    """
    count = 1
    while (
        count < cost  # what was evaluated so far is not yet worth the switch
        and 1 + owed + (count + 1) * share <= limit
        and count < room
    ):
        count += 1
    return count


@given(limits, costs, st.floats(1e-3, 3.0), st.floats(0.1, 4.0), st.integers(1, 40))
@example(9.0, 4.5, 0.3, 1.0, 40)  # ended by the cost
@example(9.0, 40.0, 0.3, 1.0, 40)  # … by the bound
@example(9.0, 40.0, 0.3, 1.0, 7)  # … by what was asked for
def test_a_stay_is_as_long_as_trying_would_make_it(
    limit: float, cost: float, variance: float, ridge: float, room: int
) -> None:
    """One evaluation too few wastes a switch; one too many goes beyond the theorem."""
    rule, share = nr.Stay(limit, cost), variance / ridge
    for owed in (0, 1, 3):
        fill = empty(ridge)
        if owed:
            fill = rule.count_pending(fill, choice(variance, 0), owed)
        count, after = rule.take(fill, choice(variance, room))
        left = (limit - 1) / share - owed
        if abs(left - round(left)) < 1e-9:
            continue  # too close to call in floats
        assert count == stay_by_trial(limit, cost, share, owed * share, room)
        longer, _ = rule.take(fill, choice(variance, room + 1))
        assert rule.is_full(after) == (longer == count)  # else it was the room that ended it


@given(scenes(), limits, costs, st.integers(0, 20))
def test_no_cost_buys_a_stay_that_the_theorem_does_not_cover(
    scene: Scene, limit: float, cost: float, row: int
) -> None:
    """MINI's Corollary A.2 at every length: no variance falls by more than the limit."""
    row %= len(scene.pool)
    stale = scene.exact()
    variance = float(stale.variance(scene.pool[[row]])[0])
    count, _ = nr.Stay(limit, cost).take(empty(scene.ridge), choice(variance, 10**6))
    covered, _ = nr.Repeat(limit).take(empty(scene.ridge), choice(variance, 10**6))
    assert 1 <= count <= covered
    if count > 1:
        now = stale.hallucinate(*one(row, scene, count))
        ratio = stale.variance(scene.pool) / now.variance(scene.pool)
        assert ratio.max() <= limit * (1 + RTOL)


@given(st.integers(1, 20), st.floats(1.2, 6.0), st.floats(0.3, 4.0), st.floats(0.0, 9.0))
def test_workers_together_keep_every_variance_within_the_limit(
    at_most: int, limit: float, noise_std: float, cost: float
) -> None:
    """What others have under way counts towards the limit, not towards the worth of a switch."""
    pool, kernel = nr.Pool([[0.0], [0.4]]), nr.RBF(1.0)
    settings: dict[str, Any] = {"kernel": kernel, "noise_std": noise_std, "limit": limit}
    optimizer = nr.mini_gp_ucb(pool, switch_cost=cost, start=[], **settings)
    rows: list[int] = []
    for worker in "abc":
        batch = optimizer.ask(at_most=at_most, worker=worker)
        assert len(batch) <= max(1, math.ceil(cost))
        if rows and len(batch) == 1:
            break  # always given, covered or not
        rows += batch.sequence.tolist()
    K = kernel(pool.X[rows], pool.X)
    A = kernel(pool.X[rows], pool.X[rows]) + noise_std**2 * np.eye(len(rows))
    now = 1.0 - (K * np.linalg.solve(A, K)).sum(axis=0)
    assert len(rows) == 1 or (1.0 / now).max() <= limit * (1 + RTOL)


def run(algorithm: Any, budget: int = 200, **settings: Any) -> tuple[nr.Optimizer, list[nr.Batch]]:
    optimizer = algorithm(PROBLEM.pool, kernel=PROBLEM.kernel, noise_std=0.5, **settings)
    return optimizer, [batch for batch, _ in rounds(optimizer, PROBLEM, budget, 8)]


@pytest.mark.parametrize("algorithm", [nr.mini_gp_ucb, nr.mini_gp_ei])
def test_an_infinite_cost_is_the_paper_s_rule(algorithm: Any) -> None:
    """Nothing else is meant by leaving the cost out."""
    plain, batches = run(algorithm, limit=6.0)
    for cost in (math.inf, 1e9):
        other, others = run(algorithm, limit=6.0, switch_cost=cost)
        np.testing.assert_array_equal(plain.sequence, other.sequence)
        assert len(batches) == len(others) < 150


@pytest.mark.parametrize("cost", [0, 0.0, 0.3, 1, 1.0])
def test_a_switch_that_costs_nothing_is_always_open(cost: float) -> None:
    """Then it is plain GP-UCB, which looks at every value before the next."""
    free, batches = run(nr.mini_gp_ucb, 60, limit=6.0, switch_cost=cost)
    np.testing.assert_array_equal(free.sequence, run(nr.gp_ucb, 60)[0].sequence)
    assert all(len(batch) == 1 for batch in batches)


@pytest.mark.parametrize("cost", [3.0, 7.5, 30.0])
def test_a_stay_ends_by_its_cost_or_by_the_bound(cost: float) -> None:
    """Full stays spend at most half on switches; others are as long as they may be."""
    whole = math.ceil(cost)
    _, batches = run(nr.mini_gp_ucb, 300, limit=9.0, switch_cost=cost)
    full = [batch for batch in batches[1:-1] if len(batch) == whole]
    assert all(len(batch) <= whole and len(batch.ids) == 1 for batch in batches)
    assert len(full) > 5
    assert cost * len(full) <= 300
    assert {batch.reason for batch in batches[1:-1]} == {f"stay rule, switch cost {cost:g}"}


def test_costlier_switches_are_made_less_often() -> None:
    """The point of saying what they cost."""
    switches = [
        run(nr.mini_gp_ucb, 400, limit=9.0, switch_cost=cost)[0].switches
        for cost in (0.0, 8.0, math.inf)
    ]
    assert switches[0] > 1.5 * switches[1] > 1.5 * switches[2]


def test_a_known_candidate_is_stayed_on_for_the_cost_alone() -> None:
    """Variance 0 allows any number; the cost does not ask for more than its own."""
    for cost, count in ((4.0, 4), (math.inf, 77), (100.0, 77)):
        taken, fill = nr.Stay(2.0, cost).take(empty(1.0), choice(0.0, 77))
        assert taken == count
        assert nr.Stay(2.0, cost).is_full(fill) == (count == 4)


def test_a_stay_cut_by_what_was_asked_for_says_so() -> None:
    """Else the user would blame the cost for a plate that he cut himself."""
    for at_most, reason in ((9, "stay rule, switch cost 6"), (2, "at_most 2 reached")):
        optimizer, _ = run(nr.mini_gp_ucb, 0, limit=30.0, switch_cost=6.0, start=[])
        batch = optimizer.ask(at_most=at_most)
        assert (len(batch), batch.reason) == (min(at_most, 6), reason)


@pytest.mark.parametrize(("batch", "admitted"), [(1, 3.0), (4, 0.75), (5, 0.0)])
def test_a_minimum_batch_must_not_be_larger_than_a_stay(batch: int, admitted: float) -> None:
    """Uncertainty sampling for batches that no stay would fill never ends."""
    assert nr.Stay(4.0, 3.2).admits(batch) == admitted
    if admitted:
        assert admitted == nr.Repeat(4.0).admits(batch)


@given(st.integers(1, 40), st.integers(1, 7), st.integers(1, 4), st.integers(0, 99))
def test_switches_are_counted_from_the_sequence(T: int, size: int, N: int, seed: int) -> None:
    """By hand: how often is the next evaluation of another candidate than the last?"""
    pool = nr.Pool(np.arange(float(N))[:, None], names=["a", "b", "c", "d"][:N])
    settings: dict[str, Any] = {"batch_size": size, "seed": seed}
    result = nr.maximize(lambda x: x[0], pool, algorithm=nr.uniform, budget=T, **settings)
    assert result.switches == sum(a != b for a, b in pairwise(result.ids))
    assert result.optimizer.switches == result.switches


def test_a_result_does_not_change_when_the_run_goes_on() -> None:
    """It says what happened until then, also where a batch was broken off."""

    def broken(x: Any) -> float:
        calls.append(float(x[0]))
        if len(calls) == 7:
            raise KeyboardInterrupt
        return 0.0

    calls: list[float] = []
    pool = nr.Pool(np.arange(9.0)[:, None])
    result = nr.maximize(broken, pool, algorithm=nr.random_search, budget=9, batch_size=9)
    assert (result.ended, len(result.values)) == ("interrupted", 6)
    assert result.switches == 5
    assert result.optimizer.switches == 8  # as asked for
    assert "6 evaluations (interrupted), 5 switches;" in str(result)
    result.optimizer.tell(result.optimizer.ask(), [0.0] * 3)
    result.optimizer.ask()
    assert (result.switches, result.optimizer.switches > 8) == (5, True)


def test_no_evaluations_are_no_switches() -> None:
    """And one switch is not two."""
    assert nr.uniform(PROBLEM.pool).switches == 0
    pool = nr.Pool([[0.0], [1.0]])
    result = nr.maximize(lambda x: x[0], pool, algorithm=nr.random_search, budget=2)
    assert "(budget spent), 1 switch; best" in str(result)
    alone = nr.maximize(lambda x: x[0], nr.Pool([[0.0]]), algorithm=nr.uniform, budget=5)
    assert alone.switches == 0


@given(
    variance=st.floats(1e-4, 1e3),
    room=st.integers(1, 1000),
    short=st.floats(1.01, 3.0),
    longer=st.floats(0.0, 3.0),
    cost=st.floats(0.0, 200.0),
)
def test_settling_is_the_longer_of_a_short_stay_and_a_paid_one(
    variance: float, room: int, short: float, longer: float, cost: float
) -> None:
    """Counted out one by one: what the short limit allows, or what pays within the long one."""
    long = short + longer

    def allowed(limit: float) -> int:
        count = 0
        while count < room and (count + 1) * variance <= (limit - 1.0):
            count += 1
        return count

    rule = nr.Settle(short=short, long=long, switch_cost=cost)
    choice = Choice(
        0, stale=variance, now=variance, room=room, repeats_while_best=lambda most: most
    )
    count, _ = rule.take(empty(1.0), choice)
    wanted = max(1, allowed(short), min(max(1, math.ceil(cost)), allowed(long)))
    assert abs(count - min(wanted, room)) <= (1 if count * variance > 0.999 * (short - 1.0) else 0)


@pytest.mark.parametrize("settings", [{"short": 1.0}, {"long": 1.1}, {"switch_cost": -1.0}])
def test_a_settling_that_cannot_be_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ArgumentError):
        nr.Settle(**settings)

"""Explanations of odd candidates: alone, equal, unknown, off the pool."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from small_explanations import KERNEL, NAMED, NAMES, warm
from small_optimizers import X


def test_a_single_candidate_comes_first() -> None:
    optimizer = nr.mini_gp_ucb(nr.Pool([[0.5]]), kernel=nr.RBF(), noise_std=0.1)
    optimizer.tell(optimizer.ask(), [1.0])
    why = optimizer.explain(0)
    assert (why.rank, why.candidates, why.nearest) == (1, 1, ())
    assert "It is the next choice: no candidate has a better upper bound." in str(why)


def test_equal_candidates_tie() -> None:
    """Two rows alike to the last bit have one rank; the lower one is chosen."""
    pool = nr.Pool([[0.5], [0.5], [0.5], [2.0]])
    optimizer = nr.gp_ucb(pool, kernel=nr.RBF(0.3), noise_std=0.1, start=[3])
    optimizer.tell(optimizer.ask(), [-5.0])
    second = optimizer.explain(1)
    assert second.rank == 1
    assert second.leader is not None
    assert second.leader.id == 0
    assert "0, whose is the same, comes first" in str(second)
    optimizer.tell([0, 1], [1.0, 1.0])
    assert [near.correlation for near in optimizer.explain(2).nearest[:2]] == [1.0, 1.0]
    assert [near.id for near in optimizer.explain(2).nearest[:2]] == [0, 1]


def test_candidates_without_variance_and_opposite_ones() -> None:
    """A linear kernel knows nothing at the origin, and learns from what lies opposite."""
    pool = nr.Pool([[0.0, 0.0], [1.0, 0.0], [-2.0, 0.1], [0.3, 1.0]])
    optimizer = nr.gp_ucb(pool, kernel=nr.Linear(), noise_std=0.1)
    optimizer.tell([2, 3, 0], [-2.0, 0.4, 0.0])
    origin, right = optimizer.explain(0), optimizer.explain(1)
    assert [near.correlation for near in origin.nearest] == [0.0, 0.0]
    assert "Nothing similar" in str(origin)
    assert right.nearest[0].id == 2
    assert right.nearest[0].correlation < -0.99


def test_points_off_the_pool_are_neighbours_without_a_name() -> None:
    """Last year's measurement, at a composition that is not for sale any more."""
    optimizer = nr.mini_gp_ucb(NAMED, kernel=nr.RBF(0.3), noise_std=0.1)
    optimizer.tell(X[[4]] + 0.01, [3.0])
    near = optimizer.explain("s4").nearest[0]
    assert near.id is None
    np.testing.assert_allclose(near.x, X[4] + 0.01)
    assert f"a point at {near.x.tolist()}" in str(optimizer.explain("s4"))
    evaluated = optimizer.evaluated
    assert evaluated.ids == [None]
    assert evaluated.averages.tolist() == [3.0]


@pytest.mark.parametrize("algorithm", [nr.mini_gp_ucb, nr.mini_gp_ei])
def test_points_of_a_box_are_explained_by_number(algorithm: Callable[..., nr.Optimizer]) -> None:
    box = nr.Box([(0.0, 10.0), (1e-3, 1.0)], log=[1])
    optimizer = algorithm(box, kernel=nr.RBF(0.3), noise_std=0.1, goal="min", seed=1)
    for _ in range(5):
        batch = optimizer.ask(at_most=2)
        optimizer.tell(batch, [float((x[0] - 3.0) ** 2 / 10) for x in batch])
    why = optimizer.explain(0)
    np.testing.assert_allclose(why.x, optimizer.evaluated.x[0])
    assert 0.0 <= why.x[0] <= 10.0
    assert why.mean == pytest.approx(optimizer.posterior.mean(why.x[None])[0], rel=1e-9)
    assert why.rank is None
    assert why.leader is not None
    following = optimizer.ask(at_most=1)
    np.testing.assert_allclose(following.x[0], why.leader.x)
    if why.leader.id is None:
        assert "a new point" in str(why)
        new = optimizer.explain(following.ids[0])
        assert (new.evaluations, new.under_way) == (0, 1)


@pytest.mark.parametrize(
    "algorithm", [nr.uniform, nr.epsilon_greedy, nr.random_search, nr.regularized_evolution]
)
def test_baselines_say_what_they_can(algorithm: Callable[..., nr.Optimizer]) -> None:
    optimizer = algorithm(NAMED, batch_size=3, goal="min", offset=1.0)
    batch = optimizer.ask()
    optimizer.tell(batch[:2], [4.0, 6.0])
    why = optimizer.explain(batch.sequence[0])
    assert why.evaluations >= 1
    assert why.mean == why.average
    assert why.average == (4.0 if batch.sequence[0] != batch.sequence[1] else 5.0)
    assert math.isnan(why.std)
    assert (why.nearest, why.rank, why.leader, why.score) == ((), None, None, "")
    assert "This algorithm has no model" in str(why)
    other = next(name for name in NAMES if name not in batch.sequence)
    assert "never evaluated. This algorithm has no model" in str(optimizer.explain(other))
    assert "1 evaluation under way" in str(optimizer.explain(batch.sequence[2]))


def test_everything_excluded_leaves_no_leader() -> None:
    optimizer, rows, _ = warm("mini_gp_ucb")
    optimizer.exclude(NAMES)
    why = optimizer.explain(NAMES[rows[0]])
    assert (why.leader, why.candidates, why.excluded) == (None, 0, True)
    assert "It is excluded" in str(why)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ("s99", "unknown name 's99'"),
        (3, "addressed by its names"),
        (["s1", "s2"], "takes one id, got 2"),
        ([], "takes one id, got 0"),
        (None, "addressed by its names"),
        *((number, r"outside the|their numbers") for number in (0, -1, 5, 0.5)),  # of a box
    ],
)
def test_unknown_ids_are_refused(wrong: object, match: str) -> None:
    domain = nr.Box([(0.0, 1.0)]) if "numbers" in match else NAMED
    with pytest.raises(nr.NoRegretError, match=match):
        nr.mini_gp_ucb(domain, kernel=KERNEL, noise_std=0.1).explain(wrong)


def test_neighbours_say_what_they_count_as() -> None:
    """A mean far above the values around it, of which nothing is said, looks like an error."""
    x = np.linspace(0, 1, 41)
    opt = nr.auto(nr.Pool(x[:, None]))
    f = np.where(x < 0.15, -100.0, np.cos(3 * (x - 0.8)))
    opt.tell(np.arange(1, 41, 2), f[1::2])
    why, floor = opt.explain(4), opt.posterior.floor
    assert np.isfinite(floor)
    assert why.evaluations == 0
    assert np.isnan(why.counts_as)
    assert {near.counts_as for near in why.nearest[:2]} == {floor}
    assert f"evaluated once, average -100, which counts as {floor:.4g})" in str(why)
    high = opt.explain(32)
    assert all(np.isnan(near.counts_as) for near in high.nearest)
    assert "counts as" not in str(high)


def test_one_standard_deviation_is_one() -> None:
    """By what is printed, not by the last bits of a width."""
    opt = nr.gp_ucb(
        nr.Pool([[0.0], [1.0]]),
        kernel=nr.RBF(),
        noise_std=0.1,
        width=nr.ConstantWidth(1.0 + 1e-9),
    )
    opt.tell([0], [1.0])
    assert "(± 1 standard deviation)" in str(opt.explain(0))

"""Curves of regret hold the right numbers, whatever they look like."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import noregret as nr
from drawn import ALGORITHMS, KERNEL, F, X, corners, line, result
from noregret.arrays import Vector
from noregret.plot.regret_curves import LABELS, POINTS

PLOT: Any = nr.plot  # of which wrong things are asked
pytestmark = pytest.mark.usefixtures("closed")


@pytest.mark.parametrize("kind", ["average", "cumulative", "simple"])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_regret_is_the_distance_to_the_best(
    kind: Literal["average", "cumulative", "simple"], goal: Literal["max", "min"]
) -> None:
    """A curve in a paper is believed."""
    run = result("mini_gp_ucb", goal=goal)
    best = float(F.max() if goal == "max" else F.min())
    total, lowest, expected = 0.0, np.inf, []
    for t, row in enumerate(run.ids.tolist(), start=1):
        short = best - F[row] if goal == "max" else F[row] - best
        total, lowest = total + short, min(lowest, short)
        expected.append({"average": total / t, "cumulative": total, "simple": lowest}[kind])
    ax = nr.plot.regret({"mine": run}, truth=F, kind=kind, unit="J")
    t_, y = line(ax)
    np.testing.assert_array_equal(t_, np.arange(1, 61))
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    assert ax.get_xlabel() == "evaluations"
    assert ax.get_ylabel() == f"{LABELS[kind]} (J)"
    assert f"{expected[-1]:.3g}" in str(ax.get_legend_handles_labels()[1])


def test_without_the_truth_values_stand_in_for_it() -> None:
    """At the bench nobody knows the truth; a failed evaluation is no evaluation."""
    run = result("uniform")
    values = run.values.copy()
    values[[3, 9]] = np.nan
    failed = nr.Result(run.optimizer, run.ids, values, "budget spent", run.switches)
    _, y = line(nr.plot.regret(failed, best=2.0, kind="cumulative"))
    np.testing.assert_allclose(y, np.cumsum(2.0 - values[~np.isnan(values)]), rtol=1e-12)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_of_an_optimizer_each_candidate_counts_with_its_average(name: str) -> None:
    """It keeps sums, not single values; the order is that in which it asked."""
    run = result(name)
    average = {row: run.values[run.ids == row].mean() for row in set(run.ids.tolist())}
    expected = np.cumsum([2.0 - average[row] for row in run.ids.tolist()])
    _, y = line(nr.plot.regret(run.optimizer, best=2.0, kind="cumulative"))
    np.testing.assert_allclose(y, expected, rtol=1e-9)
    _, true = line(nr.plot.regret(run.optimizer, truth=F, kind="cumulative"))
    np.testing.assert_allclose(true, np.cumsum(F.max() - F[run.ids.astype(np.int64)]), rtol=1e-12)


@pytest.mark.parametrize("kind", ["average", "cumulative", "simple"])
@pytest.mark.parametrize("goal", ["max", "min"])
def test_under_contexts_regret_is_the_distance_to_the_best_of_each(
    kind: Literal["average", "cumulative", "simple"], goal: Literal["max", "min"]
) -> None:
    """Whoever finds each visitor's best has no regret, though no candidate is best for all."""
    run_, sign = (nr.maximize, 1) if goal == "max" else (nr.minimize, -1)
    stream = np.random.default_rng(1).integers(0, 3, 40) / 2
    calls = iter(range(40))

    def f(row: Any, c: float) -> Any:
        return nr.FAILED if next(calls) in (3, 9) else sign * F[(row + int(20 * c)) % 50]

    run = run_(
        f,
        nr.Pool(X),
        40,
        algorithm=partial(nr.gp_ucb, kernel=KERNEL, noise_std=0.3, context_kernel=nr.RBF(0.5)),
        contexts=stream,
        by_id=True,
    )

    def truth(c: Vector) -> Vector:
        return sign * np.roll(F, -int(20 * c[0]))

    total, lowest, expected = 0.0, np.inf, list[float]()
    for t, (row, c) in enumerate(zip(run.ids.tolist(), stream, strict=True)):
        if t in (3, 9):
            continue
        short = max(F[(other + int(20 * c)) % 50] for other in range(50))
        short -= F[(row + int(20 * c)) % 50]
        total, lowest = total + short, min(lowest, short)
        mean = total / (len(expected) + 1)
        expected.append({"average": mean, "cumulative": total, "simple": lowest}[kind])
    _, y = line(nr.plot.regret({"mine": run}, truth=truth, kind=kind))
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)
    for true, best in ((F, None), (None, 2.0), (truth, 2.0)):
        with pytest.raises(nr.NoRegretError, match="no best=: each context has its own"):
            PLOT.regret(run, truth=true, best=best)
    with pytest.raises(nr.NoRegretError, match="does not keep the context of every evaluation"):
        PLOT.regret(run.optimizer, truth=truth)
    for plain in (result("uniform", goal=goal), [0.3, 0.4]):
        with pytest.raises(nr.NoRegretError, match="a run here has no contexts"):
            PLOT.regret([run, plain], truth=truth)


def test_named_pools_are_looked_up_by_name() -> None:
    """Truth stands in the order of the pool, ids are names."""
    pool = nr.Pool(X, names=[f"s{i}" for i in range(50)])
    optimizer = nr.uniform(pool, batch_size=4, seed=3)
    batch = optimizer.ask()
    optimizer.tell(batch, [0.0] * 4)
    rows = [int(str(id)[1:]) for id in batch.sequence]
    _, y = line(nr.plot.regret(optimizer, truth=F, kind="cumulative"))
    np.testing.assert_allclose(y, np.cumsum(F.max() - F[rows]))


@pytest.mark.parametrize("shape", ["matrix", "lists", "results"])
def test_several_runs_are_averaged_with_their_range(shape: str) -> None:
    runs = [result("uniform", budget=budget, seed=seed) for seed, budget in ((1, 30), (2, 25))]
    values = np.stack([run.values[:25] for run in runs])
    lists = [run.values.tolist() for run in runs]
    given = {"matrix": values, "lists": lists, "results": runs}[shape]
    rows = np.cumsum(3.0 - values, axis=1)
    ax = nr.plot.regret({"uniform": given, "other": [1.0] * 9}, best=3.0, kind="cumulative")
    t, y = line(ax)
    np.testing.assert_array_equal(t, np.arange(1, 26))
    np.testing.assert_allclose(y, rows.mean(axis=0), rtol=1e-12)
    (band,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    vertices = corners(band)
    for at in range(25):
        heights = vertices[np.isclose(vertices[:, 0], at + 1), 1]
        assert heights.min() == pytest.approx(rows[:, at].min())
        assert heights.max() == pytest.approx(rows[:, at].max())
    np.testing.assert_allclose(line(ax, 1)[1], 2.0 * np.arange(1, 10))


def test_a_long_run_is_drawn_by_some_of_its_points() -> None:
    """A million points make a file that no reader opens; the first and last must be right."""
    values = np.random.default_rng(0).random(200_000)
    ax = nr.plot.regret(values, best=2.0)
    t, y = line(ax)
    whole = np.cumsum(2.0 - values) / np.arange(1, len(values) + 1)
    assert len(t) <= POINTS
    assert (t[0], t[-1]) == (20, 200_000)
    np.testing.assert_allclose(y, whole[t.astype(np.int64) - 1], rtol=1e-12)


def test_axes_are_logarithmic_where_that_shows_something() -> None:
    """Zero and below do not exist on a logarithmic axis; ten points need none."""
    falling = 1 - 1 / np.arange(1.0, 101.0)
    for values, scales in (
        (falling, ("log", "log")),
        (np.append(falling, 1.0), ("log", "linear")),
        (falling[:10], ("linear", "linear")),
    ):
        ax = nr.plot.regret(values, best=1.0, kind="simple")
        assert (ax.get_xscale(), ax.get_yscale()) == scales


def test_regret_on_a_box_needs_the_best_value() -> None:
    """There is no table of all its points."""
    optimizer = nr.uniform(nr.Box([(0, 1)]))
    optimizer.tell(optimizer.ask(), [1.0])
    with pytest.raises(nr.NoRegretError, match="a box has none"):
        nr.plot.regret(optimizer, truth=[1.0])
    assert line(nr.plot.regret(optimizer, best=3.0))[1].tolist() == [2.0]

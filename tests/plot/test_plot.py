"""Figures hold the right numbers, whatever they look like."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection, QuadMesh

import noregret as nr
from noregret.arrays import Vector
from noregret.plot import batch_sizes, pool, projections, style
from noregret.plot.regret_curves import LABELS, POINTS
from noregret.testing.base import play

X = np.random.default_rng(8).random((50, 2))
F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])
PLOT: Any = nr.plot  # of which wrong things are asked
LINE = nr.Pool(np.linspace(0, 10, 41)[:, None])
KERNEL = nr.RBF(0.4)
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "mini_gp_ucb": partial(nr.mini_gp_ucb, kernel=KERNEL, noise_std=0.3, limit=4.0),
    "bbkb": partial(nr.bbkb, kernel=KERNEL, noise_std=0.3, limit=4.0),
    "uniform": partial(nr.uniform, batch_size=5),
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Figures cost memory until they are closed; the style must be as it was."""
    mpl.use("Agg")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def result(
    name: str, *, budget: int = 60, seed: int = 0, goal: Literal["max", "min"] = "max"
) -> nr.Result:
    """A run whose noise depends on the seed."""
    rng = np.random.default_rng(seed)
    run = nr.maximize if goal == "max" else nr.minimize
    return run(
        lambda row: float(F[row] + 0.1 * rng.standard_normal()),
        nr.Pool(X),
        algorithm=ALGORITHMS[name],
        budget=budget,
        by_id=True,
        seed=seed,
    )


def line(ax: Axes, at: int = 0) -> tuple[Vector, Vector]:
    drawn = ax.get_lines()[at]
    return np.asarray(drawn.get_xdata()), np.asarray(drawn.get_ydata())


def labelled(ax: Axes, label: str) -> Any:
    """The artist that the legend calls so."""
    handles, labels = ax.get_legend_handles_labels()
    return handles[labels.index(label)]


def corners(band: PolyCollection) -> Vector:
    return np.asarray(band.get_paths()[0].vertices, dtype=np.float64)


def xy(artist: Any) -> Vector:
    return np.asarray(artist.get_offsets(), dtype=np.float64)


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


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: PLOT.regret([1.0, 2.0]), "needs best="),
        (lambda: PLOT.regret({}, best=1.0), "no run"),
        (lambda: PLOT.regret("abc", best=1.0), "takes a Result"),
        (lambda: PLOT.regret(3.0, best=1.0), "takes a Result"),
        (lambda: PLOT.regret([], best=1.0), "no evaluation yet"),
        (lambda: PLOT.regret([np.nan], best=1.0), "must be finite"),
        (lambda: PLOT.regret(nr.uniform(LINE), best=1.0), "no evaluation yet"),
        (lambda: PLOT.regret([1.0], best=np.inf), r"best=\.\.\.\) must be a finite"),
        (lambda: PLOT.regret([1.0], best=1.0, kind="total"), "must be one of 'average'"),
        (lambda: PLOT.regret([1.0], best=1.0, goal="up"), "must be one of 'max'"),
        (lambda: PLOT.regret(result("uniform"), truth=F[:9]), r"50 of them, got shape \(9,\)"),
        (
            lambda: PLOT.regret([result("uniform"), result("uniform", goal="min")], best=1.0),
            "maximise and others minimise",
        ),
        (lambda: PLOT.regret(result("uniform"), best=1.0, goal="min"), "others minimise"),
        (lambda: PLOT.regret([1.0], best=1.0, ax=3), "ax must be Matplotlib axes"),
        (lambda: PLOT.batches([1.0]), "draws an Optimizer or a Result"),
        (lambda: PLOT.posterior1d(nr.uniform(nr.Pool(X))), "this domain has 2"),
        (lambda: PLOT.posterior1d(None), "draws an Optimizer or a Result"),
        (lambda: PLOT.pool2d(nr.uniform(LINE)), "posterior1d"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Box([(0, 1)] * 3))), "this has 3"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), projection=(0, 2)), "from 0 to 1"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), projection="tsne"), "components"),
        (lambda: PLOT.pool2d(nr.uniform(nr.Pool(X)), features=["a"]), "names 1 features"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Callable[[], object], match: str) -> None:
    """With the argument's name and the way out, and without an empty figure left behind."""
    with pytest.raises(nr.NoRegretError, match=match):
        call()
    assert not plt.get_fignums()


def test_regret_on_a_box_needs_the_best_value() -> None:
    """There is no table of all its points."""
    optimizer = nr.uniform(nr.Box([(0, 1)]))
    optimizer.tell(optimizer.ask(), [1.0])
    with pytest.raises(nr.NoRegretError, match="a box has none"):
        nr.plot.regret(optimizer, truth=[1.0])
    assert line(nr.plot.regret(optimizer, best=3.0))[1].tolist() == [2.0]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_batches_are_drawn_from_the_trace(name: str) -> None:
    run = result(name, budget=80)
    ax, sizes, ids = nr.plot.batches(run), run.optimizer.trace["size"], run.ids.tolist()
    ends = np.cumsum(sizes).tolist()
    np.testing.assert_array_equal(xy(labelled(ax, "batch size")), np.stack([ends, sizes], axis=1))
    switches = [sum(a != b for a, b in itertools.pairwise(ids[:end])) for end in ends]
    unique = [len(set(ids[:start])) for start in (0, *ends)]
    for label, x, y in (("switches", ends, switches), ("candidates", [0, *ends], unique)):
        drawn = labelled(ax, label)
        np.testing.assert_array_equal(drawn.get_xdata(), x)
        np.testing.assert_array_equal(np.nan_to_num(drawn.get_ydata()), y)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlim()[1] >= 80


def test_many_batches_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_sizes, "MOST_DOTS", 10)
    run = result("uniform", budget=100)
    dots = xy(labelled(nr.plot.batches(run), "batch size"))
    assert len(dots) <= 10
    assert dots[-1].tolist() == [100.0, 5.0]


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb"])
def test_the_line_and_bands_are_the_posterior(name: str, goal: Literal["max", "min"]) -> None:
    optimizer = ALGORITHMS[name](LINE, offset=5.0, goal=goal, seed=1)
    for turn in range(6):
        batch = optimizer.ask(at_most=4)
        optimizer.tell(batch, [5 + np.sin(x[0]) + 0.1 * turn for x in batch])
    posterior = optimizer.posterior
    ax = nr.plot.posterior1d(optimizer, feature="time (h)", unit="%")
    x, y = line(ax)
    np.testing.assert_allclose(y, posterior.mean(x[:, None]), rtol=1e-10)
    assert (x[0], x[-1]) == (0.0, 10.0)
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    for band, times in zip(bands, (posterior.beta, 1.0), strict=True):
        spots = corners(band)
        mean, std = posterior.mean(spots[:, :1]), posterior.std(spots[:, :1])
        np.testing.assert_allclose(np.abs(spots[:, 1] - mean), times * std, rtol=1e-6, atol=1e-9)
    dots, evaluated = labelled(ax, "averages"), optimizer.evaluated
    np.testing.assert_allclose(xy(dots)[:, 0], evaluated.x[:, 0])
    np.testing.assert_allclose(xy(dots)[:, 1], evaluated.averages)
    np.testing.assert_allclose(dots.get_sizes(), style.sizes(evaluated.evaluations))
    assert set(x) >= set(evaluated.x[:, 0])
    assert labelled(ax, "next choice").get_xdata()[0] == optimizer.peek().x[0, 0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (h)", "value (%)")


@pytest.mark.parametrize("goal", ["max", "min"])
def test_averages_that_count_as_a_floor_are_hollow(goal: Literal["max", "min"]) -> None:
    """Else the mean would pass far above dots without a word."""
    optimizer = nr.auto(LINE, goal=goal, seed=1)
    ids = list(range(0, 21, 2))
    values = np.array([np.sin(0.4 * at) for at in ids]) * (1 if goal == "max" else -1)
    values[3] = -1e4 if goal == "max" else 1e4
    optimizer.tell(ids, values)
    floor, evaluated = optimizer.posterior.floor, optimizer.evaluated
    hollow = xy(labelled(nr.plot.posterior1d(optimizer), f"taken for {floor:.4g}"))
    worse = evaluated.averages < floor if goal == "max" else evaluated.averages > floor
    assert np.flatnonzero(worse).tolist() == [3]
    np.testing.assert_allclose(hollow, np.column_stack([evaluated.x[worse, 0], values[worse]]))
    solid = xy(labelled(nr.plot.posterior1d(optimizer), "averages"))
    np.testing.assert_allclose(solid[:, 1], values[~worse])


def test_without_a_model_there_are_dots_only() -> None:
    optimizer = nr.uniform(LINE, batch_size=3)
    batch = optimizer.ask()
    optimizer.tell(batch, [1.0, 2.0, 3.0])
    ax = nr.plot.posterior1d(optimizer)
    assert len(xy(labelled(ax, "averages"))) == optimizer.unique
    assert not [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert ax.get_xlim()[0] < 0 < 10 < ax.get_xlim()[1]


def test_a_box_on_a_logarithmic_scale_is_drawn_on_one() -> None:
    optimizer = nr.gp_ucb(nr.Box([(1e-3, 1.0)], log=[0]), kernel=nr.RBF(0.3), noise_std=0.1)
    optimizer.tell([[0.01]], [2.0])
    ax = nr.plot.posterior1d(optimizer)
    x, y = line(ax)
    assert ax.get_xscale() == "log"
    assert (x[0], x[-1]) == pytest.approx((1e-3, 1.0))
    np.testing.assert_allclose(y, optimizer.posterior.mean(x[:, None]), rtol=1e-10)
    whole = nr.gp_ucb(nr.Box([(1, 6)], integer=[0]), kernel=nr.RBF(0.3), noise_std=0.1)
    assert line(nr.plot.posterior1d(whole))[0].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("pool", [nr.Pool([[3.0]]), nr.Pool([[3.0]] * 4), LINE])
@pytest.mark.parametrize("told", [0, 1])
def test_the_smallest_runs_are_drawn(pool: nr.Pool, told: int) -> None:
    for optimizer in (nr.gp_ucb(pool, kernel=KERNEL, noise_std=0.1), nr.uniform(pool)):
        if told:
            optimizer.tell(optimizer.ask(), [1.0])
        for draw in (nr.plot.posterior1d, nr.plot.batches):
            draw(optimizer).figure.canvas.draw()
    wide = nr.gp_ucb(nr.Pool([[1.0, 2.0, 2.0]]), kernel=KERNEL, noise_std=0.1)
    if told:
        wide.tell([0], [1.0])
    nr.plot.pool2d(wide).figure.canvas.draw()


def test_everything_excluded_has_no_next_choice() -> None:
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.1)
    optimizer.tell([1, 2], [1.0, 2.0])
    optimizer.exclude(range(50))
    ax = nr.plot.pool2d(optimizer)
    assert ax.get_legend_handles_labels()[1] == ["evaluated"]


@pytest.mark.parametrize("goal", ["max", "min"])
def test_a_plane_holds_every_candidate_in_its_colour(goal: Literal["max", "min"]) -> None:
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.3, goal=goal)
    for _ in range(6):
        batch = optimizer.ask()
        optimizer.tell(batch, F[batch.ids])
    ax = nr.plot.pool2d(optimizer, features=["acid", "base"], unit="%")
    everyone = next(c for c in ax.collections if isinstance(c, PathCollection))
    means = optimizer.posterior.mean(X)
    order = np.argsort(means if goal == "max" else -means, kind="stable")
    np.testing.assert_allclose(xy(everyone), X[order])
    np.testing.assert_allclose(np.asarray(everyone.get_array()), means[order], rtol=1e-10)
    colours = np.asarray(everyone.to_rgba(np.sort(means)))[:, :3].sum(axis=1)
    assert (np.diff(colours) <= 1e-9).all() == (goal == "max")
    rings, evaluated = labelled(ax, "evaluated"), optimizer.evaluated
    np.testing.assert_allclose(xy(rings), evaluated.x)
    np.testing.assert_allclose(rings.get_sizes(), style.sizes(evaluated.evaluations))
    np.testing.assert_allclose(rings.get_array(), optimizer.posterior.mean(evaluated.x), rtol=1e-10)
    assert rings.norm is everyone.norm
    best = labelled(ax, "recommended")
    np.testing.assert_allclose(np.ravel(best.get_xydata()), optimizer.best().x)
    following = labelled(ax, "next choice")
    np.testing.assert_allclose(np.ravel(following.get_xydata()), optimizer.peek().x[0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("acid", "base")
    assert ax.figure.axes[1].get_ylabel() == "posterior mean (%)"


def test_components_are_those_of_a_singular_value_decomposition() -> None:
    """Of features scaled to unit variance, up to a sign; a constant one counts for nothing."""
    rng = np.random.default_rng(0)
    wide = np.concatenate([rng.standard_normal((60, 3)) @ rng.standard_normal((3, 4)) * 1e3,
                           np.full((60, 1), 7.0)], axis=1)  # fmt: skip
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)))
    (dots,) = (c for c in ax.collections if isinstance(c, PathCollection) and len(xy(c)) == 60)
    Z = (wide - wide.mean(axis=0)) / [*wide.std(axis=0)[:4], 1.0]
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    for at in range(2):
        expected, drawn = U[:, at] * s[at], xy(dots)[:, at]
        np.testing.assert_allclose(
            drawn * np.sign(drawn @ expected), expected, rtol=1e-6, atol=1e-6
        )
    share = 100 * s**2 / (s**2).sum()
    assert ax.get_xlabel() == f"first component ({share[0]:.0f} % of the variance)"
    assert ax.get_ylabel() == f"second component ({share[1]:.0f} %)"


def test_components_of_many_features_are_found_from_some_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = np.random.default_rng(1).random((300, 5)) * [9.0, 1.0, 1.0, 1.0, 1.0]
    monkeypatch.setattr(projections, "MOST_NUMBERS", 500)
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)))
    few = wide[np.unique(np.linspace(0, 299, 100).astype(np.int64))]
    P = np.linalg.svd((few - few.mean(axis=0)) / few.std(axis=0))[2][:2].T
    expected = ((wide - few.mean(axis=0)) / few.std(axis=0)) @ P
    drawn = xy(ax.collections[0])
    np.testing.assert_allclose(np.abs(drawn), np.abs(expected), rtol=1e-6, atol=1e-9)


def test_fingerprints_are_drawn_by_their_bits() -> None:
    """Packed bytes are not features; bits are."""
    bits = np.random.default_rng(3).random((80, 40)) < 0.3
    optimizer = nr.mini_gp_ucb(nr.BitPool(bits), kernel=nr.Tanimoto(), noise_std=0.1)
    optimizer.tell([1, 7], [0.5, 0.9])
    ax = nr.plot.pool2d(optimizer)
    everyone = next(c for c in ax.collections if isinstance(c, PathCollection))
    means = np.sort(optimizer.posterior.mean(bits))
    np.testing.assert_allclose(np.asarray(everyone.get_array()), means, rtol=1e-9)
    Z = (bits - bits.mean(axis=0)) / np.maximum(bits.std(axis=0), 1e-9)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    order = np.argsort(optimizer.posterior.mean(bits), kind="stable")
    np.testing.assert_allclose(np.abs(xy(everyone)), np.abs((U * s)[order, :2]), atol=1e-6)
    np.testing.assert_allclose(
        np.abs(xy(labelled(ax, "evaluated"))), np.abs((U * s)[[1, 7], :2]), atol=1e-6
    )


def test_features_are_chosen_and_called_as_in_the_table() -> None:
    """The chemist knows which two matter, a frame the names of its columns."""
    wide = np.random.default_rng(1).random((20, 4))
    ax = nr.plot.pool2d(nr.uniform(nr.Pool(wide)), projection=(3, 1))
    np.testing.assert_allclose(xy(ax.collections[0]), wide[:, [3, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 3", "feature 1")
    frame = pa.table({"heat": [1.0, 2.0, 4.0], "time": [5.0, 1.0, 2.0]})
    ax = nr.plot.pool2d(nr.uniform(nr.Pool.from_frame(frame)))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("heat", "time")
    single = nr.uniform(nr.Pool.from_frame(frame, features=["heat"]))
    assert nr.plot.posterior1d(single).get_xlabel() == "heat"


def test_a_large_pool_is_averaged_in_hexagons_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million dots are a black page."""
    rng = np.random.default_rng(2)
    many = rng.random((600, 2))
    optimizer = nr.gp_ucb(nr.Pool(many), kernel=KERNEL, noise_std=0.1)
    optimizer.tell([0, 5], [1.0, -1.0])
    monkeypatch.setattr(pool, "MOST_DOTS", 100)
    ax = nr.plot.pool2d(optimizer)
    (cells,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    means = optimizer.posterior.mean(many)
    shades = np.asarray(cells.get_array())
    assert means.min() <= shades.min() <= shades.max() <= means.max()
    assert ax.get_xlabel() == "feature 0"
    monkeypatch.setattr(projections, "MOST_ROWS", 300)
    assert nr.plot.pool2d(optimizer).get_xlabel() == "feature 0\n300 of 600 candidates"


def test_a_box_is_drawn_as_a_field() -> None:
    box = nr.Box([(0.0, 2.0), (1e-2, 1.0)], log=[1])
    optimizer = nr.gp_ucb(box, kernel=nr.RBF(0.3), noise_std=0.1)
    optimizer.tell([[1.0, 0.1], [0.0, 1.0]], [2.0, 1.0])
    ax = nr.plot.pool2d(optimizer)
    (field,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    corners = np.asarray(field.get_coordinates()).reshape(-1, 2)
    np.testing.assert_allclose(
        np.asarray(field.get_array()).ravel(), optimizer.posterior.mean(corners), rtol=1e-9
    )
    assert corners.min(axis=0) == pytest.approx([0.0, 1e-2])
    assert corners.max(axis=0) == pytest.approx([2.0, 1.0])
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    np.testing.assert_allclose(xy(labelled(ax, "evaluated")), [[1.0, 0.1], [0.0, 1.0]])


def test_drawing_changes_no_choice() -> None:
    """A picture a day keeps nobody away."""
    plain, drawn = (nr.mini_gp_ucb(nr.Pool(X), kernel=KERNEL, noise_std=0.3) for _ in range(2))
    for _ in range(6):
        nr.plot.pool2d(drawn)
        nr.plot.batches(drawn)
        assert play(plain, 1) == play(drawn, 1)


def test_axes_given_are_drawn_on_and_returned() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert nr.plot.regret([1.0, 2.0], best=2.0, ax=left) is left
    assert nr.plot.batches(result("uniform"), ax=right) is right
    assert plt.get_fignums() == [figure.number]


def test_the_legend_stands_above_the_data() -> None:
    """Whatever the curves do, nothing is hidden, and nothing sticks out of the picture."""
    runs = {name: result(name) for name in ALGORITHMS}
    line_run = ALGORITHMS["mini_gp_ucb"](LINE)
    line_run.tell([3, 20], [1.0, 2.0])
    for ax in (
        nr.plot.regret(runs, truth=F),
        nr.plot.batches(runs["bbkb"]),
        nr.plot.pool2d(runs["mini_gp_ucb"]),
        nr.plot.posterior1d(line_run),
    ):
        figure = ax.figure
        figure.canvas.draw()
        legend, frame = ax.get_legend(), ax.get_window_extent()
        assert legend is not None
        box = legend.get_window_extent()
        assert box.y0 >= frame.y1 - 1
        whole = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
        assert (np.subtract(whole.min, figure.bbox.min) >= -1).all()
        assert (np.subtract(whole.max, figure.bbox.max) <= 1).all()


SIGHT = {  # Machado, Oliveira & Fernandes 2009, full severity, on linear RGB
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def seen(colour: str, sight: str) -> Vector:
    """A colour in CIELAB, as some eyes see it."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(SIGHT[sight]) @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_all_eyes(sight: str) -> None:
    """One man in twelve does not tell red from green; 15 is a difference seen at a glance."""
    for one, other in itertools.combinations((*style.COLOURS, style.GREY), 2):
        assert np.linalg.norm(seen(one, sight) - seen(other, sight)) > 15, (one, other)


def test_shades_grow_darker_evenly() -> None:
    """Printed in grey, better must still be darker."""
    shades = [mpl.colors.to_hex(style.shades("max")(at)) for at in np.linspace(0, 1, 21)]
    assert (np.diff([seen(shade, "normal")[0] for shade in shades]) < -1.0).all()


def test_many_curves_get_another_dash() -> None:
    """Colours come round again; lines do not."""
    looks = style.looks(["uniform", *(f"run {i}" for i in range(12))])
    assert looks[0] == (style.GREY, "-")
    assert len(set(looks)) == 13


def test_matplotlib_is_loaded_by_drawing_only() -> None:
    code = "import sys, noregret as nr; nr.plot.regret; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

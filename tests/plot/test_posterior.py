"""The posterior, drawn along a line."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import noregret as nr
from drawn import ALGORITHMS, KERNEL, LINE, corners, labelled, line, xy
from noregret.plot import style

pytestmark = pytest.mark.usefixtures("closed")


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

"""Runs to draw, and what a figure holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

import noregret as nr
from noregret.arrays import Vector

X = np.random.default_rng(8).random((50, 2))
F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])
LINE = nr.Pool(np.linspace(0, 10, 41)[:, None])
KERNEL = nr.RBF(0.4)
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "mini_gp_ucb": partial(nr.mini_gp_ucb, kernel=KERNEL, noise_std=0.3, limit=4.0),
    "bbkb": partial(nr.bbkb, kernel=KERNEL, noise_std=0.3, limit=4.0),
    "uniform": partial(nr.uniform, batch_size=5),
}


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

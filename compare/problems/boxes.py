"""Synthetic functions on boxes, with Gaussian noise of 5 % of their range over the box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

import noregret as nr
from compare.problems.base import NOISE, Points, Problem
from compare.problems.space import Parameter, Space
from noregret.arrays import Matrix, Vector

SHOTS = 1 << 16  # points on which a function's average over its box is taken

# Hartmann's function: heights, widths (4, 6) and places (4, 6) of its four hills.
HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
WIDTHS = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
PLACES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def minus_branin(X: Matrix) -> Vector:
    """Three equal hills; on [−5, 10] × [0, 15]."""
    x, y = X[:, 0], X[:, 1]
    valley = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    value: Vector = -(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)
    return value


def hartmann6(X: Matrix) -> Vector:
    """Four hills in six dimensions; on [0, 1]⁶."""
    squares = ((X[:, None, :] - PLACES) ** 2 * WIDTHS).sum(axis=2)  # (n, 4)
    value: Vector = np.exp(-squares) @ HEIGHTS
    return value


def minus_ackley(X: Matrix) -> Vector:
    """One narrow hill at 0 among many small ones."""
    wide = 20 * np.exp(-0.2 * np.sqrt((X**2).mean(axis=1)))
    value: Vector = wide + np.exp(np.cos(2 * np.pi * X).mean(axis=1)) - 20 - np.e
    return value


@final
@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """A function of points with Gaussian noise."""

    function: Callable[[Points], Vector]
    std: float

    def __call__(self, X: Points, rng: np.random.Generator) -> Vector:
        values: Vector = self.function(X) + self.std * rng.standard_normal(len(X))
        return values


def branin() -> Problem:
    return _on_box("branin", "Branin", minus_branin, [(-5, 10), (0, 15)], best=-0.39788735772973816)


def hartmann() -> Problem:
    return _on_box("hartmann6", "Hartmann-6", hartmann6, [(0, 1)] * 6, best=3.322368011415515)


def ackley() -> Problem:
    """Off the middle of its box, which would be the first guess of many a method."""
    return _on_box("ackley10", "Ackley-10", minus_ackley, [(-5, 10)] * 10, best=0.0)


def _on_box(
    name: str,
    title: str,
    function: Callable[[Matrix], Vector],
    bounds: list[tuple[float, float]],
    *,
    best: float,
) -> Problem:
    """The lowest value is that of many points drawn, which is near enough for a size of noise."""
    low, high = np.array(bounds, dtype=np.float64).T
    drawn = function(low + (high - low) * np.random.default_rng(0).random((SHOTS, len(bounds))))
    worst = float(drawn.min())
    std = NOISE * (best - worst)
    numbers = tuple(Parameter(f"x{at}", *pair) for at, pair in enumerate(bounds))
    return Problem(
        name=name,
        title=f"{title}, noise of {NOISE:.0%}",
        domain=nr.Box(bounds),
        truth=function,
        best=best,
        worst=worst,
        uniform=best - float(drawn.mean()),
        feedback=Noisy(function, std),
        noise_std=std,
        space=Space(numbers),
    )

"""Synthetic functions on boxes, with Gaussian noise of 5 % of their range over the box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

import noregret as nr
from evaluation.problems import landscapes
from evaluation.problems.comparison.base import NOISE, Observations, Problem
from evaluation.problems.comparison.space import Parameter, Space
from noregret.arrays import Matrix, Vector

SHOTS = 1 << 16  # points on which a function's average over its box is taken


@final
@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """A function of points with Gaussian noise."""

    function: Callable[[Observations], Vector]
    std: float

    def __call__(self, X: Observations, rng: np.random.Generator) -> Vector:
        values: Vector = self.function(X) + self.std * rng.standard_normal(len(X))
        return values


def branin() -> Problem:
    return _on_box(
        "branin", "Branin", landscapes.branin, [(-5, 10), (0, 15)], best=-0.39788735772973816
    )


def hartmann() -> Problem:
    return _on_box(
        "hartmann6", "Hartmann-6", landscapes.hartmann6, [(0, 1)] * 6, best=3.322368011415515
    )


def ackley() -> Problem:
    """Off the middle of its box, which would be the first guess of many a method."""
    return _on_box("ackley10", "Ackley-10", landscapes.ackley, [(-5, 10)] * 10, best=0.0)


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

"""Functions that everybody knows, larger being better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Vector


def branin(X: Matrix) -> Vector:
    """Minus Branin's function, on [−5, 10] × [0, 15]."""
    a, b = X.T
    bent = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return np.asarray(-(bent**2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) - 10)


def hartmann6(X: Matrix) -> Vector:
    """Minus Hartmann's function in six dimensions, on the unit cube."""
    A = np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    )
    P = 1e-4 * np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
    inside = np.einsum("ij,nij->ni", A, (X[:, None] - P) ** 2)
    return np.asarray(np.exp(-inside) @ np.array([1.0, 1.2, 3.0, 3.2]))


def ackley(X: Matrix) -> Vector:
    """Minus Ackley's function, on [−5, 10]^d."""
    root = np.sqrt((X**2).mean(axis=1))
    waves = np.cos(2 * np.pi * X).mean(axis=1)
    return np.asarray(20 * np.exp(-0.2 * root) + np.exp(waves) - 20 - np.e)


@final
@dataclass(frozen=True, slots=True)
class Landscape:
    """A function on a box, what is best there, and a kernel to match."""

    title: str
    f: Callable[[Matrix], Vector]
    bounds: tuple[tuple[float, float], ...]
    best: float
    lengthscale: float

    def scaled(self) -> tuple[Callable[[Matrix], Vector], float]:
        """Return f with mean 0 and standard deviation 1 over the box, and its best value."""
        low, high = np.array(self.bounds).T
        some = self.f(np.random.default_rng(0).uniform(low, high, (20_000, len(low))))
        mean, std = float(some.mean()), float(some.std())
        return lambda X: (self.f(X) - mean) / std, (self.best - mean) / std

    def unit(self, X: Matrix) -> Matrix:
        """Return points on the unit cube, where the kernel compares them."""
        low, high = np.array(self.bounds).T
        return np.asarray((X - low) / (high - low))


LANDSCAPES = {
    "branin": Landscape("Branin", branin, ((-5.0, 10.0), (0.0, 15.0)), -0.39788735772973816, 0.3),
    "hartmann6": Landscape("Hartmann-6", hartmann6, ((0.0, 1.0),) * 6, 3.322368011415515, 0.4),
    # Off the middle of its box, which would be the first guess of many a method.
    "ackley10": Landscape("Ackley-10", ackley, ((-5.0, 10.0),) * 10, 0.0, 0.6),
}

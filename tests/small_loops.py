"""Runs by maximize on a line, and a function that counts its calls."""

from __future__ import annotations

import numpy as np

import noregret as nr
from noregret.arrays import Vector

X = np.linspace(0, 1, 30)[:, None]
POOL = nr.Pool(X)


def f(x: Vector) -> float:
    return float(np.sin(4 * x[0]))


class Counted:
    """f, counting its calls, with something else for the k-th."""

    def __init__(self, at: int = 0, instead: float | BaseException = 0.0) -> None:
        self.calls, self.at, self.instead = 0, at, instead

    def __call__(self, x: Vector) -> float:
        self.calls += 1
        if self.calls != self.at:
            return f(x)
        if isinstance(self.instead, BaseException):
            raise self.instead
        return self.instead

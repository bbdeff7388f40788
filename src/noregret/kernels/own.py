"""k(x, z) = 1 where x and z are the same: what a candidate shares with no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.kernels.algebra import plus, times
from noregret.pools.matching import hashed

COMPARED = 1 << 18  # numbers that are compared as they are; beyond it, a number a row


@final
@dataclass(frozen=True, slots=True)
class Own:
    """1 for a candidate and itself (rows equal in all features), 0 for any two that differ.

    Added to another kernel, it lets every candidate be off from what its features say, by an amount
    that no other candidate tells. Evaluating it again averages noise away, and this not: replicates
    tell the two apart.

    >>> Own()(np.array([[0.0], [0.5]]), np.array([[0.5], [0.6]]))
    array([[0., 0.],
           [1., 0.]])
    """

    __add__ = plus
    __mul__ = times
    __rmul__ = times

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        if len(X) * Z.size <= COMPARED:
            same = (X[:, None] == Z[None]).all(axis=2)
        else:
            same = np.equal.outer(hashed(X), hashed(Z))
        return np.asarray(same, dtype=np.float64)

    def diagonal(self, X: Rows) -> Vector:
        return np.ones(len(X))

"""k(x, z) of products x·z: functions linear, or polynomial, in the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Vector, require_numbers
from noregret.errors import require_at_least, require_count
from noregret.kernels.base import KernelBase, KernelGradient
from noregret.storable import storable


@final
@storable("Linear")
@dataclass(frozen=True, slots=True)
class Linear(KernelBase):
    """Linear kernel: k(x, z) = x·z + bias, for functions linear in the features.

    >>> Linear(bias=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[12.]])
    """

    bias: float = 0.0

    def __post_init__(self) -> None:
        require_at_least("Linear(bias=...)", self.bias, 0.0)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _products(X, Z, self.bias)

    def diagonal(self, X: Matrix) -> Vector:
        return np.asarray(np.einsum("ij,ij->i", X, X) + self.bias)

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return values and slopes: dk/dx = z."""
        return self(X, Z), lambda C: np.asarray(C @ Z)


@final
@storable("Polynomial")
@dataclass(frozen=True, slots=True)
class Polynomial(KernelBase):
    """Polynomial kernel: k(x, z) = (x·z + bias)^degree, for polynomials of the features.

    With a bias above 0, f has terms of all degrees up to `degree`, without one only of the highest.
    Scale features to about 1: k grows with their size to the power of twice the degree.

    Source: Rasmussen & Williams (2006), Sec. 4.2.2.

    >>> Polynomial(2, bias=1.0)(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[4., 9.]])
    """

    degree: int = 2
    bias: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", require_count("Polynomial(degree=...)", self.degree))
        require_at_least("Polynomial(bias=...)", self.bias, 0.0)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _raised(_products(X, Z, self.bias), self.degree)

    def diagonal(self, X: Matrix) -> Vector:
        return _raised(np.einsum("ij,ij->i", X, X) + self.bias, self.degree)

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return values and slopes: dk/dx = degree·(x·z + bias)^(degree−1)·z."""
        base = _products(X, Z, self.bias)
        below = _raised(base, self.degree - 1)
        return _raised(base, self.degree), lambda C: np.asarray(self.degree * (C * below) @ Z)


def _products(X: Matrix, Z: Matrix, bias: float) -> Matrix:
    """Return x·z + bias for every pair of rows."""
    require_numbers(X, Z)
    K: Matrix = X @ Z.T
    K += bias
    return K


def _raised(base: Matrix, power: int) -> Matrix:
    """Return base^power by squaring: np.power takes ten times as long."""
    out, left = None, power
    while left:
        if left & 1:
            out = base if out is None else out * base
        left >>= 1
        base = base * base if left else base
    return np.ones_like(base) if out is None else out

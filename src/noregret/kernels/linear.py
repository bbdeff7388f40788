"""k(x, z) of products x·z: functions linear, or polynomial, in the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Vector
from noregret.errors import require_at_least
from noregret.kernels.algebra import plus, times


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """Linear kernel: k(x, z) = x·z + bias, for functions linear in the features."""

    bias: float = 0.0

    __add__ = plus
    __mul__ = times
    __rmul__ = times

    def __post_init__(self) -> None:
        require_at_least("Linear(bias=...)", self.bias, 0.0)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        K: Matrix = X @ Z.T
        K += self.bias
        return K

    def diagonal(self, X: Matrix) -> Vector:
        norms: Vector = np.einsum("ij,ij->i", X, X)
        return norms + self.bias

    def slopes(self, x: Vector, Z: Matrix) -> tuple[Vector, Matrix]:
        """Return k(x, z) for every row of Z, and its gradients in x."""
        return Z @ x + self.bias, Z

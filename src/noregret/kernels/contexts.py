"""The kernel of candidates under contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import KernelError
from noregret.kernels.base import Kernel, KernelBase
from noregret.pools.contexts import parted
from noregret.storable import storable

ONE = 1e-9  # how far k_C(c, c) may be from 1


@final
@storable("InContext")
@dataclass(frozen=True, slots=True)
class InContext(KernelBase):
    """k((x, c), (x′, c′)) = k_X(x, x′)·k_C(c, c′): alike only if candidates and contexts are.

    Rows hold the features of a candidate, `dim` columns, and those of the context behind them. The
    context's kernel has variance 1 everywhere, so that the spread of f is that of k_X.

    Source: Krause & Ong 2011, "Contextual Gaussian process bandit optimization" (product kernels).
    """

    kernel: Kernel
    context_kernel: Kernel
    dim: int

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        (x, c), (z, e) = parted(X, self.dim), parted(Z, self.dim)
        return self.kernel(x, z) * self.similarity(c, e)

    def similarity(self, C: Matrix, E: Matrix) -> Matrix:
        """Return k_C, computed once where all contexts on the left are the same."""
        if len(C) > 1 and (C[1:] == C[0]).all():
            C = C[:1]
        return np.asarray(self.context_kernel(C, E))

    def diagonal(self, X: Rows) -> Vector:
        return np.asarray(self.kernel.diagonal(parted(X, self.dim)[0]))

    def vet(self, X: Rows) -> None:
        """Raise unless the contexts of rows can be compared with others."""
        C = parted(X, self.dim)[1]
        if np.abs(np.asarray(self.context_kernel.diagonal(C)) - 1.0).max() > ONE:
            raise KernelError(
                f"context_kernel={self.context_kernel!r} must have variance 1 everywhere, as RBF, "
                "Matern and Categorical have; the spread of f belongs to kernel=."
            )

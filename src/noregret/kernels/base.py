"""What the rest of the house asks of a kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError, KernelError

KernelGradient: TypeAlias = Callable[[Matrix], Matrix]  # C ↦ Σ_j C_ij ∂k(x_i, z_j)/∂x_i
STEP = 1e-6  # of the unit cube, for slopes by differences


@runtime_checkable
class Kernel(Protocol):
    """A positive definite function of two candidates, in units of f².

    Anything with these two methods is one:

    >>> class Brownian:
    ...     def __call__(self, X, Z):
    ...         return np.minimum(X, Z.T)
    ...     def diagonal(self, X):
    ...         return X[:, 0]
    >>> isinstance(Brownian(), Kernel)
    True
    """

    __slots__ = ()

    @abstractmethod
    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        """Return k(x, z) for every row x of X and z of Z."""
        ...

    @abstractmethod
    def diagonal(self, X: Rows) -> Vector:
        """Return k(x, x) for every row of X."""
        ...


@runtime_checkable
class DifferentiableKernel(Protocol):
    """A kernel that knows its slopes. On boxes, those of others are taken by differences."""

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return k(x, z) for every pair of rows, and C ↦ Σ_j C_ij ∂k(x_i, z_j)/∂x_i."""
        ...


def slopes(kernel: Kernel, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
    """Return what `DifferentiableKernel` promises, of any kernel."""
    if isinstance(kernel, DifferentiableKernel):
        return kernel.slopes(X, Z)
    return np.asarray(kernel(X, Z)), partial(_by_differences, kernel, X, Z)


def _by_differences(kernel: Kernel, X: Matrix, Z: Matrix, C: Matrix) -> Matrix:
    gradient = np.empty(X.shape)
    for j, step in enumerate(STEP * np.eye(X.shape[1])):
        moved = np.asarray(kernel(X + step, Z)) - np.asarray(kernel(X - step, Z))
        gradient[:, j] = np.einsum("ij,ij->i", C, moved) / (2 * STEP)
    return gradient


def require_kernel(value: object) -> Kernel:
    """Return `value` if it is a kernel, else raise."""
    if isinstance(value, type):
        raise ArgumentError(f"kernel must be an instance, {value.__name__}(...), got the class.")
    if not isinstance(value, Kernel):
        raise ArgumentError(
            f"a kernel must be callable as k(X, Z) and have diagonal(X), got {value!r}. "
            "A function becomes one by noregret.FunctionKernel(function)."
        )
    return value


def require_numbers(*blocks: Rows) -> None:
    """Raise where rows are packed bits, which no kernel on numbers can read."""
    if any(X.dtype == np.uint8 for X in blocks):
        raise KernelError(
            "this kernel compares numbers, and the pool holds packed bits: use noregret.Tanimoto() "
            "with a BitPool, or noregret.Pool(X) with this kernel."
        )


def probe_rows(kernel: Kernel, X: Rows) -> None:
    """Raise a KernelError unless `kernel` takes these rows."""
    values = np.asarray(kernel(X, X[:1])), np.asarray(kernel.diagonal(X))
    if not all(np.isfinite(found).all() for found in values):
        raise KernelError("the kernel is NaN or infinite at some of these points.")


def probe(kernel: Kernel, X: Rows) -> None:
    """Raise a KernelError unless `kernel` behaves like one on the rows of X (a few dozen)."""
    require_kernel(kernel)
    K, diagonal = np.asarray(kernel(X, X)), np.asarray(kernel.diagonal(X))
    n = len(X)
    if K.shape != (n, n) or diagonal.shape != (n,):
        raise KernelError(
            f"kernel(X, X) of {n} rows must have shape {(n, n)} and diagonal(X) {(n,)}, "
            f"got {K.shape} and {diagonal.shape}."
        )
    if not (np.isfinite(K).all() and np.isfinite(diagonal).all()):
        raise KernelError("kernel(X, X) must be finite; it is NaN or infinite on rows of the pool.")
    scale = max(float(np.abs(K).max()), np.finfo(float).tiny)
    if np.abs(K - K.T).max() > 1e-8 * scale:
        raise KernelError("the kernel is not symmetric: k(x, z) ≠ k(z, x) on rows of the pool.")
    if np.abs(np.diag(K) - diagonal).max() > 1e-8 * scale:
        raise KernelError("kernel.diagonal(X) must equal the diagonal of kernel(X, X).")
    least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    if least < -1e-8 * scale * n:
        raise KernelError(
            f"the kernel is not positive definite: its Gram matrix on {n} rows of the pool has the "
            f"eigenvalue {least:.3g}. A kernel must be a covariance; distances are not."
        )

"""What the rest of the house asks of a kernel."""

from __future__ import annotations

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

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        """Return k(x, z) for every row x of X and z of Z."""
        ...

    def diagonal(self, X: Rows) -> Vector:
        """Return k(x, x) for every row of X."""
        ...


def kernel_gradient(kernel: Kernel, X: Rows, Z: Rows, C: Matrix) -> Matrix:
    """Return Σ_j C_ij ∂k(x_i, z_j)/∂x_i for every row x_i of X, for boxes.

    A kernel may know it, by a method `gradient(X, Z, C)`; that of others is taken by differences.
    """
    own = getattr(kernel, "gradient", None)
    if own is not None:
        return np.asarray(own(X, Z, C))
    gradient = np.empty(X.shape)
    for j, step in enumerate(STEP * np.eye(X.shape[1])):
        moved = np.asarray(kernel(X + step, Z)) - np.asarray(kernel(X - step, Z))
        gradient[:, j] = np.einsum("ij,ij->i", C, moved) / (2 * STEP)
    return gradient


def slopes(kernel: Kernel, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
    """Return k(x, z) for every pair of rows, and what `kernel_gradient` would make of any C.

    A kernel may know both at once, by a method `slopes(X, Z)`.
    """
    own = getattr(kernel, "slopes", None)
    if own is None:
        return np.asarray(kernel(X, Z)), partial(kernel_gradient, kernel, X, Z)
    values, gradient = own(X, Z)
    return values, gradient


def diagonal_gradient(kernel: Kernel, X: Rows) -> Matrix:
    """Return half the gradient of k(x, x), which is ∂k(x, z)/∂x at z = x, for every row of X.

    A kernel that `is_stationary` has the same k(x, x) everywhere.
    """
    if getattr(kernel, "is_stationary", False):
        return np.zeros(X.shape)
    return kernel_gradient(kernel, X, X, np.eye(len(X)))


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

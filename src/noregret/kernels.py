"""k(x, z): how alike two candidates are.

A stationary kernel's Gram block is one matrix product plus one pass over its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from noregret.arrays import Matrix, Vector
from noregret.errors import ArgumentError, KernelError, require_at_least, require_positive

Lengthscale: TypeAlias = float | tuple[float, ...]
CACHED = 1 << 15  # numbers in a block that stays in a core's own cache


@runtime_checkable
class Kernel(Protocol):
    """A positive definite function of two candidates, in units of f²."""

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k(x, z) for every row x of X and z of Z."""
        ...

    def diagonal(self, X: Matrix) -> Vector:
        """Return k(x, x) for every row of X."""
        ...


def _plus(self: Kernel, other: Kernel) -> Sum:
    return Sum(left=self, right=other)


def _times(self: Kernel, other: Kernel | float) -> Scaled | Product:
    if isinstance(other, int | float):
        return Scaled(kernel=self, variance=float(other))
    return Product(left=self, right=other)


def _kernel(value: object) -> Kernel:
    if isinstance(value, type):
        raise ArgumentError(f"kernel must be an instance, {value.__name__}(...), got the class.")
    if not isinstance(value, Kernel):
        raise ArgumentError(
            f"a kernel must be callable as k(X, Z) and have diagonal(X), got {value!r}."
        )
    return value


@final
@dataclass(frozen=True, slots=True)
class RBF:
    """Gaussian kernel: k(x, z) = exp(−‖(x − z)/lengthscale‖²/2), for very smooth functions.

    >>> RBF(0.5)(np.array([[0.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[1.    , 0.6065]])
    """

    lengthscale: Lengthscale = 1.0

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        _store_lengthscale(self, "RBF(lengthscale=...)", self.lengthscale)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _of_distances(X, Z, self.lengthscale, _gaussian)

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


@final
@dataclass(frozen=True, slots=True)
class Matern:
    """Matérn kernel of smoothness nu = 1/2, 3/2 or 5/2, for rougher functions than RBF's.

    With r = ‖(x − z)/lengthscale‖:  e^(−r);  (1 + √3 r) e^(−√3 r);  (1 + √5 r + 5r²/3) e^(−√5 r).

    Source: Rasmussen & Williams (2006), Eq. 4.17.
    """

    nu: float = 2.5
    lengthscale: Lengthscale = 1.0

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        if self.nu not in _MATERN:
            raise ArgumentError(f"Matern(nu=...) must be 0.5, 1.5 or 2.5, got {self.nu!r}.")
        _store_lengthscale(self, "Matern(lengthscale=...)", self.lengthscale)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _of_distances(X, Z, self.lengthscale, _MATERN[self.nu])

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """Linear kernel: k(x, z) = x·z + bias, for functions linear in the features."""

    bias: float = 0.0

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        require_at_least("Linear(bias=...)", self.bias, 0.0)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        K: Matrix = X @ Z.T
        K += self.bias
        return K

    def diagonal(self, X: Matrix) -> Vector:
        norms: Vector = np.einsum("ij,ij->i", X, X)
        return norms + self.bias


@final
@dataclass(frozen=True, slots=True)
class Scaled:
    """A kernel times a constant: the prior variance of f. Written `variance * kernel`."""

    kernel: Kernel
    variance: float = 1.0

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        _kernel(self.kernel)
        require_positive("Scaled(variance=...)", self.variance)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return self.variance * self.kernel(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return self.variance * self.kernel.diagonal(X)


@final
@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two kernels: f is a sum of two independent functions. Written `a + b`."""

    left: Kernel
    right: Kernel

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        _kernel(self.left)
        _kernel(self.right)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return self.left.diagonal(X) + self.right.diagonal(X)


@final
@dataclass(frozen=True, slots=True)
class Product:
    """The product of two kernels: alike only if alike by both. Written `a * b`."""

    left: Kernel
    right: Kernel

    __add__ = _plus
    __mul__ = _times
    __rmul__ = _times

    def __post_init__(self) -> None:
        _kernel(self.left)
        _kernel(self.right)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return self.left.diagonal(X) * self.right.diagonal(X)


def probe(kernel: Kernel, X: Matrix) -> None:
    """Raise a KernelError unless `kernel` behaves like one on the rows of X (a few dozen)."""
    _kernel(kernel)
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


def _gaussian(S: Matrix) -> None:
    S *= -0.5
    np.exp(S, out=S)


def _matern12(S: Matrix) -> None:
    np.sqrt(S, out=S)
    np.negative(S, out=S)
    np.exp(S, out=S)


def _matern32(S: Matrix) -> None:
    S *= 3.0
    np.sqrt(S, out=S)
    decay = np.exp(-S)
    S += 1.0
    S *= decay


def _matern52(S: Matrix) -> None:
    r = np.sqrt(5.0 * S)
    S *= 5.0 / 3.0
    S += r
    S += 1.0
    np.negative(r, out=r)
    S *= np.exp(r, out=r)


_MATERN: dict[float, Callable[[Matrix], None]] = {0.5: _matern12, 1.5: _matern32, 2.5: _matern52}


def _of_distances(
    X: Matrix, Z: Matrix, scale: Lengthscale, shape: Callable[[Matrix], None]
) -> Matrix:
    """Return shape(‖(x − z)/scale‖²) for all pairs: one matrix product, one pass in chunks.

    With a = (x, ‖x‖², 1) and b = (−2z, 1, ‖z‖²), a·b = ‖x − z‖², up to a rounding error of about
    eps·(‖x‖² + ‖z‖²). Pairs so close that this error matters are computed again by differences, so
    that equal rows have distance 0. Rows are first centred on one of them, to keep norms small.
    """
    if isinstance(scale, tuple) and len(scale) != X.shape[1]:
        raise ArgumentError(
            f"lengthscale has {len(scale)} entries for candidates of {X.shape[1]} features; "
            "give one number, or one a feature."
        )
    if len(X) == 0 or len(Z) == 0:
        return np.zeros((len(X), len(Z)))
    if len(X) == 1 or len(Z) == 1:  # differences cost less than the set-up of a product
        gap = (X - Z) / scale
        S: Matrix = np.einsum("ij,ij->i", gap, gap).reshape(len(X), len(Z))
        shape(S)
        return S
    d = X.shape[1]
    centre = Z[0]
    A, B = np.empty((len(X), d + 2)), np.empty((len(Z), d + 2))
    np.divide(X - centre, scale, out=A[:, :d])
    np.divide(Z - centre, scale, out=B[:, :d])
    a2, b2 = A[:, d], B[:, d + 1]
    np.einsum("ij,ij->i", A[:, :d], A[:, :d], out=a2)
    np.einsum("ij,ij->i", B[:, :d], B[:, :d], out=b2)
    A[:, d + 1] = B[:, d] = 1.0
    B[:, :d] *= -2.0
    S = A @ B.T
    near = 1e-7 * float(a2.max() + b2.max())
    step = max(1, CACHED // len(Z))
    for start in range(0, len(X), step):
        block = S[start : start + step]
        if block.min() < near:
            i, j = np.nonzero(block < near)
            gap = A[start + i, :d] + 0.5 * B[j, :d]
            block[i, j] = np.einsum("ij,ij->i", gap, gap)
        shape(block)
    return S


def _store_lengthscale(kernel: RBF | Matern, name: str, value: object) -> None:
    """Check a lengthscale and keep it as a float or a tuple of floats."""
    checked: Lengthscale
    if isinstance(value, list | tuple | np.ndarray):
        checked = tuple(require_positive(name, entry) for entry in value)
        if not checked:
            raise ArgumentError(f"{name} must not be empty.")
    else:
        checked = require_positive(name, value)
    object.__setattr__(kernel, "lengthscale", checked)

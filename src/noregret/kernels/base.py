"""What a kernel is, checks of those that users give, and sums, products and multiples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias, TypeVar, final, runtime_checkable

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError, KernelError, require_positive
from noregret.kernels.scikit_learn import Scikit, is_scikit, parts_of, seen
from noregret.storable import storable
from noregret.text import counted

Number = TypeVar("Number", int, float)
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

    @abstractmethod
    def diagonal(self, X: Rows) -> Vector:
        """Return k(x, x) for every row of X."""


@runtime_checkable
class DifferentiableKernel(Protocol):
    """A kernel with analytic slopes. On boxes, those of other kernels are finite differences."""

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return k(x, z) for every pair of rows, and C ↦ Σ_j C_ij ∂k(x_i, z_j)/∂x_i."""


def slopes(kernel: Kernel, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
    """Return values and slopes of any kernel, by finite differences where it has none."""
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


def one_or_each(
    name: str, value: object, check: Callable[[str, object], Number]
) -> Number | tuple[Number, ...]:
    """Return a setting that is one number for all features, or one per feature, checked."""
    if not isinstance(value, list | tuple | np.ndarray | range):
        return check(name, value)
    if not len(value):
        raise ArgumentError(f"{name} must not be empty.")
    return tuple(check(name, entry) for entry in value)


def each(name: str, value: Number | tuple[Number, ...], features: int) -> tuple[Number, ...]:
    """Return such a setting as one number per feature, or raise where their number is another."""
    entries = value if isinstance(value, tuple) else (value,) * features
    if len(entries) != features:
        raise ArgumentError(
            f"{name} has {len(entries)} entries for {counted(features, 'feature')}; give one "
            "number, or one per feature."
        )
    return entries


def probe_rows(kernel: Kernel, X: Rows) -> None:
    """Raise a KernelError unless `kernel` takes these rows."""
    with np.errstate(over="ignore", invalid="ignore"):
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


def as_kernel(value: object) -> Kernel:
    """Return `value` if it is a kernel, wrapped if it is one of scikit-learn; else raise."""
    if not is_scikit(value):
        return require_kernel(value)
    if not any(isinstance(part, Kernel) for part in parts_of(value)):
        return seen(value)
    return _apart(value)


class KernelBase(Kernel):
    """A kernel that can be written in sums and products: `a + b`, `a * b`, `2.0 * a`."""

    __slots__ = ()

    @final
    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, other)

    @final
    def __mul__(self, other: Kernel | float) -> Scaled | Product:
        if isinstance(other, int | float):
            return Scaled(self, float(other))
        return Product(self, other)

    @final
    def __rmul__(self, other: Kernel | float) -> Scaled | Product:
        return self * other


class UnitVarianceKernel(KernelBase):
    """A kernel with k(x, x) = 1 everywhere."""

    __slots__ = ()

    @final
    def diagonal(self, X: Rows) -> Vector:
        return np.ones(len(X))


@final
@storable("Scaled")
@dataclass(frozen=True, slots=True)
class Scaled(KernelBase):
    """A kernel times a constant: the prior variance of f. Written `variance * kernel`.

    >>> 4.0 * nr.RBF(0.5)  # f is believed to vary by about 2 either way
    Scaled(kernel=RBF(lengthscale=0.5), variance=4.0)
    """

    kernel: Kernel
    variance: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        require_positive("Scaled(variance=...)", self.variance)

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.variance * self.kernel(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.variance * self.kernel.diagonal(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        values, gradient = slopes(self.kernel, X, Z)
        return self.variance * values, lambda C: self.variance * gradient(C)


@dataclass(frozen=True, slots=True)
class Pair(KernelBase):
    """Two kernels, one of them perhaps of scikit-learn."""

    left: Kernel
    right: Kernel

    @final
    def __post_init__(self) -> None:
        object.__setattr__(self, "left", as_kernel(self.left))
        object.__setattr__(self, "right", as_kernel(self.right))


@final
@storable("Sum")
@dataclass(frozen=True, slots=True)
class Sum(Pair):
    """The sum of two kernels: f is a sum of two independent functions. Written `a + b`.

    >>> nr.Linear() + 0.1 * nr.RBF(0.2)  # a trend, and small deviations from it
    Sum(left=Linear(bias=0.0), right=Scaled(kernel=RBF(lengthscale=0.2), variance=0.1))
    """

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.left.diagonal(X) + self.right.diagonal(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        (a, of_a), (b, of_b) = slopes(self.left, X, Z), slopes(self.right, X, Z)
        return a + b, lambda C: of_a(C) + of_b(C)


@final
@storable("Product")
@dataclass(frozen=True, slots=True)
class Product(Pair):
    """The product of two kernels: alike only if alike by both. Written `a * b`.

    >>> nr.RBF(0.2) * nr.Matern(nu=0.5)
    Product(left=RBF(lengthscale=0.2), right=Matern(nu=0.5, lengthscale=1.0))
    """

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.left.diagonal(X) * self.right.diagonal(X)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        (a, of_a), (b, of_b) = slopes(self.left, X, Z), slopes(self.right, X, Z)
        return a * b, lambda C: of_a(C * b) + of_b(C * a)


def diagonal_slopes(kernel: Kernel, X: Matrix) -> Matrix:
    """Return half the gradient of k(x, x), which is ∂k(x, z)/∂x at z = x, for every row of X."""
    match kernel:
        case UnitVarianceKernel():
            return np.zeros(X.shape)
        case Scaled(kernel=inner, variance=variance):
            return variance * diagonal_slopes(inner, X)
        case _:
            return slopes(kernel, X, X)[1](np.eye(len(X)))


def _apart(kernel: Scikit) -> Kernel:
    """Return theirs + ours, or theirs * ours, which scikit-learn makes a constant of, as ours."""
    inner = getattr(kernel, "constant_value", None)
    if isinstance(inner, Kernel):
        return inner
    joins: dict[str, type[Sum | Product]] = {"Sum": Sum, "Product": Product}
    join = joins.get(type(kernel).__name__)
    if join is None:
        raise ArgumentError(
            f"{type(kernel).__name__} of scikit-learn cannot hold a kernel of noregret; write "
            "sums and products with the kernel of noregret first."
        )
    return join(left=kernel.k1, right=kernel.k2)  # type: ignore[attr-defined]  # as both have

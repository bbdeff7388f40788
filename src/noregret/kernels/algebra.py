"""Kernels made of kernels: variance * a, a + b, a * b; and kernels of others taken in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError, require_positive
from noregret.kernels.base import Kernel, KernelGradient, kernel_gradient, require_kernel, slopes
from noregret.kernels.scikit_learn import Scikit, is_scikit, parts_of, seen
from noregret.storable import storable


def as_kernel(value: object) -> Kernel:
    """Return `value` if it is a kernel, one of scikit-learn's seen as ours; else raise."""
    if not is_scikit(value):
        return require_kernel(value)
    if not any(isinstance(part, Kernel) for part in parts_of(value)):
        return seen(value)
    return _apart(value)


def plus(self: Kernel, other: Kernel) -> Sum:
    return Sum(left=self, right=other)


def times(self: Kernel, other: Kernel | float) -> Scaled | Product:
    if isinstance(other, int | float):
        return Scaled(kernel=self, variance=float(other))
    return Product(left=self, right=other)


@final
@storable("Scaled")
@dataclass(frozen=True, slots=True)
class Scaled:
    """A kernel times a constant: the prior variance of f. Written `variance * kernel`.

    >>> 4.0 * nr.RBF(0.5)  # f is believed to vary by about 2 either way
    Scaled(kernel=RBF(lengthscale=0.5), variance=4.0)
    """

    kernel: Kernel
    variance: float = 1.0

    __add__ = plus
    __mul__ = times
    __rmul__ = times

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        require_positive("Scaled(variance=...)", self.variance)

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.variance * self.kernel(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.variance * self.kernel.diagonal(X)

    def gradient(self, X: Rows, Z: Rows, C: Matrix) -> Matrix:
        return self.variance * kernel_gradient(self.kernel, X, Z, C)

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        values, gradient = slopes(self.kernel, X, Z)
        return self.variance * values, lambda C: self.variance * gradient(C)

    @property
    def is_stationary(self) -> bool:
        return bool(getattr(self.kernel, "is_stationary", False))


@final
@storable("Sum")
@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two kernels: f is a sum of two independent functions. Written `a + b`.

    >>> nr.Linear() + 0.1 * nr.RBF(0.2)  # a trend, and small deviations from it
    Sum(left=Linear(bias=0.0), right=Scaled(kernel=RBF(lengthscale=0.2), variance=0.1))
    """

    left: Kernel
    right: Kernel

    __add__ = plus
    __mul__ = times
    __rmul__ = times

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", as_kernel(self.left))
        object.__setattr__(self, "right", as_kernel(self.right))

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.left.diagonal(X) + self.right.diagonal(X)

    def gradient(self, X: Rows, Z: Rows, C: Matrix) -> Matrix:
        return kernel_gradient(self.left, X, Z, C) + kernel_gradient(self.right, X, Z, C)


@final
@storable("Product")
@dataclass(frozen=True, slots=True)
class Product:
    """The product of two kernels: alike only if alike by both. Written `a * b`.

    >>> nr.RBF(0.2) * nr.Matern(nu=0.5)
    Product(left=RBF(lengthscale=0.2), right=Matern(nu=0.5, lengthscale=1.0))
    """

    left: Kernel
    right: Kernel

    __add__ = plus
    __mul__ = times
    __rmul__ = times

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", as_kernel(self.left))
        object.__setattr__(self, "right", as_kernel(self.right))

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.left.diagonal(X) * self.right.diagonal(X)

    def gradient(self, X: Rows, Z: Rows, C: Matrix) -> Matrix:
        a, b = self.left(X, Z), self.right(X, Z)
        return kernel_gradient(self.left, X, Z, C * b) + kernel_gradient(self.right, X, Z, C * a)


def _apart(kernel: Scikit) -> Kernel:
    """Return theirs + ours, or theirs * ours, which scikit-learn makes a constant of, as ours."""
    own = getattr(kernel, "constant_value", None)
    if isinstance(own, Kernel):
        return own
    joins: dict[str, type[Sum | Product]] = {"Sum": Sum, "Product": Product}
    join = joins.get(type(kernel).__name__)
    if join is None:
        raise ArgumentError(
            f"{type(kernel).__name__} of scikit-learn cannot hold a kernel of noregret; write "
            "sums and products with the kernel of noregret first."
        )
    return join(left=kernel.k1, right=kernel.k2)  # type: ignore[attr-defined]  # as both have

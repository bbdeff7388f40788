"""Kernels made of kernels: variance * a, a + b, a * b; and kernels of others taken in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError, require_positive
from noregret.kernels.base import Kernel, KernelGradient, require_kernel, slopes
from noregret.kernels.scikit_learn import Scikit, is_scikit, parts_of, seen
from noregret.storable import storable


def as_kernel(value: object) -> Kernel:
    """Return `value` if it is a kernel, one of scikit-learn's seen as ours; else raise."""
    if not is_scikit(value):
        return require_kernel(value)
    if not any(isinstance(part, Kernel) for part in parts_of(value)):
        return seen(value)
    return _apart(value)


class KernelBase(Kernel):
    """What makes a kernel part of sums and products: `a + b`, `a * b`, `2.0 * a`."""

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

"""k(x, z) = shape(‖(x − z)/lengthscale‖²): alike if close.

A Gram block is one matrix product plus one pass over its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from noregret.arrays import Matrix, require_numbers
from noregret.errors import ArgumentError, KernelError, require_positive
from noregret.kernels.base import (
    Kernel,
    KernelGradient,
    Product,
    Scaled,
    Sum,
    UnitVarianceKernel,
    each,
    one_or_each,
)
from noregret.storable import storable

Lengthscale: TypeAlias = float | tuple[float, ...]
SMALL = 450.0  # squared norms whose rounding stays below 1e-13
CACHED = 1 << 15  # numbers in a block that stays in the cache of a core


@final
@storable("RBF")
@dataclass(frozen=True, slots=True)
class RBF(UnitVarianceKernel):
    """Gaussian kernel: k(x, z) = exp(−‖(x − z)/lengthscale‖²/2), for very smooth functions.

    >>> RBF(0.5)(np.array([[0.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[1.    , 0.6065]])
    """

    lengthscale: Lengthscale = 1.0

    def __post_init__(self) -> None:
        checked = one_or_each("RBF(lengthscale=...)", self.lengthscale, require_positive)
        object.__setattr__(self, "lengthscale", checked)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _of_distances(X, Z, self.lengthscale, _gaussian)

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return values and slopes: dk/dx = −k·(x − z)/lengthscale²."""
        K = self(X, Z)
        return K, lambda C: _weighted_gaps(X, Z, self.lengthscale, -C * K)


@final
@storable("Matern")
@dataclass(frozen=True, slots=True)
class Matern(UnitVarianceKernel):
    """Matérn kernel of smoothness nu = 1/2, 3/2 or 5/2, for rougher functions than RBF's.

    With r = ‖(x − z)/lengthscale‖:  e^(−r);  (1 + √3 r) e^(−√3 r);  (1 + √5 r + 5r²/3) e^(−√5 r).

    Source: Rasmussen & Williams (2006), Eq. 4.17.

    >>> Matern(nu=0.5, lengthscale=0.5)(np.array([[0.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[1.    , 0.3679]])

    One lengthscale per feature, as in `Matern(lengthscale=(0.1, 2.0))`, lets f change faster along
    some features than along others.
    """

    nu: float = 2.5
    lengthscale: Lengthscale = 1.0

    def __post_init__(self) -> None:
        if self.nu not in _MATERN:
            raise ArgumentError(f"Matern(nu=...) must be 0.5, 1.5 or 2.5, got {self.nu!r}.")
        checked = one_or_each("Matern(lengthscale=...)", self.lengthscale, require_positive)
        object.__setattr__(self, "lengthscale", checked)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return _of_distances(X, Z, self.lengthscale, _MATERN[self.nu])

    def slopes(self, X: Matrix, Z: Matrix) -> tuple[Matrix, KernelGradient]:
        """Return values and slopes, of the same distances: dk/dx = s(r)·(x − z)/lengthscale² with

        s = −e^(−r)/r, −3e^(−√3 r), −5/3·(1 + √5 r)e^(−√5 r). For nu = 1/2 there is none at z = x;
        it is taken as 0.
        """
        scale, shape, steepness = self.lengthscale, _MATERN[self.nu], _SLOPE[self.nu]
        if shape in _KINKED:
            values = self(X, Z)
            slope = _of_distances(X, Z, scale, steepness)
        else:
            slope = _of_distances(X, Z, scale, lambda _: None)  # squares as they are
            values = slope.copy()
            shape(values)
            steepness(slope)
        return values, lambda C: _weighted_gaps(X, Z, scale, C * slope)


def shortened(kernel: Kernel, by: float) -> Kernel:
    """Return the kernel with every lengthscale divided by a number.

    Of RBF and Matern, their multiples, sums and products: k(by·x, by·z). For by ≥ 1 the norm of a
    function grows by at most by^(d/2): with k̂ the spectral density of k, that of the new kernel is
    by^(−d)·k̂(ξ/by) ≥ by^(−d)·k̂(ξ), since k̂ does not rise along any ray from 0.

    Source: Bull 2011, Lemma 4. Differs: for sums, whose densities add, and products, whose convolve
    and do not rise along rays either (Anderson 1955).

    >>> shortened(2.0 * RBF((1.0, 3.0)), by=2.0)
    Scaled(kernel=RBF(lengthscale=(0.5, 1.5)), variance=2.0)
    """
    match kernel:
        case RBF(lengthscale=scale):
            return RBF(_divided(scale, by))
        case Matern(nu=nu, lengthscale=scale):
            return Matern(nu, _divided(scale, by))
        case Scaled(kernel=inner, variance=variance):
            return Scaled(shortened(inner, by), variance)
        case Sum(left=left, right=right):
            return Sum(shortened(left, by), shortened(right, by))
        case Product(left=left, right=right):
            return Product(shortened(left, by), shortened(right, by))
    raise KernelError(
        'norm_bound="grow" shrinks lengthscales, and it is known how norms follow for RBF and '
        f"Matern, their multiples, sums and products; not for {kernel!r:.80}. Take one of these, "
        'or norm_bound="double", or a number.'
    )


def _divided(scale: Lengthscale, by: float) -> Lengthscale:
    return tuple(each / by for each in scale) if isinstance(scale, tuple) else scale / by


def _gaussian(S: Matrix) -> None:
    S *= -0.5
    np.exp(S, out=S)


def _matern12(S: Matrix) -> None:
    np.sqrt(S, out=S)
    np.negative(S, out=S)
    np.exp(S, out=S)


def _matern52(S: Matrix) -> None:
    r = np.sqrt(5.0 * S)
    S *= 5.0 / 3.0
    S += r
    S += 1.0
    np.negative(r, out=r)
    S *= np.exp(r, out=r)


def _slope12(S: Matrix) -> None:
    np.sqrt(S, out=S)
    np.divide(-np.exp(-S), S, out=S, where=S > 0)


def _slope32(S: Matrix) -> None:
    S *= 3.0
    _matern12(S)
    S *= -3.0


def _slope52(S: Matrix) -> None:
    _matern32(S, 5.0)
    S *= -5.0 / 3.0


def _matern32(S: Matrix, factor: float = 3.0) -> None:
    """Turn S into (1 + r)·e^(−r) with r = √(factor·S)."""
    S *= factor
    np.sqrt(S, out=S)
    decay = np.exp(-S)
    S += 1.0
    S *= decay


_MATERN: dict[float, Callable[[Matrix], None]] = {0.5: _matern12, 1.5: _matern32, 2.5: _matern52}
_SLOPE: dict[float, Callable[[Matrix], None]] = {0.5: _slope12, 1.5: _slope32, 2.5: _slope52}
_KINKED = (_matern12, _slope12)  # that pass on the root of a rounding error


def _of_distances(
    X: Matrix, Z: Matrix, scale: Lengthscale, shape: Callable[[Matrix], None]
) -> Matrix:
    """Return shape(‖(x − z)/scale‖²) for all pairs: one matrix product, one pass in chunks.

    With a = (x, ‖x‖², 1) and b = (−2z, 1, ‖z‖²), a·b = ‖x − z‖², up to a rounding error of about
    eps·(‖x‖² + ‖z‖²). Where that matters, close pairs are computed again by differences, so that
    equal rows have distance 0: always for nu = 1/2, whose values move by the root of it; for the
    others, by which it is passed on as it is, where norms are large. Rows are first centred on the
    middle of three of them, to keep norms small.
    """
    require_numbers(X, Z)
    each("lengthscale", scale, X.shape[1])
    if len(X) == 0 or len(Z) == 0:
        return np.zeros((len(X), len(Z)))
    if len(X) == 1 or len(Z) == 1:  # differences cost less than the set-up of a product
        gap = (X - Z) / scale
        S: Matrix = np.einsum("ij,ij->i", gap, gap).reshape(len(X), len(Z))
        shape(S)
        return S
    d = X.shape[1]
    centre = np.sort(Z[[0, len(Z) // 2, -1]], axis=0)[1]  # one far off does not move it
    A, B = np.empty((len(X), d + 2)), np.empty((len(Z), d + 2))
    np.divide(X - centre, scale, out=A[:, :d])
    np.divide(Z - centre, scale, out=B[:, :d])
    a2, b2 = A[:, d], B[:, d + 1]
    np.einsum("ij,ij->i", A[:, :d], A[:, :d], out=a2)
    np.einsum("ij,ij->i", B[:, :d], B[:, :d], out=b2)
    A[:, d + 1] = B[:, d] = 1.0
    B[:, :d] *= -2.0
    S = A @ B.T
    norms = float(a2.max() + b2.max())
    near = 1e-7 * norms
    harmless = shape not in _KINKED and norms <= SMALL
    step = max(1, CACHED // len(Z))
    for start in range(0, len(X), step):
        block = S[start : start + step]
        if harmless:
            np.maximum(block, 0.0, out=block)
        elif block.min() < near:
            i, j = np.nonzero(block < near)
            gap = A[start + i, :d] + 0.5 * B[j, :d]
            block[i, j] = np.einsum("ij,ij->i", gap, gap)
        shape(block)
    return S


def _weighted_gaps(X: Matrix, Z: Matrix, scale: Lengthscale, W: Matrix) -> Matrix:
    """Return Σ_j W_ij (x_i − z_j)/scale², without the differences: one product."""
    centre = Z[:1].sum(axis=0)  # small norms keep it exact
    gradient: Matrix = W.sum(axis=1)[:, None] * (X - centre) - W @ (Z - centre)
    return gradient / np.square(scale)

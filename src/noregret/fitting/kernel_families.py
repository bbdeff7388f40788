"""Kernels with parameters: what a fit may choose among, with the gradients that it needs.

A family is of unit variance; scale and noise are the likelihood's. Parameters are logarithms of
lengthscales, in units of each feature's range, so that one prior serves every pool.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Rows, Vector
from noregret.kernels import RBF, Kernel, Matern
from noregret.storable import storable

Shape: TypeAlias = Literal["rough", "smooth"]
TraceGradient: TypeAlias = Callable[[Matrix], Vector]  # of a symmetric matrix
REMOTE, BEYOND = 1e4, 1e7  # lengthscales from the origin, and from the middle
FAR = 1e12  # a lengthscale over which nothing changes


class Family(Protocol):
    """Kernels k_θ of unit variance."""

    @property
    def size(self) -> int:
        """How many parameters there are."""

    @property
    def lengthscales(self) -> int:
        """How many of them, from the first on, are logarithms of lengthscales."""

    def kernel(self, theta: Vector) -> Kernel:
        """Return the kernel of what candidates share, of unit variance."""

    def gram(self, theta: Vector, X: Rows) -> tuple[Matrix, TraceGradient]:
        """Return k_θ of all pairs, and how it moves: M to Σ_ab M_ab ∂k_θ(x_a, x_b)/∂θ_j."""


@final
@storable("Grouped")
@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Stationary kernels with a lengthscale for each group of columns.

    With u = x/(ℓ_g·span) column by column, S = ‖u − u'‖² and

        "rough":   k = (1 + r + r²/3)·e^(−r),  r = √(5S)            Matérn-5/2
        "smooth":  k = e^(−S/2)                                      RBF; Hamming's on codes

    A group of one column is a numeric feature; the columns of a one-hot code are one group: there
    S counts 2/ℓ² for every code that differs, so that "smooth" is `Categorical` of weight 1/ℓ².

    With φ'(S) the slope of the shape and H = M ∘ φ'(S), h = H·1,

        Σ_ab M_ab ∂k/∂log ℓ_g = −4 Σ_{j∈g} (u_jᵀ diag(h) u_j − u_jᵀ H u_j)                    (1)

    which costs two products of H with the features, never an n × n matrix a feature.
    (1) is algebra.
    """

    groups: Indices  # (d,) the group of each column, from 0 without gaps
    span: Vector  # (d,) range of each column; 0 where it never changes
    shape: Shape = "rough"

    @property
    def size(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    @property
    def lengthscales(self) -> int:
        return self.size

    @property
    def varies(self) -> Mask:
        """Which groups have a column that is not the same everywhere."""
        varies: Mask = np.bincount(self.groups, self.span > 0, self.size) > 0
        return varies

    def kernel(self, theta: Vector) -> Kernel:
        scales = tuple(self.scales(theta).tolist())
        return Matern(2.5, scales) if self.shape == "rough" else RBF(scales)

    def gram(self, theta: Vector, X: Rows) -> tuple[Matrix, TraceGradient]:
        U = _centred(X / self.scales(theta))
        K, slope = SHAPES[self.shape](_squares(U))

        def trace_gradient(M: Matrix) -> Vector:
            H = M * slope
            columns = H.sum(axis=1) @ U**2 - np.einsum("ij,ij->j", U, H @ U)
            return np.asarray(-4.0 * np.bincount(self.groups, columns, self.size), np.float64)

        return K, trace_gradient

    def scales(self, theta: Vector) -> Vector:
        """Return the lengthscale of each column, in its units."""
        scales: Vector = np.exp(theta)[self.groups] * np.where(self.span > 0, self.span, 1.0)
        return scales


@final
@storable("Fixed")
@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A kernel with nothing to choose, such as Tanimoto's."""

    held: Kernel
    size: int = 0
    lengthscales: int = 0

    def kernel(self, theta: Vector) -> Kernel:
        return self.held

    def gram(self, theta: Vector, X: Rows) -> tuple[Matrix, TraceGradient]:
        return np.asarray(self.held(X, X)), lambda _: np.empty(0)


@final
@storable("Joint")
@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The product of two families on different columns: numbers, and codes.

    Each kernel is given whole rows of the pool, with infinite lengthscales on the other's columns.
    """

    numbers: Grouped
    codes: Grouped
    which: Indices  # (d,) 0 where a column is the numbers', 1 where it is the codes'

    @property
    def size(self) -> int:
        return self.numbers.size + self.codes.size

    @property
    def lengthscales(self) -> int:
        return self.size

    @property
    def varies(self) -> Mask:
        return np.concatenate([self.numbers.varies, self.codes.varies])

    def kernel(self, theta: Vector) -> Kernel:
        a, b = np.split(theta, [self.numbers.size])
        rough, smooth = Matern(2.5, self._wide(a, 0)), RBF(self._wide(b, 1))
        product: Kernel = rough * smooth
        return product

    def gram(self, theta: Vector, X: Rows) -> tuple[Matrix, TraceGradient]:
        a, b = np.split(theta, [self.numbers.size])
        A, gradient_a = self.numbers.gram(a, X[:, self.which == 0])
        B, gradient_b = self.codes.gram(b, X[:, self.which == 1])
        return A * B, lambda M: np.concatenate([gradient_a(M * B), gradient_b(M * A)])

    def _wide(self, theta: Vector, side: int) -> tuple[float, ...]:
        """Return the lengthscales of one side on all columns."""
        wide = np.full(len(self.which), FAR)
        wide[self.which == side] = (self.numbers, self.codes)[side].scales(theta)
        return tuple(wide.tolist())


@final
@storable("WithCandidateEffect")
@dataclass(frozen=True, slots=True, eq=False)
class WithCandidateEffect:
    """Another family, and a candidate effect: a part ρ of the variance that no candidates share,

        (1 − ρ)·k_θ(x, z) + ρ·[x = z],        ρ = 1/(1 + e^(−t))                               (1)

    for t the last parameter. Features seldom say everything: without it, what they do not say must
    pass for noise, which replicates deny, or for a function that changes from one candidate to the
    next, of which nothing can be learned from others.
    """

    inner: Family

    @property
    def size(self) -> int:
        return self.inner.size + 1

    @property
    def lengthscales(self) -> int:
        return self.inner.lengthscales

    def kernel(self, theta: Vector) -> Kernel:
        return self.inner.kernel(theta[:-1])

    def gram(self, theta: Vector, X: Rows) -> tuple[Matrix, TraceGradient]:
        """On points that all differ, as those of a run do."""
        K, inner = self.inner.gram(theta[:-1], X)
        rho = effect_share(self, theta)

        def trace_gradient(M: Matrix) -> Vector:
            effect = rho * (1.0 - rho) * float(np.trace(M) - np.vdot(M, K))
            return np.append((1.0 - rho) * inner(M), effect)

        whole: Matrix = (1.0 - rho) * K
        np.einsum("ii->i", whole)[...] += rho
        return whole, trace_gradient


def effect_share(family: Family, theta: Vector) -> float:
    """Return the share of the variance that is the candidate effect's."""
    return 1.0 / (1.0 + math.exp(-theta[-1])) if isinstance(family, WithCandidateEffect) else 0.0


def _centred(U: Matrix) -> Matrix:
    """Return points moved to where norms are small: differences count, and stay exact.

    A point far off everything else would take the mean along: there the median is the middle, and
    what is farther than anything could tell is brought nearer.
    """
    if np.abs(U).max(initial=0.0) <= REMOTE:
        return np.asarray(U - U.mean(axis=0))
    return np.asarray(np.clip(U - np.median(U, axis=0), -BEYOND, BEYOND))


def _squares(U: Matrix) -> Matrix:
    """Return ‖u_a − u_b‖² for all pairs, 0 on the diagonal."""
    norms = np.einsum("ij,ij->i", U, U)
    S: Matrix = norms[:, None] + norms[None] - 2.0 * U @ U.T
    np.maximum(S, 0.0, out=S)  # rounding leaves some −eps·‖u‖² near the diagonal
    np.fill_diagonal(S, 0.0)
    return S


def _matern(S: Matrix) -> tuple[Matrix, Matrix]:
    slope = np.sqrt(np.multiply(S, 5.0))  # r, to begin with
    decay = np.negative(slope)
    np.exp(decay, out=decay)
    slope += 1.0
    slope *= decay  # (1 + r)·e^(−r), and k = (1 + r + r²/3)·e^(−r), where r² = 5S
    k = np.multiply(S, 5.0 / 3.0)
    k *= decay
    k += slope
    slope *= -5.0 / 6.0
    return k, slope


def _gauss(S: Matrix) -> tuple[Matrix, Matrix]:
    k: Matrix = np.exp(-0.5 * S)
    return k, -0.5 * k


SHAPES: dict[Shape, Callable[[Matrix], tuple[Matrix, Matrix]]] = {
    "rough": _matern,
    "smooth": _gauss,
}  # k and dk/dS

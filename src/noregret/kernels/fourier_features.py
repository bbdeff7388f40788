"""Functions of few numbers: features φ with φ(x)ᵀφ(z) ≈ k(x, z), random or by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Mask, Matrix, Rows, Vector
from noregret.errors import ArgumentError, require_count
from noregret.kernels.base import Kernel, Product, Scaled, Sum, each, one_or_each
from noregret.kernels.linear import Linear
from noregret.kernels.stationary import RBF, Matern
from noregret.pools import Points, Scales
from noregret.storable import storable

Precision: TypeAlias = type[np.complex64] | type[np.complex128]
Waves: TypeAlias = npt.NDArray[np.complex64] | npt.NDArray[np.complex128]
Phases: TypeAlias = npt.NDArray[np.complex128]
Features: TypeAlias = Callable[[Rows, Precision], Waves]
MOST_DIMENSIONS = 3
MOST_FEATURES = 4096  # their covariance takes 128 MB, a factor of it some seconds
ERROR = 1e-4  # of k(x, z), aimed at where the number of nodes is not given


def random_features(
    kernel: Kernel, origin: Vector, count: int, rng: np.random.Generator
) -> Features | None:
    """Return φ with E[φⱼ(x)·φⱼ(z)*] = k(x, z) for each of `count` features; None if unknown.

    Waves e^(iωx) for RBF and Matérn, ω from their spectral density; random projections for Linear.
    A feature of a product is the product of one feature of each, of a sum one of either. Phases are
    measured from the `origin`, a point near the others, so that rounding costs few digits. φ takes
    a precision.

    Source: Rahimi & Recht 2007; Matérn's density is a Student t of 2ν degrees of freedom
    (Rasmussen & Williams 2006, Eq. 4.15).
    """
    dim = len(origin)
    match kernel:
        case RBF(lengthscale=scale):
            return _waves(rng.standard_normal((dim, count)), scale, origin)
        case Matern(nu=nu, lengthscale=scale):
            t = np.sqrt(rng.chisquare(2 * nu, count) / (2 * nu))
            return _waves(rng.standard_normal((dim, count)) / t, scale, origin)
        case Linear(bias=bias):
            R = rng.standard_normal((dim + 1, count))
            return lambda X, precision: (X @ R[1:] + bias**0.5 * R[0]).astype(precision)
        case Scaled(kernel=inner, variance=variance):
            part = random_features(inner, origin, count, rng)
            root = variance**0.5
            return None if part is None else lambda X, precision: part(X, precision) * root
        case Sum(left=left, right=right) | Product(left=left, right=right):
            a = random_features(left, origin, count, rng)
            b = random_features(right, origin, count, rng)
            if a is None or b is None:
                return None
            if isinstance(kernel, Product):
                return lambda X, precision: a(X, precision) * b(X, precision)
            return _either(a, b, rng.random(count) < 0.5)
        case _:
            return None


def _waves(frequencies: Matrix, scale: float | tuple[float, ...], origin: Vector) -> Features:
    turns = frequencies / np.reshape(scale, (-1, 1)) / (2 * np.pi)

    def features(X: Rows, precision: Precision) -> Waves:
        phase = (X - origin) @ turns
        phase -= np.rint(phase)  # in double precision: single would lose many turns
        out = np.empty(phase.shape, dtype=precision)
        angle = (2 * np.pi * phase).astype(out.real.dtype)
        np.cos(angle, out=out.real)
        np.sin(angle, out=out.imag)
        return out

    return features


def _either(a: Features, b: Features, first: Mask) -> Features:
    """Return features of which each is that of a where it is first, else of b, times √2."""

    def features(X: Rows, precision: Precision) -> Waves:
        out: Waves = np.where(first, a(X, precision), b(X, precision))
        out *= 2**0.5
        return out

    return features


@final
@storable("QuadratureFeatures")
@dataclass(frozen=True, slots=True)
class QuadratureFeatures:
    """Features φ with φ(x)ᵀφ(z) ≈ k(x, z) for a Gaussian kernel; itself a kernel, of finite rank.

    A Gaussian kernel is the average of cos(ωᵀ(x − z)) over ω ~ N(0, diag(lengthscale)⁻²). With the
    nodes s and weights v of Gauss-Hermite quadrature (for e^(−s²)) in every dimension,

        k(x, z) ≈ variance · Σ p cos(ωᵀ(x − z)),    ω = √2·s/lengthscale,   p = Π v/√π        (1)

    summed over the tensor product of the nodes. ω and −ω share a cosine and a sine, so that m nodes
    in each of d dimensions make m^d features. By the remainder of the quadrature, with r the
    largest distance in a dimension divided by its lengthscale, each dimension adds at most

        variance · m!/(2m)! · r^(2m)  ≈  variance/√2 · (e·r²/(4m))^m                         (2)

    Source: Mutný & Krause, NeurIPS 2018 (quadrature Fourier features).
    """

    lengthscales: tuple[float, ...]
    variance: float
    nodes: tuple[int, ...]  # one number per dimension
    centre: tuple[float, ...]  # phases are measured from here, to keep them small
    _waves: tuple[Vector, ...] = field(init=False, repr=False, compare=False)  # ω of each dimension
    _roots: Vector = field(init=False, repr=False, compare=False)  # √(p·variance), one of each ±ω

    def __post_init__(self) -> None:
        from scipy.special import roots_hermite  # loads slowly, and only this needs it

        waves, weights = list[Vector](), np.array([self.variance])
        for m, lengthscale in zip(self.nodes, self.lengthscales, strict=True):
            s, v = roots_hermite(m)
            s, v = (s - s[::-1]) / 2, (v + v[::-1]) / 2  # symmetric to the last bit
            waves.append(np.sqrt(2.0) / lengthscale * s)
            weights = np.multiply.outer(weights, v / v.sum()).ravel()
        waves[0] = waves[0][: (len(waves[0]) + 1) // 2]  # behind the middle come those of −ω
        object.__setattr__(self, "_waves", tuple(waves))
        object.__setattr__(self, "_roots", np.sqrt(weights[: (self.size + 1) // 2]))

    @property
    def size(self) -> int:
        """Number of features."""
        return math.prod(self.nodes)

    def embed(self, X: Matrix) -> Matrix:
        """Return φ of each row of X: cosines, sines, and where ω = 0 a constant."""
        phases = np.ones((len(X), 1), dtype=np.complex128)
        for turns in self._turns(X):
            width = phases.shape[1] * turns.shape[1]
            phases = (phases[:, :, None] * turns[:, None, :]).reshape(len(X), width)
        pairs, lonely = divmod(self.size, 2)
        Z = np.empty((len(X), self.size))
        twice = math.sqrt(2.0) * self._roots[:pairs]
        np.multiply(phases[:, :pairs].real, twice, out=Z[:, :pairs])
        np.multiply(phases[:, :pairs].imag, twice, out=Z[:, pairs : 2 * pairs])
        if lonely:
            Z[:, -1] = self._roots[-1]
        return Z

    def values(self, X: Matrix, thetas: Matrix) -> Matrix:
        """Return φ(x)ᵀθ for each θ and each row of X, without any φ(x).

        A cosine and a sine are the real part of (a − ib)·e^(iωᵀx), a product over dimensions, which
        are summed over one by one: a matrix product for the last.
        """
        pairs, lonely = divmod(self.size, 2)
        waves = math.prod(map(len, self._waves))
        c = np.zeros((len(thetas), waves), dtype=np.complex128)
        c[:, :pairs] = thetas[:, :pairs] - 1j * thetas[:, pairs : 2 * pairs]
        c[:, :pairs] *= math.sqrt(2.0) * self._roots[:pairs]
        if lonely:
            c[:, pairs] = thetas[:, -1] * self._roots[-1]
        *others, last = self._turns(X)
        sums = last @ c.reshape(-1, last.shape[1]).T  # (rows, θ × nodes of the other dimensions)
        for turns in reversed(others):
            k = turns.shape[1]
            sums = np.einsum("nrk,nk->nr", sums.reshape(len(X), sums.shape[1] // k, k), turns)
        return np.asarray(sums.real.T)

    def _turns(self, X: Matrix) -> list[Phases]:
        """Return e^(iω(x − centre)) of every dimension."""
        columns = zip(X.T, self.centre, self._waves, strict=True)
        return [np.exp(1j * np.multiply.outer(x - at, waves)) for x, at, waves in columns]

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        K: Matrix = self.embed(X) @ self.embed(Z).T
        return K

    def diagonal(self, X: Matrix) -> Vector:
        """Return the variance: cos² + sin² = 1 at every frequency, and the weights add up to 1."""
        return np.full(len(X), self.variance)


def error_bound(nodes: int, reach: float) -> float:
    """Return (2) for one dimension and variance 1, `reach` being r."""
    if reach == 0:
        return 0.0
    log = math.lgamma(nodes + 1) - math.lgamma(2 * nodes + 1) + 2 * nodes * math.log(reach)
    return math.exp(min(log, 700.0))


def quadrature(kernel: Kernel, pool: Points, nodes: object) -> QuadratureFeatures:
    """Return features for a Gaussian kernel over a pool: with these nodes, or by the error."""
    d, variance = pool.dim, 1.0
    if d > MOST_DIMENSIONS:
        raise ArgumentError(
            f"ts_qff takes candidates of at most {MOST_DIMENSIONS} features, got {d}: its cost "
            "grows exponentially with them. Use mini_gp_ucb or bbkb."
        )
    while isinstance(kernel, Scaled):
        variance *= kernel.variance
        kernel = kernel.kernel
    if not isinstance(kernel, RBF):
        raise ArgumentError(
            f"ts_qff(kernel=...) must be RBF(lengthscale) or variance * RBF(lengthscale), whose "
            f"frequencies are Gaussian; got {kernel!r}."
        )
    lengthscales = each("lengthscale", kernel.lengthscale, d)
    scales = Scales.of(pool)
    reaches = (scales.span / np.array(lengthscales)).tolist()
    if nodes is None:
        every = range(1, MOST_FEATURES)
        counts = tuple(
            next((m for m in every if error_bound(m, reach) <= ERROR / d), MOST_FEATURES)
            for reach in reaches
        )
    else:
        name = "ts_qff(nodes=...)"
        counts = each(name, one_or_each(name, nodes, require_count), d)
    if math.prod(counts) > MOST_FEATURES:
        raise ArgumentError(
            f"ts_qff needs {' × '.join(map(str, counts))} = {math.prod(counts)} features, more "
            f"than {MOST_FEATURES}: the pool reaches over {max(reaches):.3g} lengthscales. Give "
            "fewer nodes=..., a longer lengthscale, or use mini_gp_ucb."
        )
    centre = (scales.low + scales.span / 2).tolist()
    return QuadratureFeatures(lengthscales, variance, counts, tuple(centre))

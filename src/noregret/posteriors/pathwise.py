"""Functions drawn from a posterior, at any points, at a cost linear in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Matrix, Rows, stacked
from noregret.kernels import Features, Kernel, random_features
from noregret.pools import Points, hashed, mixed
from noregret.posteriors import cholesky
from noregret.posteriors.base import Posterior

FREQUENCIES = 256  # random features of a prior
BLOCK = 64  # points whose features stay in a core's cache
LANDMARKS = 128  # points that stand for a prior without random features


class PriorDraws(Protocol):
    """Some functions drawn from a prior."""

    def values(self, X: Rows) -> Matrix:
        """Return a row for each row of X, a column for each function."""

    def precise_values(self, X: Rows) -> Matrix:
        """Return the same in double precision."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """f₀ = Re Σⱼ cⱼ φⱼ(x)/√D, random features φ, complex normal c: E f₀(x)f₀(z) = k(x, z)."""

    features: Features
    weights: npt.NDArray[np.float32]  # (2D, functions)

    @classmethod
    def sampled(cls, features: Features, size: int, rng: np.random.Generator) -> Waves:
        weights = rng.standard_normal((2 * FREQUENCIES, size)) / FREQUENCIES**0.5
        return cls(features, weights.astype(np.float32))

    def values(self, X: Rows) -> Matrix:
        out = np.empty((len(X), self.weights.shape[1]))
        for start in range(0, len(X), BLOCK):
            some = self.features(X[start : start + BLOCK], np.complex64)
            out[start : start + BLOCK] = some.view(np.float32) @ self.weights
        return out

    def precise_values(self, X: Rows) -> Matrix:
        """Points that nearly coincide make much of the last digits, where they are solved with."""
        waves = self.features(X, np.complex128).view(np.float64)
        return np.asarray(waves @ self.weights.astype(np.float64))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """f₀ = z(x)ᵀg + √(k(x, x) − ‖z(x)‖²)·η(x): embedded in some points of the pool, the rest white.

    Variances are those of the prior, and so are covariances with landmarks; between other points
    they lack what no landmark explains. With the points of a posterior among them, variances of
    functions drawn from it are exact. η is a standard normal number made of the bits of x, so
    that a function has one value at a point whenever it is asked for.
    """

    kernel: Kernel
    points: Rows
    LS: Matrix
    weights: Matrix  # (m, functions)
    salts: npt.NDArray[np.uint64]  # (functions,)

    @classmethod
    def sampled(
        cls, kernel: Kernel, points: Rows, size: int, rng: np.random.Generator
    ) -> Landmarks:
        LS, kept = cholesky.pivoted(kernel(points, points))
        salts = rng.integers(0, 2**63, size, dtype=np.uint64)
        return cls(kernel, points[kept], LS, rng.standard_normal((len(kept), size)), salts)

    def values(self, X: Rows) -> Matrix:
        from scipy.special import ndtri  # loads slowly

        Z = cholesky.solve_lower(self.LS, self.kernel(X, self.points).T)
        left = np.maximum(self.kernel.diagonal(X) - np.einsum("ij,ij->j", Z, Z), 0.0)
        bits = mixed(hashed(X)[:, None] ^ self.salts)
        eta = ndtri(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)
        return np.asarray(Z.T @ self.weights + np.sqrt(left)[:, None] * eta)

    precise_values = values


def sample_functions(posterior: Posterior, X: Rows, size: int, rng: np.random.Generator) -> Matrix:
    """Return `size` functions drawn from a posterior at some points, a column each: O(rows³)."""
    C = posterior.covariance(X, X)
    LS, kept = cholesky.pivoted(C, float(posterior.kernel.diagonal(X).max(initial=0.0)))
    root = cholesky.solve_lower(LS, C[kept])  # (kept, rows), rootᵀ root = C
    values: Matrix = posterior.mean(X)[:, None] + root.T @ rng.standard_normal((len(kept), size))
    return values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Functions drawn from a posterior by updating functions drawn from its prior.

    With f₀ from the prior and P, a, B of `Posterior.basis`, Matheron's rule is

        f(x) = μ(x) + scale·(f₀(x) − k_P(x)ᵀ v),     v of `Posterior.explained_samples`      (1)

    Mean and covariance over draws are those of the posterior (the covariance times scale²)
    exactly, whatever the number of features, since E f₀f₀ = k; only higher moments are those of
    a mixture. O(FREQUENCIES·d + n) a point. For kernels without random features landmarks stand
    for the prior, at O((LANDMARKS + n)²) a point: means and variances are exact, covariances lack
    what neither landmarks nor points explain.

    Source: Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors".
    """

    posterior: Posterior
    prior: PriorDraws
    v: Matrix  # (basis, functions)
    scale: float

    @classmethod
    def sampled(
        cls,
        posterior: Posterior,
        points: Points,
        size: int,
        scale: float,
        rng: np.random.Generator,
    ) -> Paths:
        """Draw `size` functions, with random features of their own."""
        kernel = posterior.kernel
        features = random_features(kernel, points.glance(1)[0], FREQUENCIES, rng)
        prior: PriorDraws
        if features is not None:
            prior = Waves.sampled(features, size, rng)
        else:
            marks = stacked(posterior.basis, points.some(LANDMARKS, rng))
            prior = Landmarks.sampled(kernel, marks, size, rng)
        v = posterior.explained_samples(prior.precise_values(posterior.basis), rng)
        return cls(posterior, prior, v, scale)

    def values(self, X: Rows) -> Matrix:
        """Return a row for each row of X, a column for each function."""
        K = self.posterior.kernel(X, self.posterior.basis)
        mean: Matrix = (K @ self.posterior.mean_weights())[:, None]
        return mean + self.scale * (self.prior.values(X) - K @ self.v)  # (1)

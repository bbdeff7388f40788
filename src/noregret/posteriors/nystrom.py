"""The sparse posterior: everything seen through a dictionary of evaluated points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import cholesky
from noregret.posteriors.base import Points, least_norm
from noregret.posteriors.cholesky import EPS
from noregret.posteriors.dictionary import Oversample, draw, inclusion_probabilities


@final
@dataclass(frozen=True, slots=True, eq=False)
class NystromPosterior:
    """The DTC posterior of BKB and BBKB on a resampled dictionary of m evaluated points.

    With dictionary S, K_S = L_S L_Sᵀ, z(x) = L_S⁻¹ k_S(x), V = Zᵀ W Z + ridge·I = R Rᵀ over the
    unique points, and θ = V⁻¹ Zᵀ W ȳ,

        μ̃(x)  = z(x)ᵀ θ                                                                    (1)
        σ̃²(x) = k(x, x) − ‖z(x)‖² + ridge·‖R⁻¹ z(x)‖²                                       (2)

    O(m²) a row. The residual k − ‖z‖² keeps the prior variance far from the dictionary, where a
    subset of regressors would lose it.

    Source: BBKB (Calandriello et al., ICML 2020), Eqs. 1-3, times λ: `variance` is that of f.
    Differs: the mean needs Z(X_t)ᵀ y_t, all the history, where BKB's Eq. 4 prints Z(x_i)ᵀ y_t;
    z is by Cholesky where the papers take the root K_S^(−1/2), a rotation that changes nothing.
    """

    kernel: Kernel
    noise_std: float
    ridge: float
    oversample: Oversample
    points: Points
    members: Points  # the dictionary
    LS: Matrix  # (m, m) factor of the dictionary's Gram matrix
    V: Matrix  # (m, m)
    R: Matrix  # (m, m) factor of V
    theta: Vector  # (m,)

    @classmethod
    def prior(
        cls, kernel: Kernel, *, noise_std: float, ridge: float, dim: int, oversample: Oversample
    ) -> NystromPosterior:
        """Return the belief before any feedback: empty dictionary, mean 0, variance k(x, x)."""
        none, empty = Points.none(dim), np.zeros((0, 0))
        return cls(
            kernel, noise_std, ridge, oversample, none, none, empty, empty, empty, np.zeros(0)
        )

    def condition(self, told: Points, open_: Points, rng: np.random.Generator) -> NystromPosterior:
        """Draw a new dictionary by today's variances and believe `told` through it.

        Points under way can enter the dictionary too, so that their hallucination has an effect.
        """
        everyone = _merged(told, open_)
        q = self.oversample.at(int(everyone.w.sum()))
        p = inclusion_probabilities(everyone.w, self.variance(everyone.X), self.ridge, q)
        return self.rebuilt(told, _subset(everyone, draw(p, rng)))

    def rebuilt(self, told: Points, dictionary: Points) -> NystromPosterior:
        """Believe `told` through the given dictionary; dependent members are left out."""
        LS, kept = cholesky.pivoted(self.kernel(dictionary.X, dictionary.X))
        members = _subset(dictionary, kept)
        Z = _embed(self.kernel, members.X, LS, told.X)  # (m, n)
        V = (Z * told.w) @ Z.T
        V[np.diag_indices_from(V)] += self.ridge
        R = cholesky.factor(V)
        theta = cholesky.solve(R, Z @ (told.w * told.y))
        return replace(self, points=told, members=members, LS=LS, V=V, R=R, theta=theta)

    def hallucinate(self, row: int, x: Vector, count: int) -> NystromPosterior:
        """Shrink the variance as if x were evaluated `count` times more; θ, so μ̃, stays."""
        z = self.embed(x[None])[:, 0]
        V = self.V + count * np.outer(z, z)
        return replace(self, V=V, R=cholesky.factor(V))

    def embed(self, X: Matrix) -> Matrix:
        """Return z(x) for each row of X, as columns."""
        return _embed(self.kernel, self.members.X, self.LS, X)

    def marginals(self, X: Matrix) -> tuple[Vector, Vector]:
        """Return mean and variance at each row of X by (1) and (2)."""
        Z = self.embed(X)  # (m, rows)
        mu = self.theta @ Z
        residual = self.kernel.diagonal(X) - np.einsum("ij,ij->j", Z, Z)
        U = cholesky.solve_lower(self.R, Z, overwrite=True)
        # Rounding leaves up to about m·eps·k(x, x) below zero at members of the dictionary.
        return mu, np.maximum(residual, 0.0) + self.ridge * np.einsum("ij,ij->j", U, U)

    def mean(self, X: Matrix) -> Vector:
        """Return μ̃ at each row of X."""
        mu: Vector = self.theta @ self.embed(X)
        return mu

    def variance(self, X: Matrix) -> Vector:
        """Return σ̃² at each row of X."""
        return self.marginals(X)[1]

    def covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k̃ = k(x, x′) − z(x)ᵀz(x′) + c̃ for every pair of rows (BBKB 2020, Eq. 2)."""
        residual = self.kernel(X, Z) - self.embed(X).T @ self.embed(Z)
        return residual + self.model_covariance(X, Z)

    def model_covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return c̃ = ridge·z(x)ᵀ V⁻¹ z(x′): while the dictionary is frozen, all that moves."""
        U = cholesky.solve_lower(self.R, self.embed(X))
        V = cholesky.solve_lower(self.R, self.embed(Z))
        return self.ridge * (U.T @ V)

    @property
    def rounding(self) -> tuple[float, float]:
        """Sums of m terms zᵢ(x)·θᵢ, ‖z‖ at most √k(x, x), and of m squares up to k(x, x)."""
        m, kappa = len(self.members), float(self.kernel.diagonal(self.members.X).max(initial=0.0))
        return m * EPS * float(np.sqrt(kappa) * np.abs(self.theta).sum()), 64 * (m + 1) * EPS

    @property
    def width(self) -> int:
        """m, the size of the dictionary."""
        return len(self.members)

    @property
    def log_det(self) -> float:
        """log det(V/ridge) = log det(I + W^½ Z Zᵀ W^½/ridge)."""
        return cholesky.log_det(self.R) - len(self.R) * float(np.log(self.ridge))

    def least_norm(self, radius: float) -> float:
        """‖μ̃‖²_A = θᵀ V θ and ‖Aμ̃‖ = ‖V θ‖."""
        pulled = self.V @ self.theta
        return least_norm(float(self.theta @ pulled), float(pulled @ pulled), radius)

    def effective_dimension(self) -> float:
        """Σᵢ wᵢ σ̃²(xᵢ)/ridge: the estimate inside BKB's width."""
        return float(self.points.w @ self.variance(self.points.X)) / self.ridge


def _embed(kernel: Kernel, members: Matrix, LS: Matrix, X: Matrix) -> Matrix:
    return cholesky.solve_lower(LS, kernel(X, members).T, overwrite=True)


def _subset(points: Points, index: Indices) -> Points:
    return Points(points.rows[index], points.X[index], points.w[index], points.y[index])


def _merged(told: Points, open_: Points) -> Points:
    """Return told points with the open evaluations counted in; points only open stand last."""
    if not len(open_):
        return told
    place = {int(row): i for i, row in enumerate(told.rows)}
    w = told.w.copy()
    only_open = []
    for i, row in enumerate(open_.rows):
        if int(row) in place:
            w[place[int(row)]] += open_.w[i]
        else:
            only_open.append(i)
    extra = _subset(open_, np.array(only_open, dtype=np.int64))
    return Points(
        rows=np.concatenate([told.rows, extra.rows]),
        X=np.concatenate([told.X, extra.X]),
        w=np.concatenate([w, extra.w]),
        y=np.concatenate([told.y, extra.y]),
    )

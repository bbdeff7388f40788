"""The exact posterior, at the cost of the unique points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.arrays import Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import cholesky
from noregret.posteriors.base import Points, least_norm
from noregret.posteriors.cholesky import EPS


@final
@dataclass(frozen=True, slots=True, eq=False)
class ExactPosterior:
    """The Gaussian-process posterior, held on unique points with multiplicities.

    With unique points X, counts w and averages ȳ, A = K + ridge·W⁻¹ = L Lᵀ and α = A⁻¹ȳ,

        μ(x)  = k(x)ᵀ α,        σ²(x) = k(x, x) − ‖L⁻¹ k(x)‖²                              (1)

    equal to the posterior on all Σw evaluations, at the cost of the n unique ones: O(n) a mean,
    O(n²) a variance.

    Source: MINI (Calandriello et al., ICML 2022), Eq. 4.
    Differs: its y_h must be averages, not sums, for A to carry W⁻¹.
    """

    kernel: Kernel
    noise_std: float
    ridge: float
    points: Points
    L: Matrix  # (n, n)
    alpha: Vector  # (n,)
    age: int = 0  # incremental updates since L was last factored from scratch

    @classmethod
    def prior(cls, kernel: Kernel, *, noise_std: float, ridge: float, dim: int) -> ExactPosterior:
        """Return the belief before any feedback: mean 0, variance k(x, x)."""
        return cls(kernel, noise_std, ridge, Points.none(dim), np.zeros((0, 0)), np.zeros(0))

    def condition(
        self,
        told: Points,
        open_: Points,
        rng: np.random.Generator,
    ) -> ExactPosterior:
        """Learn new points and more values at old ones, `told` extending what is known.

        Evaluations under way tell it nothing, and nothing is drawn.

        A new point adds a row to L, in O(n²). More evaluations of an old point j lower one diagonal
        entry of A by ridge·(1/w − 1/w′), in O(n²) too where n is large. L is factored afresh after
        n updates, so that rounding cannot pile up.
        """
        n = len(self.points)
        assert np.array_equal(told.rows[:n], self.points.rows)
        before, after = self.points.w, told.w[:n]
        changes = int((before != after).sum()) + len(told) - n
        if self.age + changes > max(32, len(told)):
            return self._refactored(told)
        L = cholesky.shift(self.L, self.ridge * (1.0 / after - 1.0 / before))
        if len(told) > n:
            new = told.X[n:]
            D = self.kernel(new, new)
            D[np.diag_indices_from(D)] += self.ridge / told.w[n:]
            L = cholesky.append(L, self.kernel(new, self.points.X), D)
        alpha = cholesky.solve(L, told.y)
        return replace(self, points=told, L=L, alpha=alpha, age=self.age + changes)

    def _refactored(self, told: Points) -> ExactPosterior:
        A = self.kernel(told.X, told.X)
        A[np.diag_indices_from(A)] += self.ridge / told.w
        L = cholesky.factor(A)
        return replace(self, points=told, L=L, alpha=cholesky.solve(L, told.y), age=0)

    def hallucinate(self, row: int, x: Vector, count: int) -> ExactPosterior:
        """Shrink the variance as if x were evaluated `count` times more, with the mean as value.

        Values equal to the mean have coefficient 0 in α, so α stays as it is and so does μ.
        """
        at = np.flatnonzero(self.points.rows == row)
        if at.size:
            return self._hallucinate_old(int(at[0]), count)
        p, X = self.points, x[None]
        k = self.kernel(X, p.X)  # (1, n)
        D = self.kernel.diagonal(X)[:, None] + self.ridge / count
        points = Points(
            rows=np.append(p.rows, row),
            X=np.vstack([p.X, X]),
            w=np.append(p.w, count),
            y=np.append(p.y, k @ self.alpha),
        )
        L, alpha = cholesky.append(self.L, k, D), np.append(self.alpha, 0.0)
        return replace(self, points=points, L=L, alpha=alpha)

    def _hallucinate_old(self, j: int, count: int) -> ExactPosterior:
        p, w = self.points, self.points.w.copy()
        w[j] += count
        lowered = self.ridge * (1.0 / w - 1.0 / p.w)
        points = replace(p, w=w, y=p.y + lowered * self.alpha)  # so that A α = y still holds
        return replace(self, points=points, L=cholesky.shift(self.L, lowered))

    def marginals(self, X: Matrix) -> tuple[Vector, Vector]:
        """Return mean and variance at each row of X by (1)."""
        K = self.kernel(X, self.points.X)  # (rows, n)
        mu = K @ self.alpha
        V = cholesky.solve_lower(self.L, K.T, overwrite=True)
        var = self.kernel.diagonal(X) - np.einsum("ij,ij->j", V, V)
        # Rounding leaves up to about n·eps·k(x, x) below zero where x is known almost exactly.
        return mu, np.maximum(var, 0.0)

    def mean(self, X: Matrix) -> Vector:
        """Return μ at each row of X."""
        mu: Vector = self.kernel(X, self.points.X) @ self.alpha
        return mu

    def variance(self, X: Matrix) -> Vector:
        """Return σ² at each row of X."""
        return self.marginals(X)[1]

    def covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k(x, z) − k(x)ᵀ A⁻¹ k(z) for every pair of rows."""
        U = cholesky.solve_lower(self.L, self.kernel(self.points.X, X))
        V = cholesky.solve_lower(self.L, self.kernel(self.points.X, Z))
        return self.kernel(X, Z) - U.T @ V

    def model_covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return `covariance`: an exact posterior moves by all of it."""
        return self.covariance(X, Z)

    @property
    def rounding(self) -> tuple[float, float]:
        """Sums of n terms k(x, xᵢ)·αᵢ, and of n squares that add up to at most k(x, x)."""
        n, kappa = len(self.points), float(self.kernel.diagonal(self.points.X).max(initial=0.0))
        return n * EPS * kappa * float(np.abs(self.alpha).sum()), 64 * (n + 1) * EPS

    @property
    def width(self) -> int:
        """n, the number of unique points."""
        return len(self.points)

    @property
    def log_det(self) -> float:
        """log det(I + W^½ K W^½/ridge) = log det A + Σ log(w/ridge)."""
        return cholesky.log_det(self.L) + float(np.log(self.points.w / self.ridge).sum())

    def least_norm(self, radius: float) -> float:
        """‖μ‖²_A = μ(X)ᵀ W ȳ and ‖Aμ‖² = (Wȳ)ᵀ K (Wȳ), where K = A − ridge·W⁻¹."""
        p = self.points
        at_points = p.y - self.ridge * self.alpha / p.w  # μ(X) = ȳ − ridge·W⁻¹ α
        pulled = self.L.T @ (p.w * p.y)
        square = float(pulled @ pulled - self.ridge * (p.w * p.y) @ p.y)
        return least_norm(float(at_points @ (p.w * p.y)), square, radius)

    def effective_dimension(self) -> float:
        """Σᵢ wᵢ σ²(xᵢ)/ridge = Σᵢ 1 − (ridge/wᵢ)·(A⁻¹)ᵢᵢ."""
        half = cholesky.solve_lower(self.L, np.eye(len(self.points)))
        return float((1.0 - self.ridge / self.points.w * (half**2).sum(axis=0)).sum())

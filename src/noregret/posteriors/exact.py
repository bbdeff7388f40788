"""The exact posterior, at the cost of the unique points."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, stacked
from noregret.errors import ArgumentError
from noregret.kernels import Kernel
from noregret.posteriors import cholesky
from noregret.posteriors.base import Observations, least_norm
from noregret.posteriors.cholesky import EPS, Factor
from noregret.storable import storable

MOST_POINTS = 32_768  # of an exact posterior: its factor takes 8 GB
LONGEST_TAIL = 64  # updates carried beside a factor, at least; n/2 where that is more
DRIFT = 1e-6  # of the prior variance: rounding in carried updates that is worth a line in the log
log = logging.getLogger(__name__)


@final
@storable("ExactPosterior")
@dataclass(frozen=True, slots=True, eq=False)
class ExactPosterior:
    """The Gaussian-process posterior, held on unique points with weights.

    With unique points X, weights w and averages ȳ, A = K + ridge·W⁻¹ and α = A⁻¹ȳ,

        μ(x)  = k(x)ᵀ α,        σ²(x) = k(x, x) − k(x)ᵀ A⁻¹ k(x)                           (1)

    equal to the posterior on all evaluations, at the cost of the n unique ones. A⁻¹ is held as
    a factor of A as it was some updates ago, A₀ = L Lᵀ, and one column for each update since:

        A⁻¹ = A₀⁻¹ + U Uᵀ,      σ²(x) = k(x, x) − ‖L⁻¹ k(x)‖² − ‖Uᵀ k(x)‖²                 (2)

    Seeing x_j with another weight B and average ȳ_B is one such column, in O(n²): with
    u = weights of cov(·, x_j) over the points and g = B/(ridge + B σ²_j),

        U ← [U, u√g],     α += u·g·(ȳ_B − μ_j),     L += log(1 + B σ²_j/ridge)             (3)

    The factor is made afresh before the columns are many, so that their rounding cannot pile up.

    Source: MINI (Calandriello et al., ICML 2022), Eq. 4.
    Differs: its y_h must be averages, not sums, for A to carry W⁻¹.

    >>> prior = ExactPosterior.prior(nr.RBF(0.5), noise_std=0.1, ridge=0.01, dim=1)
    >>> one = Observations(np.array([0]), np.array([[0.0]]), w=np.array([4.0]), y=np.array([2.0]))
    >>> posterior = prior.condition(one, Observations.none(1), np.random.default_rng(0))
    >>> posterior.mean(np.array([[0.0], [5.0]])).round(3)
    array([1.995, 0.   ])
    """

    kernel: Kernel
    noise_std: float
    ridge: float
    observed: Observations
    base: Observations  # points and weights when L was made
    factor: Factor  # of A₀, (n₀, n₀)
    tail: Matrix  # (n, updates) U
    gains: Vector  # (updates,) g·(ȳ_B − μ_j)² of each
    alpha: Vector  # (n,)
    log_det: float  # log det(I + W^½ K W^½/ridge)

    @classmethod
    def prior(cls, kernel: Kernel, *, noise_std: float, ridge: float, dim: int) -> ExactPosterior:
        """Return the belief before any feedback: mean 0, variance k(x, x)."""
        none, empty = Observations.none(dim), np.zeros((0, 0))
        factor, nothing = Factor(empty), np.zeros(0)
        return cls(kernel, noise_std, ridge, none, none, factor, empty, nothing, nothing, 0.0)

    @property
    def L(self) -> Matrix:
        """The factor of A₀."""
        return self.factor.L

    def condition(
        self,
        told: Observations,
        open_: Observations,
        rng: np.random.Generator,
    ) -> ExactPosterior:
        """Learn new points and more values at old ones, `told` extending what is known.

        Evaluations under way tell it nothing, and nothing is drawn. O(n²) a changed point, where
        few changed.
        """
        n, known = len(told), len(self.observed)
        assert np.array_equal(told.rows[:known], self.observed.rows)
        w = np.zeros(n)
        w[:known] = self.observed.w
        changed = np.flatnonzero(told.w != w)
        if not changed.size:
            return self
        longest = max(LONGEST_TAIL, n // 2)
        if len(changed) > longest:
            return self.rebuilt(told)
        start = self
        if len(self.gains) + len(changed) > longest:
            start = self.rebuilt(self.observed)
            self._watch(start)
        return start._updated(told, w, changed.tolist())

    def rebuilt(self, points: Observations) -> ExactPosterior:
        """Return the posterior on `points` with a factor made from scratch."""
        if len(points) > MOST_POINTS:
            raise ArgumentError(
                f"an exact posterior on {len(points)} unique points needs "
                f"{8e-9 * len(points) ** 2:.0f} GB and hours. Use bbkb or bkb, which see them "
                "through a dictionary."
            )
        A = self.kernel(points.X, points.X)
        A[np.diag_indices_from(A)] += self.ridge / points.w
        L = cholesky.factor(A)
        return replace(
            self,
            observed=points,
            base=points,
            factor=Factor(L),
            tail=np.zeros((len(points), 0)),
            gains=np.zeros(0),
            alpha=cholesky.solve(L, points.y),
            log_det=cholesky.log_det(L) + float(np.log(points.w / self.ridge).sum()),
        )

    def _watch(self, afresh: ExactPosterior) -> None:
        """Say so where carried updates had drifted from a factor made afresh."""
        p = self.observed
        scale = float(np.abs(p.y).max(initial=0.0))
        off = float(np.abs((self.alpha - afresh.alpha) * self.ridge / p.w).max(initial=0.0))
        drift = max(off / max(scale, 1e-300), abs(self.log_det - afresh.log_det))
        if drift > DRIFT:
            log.info("rounding repaired: %.1e after %d updates of a factor", drift, len(self.gains))

    def _updated(self, told: Observations, w: Vector, changed: list[int]) -> ExactPosterior:
        n, known, tail = len(told), len(self.observed), len(self.gains)
        U = np.zeros((n, tail + len(changed)), order="F")
        U[:known, :tail] = self.tail
        gains = np.concatenate([self.gains, np.zeros(len(changed))])
        alpha, y = np.zeros(n), np.zeros(n)
        alpha[:known], y[:known] = self.alpha, self.observed.y
        log_det, prior = self.log_det, self.kernel.diagonal(told.X[changed])
        for at, j in enumerate(changed, start=tail):
            more = told.w[j] - w[j]
            average = (told.w[j] * told.y[j] - w[j] * y[j]) / more
            u, variance, mean = self._towards(told, w, y, alpha, U[:, :at], j)
            if variance + self.ridge / told.w[j] < 8 * n * EPS * prior[at - tail]:
                return self.rebuilt(told)  # too little is left of x_j for a column of its own
            variance = max(variance, 0.0)  # at most n·EPS·k(x, x) below zero, by rounding
            g = more / (self.ridge + more * variance)
            surprise = average - mean
            U[:, at] = u * math.sqrt(g)
            alpha += u * (g * surprise)
            gains[at] = g * surprise**2
            log_det += math.log1p(more * variance / self.ridge)
            w[j], y[j] = told.w[j], told.y[j]
        return replace(self, observed=told, tail=U, gains=gains, alpha=alpha, log_det=log_det)

    def _towards(
        self, points: Observations, w: Vector, y: Vector, alpha: Vector, U: Matrix, j: int
    ) -> tuple[Vector, float, float]:
        """Return u with cov(·, x_j) = k(·)ᵀu, and variance and mean at x_j."""
        if w[j] > 0:  # a point that was seen: u = (ridge/w)·A⁻¹ e_j, and no kernel is needed
            shrunk = self.ridge / w[j]
            u = U @ U[j]
            if j < len(self.L):
                unit = np.zeros(len(self.L))
                unit[j] = 1.0
                u[: len(unit)] += cholesky.solve(self.L, unit)
            variance = shrunk * (1.0 - shrunk * float(u[j]))
            return u * shrunk, variance, float(y[j] - shrunk * alpha[j])
        seen = np.flatnonzero(w)
        x = points.X[j : j + 1]
        k = np.zeros(len(w))
        k[seen] = self.kernel(x, points.X[seen])[0]
        u = -(U @ (k @ U))
        u[: len(self.L)] -= cholesky.solve(self.L, k[: len(self.L)])
        variance = float(self.kernel.diagonal(x)[0] + k @ u)
        u[j] = 1.0
        return u, variance, float(k @ alpha)

    def hallucinate(self, rows: Indices, X: Matrix, counts: Vector) -> ExactPosterior:
        """Shrink the variance as if X were evaluated `counts` times more, with the mean as value.

        Values equal to the mean bring no surprise, so α stays as it is and so does μ.
        """
        now = self
        for row, x, count in zip(rows.tolist(), X, counts.tolist(), strict=True):
            now = now._hallucinated(row, x[None], count)
        return now

    def _hallucinated(self, row: int, X: Matrix, count: float) -> ExactPosterior:
        p = self.observed
        at = np.flatnonzero(p.rows == row)
        j = int(at[0]) if at.size else len(p)
        w, y = p.w.copy(), p.y.copy()
        if at.size:
            mean = y[j] - self.ridge * self.alpha[j] / w[j]
            y[j] = (w[j] * y[j] + count * mean) / (w[j] + count)
            w[j] += count
            more, before, alpha = replace(p, w=w, y=y), p.w.copy(), self.alpha
        else:
            more = Observations(
                rows=np.append(p.rows, row),
                X=stacked(p.X, X),
                w=np.append(w, count),
                y=np.append(y, self.mean(X)),
            )
            before, alpha = np.append(w, 0.0), np.append(self.alpha, 0.0)
        short = len(self.gains) < max(LONGEST_TAIL, len(p) // 2)
        start = self if short else self.rebuilt(p)
        now = start._updated(more, before, [j])
        return replace(now, alpha=alpha)

    def marginals(self, X: Matrix) -> tuple[Vector, Vector]:
        """Return mean and variance at each row of X by (1) and (2)."""
        K = self.kernel(X, self.observed.X)  # (rows, n)
        mu = K @ self.alpha
        var = self.kernel.diagonal(X) - self.explained(K)
        # Rounding leaves up to about n·eps·k(x, x) below zero where x is known almost exactly.
        return mu, np.maximum(var, 0.0)

    def at_points(self) -> tuple[Vector, Vector]:
        """Return mean and variance at the points, without kernel values: with r = ridge/w,

        μ(x_i) = ȳ_i − r_i α_i,    σ²(x_i) = r_i − r_i²·(A⁻¹)_ii
        """
        r, prior = self.ridge / self.observed.w, self.kernel.diagonal(self.observed.X)
        variance = r * (1.0 - r * self._inverse_diagonal())
        return self.mean_at_points(), np.clip(variance, 0.0, prior)

    def mean_at_points(self) -> Vector:
        """Return ȳ − ridge·W⁻¹ α: O(n)."""
        return self.observed.y - self.ridge / self.observed.w * self.alpha

    def at_point(self, place: int) -> tuple[float, float]:
        """Return mean and variance at one of the points, in O(n²)."""
        p = self.observed
        _, variance, mean = self._towards(p, p.w, p.y, self.alpha, self.tail, place)
        prior = float(self.kernel.diagonal(p.X[place : place + 1])[0])
        return mean, min(max(variance, 0.0), prior)

    def explained(self, K: Matrix) -> Vector:
        """Return k(x)ᵀ A⁻¹ k(x) for each row k(x) of K."""
        V, T = self._halves(K)
        return np.asarray(np.einsum("ij,ij->j", V, V) + np.einsum("ij,ij->i", T, T))

    def _halves(self, K: Matrix) -> tuple[Matrix, Matrix]:
        """Return L⁻¹k, as columns, and Uᵀk, as rows."""
        return cholesky.solve_lower(self.L, K[:, : len(self.L)].T), K @ self.tail

    def mean(self, X: Matrix) -> Vector:
        mu: Vector = self.kernel(X, self.observed.X) @ self.alpha
        return mu

    def variance(self, X: Matrix) -> Vector:
        return self.marginals(X)[1]

    def features(self, X: Matrix) -> Matrix:
        """Return (L⁻¹k, Uᵀk) for each row of X: what its covariances are made of."""
        V, T = self._halves(self.kernel(X, self.observed.X))
        return np.concatenate([V.T, T], axis=1)

    @property
    def basis(self) -> Rows:
        """The unique points."""
        return self.observed.X

    def mean_weights(self) -> Vector:
        return self.alpha

    def solved(self, K: Matrix) -> Matrix:
        """Return A⁻¹ k for each column k of K."""
        W: Matrix = self.tail @ (self.tail.T @ K)
        W[: len(self.L)] += cholesky.solve(self.L, K[: len(self.L)])
        return W

    def explained_samples(self, F: Matrix, rng: np.random.Generator) -> Matrix:
        """Return A⁻¹(f₀(X) + ε), ε being noise of variance ridge/w: Matheron's rule."""
        noise = rng.standard_normal(F.shape) * np.sqrt(self.ridge / self.observed.w)[:, None]
        return self.solved(F + noise)

    def weights(self, Z: Matrix) -> Matrix:
        """Return A⁻¹ k(z) for each row of Z, as columns."""
        return self.solved(self.kernel(self.observed.X, Z))

    def model_covariance_from(self, X: Matrix, F: Matrix, Z: Matrix, G: Matrix) -> Matrix:
        """Return k(x, z) − f(x)ᵀf(z) for every pair of rows."""
        return self.kernel(X, Z) - F @ G.T

    def covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k(x, z) − k(x)ᵀ A⁻¹ k(z) for every pair of rows."""
        F = self.features(X)
        return self.model_covariance_from(X, F, Z, F if Z is X else self.features(Z))

    def model_covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return `covariance`: an exact posterior moves by all of it."""
        return self.covariance(X, Z)

    @property
    def rounding(self) -> tuple[float, float]:
        """Sums of n terms k(x, xᵢ)·αᵢ, and of n squares that add up to at most k(x, x)."""
        n, kappa = len(self.observed), float(self.kernel.diagonal(self.observed.X).max(initial=0.0))
        return n * EPS * kappa * float(np.abs(self.alpha).sum()), 16 * (n + 1) * EPS

    @property
    def most_log_det(self) -> float:
        return self.log_det

    def least_norm(self, radius: float) -> float:
        """‖μ‖²_A = μ(X)ᵀ W ȳ and ‖Aμ‖² = (Wȳ)ᵀ K (Wȳ), where K₀ = L Lᵀ − ridge·W₀⁻¹ is known."""
        p, n = self.observed, len(self.base)
        sums = p.w * p.y
        square = float(self.mean_at_points() @ sums)
        if square <= radius**2:
            return 0.0  # whatever ‖Aμ‖ is
        old, new, half = sums[:n], sums[n:], self.L.T @ sums[:n]
        image = float(half @ half - old @ (self.ridge / self.base.w * old))
        if len(new):
            K = self.kernel(p.X[n:], p.X)
            image += float(new @ (K @ sums) + new @ (K[:, :n] @ old))
        return least_norm(square, image, radius)

    def effective_dimension(self) -> float:
        """Σᵢ wᵢ σ²(xᵢ)/ridge = Σᵢ 1 − (ridge/wᵢ)·(A⁻¹)ᵢᵢ."""
        return float((1.0 - self.ridge / self.observed.w * self._inverse_diagonal()).sum())

    def _inverse_diagonal(self) -> Vector:
        """Return (A⁻¹)ᵢᵢ, by (2): O(n³/3) after a new factor, else O(n) an update."""
        inverse: Vector = (self.tail**2).sum(axis=1)
        inverse[: len(self.L)] += self.factor.inverse_diagonal
        return inverse

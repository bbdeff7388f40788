"""The sparse posterior: everything seen through a dictionary of evaluated points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, chunk_rows, positions
from noregret.kernels import Kernel
from noregret.posteriors import cholesky
from noregret.posteriors.base import Observations, least_norm, merged, subset
from noregret.posteriors.cholesky import EPS
from noregret.posteriors.dictionary import (
    MOST_NEW,
    Oversample,
    inclusion_probabilities,
    kept_beside,
    sample_members,
)
from noregret.posteriors.gram import embedded_among, grown, variance_parts
from noregret.posteriors.incremental import (
    SufficientStatistics,
    in_order,
    point_numbers,
    to_resample,
)
from noregret.posteriors.leverage_scores import estimated
from noregret.storable import storable
from noregret.threads import parallel_map

TOGETHER = 4096  # points embedded together
RETURNING = 0.1  # of its members may be due to come back before an incremental one looks at all


@final
@storable("NystromPosterior")
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

    >>> given = {"noise_std": 1.0, "ridge": 1.0, "oversample": Oversample(2.0)}
    >>> prior = NystromPosterior.prior(nr.RBF(0.5), dim=1, **given)
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> told = Observations(np.arange(50), X, w=np.ones(50), y=np.sin(X[:, 0]))
    >>> first = prior.condition(told, Observations.none(1), np.random.default_rng(0))
    >>> again = first.condition(told, Observations.none(1), np.random.default_rng(1))
    >>> len(again.members) < 10  # by variances that the first draw has shrunk
    True
    """

    kernel: Kernel
    noise_std: float
    ridge: float
    oversample: Oversample
    observed: Observations
    members: Observations  # the dictionary
    LS: Matrix  # (m, m) factor of the dictionary's Gram matrix
    V: Matrix  # (m, m)
    R: Matrix  # (m, m) factor of V
    theta: Vector  # (m,)
    gram: Matrix  # (n, n) k among the points, where they are not too many; else (0, 0)
    observed_variances: Vector  # (n,) σ̃² at the points; none of an incremental dictionary
    sticky: bool = False
    incremental: bool = False
    key: int = 0  # from which every point has its number, once there is one
    moment: Vector = field(default_factory=lambda: np.zeros(0))  # (m,) Zᵀ W ȳ
    residual: float = 0.0  # Σ w(k − ‖z‖²), of an incremental dictionary …
    risen: float = 0.0  # (2) of `posteriors.incremental`, since all points were looked at
    observed_residuals: Vector = field(default_factory=lambda: np.zeros(0))  # … (n,) k − ‖z‖² else
    kept: dict[str, object] = field(init=False, repr=False, default_factory=dict)  # once computed

    @classmethod
    def prior(
        cls,
        kernel: Kernel,
        *,
        noise_std: float,
        ridge: float,
        dim: int,
        oversample: Oversample,
        sticky: bool = False,
        incremental: bool = False,
    ) -> NystromPosterior:
        """Return the belief before any feedback: empty dictionary, mean 0, variance k(x, x).

        Members of a `sticky` dictionary stay beside those of each new draw, as long as they are not
        many more: the projection only grows, so that accuracy and regret are guaranteed as before,
        but not the size. An `incremental` one is thinned and added to (`posteriors.incremental`).
        """
        none, M, v = Observations.none(dim), np.zeros((0, 0)), np.zeros(0)
        own = sticky, incremental
        return cls(kernel, noise_std, ridge, oversample, none, none, M, M, M, v, M, v, *own)

    def condition(
        self, told: Observations, open_: Observations, rng: np.random.Generator
    ) -> NystromPosterior:
        """Draw a new dictionary by today's variances and believe `told` through it.

        Points under way can enter the dictionary too, so that their hallucination has an effect.
        """
        everyone = merged(told, open_)
        known = len(self.observed)
        assert np.array_equal(told.rows[:known], self.observed.rows)
        q = self.oversample.at(int(everyone.counts.sum()))
        if self.incremental:
            return self._thinned(told, everyone, q, rng)
        p = inclusion_probabilities(everyone.w, self.stale(everyone), self.ridge, q)
        if float(p[known:].sum()) > MOST_NEW:
            p = estimated(self.kernel, everyone, self.ridge, q, rng)
        drawn = sample_members(p, rng)
        if self.sticky:
            drawn = kept_beside(self.members.rows, drawn, everyone.rows, float(p.sum()))
        return self.rebuilt(told, subset(everyone, drawn))

    def stale(self, everyone: Observations) -> Vector:
        """Return today's variance of everyone, as known of those that were told before."""
        new = everyone.X[len(self.observed) :]
        return np.concatenate([self.observed_variances, self.variances(new)])

    def variances(self, X: Matrix) -> Vector:
        """Return the variance at any number of rows, a few at a time."""
        step = chunk_rows(2 * max(len(self.members), 1))
        parts = [self.variance(X[at : at + step]) for at in range(0, len(X), step)]
        return np.concatenate([np.zeros(0), *parts])

    def _thinned(
        self, told: Observations, everyone: Observations, q: float, rng: np.random.Generator
    ) -> NystromPosterior:
        """Look again at members and what was told since, as `posteriors.incremental` says."""
        p = self if self.key else replace(self, key=int(rng.integers(1, 1 << 62)))
        looked, all_ = to_resample(p.members.rows, p.observed, everyone), np.arange(len(everyone))
        chances = p._chances(everyone, looked, q)
        if float(chances[~np.isin(everyone.rows[looked], p.observed.rows)].sum()) > MOST_NEW:
            rough = sample_members(estimated(p.kernel, everyone, p.ridge, q, rng), rng)
            p, looked = p.rebuilt(told, subset(everyone, rough)), all_
            chances = p._chances(everyone, looked, q)
        numbers = point_numbers(everyone.X, p.key)
        inside = looked[numbers[looked] < chances]
        if not inside.size and len(looked):
            inside = looked[[int(np.argmax(chances))]]
        for again in (looked, all_):
            seen = inside[np.isin(everyone.rows[inside], p.observed.rows)]
            rest = p._moved(p.observed, subset(everyone, seen))
            risen = p.risen + q * max(rest.residual - p.residual, 0.0) / p.ridge  # (2)
            if risen <= RETURNING * len(inside):
                return replace(rest._moved(told, subset(everyone, inside)), risen=risen)
            back = again[numbers[again] < rest._chances(everyone, again, q)]
            inside = in_order(p.members.rows, everyone.rows, np.union1d(inside, back))
        return replace(p._moved(told, subset(everyone, inside)), risen=0.0)

    def _chances(self, everyone: Observations, some: Indices, q: float) -> Vector:
        """Return p̃ of points in these places."""
        variance = self.variances(everyone.X[some])
        return inclusion_probabilities(everyone.w[some], variance, self.ridge, q)

    def _moved(self, told: Observations, dictionary: Observations) -> NystromPosterior:
        """Believe `told` through some of today's members and others behind them."""
        if told is self.observed and np.array_equal(dictionary.rows, self.members.rows):
            return self
        statistics = SufficientStatistics(self.members, self.LS, self.V, self.moment, self.residual)
        moved = statistics.through(dictionary, self.kernel, self.observed, told, self.ridge)
        return self.rebuilt(told, dictionary) if moved is None else self._of(told, moved)

    def without(self, kept: Indices) -> NystromPosterior:
        """Believe the same through the members in these places alone: O(m³)."""
        statistics = SufficientStatistics(self.members, self.LS, self.V, self.moment, self.residual)
        return self._of(self.observed, statistics.without(kept, self.ridge))

    def _of(self, told: Observations, statistics: SufficientStatistics) -> NystromPosterior:
        R = cholesky.factor(statistics.V)
        theta = cholesky.solve(R, statistics.moment)
        own = {name: getattr(statistics, name) for name in SufficientStatistics.__slots__}
        return replace(self, observed=told, R=R, theta=theta, **own)

    def rebuilt(self, told: Observations, dictionary: Observations) -> NystromPosterior:
        """Believe `told` through the given dictionary; dependent members are left out."""
        gram = grown(self.gram, self.kernel, self.observed.rows, told)
        places = positions(dictionary.rows, told.rows)
        known = len(gram) == len(told) and bool((places >= 0).all())
        KS = gram[np.ix_(places, places)] if known else self.kernel(dictionary.X, dictionary.X)
        LS, kept = cholesky.pivoted(KS)
        members = subset(dictionary, kept)

        def embedded(some: slice) -> Matrix:
            return cholesky.solve_lower(LS, self.kernel(members.X, told.X[some]))

        parts = [slice(at, at + TOGETHER) for at in range(0, max(len(told), 1), TOGETHER)]
        Z = (
            [embedded_among(gram, places[kept], LS)] if known else parallel_map(embedded, parts)
        )  # (m, n)
        V, solved = self.ridge * np.eye(len(LS)), np.zeros(len(LS))
        prior, residual = self.kernel.diagonal(told.X), 0.0
        for z, some in zip(Z, parts, strict=True):
            V += cholesky.square(z * np.sqrt(told.w[some]))
            solved += z @ (told.w[some] * told.y[some])
            if self.incremental:
                residual += float(told.w[some] @ (prior[some] - np.einsum("ij,ij->j", z, z)))
        R = cholesky.factor(V)

        def spreads(at: int) -> Matrix:
            return np.stack(variance_parts(prior[parts[at]], Z[at], R, self.ridge))

        both = [] if self.incremental else parallel_map(spreads, range(len(parts)))
        residuals, models = np.concatenate([np.zeros((2, 0)), *both], axis=1)
        return replace(
            self,
            observed=told,
            members=members,
            LS=LS,
            V=V,
            R=R,
            theta=cholesky.solve(R, solved),
            gram=gram,
            observed_variances=residuals + models,
            observed_residuals=residuals,
            moment=solved,
            residual=residual,
        )

    def hallucinate(self, rows: Indices, X: Matrix, counts: Vector) -> NystromPosterior:
        """Shrink the variance as if X were evaluated `counts` times more; θ, so μ̃, stays."""
        Z = self.embed(X)
        V = self.V + (Z * counts) @ Z.T
        return replace(self, V=V, R=cholesky.factor(V))

    def embed(self, X: Matrix) -> Matrix:
        """Return z(x) for each row of X, as columns."""
        return cholesky.solve_lower(self.LS, self.kernel(X, self.members.X).T, overwrite=True)

    def marginals(self, X: Matrix) -> tuple[Vector, Vector]:
        """Return mean and variance at each row of X by (1) and (2)."""
        Z = self.embed(X)  # (m, rows)
        residual, model = variance_parts(self.kernel.diagonal(X), Z, self.R, self.ridge)
        return self.theta @ Z, residual + model

    def at_points(self) -> tuple[Vector, Vector]:
        return self.marginals(self.observed.X)

    def mean_at_points(self) -> Vector:
        """Return the mean at the points: O(n·m²)."""
        return self.mean(self.observed.X)

    def at_point(self, place: int) -> tuple[float, float]:
        """Return mean and variance at one of the points: O(m²)."""
        mean, variance = self.marginals(self.observed.X[place : place + 1])
        return float(mean[0]), float(variance[0])

    def mean(self, X: Matrix) -> Vector:
        mu: Vector = self.theta @ self.embed(X)
        return mu

    def variance(self, X: Matrix) -> Vector:
        return self.marginals(X)[1]

    def covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return k̃ = k(x, x′) − z(x)ᵀz(x′) + c̃ for every pair of rows (BBKB 2020, Eq. 2)."""
        F = self.embed(X)
        residual = self.kernel(X, Z) - F.T @ (F if Z is X else self.embed(Z))
        return residual + self.model_covariance(X, Z)

    def model_covariance(self, X: Matrix, Z: Matrix) -> Matrix:
        """Return c̃ = ridge·z(x)ᵀ V⁻¹ z(x′): while the dictionary is frozen, all that moves."""
        F = self.features(X)
        return self.model_covariance_from(X, F, Z, F if Z is X else self.features(Z))

    @property
    def basis(self) -> Rows:
        """The members of the dictionary."""
        return self.members.X

    def solved(self, K: Matrix) -> Matrix:
        """Return LS⁻ᵀ(I − ridge·V⁻¹)LS⁻¹ k for each column k of K."""
        Z = cholesky.solve_lower(self.LS, K)
        return cholesky.solve_upper(self.LS, Z - self.ridge * cholesky.solve(self.R, Z))

    def explained_samples(self, F: Matrix, rng: np.random.Generator) -> Matrix:
        """Return LS⁻ᵀ(LS⁻¹f₀(S) − u), u ~ N(0, ridge·V⁻¹): the residual as drawn, new weights."""
        u = cholesky.solve_upper(self.R, rng.standard_normal(F.shape)) * np.sqrt(self.ridge)
        return cholesky.solve_upper(self.LS, cholesky.solve_lower(self.LS, F) - u)

    def weights(self, Z: Matrix) -> tuple[Matrix, Matrix]:
        """Return columns a, b with c̃(x, z) = k_S(x)ᵀa and z(x)ᵀz(z) = k_S(x)ᵀb, one a row of Z."""
        E = self.embed(Z)
        both = np.concatenate([self.ridge * cholesky.solve(self.R, E), E], axis=1)
        out = cholesky.solve_upper(self.LS, both)
        return out[:, : len(Z)], out[:, len(Z) :]

    def features(self, X: Matrix) -> Matrix:
        """Return √ridge·R⁻¹z for each row of X, whose products are c̃."""
        U = cholesky.solve_lower(self.R, self.embed(X), overwrite=True)
        F: Matrix = np.sqrt(self.ridge) * U.T
        return F

    def mean_weights(self) -> Vector:
        """Return a with μ̃(x) = k_S(x)ᵀa."""
        return cholesky.solve_upper(self.LS, self.theta[:, None])[:, 0]

    def model_covariance_from(self, X: Matrix, F: Matrix, Z: Matrix, G: Matrix) -> Matrix:
        """Return c̃ = f(x)ᵀf(z) for every pair of rows."""
        return F @ G.T

    @property
    def rounding(self) -> tuple[float, float]:
        """Sums of m terms zᵢ(x)·θᵢ, ‖z‖ at most √k(x, x), and of m squares up to k(x, x)."""
        m, kappa = len(self.members), float(self.kernel.diagonal(self.members.X).max(initial=0.0))
        return m * EPS * float(np.sqrt(kappa) * np.abs(self.theta).sum()), 16 * (m + 1) * EPS

    @property
    def log_det(self) -> float:
        """log det(V/ridge) = log det(I + W^½ Z Zᵀ W^½/ridge)."""
        return cholesky.log_det(self.R) - len(self.R) * float(np.log(self.ridge))

    @property
    def most_log_det(self) -> float:
        """log det(V/ridge) + Σ w(k − ‖z‖²)/ridge ≥ L, since log det is concave.

        Σ w·ridge·‖R⁻¹z‖² = ridge·(m − ridge·tr V⁻¹), so the residuals are what is left of Σ w σ̃².
        """
        return self.log_det + max(self.effective_dimension() - self._model_dimension(), 0.0)

    def _model_dimension(self) -> float:
        """Σ w·‖R⁻¹z‖² = m − ridge·tr V⁻¹."""
        inverse = cholesky.solve_lower(self.R, np.eye(len(self.R)))
        return len(self.R) - self.ridge * float(np.einsum("ij,ij->", inverse, inverse))

    def least_norm(self, radius: float) -> float:
        """‖μ̃‖²_A = θᵀ V θ and ‖Aμ̃‖ = ‖V θ‖."""
        solved = self.V @ self.theta
        return least_norm(float(self.theta @ solved), float(solved @ solved), radius)

    def effective_dimension(self) -> float:
        """Σᵢ wᵢ σ̃²(xᵢ)/ridge over what was told: the estimate inside BKB's width."""
        if self.incremental:
            return max(self.residual, 0.0) / self.ridge + self._model_dimension()
        return float(self.observed.w @ self.observed_variances) / self.ridge

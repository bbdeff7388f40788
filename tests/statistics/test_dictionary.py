"""A drawn dictionary sees what all evaluated points see, up to the factor of its own ε.

BKB 2019, appendix C: a dictionary is ε-accurate (Eq. 12) when, over rows √w φ(x) of the unique
points, q the draws and p their probabilities,

    ε ≥ ‖(ΦΦᵀ + λI)^(−½) Φ (diag(q/p) − I) Φᵀ (ΦΦᵀ + λI)^(−½)‖                             (1)

and Lemma 6 then gives σ²/α ≤ σ̃² ≤ α σ² for every x, α = (1 + ε)/(1 − ε). Its min{σ̃², 1} is
σ̃² for k(x, x) ≤ λ, as here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.policies import Purpose, stream
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample, subset
from noregret.posteriors.dictionary import inclusion_probabilities, sample_members
from slow_references import DenseNystrom
from strategies import RTOL, exact_prior, nystrom_prior, rkhs_problem, told

RANK = 1e-12  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True)
class Crowd:
    """Many unique points with counts: most crowded together, a few far out."""

    kernel: Kernel
    ridge: float
    points: Observations
    pool: Matrix

    @classmethod
    def of(cls, kernel: Kernel, ridge: float, n: int, dim: int, most: int) -> Crowd:
        rng = np.random.default_rng([2019, n, dim])
        few = n // 20
        X = np.vstack([0.5 * rng.random((n - few, dim)), 0.5 + rng.random((few, dim))])
        w = rng.integers(1, most + 1, size=n).astype(np.float64)
        points = Observations(np.arange(n), X, w, rng.standard_normal(n))
        return cls(kernel, ridge, points, 2.0 * rng.random((300, dim)))  # within reach and beyond

    def exact(self) -> ExactPosterior:
        return told(exact_prior(self.kernel, self.ridge, self.pool.shape[1]), self.points)

    def sparse(self, drawn: Indices) -> NystromPosterior:
        prior = nystrom_prior(self.kernel, self.ridge, self.pool.shape[1])
        return prior.rebuilt(self.points, subset(self.points, drawn))

    def whitened(self) -> Matrix:
        """Return Φᵀ(ΦΦᵀ + λI)^(−½), a row a point, in the eigenbasis of the weighted Gram matrix.

        Its squared row norms are the leverages wσ²/λ.
        """
        root = np.sqrt(self.points.w)
        values, vectors = np.linalg.eigh(
            self.kernel(self.points.X, self.points.X) * np.outer(root, root)
        )
        kept = values > RANK * values[-1]
        return np.asarray(
            vectors[:, kept] * np.sqrt(values[kept] / (values[kept] + self.ridge)), np.float64
        )


def epsilon(whitened: Matrix, p: Vector, drawn: Indices) -> float:
    """Return ε of (1) for the draws."""
    surplus = np.full(len(p), -1.0)
    surplus[drawn] += 1.0 / p[drawn]
    return float(np.abs(np.linalg.eigvalsh((whitened.T * surplus) @ whitened)).max())


ROUGH = Crowd.of(nr.Matern(nu=0.5, lengthscale=1.0), ridge=100.0, n=600, dim=2, most=20)
SMOOTH = Crowd.of(nr.RBF(0.5), ridge=1.0, n=1200, dim=1, most=4)
STREAMS = 12


@pytest.mark.parametrize("variances", ["exact", "stale"])
def test_sparse_variances_are_within_the_factor_of_the_drawn_dictionary(variances: str) -> None:
    """A dictionary worse than its ε would starve some candidates of variance and never try them.

    The case can fail: a subset of regressors, and a posterior deaf to counts, break the factor.
    """
    exact, whitened = ROUGH.exact(), ROUGH.whitened()
    n, w, X = len(ROUGH.points), ROUGH.points.w, ROUGH.points.X
    variance = exact.variance(X)
    np.testing.assert_allclose((whitened**2).sum(axis=1), w * variance / ROUGH.ridge, rtol=1e-6)
    if variances == "stale":  # those of a dictionary drawn before half of the values came
        earlier = replace(ROUGH, points=replace(ROUGH.points, w=np.ceil(w / 2)))
        p = inclusion_probabilities(earlier.points.w, earlier.exact().variance(X), 100.0, 12.0)
        variance = earlier.sparse(sample_members(p, stream(99, Purpose.DICTIONARY, 0))).variance(X)
    p = inclusion_probabilities(w, variance, ROUGH.ridge, 12.0)
    truth = exact.variance(ROUGH.pool)

    accurate, regressors_fail, deaf_fail = 0, 0, 0
    for seed in range(STREAMS):
        drawn = sample_members(p, stream(seed, Purpose.DICTIONARY, 1))
        assert 3 * len(drawn) < n
        eps = epsilon(whitened, p, drawn)
        if eps >= 1:
            continue
        accurate += 1
        alpha = (1 + eps) / (1 - eps)
        sparse = ROUGH.sparse(drawn)
        ratio = sparse.variance(ROUGH.pool) / truth
        assert ratio.max() <= alpha * (1 + RTOL), (seed, eps, ratio.max())
        assert ratio.min() >= (1 - RTOL) / alpha, (seed, eps, ratio.min())
        regressors = np.diag(sparse.model_covariance(ROUGH.pool, ROUGH.pool)) / truth
        regressors_fail += int(regressors.min() < 1 / alpha)
        once = replace(ROUGH.points, w=np.ones(n))
        deaf = sparse.rebuilt(once, subset(once, drawn)).variance(ROUGH.pool) / truth
        deaf_fail += int(deaf.max() > alpha)
    assert accurate >= 0.9 * STREAMS
    assert regressors_fail >= 0.9 * accurate
    assert deaf_fail >= 0.9 * accurate


def test_enough_oversampling_gives_half_accuracy_at_the_stated_rate() -> None:
    """The theory preset promises ε = 1/2, so variances within a factor 3, with probability 1 − δ.

    BKB 2019, C.3: with exact variances both R and σ² of its Proposition 7 are at most 1/q̄, so
    4n·exp(−q̄(ε²/2)/(1 + ε/3)) ≤ δ at q̄ = (2 + 2ε/3)/ε²·log(4n/δ). A fortieth of it falls short.
    """
    n, w, eps, delta, draws = len(SMOOTH.points), SMOOTH.points.w, 0.5, 0.1, 200
    variance, whitened = SMOOTH.exact().variance(SMOOTH.points.X), SMOOTH.whitened()
    enough = (2 + 2 * eps / 3) / eps**2 * math.log(4 * n / delta)
    accurate = {}
    for oversample in (enough, enough / 40):
        p = inclusion_probabilities(w, variance, SMOOTH.ridge, oversample)
        drawn = [sample_members(p, stream(seed, Purpose.DICTIONARY, 0)) for seed in range(draws)]
        assert max(map(len, drawn)) < n / 3
        accurate[oversample] = sum(epsilon(whitened, p, d) <= eps for d in drawn)
    assert accurate[enough] >= binom.ppf(1e-3, draws, 1 - delta), accurate
    assert accurate[enough / 40] < binom.ppf(1e-3, draws, 1 - delta), accurate


def test_points_are_included_as_often_as_their_probability_says() -> None:
    """Also one evaluated 500 times: dropped too often, all that was learnt of it would be lost.

    Per point a binomial z-test at 4.5 deviations: a false alarm in 40 tests is below 3e-4.
    """
    n, repeats, q, ridge, streams = 40, 500, 0.6, 1.0, 2000
    rng = np.random.default_rng(11)
    X = np.linspace(0.0, 12.0, n)[:, None]
    w = np.ones(n)
    w[6] = repeats
    points = Observations(np.arange(n), X, w, rng.standard_normal(n))
    kernel = nr.Matern(nu=0.5, lengthscale=1.0)  # rough: no point depends on others
    prior = nystrom_prior(kernel, ridge, dim=1, q=q)
    stale = prior.rebuilt(points, subset(points, np.arange(0, n, 3, dtype=np.int64)))
    p = np.minimum(1.0, w * q * stale.variance(X) / ridge)
    assert p.min() > 0.02
    assert p.max() < 0.98
    assert p[6] > 0.4  # one draw an evaluation would keep it with 1 − (1 − p/w)^w instead
    deviation = np.sqrt(p * (1 - p) / streams)
    assert p[6] - (1 - (1 - p[6] / repeats) ** repeats) > 9 * deviation[6]

    included = np.zeros(n)
    for seed in range(streams):
        fresh = stale.condition(points, Observations.none(1), stream(seed, Purpose.DICTIONARY, 3))
        included[fresh.members.rows] += 1
    z = (included / streams - p) / deviation
    assert np.abs(z).max() < 4.5, dict(enumerate(z.round(1)))


def test_draws_at_different_steps_are_independent() -> None:
    """One stream used twice would freeze a bad dictionary for ever.

    Over M pairs of steps the sample correlation of two fair draws has deviation 1/√M.
    """
    p, M = np.full(50, 0.5), 200
    both = np.zeros((2, M, len(p)))
    for seed in range(M):
        for step in (0, 1):
            both[step, seed, sample_members(p, stream(seed, Purpose.DICTIONARY, step))] = 1.0
    correlation = float(np.corrcoef(both[0].ravel(), both[1].ravel())[0, 1])
    assert abs(correlation) < 4.5 / math.sqrt(both[0].size)


# BKB 2019, Fig. 1, has a "Gaussian kernel with bandwidth σ² = 100" on [0, 1]. A lengthscale of 10
# would make f constant there, so 100 is taken as the factor in exp(−100·|x − z|²/2).
KERNEL = nr.RBF(0.1)
RIDGE = 0.01


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("t", [6, 63, 215])  # as in the figure
def test_far_from_all_data_the_sparse_posterior_keeps_the_prior_variance(t: int, seed: int) -> None:
    """An optimizer sure of the unexplored half would never look there.

    BKB 2019, Fig. 1: evaluations in [0, 0.5], dictionary redrawn at every step. A subset of
    regressors, λ·z(x)ᵀV⁻¹z(x) without the residual k − zᵀz, starves.
    """
    rng = np.random.default_rng([seed, t])
    X, y = 0.5 * rng.random((t, 1)), rng.standard_normal(t)
    sparse = nystrom_prior(KERNEL, RIDGE, dim=1)
    for n in range(1, t + 1):
        points = Observations(np.arange(n), X[:n], np.ones(n), y[:n])
        rng = stream(seed, Purpose.DICTIONARY, n)
        sparse = sparse.condition(points, Observations.none(1), rng)
    exact = told(exact_prior(KERNEL, RIDGE, dim=1), points)
    regressors = DenseNystrom(KERNEL, RIDGE, sparse.members.X, X, y)

    far, near = np.linspace(0.85, 1.0, 40)[:, None], np.linspace(0.0, 0.5, 40)[:, None]
    truth = exact.variance(far)
    assert truth.min() > 0.99  # nothing is known there
    assert np.all(sparse.variance(far) >= 0.9 * truth)
    assert np.all(np.diag(regressors.model_covariance(far, far)) <= 0.1 * truth)
    ratio = sparse.variance(near) / exact.variance(near)
    assert ratio.max() < 3  # and what is known is not forgotten
    assert ratio.min() > 1 / 3
    assert t == 6 or 2 * len(sparse.members) < t


def test_a_number_holds_up_to_the_horizon_and_then_grows_with_its_logarithm() -> None:
    """A user who goes on after the planned end would otherwise lose the guarantee silently.

    BKB 2019, Theorem 1 asks for q̄ ≥ 6α·log(4T/δ)/ε²; §3.2, "Tuning q̄": past T, raise q̄ to suit
    the new horizon. Re-planned for 2T, 4T …, the ratio to log(4t/δ) never falls below the planned.
    """
    T, delta = 100, 0.1
    q = Oversample(3.0, horizon=T, delta=delta)
    assert [q.at(t) for t in (0, 1, T // 2, T)] == [3.0] * 4
    planned = math.log(4 * T / delta)
    for t, reached in [(T + 1, 2 * T), (2 * T, 2 * T), (2 * T + 1, 4 * T), (4 * T + 1, 8 * T)]:
        assert q.at(t) == pytest.approx(3.0 * math.log(4 * reached / delta) / planned)
    grown = np.array([q.at(t) for t in range(1, 20 * T)])
    assert np.all(np.diff(grown) >= 0)
    needed = 3.0 * np.log(4 * np.arange(T, 20 * T) / delta) / planned
    assert np.all(grown[T - 1 :] >= needed * (1 - 1e-12))


def test_a_number_without_a_horizon_stays() -> None:
    """The papers' experiments fix q̄ = 2."""
    assert {Oversample(2.0).at(t) for t in (0, 1, 10, 10**7)} == {2.0}


@pytest.mark.parametrize("horizon", [None, 64])
def test_the_theory_preset_asks_for_its_logarithm_at_every_count(horizon: int | None) -> None:
    """72·log(4t/δ): with a horizon for all of it at once, without one for what has been told."""
    q = Oversample(72.0, per_log=True, horizon=horizon, delta=0.05)
    for t in (1, 10, 64, 65, 1000):
        assert q.at(t) >= 72 * math.log(4 * t / 0.05) * (1 - 1e-12)
    assert q.at(64) == pytest.approx(72 * math.log(4 * 64 / 0.05))
    assert q.at(65) > q.at(64)
    assert (q.at(1) == q.at(64)) is (horizon is not None)


def test_a_run_past_its_horizon_draws_its_dictionaries_with_the_raised_factor() -> None:
    """Raised on paper only, the dictionary would be as thin as before."""
    horizon, problem = 20, rkhs_problem(0, candidates=200, noise_std=1.0)
    settings: dict[str, Any] = {"kernel": problem.kernel, "noise_std": 1.0, "oversample": 0.7}
    optimizer = nr.bkb(problem.pool, horizon=horizon, seed=6, **settings)
    raised = Oversample(0.7, horizon=horizon, delta=1 / horizon)
    rng = np.random.default_rng(43)
    differ = 0
    for step in range(6 * horizon):
        state = optimizer.state
        batch = optimizer.ask()
        fresh = optimizer.state
        told = fresh.posterior.observed
        assert int(told.w.sum()) == step
        variance = state.posterior.variance(told.X)
        members = {}
        for q in (0.7, raised.at(step)):
            p = inclusion_probabilities(told.w, variance, 1.0, q)
            drawn = sample_members(p, stream(6, Purpose.DICTIONARY, step))
            members[q] = set(told.rows[drawn].tolist())
        assert set(fresh.posterior.members.rows.tolist()) == members[raised.at(step)]
        differ += members[0.7] != members[raised.at(step)]
        optimizer.tell(batch, problem.measure(np.asarray(batch.sequence, np.int64), rng))
    assert raised.at(6 * horizon) > 1.25 * 0.7
    assert differ > 0

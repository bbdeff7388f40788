"""The sparse posterior against BBKB's equations in dense algebra, and against the exact one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix
from noregret.posteriors import NystromPosterior, Observations, Oversample, subset
from noregret.posteriors.dictionary import inclusion_probabilities, sample_members
from slow_references import DenseNystrom, repeated
from strategies import RTOL, Scene, close, no_rng, one, scenes

# The twin's pseudo-inverse root loses as many digits as the dictionary's condition number has.
LOOSE = 1e-5


def well_conditioned(scene: Scene, members: Matrix) -> bool:
    return bool(np.linalg.cond(scene.kernel(members, members)) < 1e8)


@given(scenes(), st.integers(1, 10))
def test_equals_the_equations_of_bbkb(scene: Scene, members: int) -> None:
    """Eqs. 1-3 with all the history in the mean and the residual in the variance."""
    assume(well_conditioned(scene, scene.points.X[:members]))
    posterior = scene.nystrom(members)
    X, y = repeated(scene.points)
    dense = DenseNystrom(scene.kernel, scene.ridge, scene.points.X[:members], X, y)
    left, right = scene.pool[::2], scene.pool[1::2]
    mean, variance = posterior.marginals(scene.pool)
    close(mean, dense.mean(scene.pool), LOOSE)
    np.testing.assert_allclose(posterior.mean(scene.pool), mean, rtol=1e-9, atol=1e-12)
    close(variance, dense.variance(scene.pool), LOOSE)
    close(posterior.covariance(left, right), dense.covariance(left, right), LOOSE)
    close(posterior.model_covariance(left, right), dense.model_covariance(left, right), LOOSE)
    V = dense.V / scene.ridge
    assert posterior.log_det == pytest.approx(np.linalg.slogdet(V)[1], rel=1e-6, abs=1e-6)


@given(scenes())
def test_the_whole_history_as_dictionary_is_the_exact_posterior(scene: Scene) -> None:
    """The approximation must vanish where it keeps everything."""
    posterior, exact = scene.nystrom(len(scene.points)), scene.exact()
    close(posterior.mean(scene.pool), exact.mean(scene.pool), LOOSE)
    close(posterior.variance(scene.pool), exact.variance(scene.pool), LOOSE)
    close(
        posterior.covariance(scene.pool, scene.pool),
        exact.covariance(scene.pool, scene.pool),
        LOOSE,
    )
    assert posterior.log_det == pytest.approx(exact.log_det, rel=1e-6, abs=1e-6)
    assert posterior.effective_dimension() == pytest.approx(
        exact.effective_dimension(), rel=1e-5, abs=1e-5
    )


@given(scenes())
def test_the_whole_pool_as_dictionary_is_the_exact_posterior(scene: Scene) -> None:
    """A dictionary may hold points that were never evaluated."""
    n = len(scene.pool)
    everything = Observations(np.arange(n), scene.pool, np.ones(n), np.zeros(n))
    posterior = scene.nystrom(1).rebuilt(scene.points, everything)
    exact = scene.exact()
    close(posterior.mean(scene.pool), exact.mean(scene.pool), LOOSE)
    close(posterior.variance(scene.pool), exact.variance(scene.pool), LOOSE)


@given(scenes(), st.integers(1, 10), st.integers(0, 12), st.integers(1, 9))
def test_hallucination_is_more_evaluations_with_the_mean_as_value(
    scene: Scene, members: int, row: int, count: int
) -> None:
    """Inside a batch the dictionary is frozen, variances shrink, and the mean does not move."""
    assume(well_conditioned(scene, scene.points.X[:members]))
    row = min(row, len(scene.pool) - 1)
    stale = scene.nystrom(members)
    now = stale.hallucinate(*one(row, scene, count))
    np.testing.assert_array_equal(now.mean(scene.pool), stale.mean(scene.pool))
    X = np.vstack([repeated(scene.points)[0], np.repeat(scene.pool[[row]], count, axis=0)])
    S = scene.points.X[:members]
    dense = DenseNystrom(scene.kernel, scene.ridge, S, X, np.zeros(len(X)))
    close(now.variance(scene.pool), dense.variance(scene.pool), LOOSE)
    assert np.all(now.variance(scene.pool) <= stale.variance(scene.pool) + RTOL)
    value = float(stale.mean(scene.pool[[row]])[0])
    y = np.concatenate([repeated(scene.points)[1], np.full(count, value)])
    told = DenseNystrom(scene.kernel, scene.ridge, S, X, y)
    close(told.mean(scene.pool), stale.mean(scene.pool), LOOSE)


@given(scenes(least=3), st.integers(0, 2**20), st.floats(0.05, 5.0))
def test_conditioning_draws_by_stale_variance_and_new_count(
    scene: Scene, seed: int, q: float
) -> None:
    """BKB Algorithm 1: today's counts, the variances from before they were known."""
    dim = scene.pool.shape[1]
    prior = NystromPosterior.prior(
        scene.kernel, noise_std=1.0, ridge=scene.ridge, dim=dim, oversample=Oversample(q)
    )
    p = scene.points
    first = subset(p, np.arange(2))
    stale = prior.rebuilt(first, first)
    posterior = stale.condition(p, Observations.none(dim), np.random.default_rng(seed))
    probability = np.minimum(1, p.w * q * stale.variance(p.X) / scene.ridge)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(p)) < probability)
    if not chosen.size:
        chosen = np.array([np.argmax(probability)])
    assert set(posterior.members.rows) <= set(p.rows[chosen])
    twin = stale.rebuilt(p, subset(p, chosen))
    np.testing.assert_array_equal(posterior.mean(scene.pool), twin.mean(scene.pool))


def test_open_evaluations_can_enter_the_dictionary() -> None:
    """Else a second worker would be sent to the very point the first one is evaluating."""
    prior = NystromPosterior.prior(
        nr.RBF(1.0), noise_std=0.1, ridge=0.01, dim=1, oversample=Oversample(2.0)
    )
    told = Observations(np.array([0]), np.array([[0.0]]), np.array([1.0]), np.array([1.0]))
    open_ = Observations(
        np.array([0, 5]), np.array([[0.0], [9.0]]), np.array([2.0, 1.0]), np.zeros(2)
    )
    posterior = prior.condition(told, open_, no_rng())
    assert sorted(posterior.members.rows) == [0, 5]
    now = posterior.hallucinate(np.array([5]), np.array([[9.0]]), np.ones(1))
    assert now.variance(np.array([[9.0]]))[0] < 0.02


def test_inclusion_probability_of_a_repeated_point() -> None:
    """A Bernoulli draw per evaluation would drop a much-repeated point too often."""
    p = inclusion_probabilities(np.array([1.0, 50.0, 9.0]), np.array([0.1, 0.1, 0.0]), 2.0, 0.3)
    np.testing.assert_allclose(p, [0.015, 0.75, 0.0])


def test_an_empty_draw_keeps_the_most_probable_point() -> None:
    """An empty dictionary would believe the prior whatever was told."""
    assert sample_members(
        np.array([1e-300, 3e-300, 2e-300]), np.random.default_rng(0)
    ).tolist() == [1]
    assert sample_members(np.empty(0), np.random.default_rng(0)).size == 0


def test_oversampling_follows_the_horizon() -> None:
    """BKB §3.2: past its horizon a run is re-planned, never left under-sampled."""
    plain = Oversample(2.0)
    assert [plain.at(t) for t in (0, 1, 10**6)] == [2.0, 2.0, 2.0]
    planned = Oversample(2.0, horizon=100, delta=0.1)
    assert planned.at(1) == planned.at(100) == 2.0
    assert planned.at(101) == planned.at(200) == pytest.approx(2 * np.log(8000) / np.log(4000))
    theory = Oversample(72.0, per_log=True, delta=0.1)
    assert theory.at(50) == pytest.approx(72 * np.log(4 * 50 / 0.1))
    assert Oversample(72.0, per_log=True, horizon=80, delta=0.1).at(3) == pytest.approx(
        72 * np.log(4 * 80 / 0.1)
    )

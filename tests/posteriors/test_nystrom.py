"""The sparse posterior against BBKB's equations in dense algebra, and against the exact one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix
from noregret.posteriors import Observations, subset
from noregret.posteriors.dictionary import inclusion_probabilities, sample_members
from slow_references import DenseNystrom, repeated
from strategies import RTOL, Scene, close, no_rng, nystrom_prior, one, scenes, told

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
def test_with_all_in_the_dictionary_it_is_the_exact_posterior(scene: Scene) -> None:
    """The approximation must vanish where it keeps everything: the history, or the whole pool."""
    exact, X, n = scene.exact(), scene.pool, len(scene.pool)
    everything = Observations(np.arange(n), X, np.ones(n), np.zeros(n))
    history = scene.nystrom(len(scene.points))
    for posterior in (history, history.rebuilt(scene.points, everything)):
        close(posterior.mean(X), exact.mean(X), LOOSE)
        close(posterior.variance(X), exact.variance(X), LOOSE)
        close(posterior.covariance(X, X), exact.covariance(X, X), LOOSE)
    close(history.log_det, exact.log_det, 1e-6)
    close(history.effective_dimension(), exact.effective_dimension(), LOOSE)


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
    p, prior = scene.points, nystrom_prior(scene.kernel, scene.ridge, scene.pool.shape[1], q)
    first = subset(p, np.arange(2))
    stale = prior.rebuilt(first, first)
    posterior = told(stale, p, seed)
    probability = np.minimum(1, p.w * q * stale.variance(p.X) / scene.ridge)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(p)) < probability)
    if not chosen.size:
        chosen = np.array([np.argmax(probability)])
    assert set(posterior.members.rows) <= set(p.rows[chosen])
    twin = stale.rebuilt(p, subset(p, chosen))
    np.testing.assert_array_equal(posterior.mean(scene.pool), twin.mean(scene.pool))


def test_open_evaluations_can_enter_the_dictionary() -> None:
    """Else a second worker would be sent to the very point the first one is evaluating."""
    prior, x, z = nystrom_prior(nr.RBF(1.0), 0.01, dim=1), np.array([[0.0]]), np.array([[9.0]])
    done = Observations(np.array([0]), x, np.ones(1), np.ones(1))
    open_ = Observations(np.array([0, 5]), np.vstack([x, z]), np.array([2.0, 1.0]), np.zeros(2))
    posterior = prior.condition(done, open_, no_rng())
    assert sorted(posterior.members.rows) == [0, 5]
    assert posterior.hallucinate(np.array([5]), z, np.ones(1)).variance(z)[0] < 0.02


def test_inclusion_probability_of_a_repeated_point() -> None:
    """A Bernoulli draw per evaluation would drop a much-repeated point too often."""
    p = inclusion_probabilities(np.array([1.0, 50.0, 9.0]), np.array([0.1, 0.1, 0.0]), 2.0, 0.3)
    np.testing.assert_allclose(p, [0.015, 0.75, 0.0])


def test_an_empty_draw_keeps_the_most_probable_point() -> None:
    """An empty dictionary would believe the prior whatever was told."""
    assert sample_members(np.array([1e-300, 3e-300, 2e-300]), no_rng()).tolist() == [1]
    assert sample_members(np.empty(0), no_rng()).size == 0

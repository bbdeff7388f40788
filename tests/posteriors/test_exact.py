"""The exact posterior against dense algebra on every single evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.errors import NumericalWarning
from noregret.posteriors import Observations, exact, subset
from slow_references import DenseGP, repeated
from strategies import (
    RTOL,
    Diary,
    Scene,
    close,
    equals_refactorised,
    exact_prior,
    one,
    scenes,
    told,
)


@given(scenes())
def test_counts_are_repeated_rows(scene: Scene) -> None:
    """Otherwise a million repeats would be believed differently from a million rows."""
    posterior, dense = scene.exact(), DenseGP(scene.kernel, scene.ridge, *repeated(scene.points))
    close(posterior.mean(scene.pool), dense.mean(scene.pool))
    mean, variance = posterior.marginals(scene.pool)
    close(mean, dense.mean(scene.pool))
    close(variance, dense.variance(scene.pool))
    left, right = scene.pool[::2], scene.pool[1::2]
    covariance = posterior.covariance(left, right)
    close(covariance, dense.covariance(left, right))
    close(posterior.model_covariance(left, right), covariance)
    mean, variance = posterior.at_points()  # without the kernel
    close(mean, dense.mean(scene.points.X))
    close(variance, dense.variance(scene.points.X))
    close(posterior.log_det, dense.log_det())
    close(posterior.effective_dimension(), dense.effective_dimension())


@given(
    scenes(most=20, least=2),
    st.integers(0, 2**20),
    st.sampled_from([1, 5, 32]),
    st.sampled_from([1, 30, 10**6]),
)
def test_incremental_is_refactorised(scene: Scene, seed: int, longest: int, most: int) -> None:
    """Points come in any order, several at once, old ones are seen again; nothing may drift."""
    rng = np.random.default_rng(seed)
    diary, posterior = Diary(scene.pool), scene.prior()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "LONGEST_TAIL", longest)
        for _ in range(25):
            for row in rng.integers(0, len(scene.points), size=int(rng.integers(1, 5))).tolist():
                diary.add(row, int(rng.integers(1, most + 1)), float(rng.standard_normal()))
            posterior = diary.believed(posterior)
            assert len(posterior.gains) <= max(longest, len(diary.rows) // 2)
            equals_refactorised(posterior, scene.pool)


def test_a_tail_of_the_usual_length_is_crossed() -> None:
    """The factor is made afresh in the middle of a run: before, at and after that moment."""
    rng, tails = np.random.default_rng(1), []
    X = rng.standard_normal((12, 2))
    diary, posterior = Diary(X), exact_prior(nr.Matern(1.5, 1.0), 0.01)
    for step in range(160):
        diary.add(int(rng.integers(12)), 10**6 if step == 20 else 1, float(rng.standard_normal()))
        posterior = diary.believed(posterior)
        tails.append(len(posterior.gains))
        equals_refactorised(posterior, X)
    assert max(tails) == exact.LONGEST_TAIL
    assert [step for step, tail in enumerate(tails) if tail == 1] == [0, 64, 128]


@pytest.mark.parametrize("noise_std", [1e-1, 1e-3, 1e-5])
def test_near_duplicates_are_carried_as_well_as_they_are_factored(noise_std: float) -> None:
    """Replicates a billionth apart: each sees almost nothing that the others have not seen."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.standard_normal((5, 2)), 4, axis=0)
    X += 1e-9 * rng.standard_normal(X.shape)
    diary, posterior = Diary(X), exact_prior(nr.RBF(1.0), noise_std**2)
    for _ in range(70):
        row = int(rng.integers(20))
        diary.add(row, int(rng.integers(1, 4)), float(np.sin(X[row, 0])))
        posterior = diary.believed(posterior)
        equals_refactorised(posterior, X)


def test_points_too_close_for_a_column_are_factored_and_told() -> None:
    """Where nothing but rounding is left of a point, jitter steps in, with its warning."""
    X = np.array([[0.0], [1e-9], [1.0]])
    diary, posterior = Diary(X), exact_prior(nr.RBF(1.0), 1e-18, dim=1)
    diary.add(0, 1, 0.5)
    posterior = diary.believed(posterior)
    diary.add(1, 1, 0.5)
    with pytest.warns(NumericalWarning, match="nearly coincide"):
        posterior = diary.believed(posterior)
    assert len(posterior.gains) == 0
    np.testing.assert_allclose(posterior.mean(X[:2]), 0.5, rtol=1e-6)
    assert np.all(posterior.variance(X) >= 0)


def test_rounding_is_repaired_over_a_long_run() -> None:
    """A lab that runs for months: 3000 updates later the posterior is still that of its points."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    diary, posterior = Diary(X), exact_prior(nr.RBF(1.0), 1e-4)
    for _ in range(3000):
        row = int(rng.integers(12))
        diary.add(row, int(rng.integers(1, 50)), float(np.sin(X[row, 0])))
        posterior = diary.believed(posterior)
    assert len(posterior.gains) <= exact.LONGEST_TAIL
    equals_refactorised(posterior, X)


@given(scenes(), st.integers(0, 11), st.integers(1, 9))
def test_hallucination_shrinks_variance_and_keeps_the_mean(
    scene: Scene, row: int, count: int
) -> None:
    """A batch that moved its own mean would chase its own imagination."""
    stale = scene.exact()
    now = stale.hallucinate(*one(row, scene, count))
    np.testing.assert_allclose(now.mean(scene.pool), stale.mean(scene.pool), rtol=0, atol=1e-12)
    X = np.vstack([repeated(scene.points)[0], np.repeat(scene.pool[[row]], count, axis=0)])
    dense = DenseGP(scene.kernel, scene.ridge, X, np.zeros(len(X)))
    close(now.variance(scene.pool), dense.variance(scene.pool))
    assert np.all(now.variance(scene.pool) <= stale.variance(scene.pool) + RTOL)
    again = now.hallucinate(*one(row, scene))
    assert len(again.observed) == len(now.observed)
    alpha = now.rebuilt(now.observed).alpha
    np.testing.assert_allclose(alpha, now.alpha, rtol=1e-6, atol=1e-6)


@given(scenes(), st.integers(0, 11))
def test_variance_never_rises(scene: Scene, row: int) -> None:
    """More evidence can only sharpen an exact posterior."""
    stale = scene.exact()
    p = scene.points
    if row < len(p):
        more = replace(p, w=p.w + 2.0 * (np.arange(len(p)) == row))
    else:
        X, w, y = np.vstack([p.X, scene.pool[row]]), np.append(p.w, 1.0), np.append(p.y, 0.3)
        more = Observations(np.append(p.rows, row), X, w, y)
    later = told(stale, more)
    assert np.all(later.variance(scene.pool) <= stale.variance(scene.pool) + RTOL)


@given(scenes())
def test_equals_scikit_learn_on_repeated_data(scene: Scene) -> None:
    """An independent implementation, on every single evaluation."""
    kernel = nr.Matern(nu=2.5, lengthscale=0.8)
    posterior = replace(scene, kernel=kernel).exact()
    peer = GaussianProcessRegressor(sk.Matern(0.8, nu=2.5), alpha=scene.ridge, optimizer=None)
    mean, std = peer.fit(*repeated(scene.points)).predict(scene.pool, return_std=True)
    np.testing.assert_allclose(posterior.mean(scene.pool), mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(posterior.variance(scene.pool), std**2, rtol=1e-6, atol=1e-6)


def test_the_prior_is_the_kernel() -> None:
    """Before any feedback nothing may be believed."""
    prior = exact_prior(3.0 * nr.RBF(1.0), 1.0)
    X = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_array_equal(prior.mean(X), np.zeros(5))
    np.testing.assert_array_equal(prior.variance(X), np.full(5, 3.0))
    assert prior.log_det == 0.0
    assert prior.effective_dimension() == 0.0


@given(scenes(), st.integers(0, 2**20), st.floats(0.0, 3.0))
def test_the_least_norm_is_a_lower_bound_on_every_function_in_the_ellipsoid(
    scene: Scene, seed: int, radius: float
) -> None:
    """A norm bound is called refuted by it; a true one must never be.

    Functions f = μ + g with ‖g‖_A ≤ radius, g drawn in the span of the pool's features.
    """
    posterior, rng = scene.exact(), np.random.default_rng(seed)
    X, y = repeated(scene.points)
    basis = scene.pool
    K, Kx = scene.kernel(basis, basis), scene.kernel(X, basis)
    A = Kx.T @ Kx + scene.ridge * K  # ‖Σ cᵢ k(·, xᵢ)‖²_A = cᵀ A c
    centre = np.linalg.lstsq(K, posterior.mean(basis), rcond=None)[0]
    least = posterior.least_norm(radius)
    for _ in range(20):
        c = rng.standard_normal(len(basis))
        c *= radius / np.sqrt(c @ A @ c)
        f = centre + c
        assert least <= np.sqrt(f @ K @ f) * (1 + 1e-5) + 1e-5
    sparse = scene.nystrom(len(scene.points))
    assert sparse.least_norm(radius) == pytest.approx(least, rel=1e-4, abs=1e-5)
    if radius == 0:
        dense = DenseGP(scene.kernel, scene.ridge, X, y)
        assert least <= dense.norm() * (1 + 1e-6)


@given(scenes(least=2), st.integers(0, 2**20), st.floats(0.0, 0.5))
def test_the_least_norm_is_the_same_by_a_factor_and_by_the_kernel(
    scene: Scene, seed: int, radius: float
) -> None:
    """Where a factor was made, K is taken from it: of all points, of some, of none; repeats too."""
    points, rng = scene.points, np.random.default_rng(seed)
    split = int(rng.integers(len(points)))
    some = told(scene.prior().rebuilt(subset(points, np.arange(split))), points)
    more = replace(points, w=points.w + np.eye(len(points))[0])
    expected = told(scene.prior(), more).least_norm(radius)
    for start in (some, scene.prior().rebuilt(points)):
        assert told(start, more).least_norm(radius) == pytest.approx(expected, rel=1e-6)

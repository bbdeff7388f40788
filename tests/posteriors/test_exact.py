"""The exact posterior against dense algebra on every single evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.posteriors import ExactPosterior, Points
from problems import RTOL, Scene, close, no_rng, scenes
from twins import DenseGP, repeated


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


@given(scenes())
def test_log_det_and_dimension_are_those_of_all_evaluations(scene: Scene) -> None:
    """Widths are built on them."""
    posterior, dense = scene.exact(), DenseGP(scene.kernel, scene.ridge, *repeated(scene.points))
    assert posterior.log_det == pytest.approx(dense.log_det(), rel=RTOL, abs=RTOL)
    assert posterior.effective_dimension() == pytest.approx(
        dense.effective_dimension(), rel=RTOL, abs=RTOL
    )


@given(scenes(), st.integers(0, 2**20))
def test_incremental_is_refactorised(scene: Scene, seed: int) -> None:
    """Points come in any order, old ones are seen again; nothing may drift."""
    rng = np.random.default_rng(seed)
    p, dim = scene.points, scene.pool.shape[1]
    posterior = ExactPosterior.prior(scene.kernel, noise_std=1.0, ridge=scene.ridge, dim=dim)
    n, w = 0, np.empty(0)
    while n < len(p):
        more = int(rng.integers(0, len(p) - n + 1))
        w = np.concatenate([w + rng.integers(0, 3, size=n), 1.0 + rng.integers(0, 3, size=more)])
        n += more
        told = Points(p.rows[:n], p.X[:n], w, rng.standard_normal(n))
        posterior = posterior.condition(told, Points.none(dim), no_rng())
    fresh = ExactPosterior.prior(scene.kernel, noise_std=1.0, ridge=scene.ridge, dim=dim)
    fresh = fresh.condition(posterior.points, Points.none(dim), no_rng())
    close(posterior.L, fresh.L)
    np.testing.assert_allclose(posterior.alpha, fresh.alpha, rtol=1e-6, atol=1e-6)


def test_rounding_is_repaired_over_a_long_run() -> None:
    """A lab that runs for months: 3000 updates later the factor is still that of its points."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    kernel, none = nr.RBF(1.0), Points.none(2)
    posterior = ExactPosterior.prior(kernel, noise_std=0.01, ridge=1e-4, dim=2)
    w = np.ones(12)
    for _ in range(3000):
        w[rng.integers(12)] += rng.integers(1, 50)
        told = Points(np.arange(12), X, w.copy(), np.zeros(12))
        posterior = posterior.condition(told, none, no_rng())
    A = kernel(X, X) + np.diag(1e-4 / w)
    assert posterior.age <= 32
    np.testing.assert_allclose(posterior.L @ posterior.L.T, A, rtol=0, atol=1e-14)


@given(scenes(), st.integers(0, 11), st.integers(1, 9))
def test_hallucination_shrinks_variance_and_keeps_the_mean(
    scene: Scene, row: int, count: int
) -> None:
    """A batch that moved its own mean would chase its own imagination."""
    stale = scene.exact()
    now = stale.hallucinate(row, scene.pool[row], count)
    np.testing.assert_allclose(now.mean(scene.pool), stale.mean(scene.pool), rtol=0, atol=1e-12)
    X = np.vstack([repeated(scene.points)[0], np.repeat(scene.pool[[row]], count, axis=0)])
    dense = DenseGP(scene.kernel, scene.ridge, X, np.zeros(len(X)))
    close(now.variance(scene.pool), dense.variance(scene.pool))
    assert np.all(now.variance(scene.pool) <= stale.variance(scene.pool) + RTOL)
    again = now.hallucinate(row, scene.pool[row], 1)
    assert len(again.points) == len(now.points)
    alpha = np.linalg.solve(now.L @ now.L.T, now.points.y)
    np.testing.assert_allclose(alpha, now.alpha, rtol=1e-6, atol=1e-6)


@given(scenes(), st.integers(0, 11))
def test_variance_never_rises(scene: Scene, row: int) -> None:
    """More evidence can only sharpen an exact posterior."""
    stale = scene.exact()
    p = scene.points
    if row < len(p):
        w = p.w.copy()
        w[row] += 2
        told = Points(p.rows, p.X, w, p.y)
    else:
        told = Points(
            np.append(p.rows, row),
            np.vstack([p.X, scene.pool[row]]),
            np.append(p.w, 1.0),
            np.append(p.y, 0.3),
        )
    later = stale.condition(told, Points.none(scene.pool.shape[1]), no_rng())
    assert np.all(later.variance(scene.pool) <= stale.variance(scene.pool) + RTOL)


@given(scenes())
def test_equals_scikit_learn_on_repeated_data(scene: Scene) -> None:
    """An independent implementation, on every single evaluation."""
    kernel = nr.Matern(nu=2.5, lengthscale=0.8)
    posterior = Scene(kernel, scene.ridge, scene.points, scene.pool).exact()
    X, y = repeated(scene.points)
    peer = GaussianProcessRegressor(sk.Matern(0.8, nu=2.5), alpha=scene.ridge, optimizer=None).fit(
        X, y
    )
    mean, std = peer.predict(scene.pool, return_std=True)
    np.testing.assert_allclose(posterior.mean(scene.pool), mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(posterior.variance(scene.pool), std**2, rtol=1e-6, atol=1e-6)


def test_a_million_repeats_of_one_point() -> None:
    """The variance must be that of an average of a million values, not rounding."""
    x = np.array([[0.3]])
    prior = ExactPosterior.prior(nr.RBF(1.0), noise_std=1.0, ridge=1.0, dim=1)
    told = Points(np.array([0]), x, np.array([1e6]), np.array([2.0]))
    posterior = prior.condition(told, Points.none(1), no_rng())
    assert posterior.variance(x)[0] == pytest.approx(1 / (1e6 + 1), rel=1e-6)
    assert posterior.mean(x)[0] == pytest.approx(2.0 * 1e6 / (1e6 + 1), rel=1e-12)


def test_the_prior_is_the_kernel() -> None:
    """Before any feedback nothing may be believed."""
    prior = ExactPosterior.prior(3.0 * nr.RBF(1.0), noise_std=1.0, ridge=1.0, dim=2)
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

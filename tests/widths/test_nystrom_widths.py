"""The widths that hold for any dictionary: against dense algebra, the worst f, the worst noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Vector
from noregret.posteriors import NystromPosterior, Observations, mean_shift, subset
from noregret.widths import Information, WidthInputs
from slow_references import DenseGP, DenseNystrom, repeated
from strategies import Scene, nystrom_prior, scenes

LOOSE = 1e-5
DELTA = 0.2


def inputs_of(posterior: NystromPosterior, F: float, candidates: int = 500) -> WidthInputs:
    t = int(posterior.observed.w.sum())
    return WidthInputs(posterior, candidates, t, F, Information())


def sparse(scene: Scene, members: Indices, noise: float) -> NystromPosterior:
    prior = nystrom_prior(scene.kernel, scene.ridge, scene.pool.shape[1])
    posterior = prior.rebuilt(scene.points, subset(scene.points, members))
    return replace(posterior, noise_std=noise)


def chosen(scene: Scene, drawn: set[int]) -> Indices:
    return np.unique(np.array(sorted(drawn)) % len(scene.points))


some_members = st.sets(st.integers(0, 9), min_size=1, max_size=6)
noises, bounds, deltas = st.floats(0.05, 2), st.floats(0.1, 5), st.floats(0.01, 0.9)


@given(scenes(), some_members, noises, bounds, deltas)
def test_the_width_is_its_formula(
    scene: Scene, drawn: set[int], noise: float, F: float, delta: float
) -> None:
    """A few points are one block: eigenvalue and determinants are then those of dense algebra."""
    members = chosen(scene, drawn)
    slow = DenseNystrom(scene.kernel, scene.ridge, scene.points.X[members], *repeated(scene.points))
    R, lam = slow.left_out(), scene.ridge
    rho = max(float(np.linalg.eigvalsh(R)[-1]), 0.0)
    c = math.sqrt(1 + rho / 4) + math.sqrt(rho) / 2
    L = np.linalg.slogdet(slow.V / lam)[1] + np.linalg.slogdet(np.eye(len(R)) + R)[1]
    beta = noise / math.sqrt(lam) * math.sqrt(max(L, 0.0) + 2 * math.log(1 / delta)) + c * F
    posterior = sparse(scene, members, noise)
    s = inputs_of(posterior, F)
    assert nr.NystromWidth(delta).beta(s) == pytest.approx(beta, rel=1e-3)
    exact = nr.BayesianWidth(delta).beta(s)
    assert nr.NystromBayesianWidth(delta).beta(s) == pytest.approx(
        c * (exact + mean_shift(posterior)), rel=1e-3
    )


@given(scenes(), some_members, noises, bounds)
def test_it_is_never_narrower_than_that_of_the_exact_posterior(
    scene: Scene, drawn: set[int], noise: float, F: float
) -> None:
    """It must pay for what the dictionary leaves out, and for nothing where that is nothing."""
    exact = WidthInputs(replace(scene.exact(), noise_std=noise), 500, 9, F, Information())
    needed = nr.RKHSWidth(DELTA).beta(exact)
    thin = inputs_of(sparse(scene, chosen(scene, drawn), noise), F)
    assert nr.NystromWidth(DELTA).beta(thin) >= needed * (1 - LOOSE)
    full = inputs_of(sparse(scene, np.arange(len(scene.points)), noise), F)
    assert nr.NystromWidth(DELTA).beta(full) == pytest.approx(needed, rel=LOOSE)
    assert nr.NystromWidth(DELTA).beta(exact) == needed
    assert nr.NystromBayesianWidth(DELTA).beta(exact) == nr.BayesianWidth(DELTA).beta(exact)


def worst_bias(slow: DenseNystrom, pool: Vector) -> Vector:
    """Return max |f − μ̃| over ‖f‖ ≤ 1 without noise, at each candidate."""
    a, K = slow.weights(pool), slow.kernel(slow.X, slow.X)
    cross = np.einsum("ij,ji->i", a, slow.kernel(slow.X, pool))
    square = slow.kernel.diagonal(pool) - 2 * cross + np.einsum("ij,jk,ik->i", a, K, a)
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def worst_noise(slow: DenseNystrom, pool: Vector) -> Vector:
    """Return max |a(x)ᵀη| over ‖Φᵀη‖ ≤ 1 in the norm of (ΦᵀΦ + λ)⁻¹, at each candidate."""
    K = slow.kernel(slow.X, slow.X)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-9 * values[-1]  # Φᵀη = 0 along the others, and a(x)ᵀη with it
    along = slow.weights(pool) @ vectors[:, kept]
    return np.asarray(np.sqrt((along**2 * (1 + slow.ridge / values[kept])).sum(axis=1)))


@given(scenes(), some_members)
def test_the_worst_function_and_the_worst_noise_stay_within_it(
    scene: Scene, drawn: set[int]
) -> None:
    """No chance here: whatever f and whatever noise the theorem admits, for this dictionary."""
    members = chosen(scene, drawn)
    slow = DenseNystrom(scene.kernel, scene.ridge, scene.points.X[members], *repeated(scene.points))
    std = np.sqrt(slow.variance(scene.pool))
    silent = inputs_of(sparse(scene, members, 1e-9), 1.0)
    bias, noise = worst_bias(slow, scene.pool), worst_noise(slow, scene.pool)
    assert np.all(bias <= nr.NystromWidth(DELTA).beta(silent) * std * (1 + 1e-4) + LOOSE)
    assert np.all(noise <= std / math.sqrt(scene.ridge) * (1 + 1e-4) + LOOSE)


def test_without_the_eigenvalue_a_function_leaves_the_band() -> None:
    """A control: with 1 in place of c the worst function is far outside, for a bad dictionary."""
    scene, members = Scene.drawn(0, N=60, told=40, kernel=nr.RBF(0.7), ridge=0.05), np.arange(3)
    slow = DenseNystrom(scene.kernel, scene.ridge, scene.points.X[members], *repeated(scene.points))
    posterior = sparse(scene, members, 1e-9)
    std, bias = np.sqrt(slow.variance(scene.pool)), worst_bias(slow, scene.pool)
    beta = nr.NystromWidth(DELTA).beta(inputs_of(posterior, 1.0))
    assert (bias / std).max() > 1.5
    assert (bias / std).max() <= beta


def chosen_by_values(seed: int, candidates: int = 1000) -> NystromPosterior:
    """f = 0 on unrelated candidates, each evaluated once; the member is the one of highest value.

    Who draws a dictionary by values must not be believed more than who looks at all of them.
    """
    y = np.random.default_rng([seed, 41]).standard_normal(candidates)
    X, ones = np.arange(candidates, dtype=np.float64)[:, None], np.ones(candidates)
    points = Observations(np.arange(candidates), X, ones, y)
    top = subset(points, np.array([np.argmax(np.abs(y))]))
    return nystrom_prior(nr.RBF(0.1), 1.0, dim=1).rebuilt(points, top)


def test_a_dictionary_chosen_by_values_needs_the_exact_determinant() -> None:
    """A control: the log-determinant of the embedded model alone does not hold here."""
    covered, narrow = [], []
    for seed in range(40):
        posterior = chosen_by_values(seed)
        mean, variance = posterior.at_points()
        far = float((np.abs(mean) / np.sqrt(variance)).max())
        embedded = math.sqrt(posterior.log_det + 2 * math.log(1 / DELTA)) + 1.7 * 1e-3
        covered.append(far <= nr.NystromWidth(DELTA).beta(inputs_of(posterior, 1e-3)))
        narrow.append(far <= embedded)
    assert all(covered)
    assert np.mean(narrow) < 0.5  # where 0.8 were promised


def test_the_exact_bayesian_width_is_too_narrow_for_a_bad_dictionary() -> None:
    """f drawn from the prior: with c and D the band holds, without them it does not."""
    kernel, X = nr.RBF(0.3), np.random.default_rng(5).random((120, 2))
    root = np.linalg.cholesky(kernel(X, X) + 1e-9 * np.eye(120))
    ratios, betas, without = [], [], []
    for seed in range(40):
        rng = np.random.default_rng([seed, 43])
        f = root @ rng.standard_normal(120)
        y = f[:80] + 0.3 * rng.standard_normal(80)
        points = Observations(np.arange(80), X[:80], np.ones(80), y)
        prior = nystrom_prior(kernel, 0.09)
        posterior = prior.rebuilt(points, subset(points, np.arange(5)))
        mean, variance = posterior.marginals(X)
        ratios.append(float((np.abs(f - mean) / np.sqrt(variance)).max()))
        s = inputs_of(posterior, 1.0, candidates=120)
        betas.append(nr.NystromBayesianWidth(DELTA).beta(s))
        without.append(nr.BayesianWidth(DELTA).beta(s))
        exact = DenseGP(kernel, 0.09, points.X, y)
        assert np.abs(f - exact.mean(X)).max() <= without[-1] * np.sqrt(exact.variance(X)).max()
    assert np.all(np.array(ratios) <= betas)
    assert np.mean(np.array(ratios) > without) > 0.2

"""Sketches and features beside dense algebra, and where they are exact beside the library."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import noregret as nr
from evaluation.methods.sketches import (
    FeatureModel,
    FrequentDirections,
    fourier_features,
    on_features,
    sketched_radius,
    soful,
)
from evaluation.problems.speed import DELTA, NOISE_STD, NORM_BOUND, RIDGE, Problem
from noregret.arrays import Indices, Matrix
from slow_references import DenseGP

PLACES = np.random.default_rng(4).random((80, 2))


def linear(seed: int, d: int = 6, N: int = 60) -> Problem:
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((N, d)) * 0.7 ** np.arange(d)
    X *= (rng.uniform(0.5, 1.0, N) / np.linalg.norm(X, axis=1))[:, None]
    theta = rng.standard_normal(d)
    return Problem(X, X @ theta / np.linalg.norm(theta), nr.Linear(), seed)


def smooth(seed: int = 0) -> Problem:
    kernel, C = nr.RBF(0.3), np.random.default_rng(5).random((6, 2))
    f = kernel(PLACES, C) @ np.array([0.5, -0.3, 0.4, -0.6, 0.2, 0.3])
    return Problem(PLACES, f, kernel, seed)


def by_library(problem: Problem, optimizer: nr.Optimizer, T: int) -> Indices:
    noise = problem.noise(T)
    while optimizer.spent < T:
        batch, t = optimizer.ask(at_most=1), optimizer.spent
        optimizer.tell(batch, problem.f[batch.sequence] + noise[t : t + len(batch)])
    return np.asarray(optimizer.sequence, dtype=np.int64)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_a_sketch_is_below_the_truth_by_what_was_removed(size: int) -> None:
    """0 ≼ XᵀX − SᵀS ≼ ρI after every row; with all directions, equal."""
    X = np.random.default_rng(size).standard_normal((40, 6))
    sketch = FrequentDirections.empty(size, 6)
    for t, x in enumerate(X, start=1):
        sketch.add(x)
        S = sketch.values[:, None] * sketch.directions
        left_out = np.linalg.eigvalsh(X[:t].T @ X[:t] - S.T @ S)
        assert left_out.min() > -1e-9
        assert left_out.max() <= sketch.removed + 1e-9
    assert sketch.removed == 0.0 if size == 6 else sketch.removed > 1.0
    V = S.T @ S + RIDGE * np.eye(6)
    np.testing.assert_allclose(sketch.solved(X), np.linalg.solve(V, X.T).T, atol=1e-6)
    assert sketch.log_det() == pytest.approx(np.linalg.slogdet(V / RIDGE)[1])


@pytest.mark.parametrize("seed", range(3))
def test_a_sketch_of_full_size_is_oful(seed: int) -> None:
    """Choice for choice the library's, which is held against dense algebra elsewhere."""
    problem, T = linear(seed), 120
    full = soful(problem, T, size=6)
    optimizer = nr.lin_ucb(nr.Pool(problem.X), noise_std=NOISE_STD, seed=seed)
    np.testing.assert_array_equal(full, by_library(problem, optimizer, T))
    np.testing.assert_array_equal(full, soful(problem, T, size=6, theorem=True))
    assert (full != soful(problem, T, size=1)).any()


def test_the_radius_of_the_theorem_holds_theta() -> None:
    """‖θ̃ − θ‖ in the norm of Ṽ, on rows that the sketch forgets, in all of 200 runs of noise."""
    rng = np.random.default_rng(0)
    X, theta = rng.standard_normal((50, 5)) / 3, np.array([0.6, 0.0, -0.5, 0.3, 0.5])
    assert np.linalg.norm(theta) <= NORM_BOUND
    sketch = FrequentDirections.empty(2, 5)
    for x in X:
        sketch.add(x)
    S = sketch.values[:, None] * sketch.directions
    V = S.T @ S + RIDGE * np.eye(5)
    radius = sketched_radius(sketch, 5, theorem=True)
    worst, plain = 0.0, sketched_radius(sketch, 5, theorem=False)
    for _ in range(200):
        y = X @ theta + NOISE_STD * rng.standard_normal(50)
        error = np.linalg.solve(V, X.T @ y) - theta
        worst = max(worst, math.sqrt(error @ V @ error))
    assert plain < worst <= radius
    assert math.exp(-math.log(1 / DELTA)) == pytest.approx(DELTA)


def test_features_come_to_the_kernel() -> None:
    """The error falls with the root of their number, and is nothing on the diagonal."""
    K = nr.RBF(0.3)(PLACES, PLACES)

    def error(count: int) -> float:
        phi = fourier_features(PLACES, 0.3, count, seed=1)
        np.testing.assert_allclose((phi**2).sum(axis=1), 1.0, atol=1e-12)
        return float(np.sqrt(np.mean((phi @ phi.T - K) ** 2)))

    errors = [error(count) for count in (100, 1600, 25600)]
    assert errors[2] < 0.01
    assert all(2.0 < a / b < 8.0 for a, b in itertools.pairwise(errors))


def dense(phi: Matrix, rows: Indices, y: np.ndarray) -> DenseGP:
    """The textbook posterior with φᵀφ for a kernel, given by row numbers."""
    kernel = nr.Precomputed(phi @ phi.T)
    return DenseGP(kernel, RIDGE, rows[:, None].astype(np.float64), y)


def test_a_model_on_features_is_the_gaussian_process_of_their_kernel() -> None:
    """Rank-one updates beside an explicit inverse, on all evaluations."""
    problem, T = smooth(), 60
    phi = fourier_features(PLACES, 0.3, 40, seed=2)
    rows, model = on_features(problem, T, phi)
    gp = dense(phi, rows, problem.f[rows] + problem.noise(T))
    everyone = np.arange(80.0)[:, None]
    np.testing.assert_allclose(model.mean, gp.mean(everyone), atol=1e-5)
    np.testing.assert_allclose(model.variance, gp.variance(everyone), atol=1e-6)
    assert model.log_det == pytest.approx(gp.log_det(), rel=1e-6)
    samples = np.array([model.sample(np.random.default_rng(s)) for s in range(4000)])
    np.testing.assert_allclose(samples.var(axis=0), model.variance, rtol=0.2, atol=1e-9)


def test_with_features_without_end_it_is_gp_ucb() -> None:
    """Features whose products are the kernel choose as the library does."""
    problem, T = smooth(3), 80
    values, vectors = np.linalg.eigh(problem.kernel(PLACES, PLACES))
    exact = vectors * np.sqrt(np.maximum(values, 0.0))
    rows, _ = on_features(problem, T, exact)
    optimizer = nr.gp_ucb(nr.Pool(PLACES), kernel=problem.kernel, noise_std=NOISE_STD, seed=3)
    np.testing.assert_array_equal(rows, by_library(problem, optimizer, T))


def test_few_features_starve_the_variance() -> None:
    """Far from all evaluations the kernel keeps its variance; ten features do not."""
    far = np.vstack([PLACES[:40], [[5.0, 5.0]]])
    model = FeatureModel.prior(fourier_features(far, 0.3, 10, seed=3))
    for row in range(40):
        model.tell(row, 0.0)
    gp = DenseGP(nr.RBF(0.3), RIDGE, far[:40], np.zeros(40))
    assert model.variance[40] < 0.2
    assert gp.variance(far[40:])[0] > 0.999

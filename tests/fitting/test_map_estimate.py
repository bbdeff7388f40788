"""What is learned is what the values were drawn from, in any units."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from noregret.fitting import Grouped, MAPEstimate, Sample, WithCandidateEffect
from noregret.fitting.map_estimate import fit, some, unlikeliness
from slow_references import differences


def drawn(
    seed: int, n: int, lengthscales: tuple[float, ...], *, noise: float, mean: float = 3.0
) -> Sample:
    """Values of a function drawn from a Matérn-5/2 GP of scale 2², two evaluations a point."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, len(lengthscales)))
    K = 4.0 * nr.Matern(2.5, lengthscales)(X, X) + 1e-8 * np.eye(n)
    f = mean + np.linalg.cholesky(K) @ rng.standard_normal(n)
    values = f[:, None] + noise * rng.standard_normal((n, 2))
    error = float(values.var(axis=1, ddof=1).mean())
    return Sample(X, np.full(n, 2.0), values.mean(axis=1), error, float(n))


def family(d: int) -> Grouped:
    return Grouped(np.arange(d), np.ones(d))


def learned(sample: Sample) -> MAPEstimate:
    return fit(family(sample.X.shape[1]), sample)


def test_the_feature_that_matters_is_found() -> None:
    """A feature that does nothing gets a long lengthscale, those that count a short one."""
    found = learned(drawn(0, 120, (0.2, 0.6, 50.0), noise=0.3))
    a, b, c = np.exp(found.theta[2:])
    assert a == pytest.approx(0.2, rel=0.5)
    assert b == pytest.approx(0.6, rel=0.5)
    assert c > 3
    assert found.noise_std == pytest.approx(0.3, rel=0.2)


@pytest.mark.parametrize("part", [0.0, 0.3])
def test_what_is_each_candidates_own_is_told_from_noise(part: float) -> None:
    """By replicates: they scatter by the noise alone, and candidates that are close by both."""
    rng = np.random.default_rng(3)
    X = rng.random((150, 2))
    K = (1 - part) * nr.Matern(2.5, 0.5)(X, X) + (part + 1e-8) * np.eye(150)
    values = (np.linalg.cholesky(K) @ rng.standard_normal(150))[:, None]
    values = values + 0.2 * rng.standard_normal((150, 2))
    error = float(values.var(axis=1, ddof=1).mean())
    sample = Sample(X, np.full(150, 2.0), values.mean(axis=1), error, 150.0)
    found = fit(WithCandidateEffect(family(2)), sample)
    assert found.effect_variance == pytest.approx(part, abs=0.06)
    assert found.noise_std == pytest.approx(0.2, rel=0.15)
    np.testing.assert_allclose(
        found.kernel(X, X), found.shared(X, X) + found.effect_variance * np.eye(150), atol=1e-12
    )


def test_units_do_not_matter() -> None:
    """Millivolts or volts, the same model."""
    one = drawn(1, 40, (0.3, 0.3), noise=0.2)
    other = Sample(one.X, one.w, 1000 * one.y + 7, 1e6 * one.error, one.freedom)
    a, b = learned(one), learned(other)
    np.testing.assert_allclose(b.theta[2:], a.theta[2:], atol=2e-2)
    assert b.noise_std == pytest.approx(1000 * a.noise_std, rel=2e-2)
    assert b.scale == pytest.approx(1e6 * a.scale, rel=5e-2)
    assert b.mean == pytest.approx(1000 * a.mean + 7, rel=2e-2)


def test_features_in_other_units_give_the_same_kernel() -> None:
    one = drawn(2, 40, (0.3, 0.3), noise=0.2)
    wide = Sample(one.X * [10.0, 1.0], one.w, one.y, one.error, one.freedom)
    a = learned(one)
    b = fit(Grouped(np.arange(2), np.array([10.0, 1.0])), wide)
    np.testing.assert_allclose(b.kernel(wide.X, wide.X), a.kernel(one.X, one.X), rtol=1e-6)


def test_replicates_tell_the_noise_where_values_alone_cannot() -> None:
    """Rough or noisy? Twenty points cannot say; their replicates can."""
    quiet = drawn(3, 20, (0.05, 0.05), noise=0.01)
    found = learned(quiet)
    assert found.noise_std < 0.05
    blind = Sample(quiet.X, np.ones(20), quiet.y)
    assert learned(blind).noise_std > found.noise_std


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_and_equal_values_are_no_trouble(n: int) -> None:
    X = np.linspace(0, 1, n)[:, None]
    for y in (np.zeros(n), np.full(n, 1e9), np.arange(n, dtype=np.float64)):
        found = fit(family(1), Sample(X, np.ones(n), y))
        assert np.isfinite(found.theta).all()
        assert found.noise_std > 0
        assert math.isfinite(found.mean)


def test_the_same_row_told_apart_is_no_trouble() -> None:
    """Different candidates may have the same features."""
    X = np.zeros((6, 2))
    found = fit(family(2), Sample(X, np.ones(6), np.arange(6.0)))
    assert found.noise_std > 0.5


def test_a_further_start_is_never_worse() -> None:
    sample = drawn(4, 30, (0.2, 0.5), noise=0.3)
    plain = learned(sample)
    again = fit(family(2), sample, [plain.theta, plain.theta + 0.5])
    assert again.fitness >= plain.fitness - 1e-6


def test_a_long_run_is_learned_from_some_of_it() -> None:
    """Half of them the highest: near the best is where the model has to be right."""
    n, most = 150, 50
    y = np.random.default_rng(0).permutation(n).astype(np.float64)
    whole = Sample(np.arange(float(n))[:, None], np.ones(n), y, 0.5, 7.0)
    kept = some(whole, most, np.random.default_rng(1))
    assert len(kept.y) == most
    assert set(np.sort(y)[-most // 2 :]) <= set(kept.y)
    assert len(set(kept.X[:, 0])) == most
    assert (kept.error, kept.freedom) == (0.5, 7.0)
    assert some(kept, most, np.random.default_rng(1)) is kept


@pytest.mark.parametrize("d", [0, 1, 2, 7])
def test_the_prior_is_a_normal_one_with_lengthscales_alike(d: int) -> None:
    """Against the dense covariance, and slopes against differences."""
    rng = np.random.default_rng(d)
    theta, mean, std = rng.standard_normal((3, 3 + d))
    std = np.exp(std)
    C = np.eye(3 + d)
    C[2:-1, 2:-1] += 0.9 * (1 - np.eye(d))
    C *= np.outer(std, std)

    def dense(at: Vector) -> float:
        return 0.5 * float((at - mean) @ np.linalg.solve(C, at - mean))

    value, slopes = unlikeliness(theta, mean, std, d, 0.9)
    assert value == pytest.approx(dense(theta))
    np.testing.assert_allclose(slopes, differences(dense, theta), rtol=1e-5, atol=1e-6)


def test_a_dozen_values_do_not_single_out_a_feature() -> None:
    """All features matter alike; by few values none of them is taken for the only one."""
    fits = [learned(drawn(seed, 12, (0.7,) * 6, noise=0.3)) for seed in range(10)]
    assert np.median([np.ptp(found.theta[2:]) for found in fits]) < math.log(5)

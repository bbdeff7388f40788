"""A fitted model knows how far it is to be trusted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noregret.arrays import Matrix, Vector
from noregret.fitting import FittedModel, Grouped, Likelihood, PureError, Sample, learn, share
from noregret.fitting.marginal_likelihood import log_density_of_none

FAMILY = Grouped(np.arange(2), np.ones(2))


def taught(
    X: Matrix, values: Matrix, *, deterministic: bool = False, last: FittedModel | None = None
) -> FittedModel:
    """Learn from values, one row of replicates a point."""
    n, r = values.shape
    scatter = values.var(axis=1, ddof=1) if r > 1 else np.full(n, np.nan)
    return learn(
        FAMILY,
        *(X, np.full(n, float(r)), values.mean(axis=1), np.full(n, float(r)), scatter),
        last=last,
        deterministic=deterministic,
        rng=np.random.default_rng(0),
    )


def points(n: int = 40, seed: int = 0) -> Matrix:
    return np.random.default_rng(seed).random((n, 2))


def smooth(X: Matrix) -> Vector:
    f: Vector = np.sin(5 * X[:, 0]) + X[:, 1] ** 2
    return f


def test_noise_about_a_constant_is_called_blank() -> None:
    """Twenty seeds of pure noise, of which few may look like a function."""
    blank = [
        taught(points(), np.random.default_rng(seed).standard_normal((40, 1))).is_blank
        for seed in range(20)
    ]
    assert sum(blank) >= 17


def test_a_function_is_not_called_blank() -> None:
    X = points()
    fitted = taught(X, smooth(X)[:, None] + 0.1 * np.random.default_rng(0).standard_normal((40, 1)))
    assert not fitted.is_blank
    assert fitted.estimate.noise_std == pytest.approx(0.1, rel=0.5)


def test_replicates_tell_a_rough_function_from_noise() -> None:
    """White values that repeat exactly are a function, however rough."""
    values = np.random.default_rng(1).standard_normal((40, 1))
    assert taught(points(), values).is_blank
    assert not taught(points(), np.repeat(values, 2, axis=1)).is_blank


def test_the_density_of_a_constant_is_the_best_of_all_noises() -> None:
    """The slow reference: the likelihood without a function, over a grid of noises."""
    rng = np.random.default_rng(2)
    w, y = rng.integers(1, 5, 12).astype(np.float64), rng.standard_normal(12)
    sample = Sample(points(12), w, y, 0.7, 9.0)
    value = Likelihood(FAMILY, sample).value
    grid = [value(np.array([-60.0, noise, 0.0, 0.0])) for noise in np.linspace(-3, 3, 2001)]
    assert log_density_of_none(sample) == pytest.approx(max(grid), abs=1e-4)


def test_deterministic_values_have_no_noise() -> None:
    """The user's word weighs more than a likelihood that would take roughness for noise."""
    values = np.random.default_rng(3).standard_normal((30, 1))
    fitted = taught(points(30), values, deterministic=True)
    assert fitted.estimate.noise_std < 0.01


def test_a_diverged_run_counts_from_a_floor_up() -> None:
    X = points()
    values = smooth(X)[:, None]
    values[7] = -1e6
    fitted = taught(X, values)
    low, middle, best = np.quantile(values, [0.25, 0.5, 1.0])
    assert fitted.floor == pytest.approx(middle - 2 * max(best - middle, middle - low))
    assert fitted.floored >= 1
    assert fitted.estimate.scale < 100
    assert fitted.seen(values[:, 0]).min() == pytest.approx(fitted.floor - fitted.estimate.mean)


def test_equal_values_are_called_constant() -> None:
    """Forty zeros say nothing of what a value may be."""
    assert taught(points(), np.zeros((40, 2))).is_constant
    assert not taught(points(), smooth(points())[:, None]).is_constant


def test_uneven_noise_is_noticed() -> None:
    """Noise ten times as large in half the pool, six values a candidate."""
    rng = np.random.default_rng(4)
    X = points()
    std = np.where(X[:, 0] < 0.5, 0.1, 1.0)[:, None]
    uneven = taught(X, smooth(X)[:, None] + std * rng.standard_normal((40, 6)))
    even = taught(X, smooth(X)[:, None] + 0.3 * rng.standard_normal((40, 6)))
    assert uneven.is_uneven
    assert not even.is_uneven


def test_shares_of_delta_sum_up_to_it() -> None:
    assert math.fsum(share(0.1, k) for k in range(1, 10**5)) == pytest.approx(0.1, rel=1e-4)
    assert math.fsum(share(0.1, k) for k in range(1, 10**5)) < 0.1


def test_pure_error_takes_entries_not_counts() -> None:
    """Two averages of a hundred values have one degree of freedom."""
    error = PureError.of(np.array([2.0, 1.0]), np.array([0.5, np.nan]))
    assert error.freedom == 1.0
    assert error.variance == 0.5


def test_other_starts_are_tried_once_points_are_many_more() -> None:
    """Fits in between go on from the last one; a search from several starts follows growth."""
    X = points(60)
    values = smooth(X)[:, None] + 0.1 * np.random.default_rng(0).standard_normal((60, 1))
    fitted, searched = None, []
    for number, n in enumerate(range(10, 61, 5), start=1):
        fitted = taught(X[:n], values[:n], last=fitted)
        searched.append(fitted.searched)
        assert fitted.number == number
    assert searched == [10, 15, 15, 25, 25, 35, 35, 35, 50, 50, 50]


def test_a_poor_fit_is_left_once_other_starts_are_tried() -> None:
    """Rough values that repeat: where the last fit stays by noise alone, a search finds them."""
    rng = np.random.default_rng(3)
    X = points(30, seed=3)
    values = np.repeat(np.sin(40 * X.sum(axis=1))[:, None] + 3 * rng.random((30, 1)), 2, axis=1)
    poor = taught(X[:10], rng.standard_normal((10, 1)))
    wide = taught(X, values, last=poor)
    assert wide.searched == 30
    assert wide.estimate.fitness >= taught(X, values).estimate.fitness - 1e-6


@pytest.mark.parametrize(
    ("values", "tied"),
    [
        ([1, 2, 3, 4, 9, 9, 9, 9, 9], 5),
        ([1, 2, 3, 4, 9, 9, 9, 9], 0),  # too few
        ([1, 3, 3, 4, 9, 9, 9, 9, 9], 0),  # other values come again too
        ([1, 3, 3, 4, 9, 9, 9, 9, 9, 9], 6),
        ([9, 9, 9, 9, 9, 9, 9, 9, 9], 0),  # a constant, of no scale at all
        ([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 0),
    ],
)
def test_the_end_of_a_scale_is_where_many_are(values: list[float], tied: int) -> None:
    """Where values are cut off above; but ties are common on a scale of whole numbers."""
    y = np.array(values, dtype=np.float64)
    assert taught(points(len(y)), np.stack([y, y], axis=1)).tied == tied
    assert taught(points(len(y)), y[:, None]).tied == 0  # it may be chance: nothing was repeated
    noisy = np.stack([y - 0.1, y + 0.1], axis=1)
    assert taught(points(len(y)), noisy).tied == 0

"""Points left out one by one, against doing so one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.learning import Grouped, Likelihood, Sample
from noregret.learning.calibration import FEW, LeftOut


def scene(seed: int, n: int) -> tuple[Likelihood, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    sample = Sample(X, rng.integers(1, 4, n).astype(np.float64), rng.normal(2.0, 1.0, n))
    return Likelihood(Grouped(np.arange(2), np.ones(2)), sample), np.log([1.5, 0.3, 0.4, 0.8])


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_leaving_out_is_conditioning_on_the_others(seed: int, n: int) -> None:
    """A shortcut that is off would call a bad model good."""
    likelihood, theta = scene(seed, n)
    found = LeftOut.of(likelihood, theta)
    seen, mean = likelihood.sample, likelihood.mean(theta)
    K = math.exp(theta[0]) * likelihood.family.gram(theta[2:], seen.X)[0]
    A = K + np.diag(math.exp(theta[1]) / seen.w)
    for i in range(n):
        others = np.arange(n) != i
        gain = np.linalg.solve(A[np.ix_(others, others)], K[others, i])
        assert found.error[i] == pytest.approx(
            seen.y[i] - mean - gain @ (seen.y[others] - mean), rel=1e-5, abs=1e-6
        )
        variance = A[i, i] - gain @ K[others, i]
        assert found.std[i] == pytest.approx(math.sqrt(variance), rel=1e-5)


def test_a_right_model_is_hardly_widened_and_a_bold_one_is() -> None:
    """Deviations three times too small are found out."""
    rng = np.random.default_rng(0)
    error = rng.standard_normal(400)
    assert LeftOut(error, np.ones(400)).widening() == pytest.approx(1.0, abs=0.15)
    assert LeftOut(error, np.full(400, 1 / 3)).widening() == pytest.approx(3.0, rel=0.15)
    assert LeftOut(error, np.full(400, 5.0)).widening() == 1.0
    assert LeftOut(1e9 * error, np.ones(400)).widening() == 4.0


def test_a_long_upper_tail_widens_and_a_lower_one_does_not() -> None:
    """One value in a hundred lies eight deviations off."""
    error = np.random.default_rng(2).uniform(-1.0, 1.0, 100)
    error[7] = 8.0
    assert LeftOut(error, np.ones(100)).widening() == pytest.approx(8.0 / 2.46, rel=0.01)
    assert LeftOut(-error, np.ones(100)).widening() == 1.0


def test_few_points_say_nothing() -> None:
    assert LeftOut(np.full(FEW - 1, 99.0), np.ones(FEW - 1)).widening() == 1.0
    assert LeftOut(np.full(FEW - 1, -9.0), np.ones(FEW - 1)).hope(np.ones(FEW - 1)) == 1.0


def test_hope_is_by_how_many_were_expected_above_the_best() -> None:
    """Every one by itself, as it was predicted."""
    rng = np.random.default_rng(4)
    y, error, std = rng.normal(size=30), rng.normal(size=30), rng.random(30) + 0.5
    expected = sum(1.0 - NormalDist(y[i] - error[i], std[i]).cdf(float(y.max())) for i in range(30))
    assert LeftOut(error, std).hope(y) == pytest.approx((2.0 / (1.0 + expected)) ** 2)


@pytest.mark.parametrize(
    ("bend", "least", "most"),
    [
        (lambda y: y, 0.5, 2.0),
        (lambda y: np.minimum(y, 0.5), 0.0, 0.1),  # a yield cannot pass 100 %
        (lambda y: np.exp(2.0 * y), 3.0, 4.0),  # most are worth nothing, a few a lot
    ],
)
def test_hope_falls_where_values_end_and_rises_where_they_do_not(
    bend: Callable[[np.ndarray], np.ndarray], least: float, most: float
) -> None:
    """Candidates of which nothing is known but their spread, by the median of many draws."""
    rng, found = np.random.default_rng(5), []
    for _ in range(200):
        y = bend(rng.standard_normal(80))
        found.append(LeftOut(y - y.mean(), np.full(80, y.std())).hope(y))
    assert least <= float(np.median(found)) <= most

"""Points left out one by one, against doing so one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.fitting import Grouped, Likelihood, Sample
from noregret.fitting.leave_one_out import LeftOut


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
    nine = LeftOut(np.full(9, 99.0), np.ones(9))
    assert nine.widening() == nine.optimism(np.ones(9), np.zeros(9)) == 1.0


def test_optimism_is_by_how_many_were_expected_above_the_best() -> None:
    """Every one by itself, as f was predicted: without the noise of its average."""
    likelihood, theta = scene(4, 30)
    seen, m, xi = likelihood.sample, likelihood.mean(theta), math.exp(theta[1])
    K = math.exp(theta[0]) * likelihood.family.gram(theta[2:], seen.X)[0]
    noise = xi / seen.w
    A = K + np.diag(noise)
    best = m + float((K @ np.linalg.solve(A, seen.y - m)).max())
    expected = 0.0
    for i in range(30):
        others = np.arange(30) != i
        gain = np.linalg.solve(A[np.ix_(others, others)], K[others, i])
        mean, variance = m + gain @ (seen.y[others] - m), K[i, i] - gain @ K[others, i]
        expected += 1.0 - NormalDist(float(mean), math.sqrt(variance)).cdf(best)
    found = LeftOut.of(likelihood, theta).optimism(seen.y, noise)
    assert found == pytest.approx((2.0 / (1.0 + expected)) ** 2, rel=1e-4)


def test_choices_and_noise_do_not_spoil_optimism() -> None:
    """Of 40 candidates, independent, the best so far is evaluated again until noise is known."""
    rng, found = np.random.default_rng(6), []
    for _ in range(200):
        f, w, total = rng.standard_normal(40), np.zeros(40), np.zeros(40)
        for t in range(300):
            width = np.sqrt(1.0 / (1.0 + w / 4.0))
            at = t if t < 40 else int(np.argmax(total / (w + 4.0) + width))
            w[at] += 1.0
            total[at] += f[at] + 2.0 * rng.standard_normal()
        y, noise = total / w, 4.0 / w
        found.append(LeftOut(y, np.sqrt(1.0 + noise)).optimism(y, noise))
    assert 0.5 < float(np.median(found)) < 2.0


@pytest.mark.parametrize(
    ("bend", "least", "most"),
    [
        (lambda y: y, 0.5, 2.0),
        (lambda y: np.minimum(y, 0.5), 0.0, 0.1),  # a yield cannot pass 100 %
        (lambda y: np.exp(2.0 * y), 3.0, 4.0),  # most are worth nothing, a few a lot
    ],
)
def test_optimism_falls_where_values_end_and_rises_where_they_do_not(
    bend: Callable[[np.ndarray], np.ndarray], least: float, most: float
) -> None:
    """Candidates of which nothing is known but their spread, by the median of many draws."""
    rng, found = np.random.default_rng(5), []
    for _ in range(200):
        y = bend(rng.standard_normal(80))
        found.append(LeftOut(y - y.mean(), np.full(80, y.std())).optimism(y, np.zeros(80)))
    assert least <= float(np.median(found)) <= most

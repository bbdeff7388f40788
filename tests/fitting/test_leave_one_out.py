"""Points left out one by one, against doing so one by one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from noregret.fitting import Grouped, Likelihood, Sample
from noregret.fitting.leave_one_out import LeftOut

THETA = np.log([1.5, 0.3, 0.4, 0.8])


class Scene:
    """Points, their values, and each of them as the others predict it, one by one."""

    def __init__(self, seed: int, n: int) -> None:
        rng = np.random.default_rng(seed)
        X = rng.random((n, 2))
        seen = Sample(X, rng.integers(1, 4, n).astype(np.float64), rng.normal(2.0, 1.0, n))
        self.likelihood = Likelihood(Grouped(np.arange(2), np.ones(2)), seen)
        self.y, self.m = seen.y, self.likelihood.mean(THETA)
        self.noise = math.exp(THETA[1]) / seen.w
        K = math.exp(THETA[0]) * self.likelihood.family.gram(THETA[2:], X)[0]
        A = K + np.diag(self.noise)
        self.best = self.m + float((K @ np.linalg.solve(A, self.y - self.m)).max())
        self.mean, self.variance = np.empty((2, n))  # of f
        for i in range(n):
            others = np.arange(n) != i
            gain = np.linalg.solve(A[np.ix_(others, others)], K[others, i])
            self.mean[i] = self.m + gain @ (self.y[others] - self.m)
            self.variance[i] = K[i, i] - gain @ K[others, i]


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_leaving_out_is_conditioning_on_the_others(seed: int, n: int) -> None:
    """A shortcut that is off would call a bad model good."""
    scene = Scene(seed, n)
    found = LeftOut.of(scene.likelihood, THETA)
    np.testing.assert_allclose(found.error, scene.y - scene.mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.std, np.sqrt(scene.variance + scene.noise), rtol=1e-5)


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
    scene = Scene(4, 30)
    expected = float(np.sum(norm.sf(scene.best, scene.mean, np.sqrt(scene.variance))))
    found = LeftOut.of(scene.likelihood, THETA).optimism(scene.y, scene.noise)
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

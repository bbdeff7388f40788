"""Scores against the plain formulas, in high precision where floats fail."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

import noregret as nr
from noregret.acquisitions import Uncertainty

numbers = st.floats(-5, 5)


@given(st.lists(st.tuples(numbers, st.floats(0, 4)), min_size=1, max_size=9), st.floats(0.1, 30))
def test_ucb_is_mean_plus_beta_deviations(rows: list[tuple[float, float]], beta: float) -> None:
    """MINI Eq. 2."""
    mean, variance = np.array(rows).T
    scores = nr.UCB().score(mean, variance, beta, mean.max())
    np.testing.assert_allclose(scores, mean + beta * variance**0.5)
    np.testing.assert_array_equal(Uncertainty().score(mean, variance, beta, 0.0), variance)


@given(st.lists(st.tuples(numbers, st.floats(0.05, 4)), min_size=1, max_size=9), st.floats(0.5, 30))
def test_expected_improvement_is_its_formula(rows: list[tuple[float, float]], beta: float) -> None:
    """MINI Eq. 3, where it does not underflow."""
    mean, variance = np.array(rows).T
    sd = np.sqrt(variance)
    u = (mean - mean.max()) / sd / beta
    plain = beta * sd * (u * norm.cdf(u) + norm.pdf(u))
    scores = nr.ExpectedImprovement().score(mean, variance, beta, float(mean.max()))
    sane = u > -5
    np.testing.assert_allclose(np.exp(scores[sane]), plain[sane], rtol=1e-7)


@pytest.mark.parametrize("u", [-0.5, -0.999, -1.001, -5.0, -20.0, -39.9, -40.1, -200.0, -1e4])
def test_log_improvement_keeps_its_digits_far_below_the_best(u: float) -> None:
    """In plain floats candidates 40 deviations down all tie at zero."""
    score = nr.ExpectedImprovement().score(np.array([u]), np.array([1.0]), 1.0, 0.0)[0]
    assert score == pytest.approx(float(_log_h(Decimal(u))), rel=1e-11)


def _log_h(u: Decimal) -> Decimal:
    """log(φ(u) + uΦ(u)) by the continued fraction of Mills' ratio, or the series, in 60 digits."""
    getcontext().prec = 60
    a, pi = -u, Decimal("3.14159265358979323846264338327950288419716939937510582097494")
    phi = -(a * a) / 2 - (2 * pi).ln() / 2
    if a < 6:  # Φ(−a) = 1/2 − φ(0)·Σ (−1)^k a^(2k+1)/(2^k k! (2k+1))
        total, power = Decimal(0), a
        for k in range(400):
            total += power / (2 * k + 1)
            power *= -a * a / (2 * (k + 1))
        tail = Decimal("0.5") - total / (2 * pi).sqrt()
        return (phi.exp() - a * tail).ln()
    fraction = a
    for k in range(2000, 0, -1):
        fraction = a + k / fraction
    return phi + (1 - a / fraction).ln()


@given(numbers, st.floats(0.01, 4), st.floats(0.5, 3), st.floats(0, 9), st.floats(0, 500))
def test_a_knowledge_gradient_is_what_the_best_mean_gains(
    mean: float, variance: float, beta: float, noise: float, ahead: float
) -> None:
    """By the sum over what evaluations may show: the mean moves with the surprise."""
    prior, best_mean = beta**2 * variance, 1.0
    times = max(1.0, noise / prior)
    spread = math.sqrt(prior + noise / times)  # of their average about the mean
    surprise = np.linspace(-12.0, 12.0, 200_001)
    moved = mean + prior / (prior + noise / times) * spread * surprise
    gained = trapezoid(np.maximum(moved - best_mean, 0.0) * norm.pdf(surprise), surprise) / times
    how = nr.KnowledgeGradient(ahead=ahead, noise=noise)
    score = how.score(np.array([mean]), np.array([variance]), beta, best_mean)[0]
    assert score == pytest.approx(mean + ahead * gained, rel=1e-6, abs=1e-6)


@given(
    *(numbers, st.floats(0.01, 3), st.floats(0, 9), st.floats(0.5, 3)),
    *(st.floats(0, 9), st.floats(0, 1e5)),
)
def test_a_missed_update_cannot_lift_a_knowledge_gradient_past_its_ceiling(
    mean: float, std: float, gain: float, beta: float, noise: float, ahead: float
) -> None:
    """Over all that the mean may have moved by, and the deviation that is then left."""
    how, best_mean = nr.KnowledgeGradient(ahead=ahead, noise=noise), 1.0
    left = std * np.cos(np.linspace(0.0, math.pi / 2, 400))
    moved = mean + np.sqrt(gain * (std**2 - left**2))
    ceiling = how.ceiling(np.array([mean]), np.array([std]), np.array([gain]), beta, best_mean)[0]
    scores = how.score(moved, left**2, beta, best_mean)
    assert scores.max() <= ceiling + 1e-9 * (1 + abs(ceiling))
    blunt = how.score(
        np.array([mean + std * math.sqrt(gain)]), np.array([std**2]), beta, best_mean
    )[0]
    assert ceiling <= blunt + 1e-9 * (1 + abs(blunt))
    still = how.ceiling(np.array([mean]), np.array([std]), np.zeros(1), beta, best_mean)[0]
    assert still == pytest.approx(float(scores[0]), rel=1e-9, abs=1e-12)


def test_of_candidates_known_exactly_the_best_mean_wins() -> None:
    """With no variance left scores must not tie at minus infinity."""
    mean, known = np.array([0.1, 0.9, 0.3]), np.zeros(3)
    gradient = nr.KnowledgeGradient(ahead=1e6).score(mean, known, 1.0, 0.9)
    np.testing.assert_array_equal(gradient, mean)
    scores = nr.ExpectedImprovement().score(mean, known, 1.0, 0.9)
    assert int(np.argmax(scores)) == 1
    assert np.isfinite(scores[1])


@pytest.mark.parametrize("name", ["ahead", "noise"])
def test_a_knowledge_gradient_of_less_than_nothing_is_refused(name: str) -> None:
    """As the user wrote it."""
    with pytest.raises(nr.errors.ArgumentError, match=rf"KnowledgeGradient\({name}=...\)"):
        nr.KnowledgeGradient(**{name: -1.0})


@given(numbers, st.floats(0, 4), st.floats(0, 4), st.floats(0.1, 10))
def test_no_score_rises_when_a_variance_shrinks(
    mean: float, v: float, w: float, beta: float
) -> None:
    """Lazy search keeps old scores as upper bounds."""
    low, high = sorted((v, w))
    for acquisition in (nr.UCB(), nr.ExpectedImprovement(), nr.KnowledgeGradient(50.0, 0.3)):
        a, b = (
            acquisition.score(np.array([mean]), np.array([x]), beta, 5.0)[0] for x in (low, high)
        )
        assert a <= b or a == pytest.approx(b, rel=1e-9)

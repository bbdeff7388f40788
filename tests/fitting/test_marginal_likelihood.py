"""The likelihood on unique points against all evaluations, and its slopes against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import noregret as nr
from noregret.arrays import Vector
from noregret.fitting import Family, Fixed, Grouped, Joint, Likelihood, Sample, WithCandidateEffect
from noregret.fitting.kernel_families import effect_share
from noregret.kernels import CandidateEffect, Kernel, Scaled, Sum
from slow_references import differences


def family(name: str) -> tuple[Family, int]:
    """A family by name, and how many columns it sees."""
    if name == "owned":
        return WithCandidateEffect(Grouped(np.arange(2), np.array([1.0, 2.0]))), 2
    if name == "tanimoto":
        return Fixed(nr.RBF(0.7)), 3
    if name == "joint":
        numbers = Grouped(np.array([0, 1]), np.array([1.0, 2.0]))
        codes = Grouped(np.array([0, 0, 0]), np.ones(3), "smooth")
        return Joint(numbers, codes, np.array([0, 1, 1, 1, 0])), 5
    groups = np.array([0, 1, 1, 2])
    return Grouped(groups, np.array([1.0, 2.0, 1.0, 0.0]), name), 4  # type: ignore[arg-type]


NAMES = ["rough", "smooth", "joint", "tanimoto", "owned"]


def whole(held: Family, theta: Vector) -> Kernel:
    """The kernel of a family with what is each candidate's own."""
    part = effect_share(held, theta)
    shared = held.kernel(theta)
    return Sum(Scaled(shared, 1.0 - part), Scaled(CandidateEffect(), part)) if part else shared


def scene(name: str, seed: int) -> tuple[Family, np.ndarray, np.ndarray, np.ndarray, Vector]:
    """A family, unique rows, which row each evaluation is of, values, and parameters."""
    rng = np.random.default_rng(seed)
    held, d = family(name)
    n = int(rng.integers(2, 9))
    X = rng.random((n, d))
    which = np.concatenate([np.arange(n), rng.integers(n, size=int(rng.integers(0, 12)))])
    values = rng.normal(3.0, 2.0, size=len(which))
    theta = np.concatenate([rng.normal(0.5, 0.5, 2), rng.normal(0.0, 0.7, held.size)])
    return held, X, which, values, theta


def seen(X: np.ndarray, which: np.ndarray, values: np.ndarray) -> Sample:
    w = np.bincount(which).astype(np.float64)
    y = np.bincount(which, weights=values) / w
    freedom = float((w - 1).sum())
    scatter = float(((values - y[which]) ** 2).sum())
    return Sample(X, w, y, scatter / freedom if freedom else 0.0, freedom)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 10**6))
def test_counts_stand_for_all_evaluations(name: str, seed: int) -> None:
    """Differences of log p between parameters are those of the dense density of all values."""
    held, X, which, values, theta = scene(name, seed)
    other = theta + 0.1
    likelihood = Likelihood(held, seen(X, which, values))

    def dense(at: Vector) -> float:
        K = math.exp(at[0]) * (whole(held, at[2:])(X, X))[np.ix_(which, which)]
        A = K + math.exp(at[1]) * np.eye(len(which)) + 1e-9 * math.exp(at[0]) * (K > 2)
        ones = np.linalg.solve(A, np.ones(len(which)))
        mean = ones @ values / ones.sum()
        return float(multivariate_normal.logpdf(values, np.full(len(which), mean), A))

    expected = dense(other) - dense(theta)
    found = likelihood.value(other) - likelihood.value(theta)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 10**6))
def test_slopes_are_those_of_differences(name: str, seed: int) -> None:
    """A wrong slope sends the fit uphill to the wrong place, quietly."""
    held, X, which, values, theta = scene(name, seed)
    likelihood = Likelihood(held, seen(X, which, values))
    value, slopes = likelihood.gradient(theta)
    assert value == likelihood.value(theta)
    expected = differences(likelihood.value, theta, 1e-5)
    np.testing.assert_allclose(slopes, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 10**6))
def test_the_gram_is_that_of_the_kernel(name: str, seed: int) -> None:
    """What is fitted must be what is used."""
    held, X, _, _, theta = scene(name, seed)
    expected = whole(held, theta[2:])(X, X)
    np.testing.assert_allclose(held.gram(theta[2:], X)[0], expected, rtol=1e-6, atol=1e-7)


def test_smooth_on_a_code_is_the_categorical_kernel() -> None:
    """One-hot columns of one group: alike by the codes that agree."""
    codes = np.array([[0, 0], [0, 1], [2, 1], [2, 2]])
    one_hot = np.concatenate([np.eye(3)[codes[:, 0]], np.eye(3)[codes[:, 1]]], axis=1)
    theta = np.log([0.8, 2.0])
    held = Grouped(np.array([0, 0, 0, 1, 1, 1]), np.ones(6), "smooth")
    weights = tuple((1 / np.exp(2 * theta)).tolist())
    categorical = nr.Categorical(weights=weights)
    X = codes.astype(np.float64)
    np.testing.assert_allclose(held.gram(theta, one_hot)[0], categorical(X, X), rtol=1e-12)


def test_slopes_count_what_rounding_needs() -> None:
    """Without noise or own parts, what is added for rounding is a part of the scale's slope."""
    X, held = np.random.default_rng(0).random((40, 3)), Grouped(np.arange(3), np.ones(3))
    sample = Sample(X, np.ones(40), np.sin(4 * X[:, 0]))
    likelihood, theta = Likelihood(held, sample), np.array([1.0, -30.0, 2.5, 2.5, 2.5])
    slope = differences(likelihood.value, theta, 1e-4)[0]
    assert likelihood.gradient(theta)[1][0] == pytest.approx(slope, rel=1e-3)

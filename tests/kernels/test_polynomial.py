"""The polynomial kernel against powers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ArgumentError
from noregret.kernels import probe

seeds = st.integers(0, 2**20)


@given(seeds, st.integers(1, 7), st.sampled_from([0.0, 0.5, 3.0]), st.integers(1, 3))
def test_it_is_its_formula(seed: int, degree: int, bias: float, dim: int) -> None:
    """And a covariance, on whose diagonal it stands."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((6, dim)), rng.standard_normal((4, dim))
    kernel = nr.Polynomial(degree, bias)
    expected = np.array([[(x @ z + bias) ** degree for z in Z] for x in X])
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-12)
    probe(kernel, X)


def test_degree_one_is_linear() -> None:
    """With the same bias."""
    X = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_array_equal(nr.Polynomial(1, 0.5)(X, X), nr.Linear(0.5)(X, X))


def test_a_box_is_searched_with_it() -> None:
    """A parabola is found from few evaluations."""
    optimizer = nr.gp_ucb(nr.Box([(-1.0, 2.0)]), kernel=nr.Polynomial(2), noise_std=0.01)
    for _ in range(8):
        batch = optimizer.ask()
        optimizer.tell(batch, [-((x[0] - 0.8) ** 2) for x in batch])
    assert optimizer.best().x[0] == pytest.approx(0.8, abs=0.05)


ANY: Any = nr.Polynomial


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_a_bad_degree_is_refused(degree: object) -> None:
    """Other powers are not positive definite."""
    with pytest.raises(ArgumentError, match=r"Polynomial\(degree=...\) must be"):
        ANY(degree)


def test_a_bad_bias_is_refused() -> None:
    """Below 0 it is no covariance."""
    with pytest.raises(ArgumentError, match=r"Polynomial\(bias=...\) must be at least 0"):
        ANY(2, -1.0)

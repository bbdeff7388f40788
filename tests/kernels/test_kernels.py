"""Kernels against their formulas, pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ArgumentError
from slow_references import slow_matern, slow_rbf

seeds = st.integers(0, 2**20)


@given(seeds, st.integers(1, 4), st.floats(0.1, 10), st.floats(-1e3, 1e3), st.booleans())
def test_stationary_kernels_are_their_formulas(
    seed: int, dim: int, scale: float, shift: float, each: bool
) -> None:
    """One matrix product gives what subtracting pair by pair gives, far from zero too."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((7, dim)) + shift, rng.standard_normal((5, dim)) + shift
    lengthscale = scale * rng.uniform(0.5, 2.0, dim) if each else np.full(dim, scale)
    own = tuple(lengthscale) if each else scale
    np.testing.assert_allclose(nr.RBF(own)(X, Z), slow_rbf(X, Z, lengthscale), atol=1e-9)
    for nu in (0.5, 1.5, 2.5):
        kernel = nr.Matern(nu=nu, lengthscale=own)
        np.testing.assert_allclose(kernel(X, Z), slow_matern(X, Z, lengthscale, nu), atol=1e-9)


@given(seeds, st.sampled_from([nr.RBF(0.3), nr.Matern(0.5, 0.3), nr.Matern(2.5, 0.3)]))
def test_equal_rows_have_similarity_one_and_near_ones_nearly(seed: int, kernel: nr.Kernel) -> None:
    """Rounding in ‖x‖² + ‖z‖² − 2x·z would tell duplicates apart, by 1e-6 for Matérn 1/2."""
    rng = np.random.default_rng(seed)
    X = 100 * rng.standard_normal((40, 3))
    K = kernel(X, X)
    np.testing.assert_array_equal(np.diag(K), np.ones(40))
    near = X + 1e-9
    apart = np.linalg.norm(X - near, axis=1)
    expected = kernel(apart[:, None], np.zeros((1, 1)))[:, 0]
    np.testing.assert_allclose(np.diag(kernel(near, X)), expected, rtol=0, atol=1e-12)


def test_algebra_of_kernels() -> None:
    """Sums, products and scales are what they are called."""
    X, Z = np.random.default_rng(1).standard_normal((2, 4, 2))
    a, b = nr.RBF(0.7), nr.Linear(bias=0.5)
    np.testing.assert_allclose((a + b)(X, Z), a(X, Z) + X @ Z.T + 0.5)
    np.testing.assert_allclose((a * b)(X, Z), a(X, Z) * (X @ Z.T + 0.5))
    np.testing.assert_allclose((3 * a)(X, Z), 3 * a(X, Z))
    np.testing.assert_allclose((a * 3.0)(X, Z), 3 * a(X, Z))
    np.testing.assert_allclose((2.0 * a + a * b).diagonal(X), 2 + (X**2).sum(axis=1) + 0.5)
    assert nr.RBF(0.7) == a
    assert nr.RBF([1, 2]).lengthscale == (1.0, 2.0)  # type: ignore[arg-type]  # lists are kind


def test_large_blocks_are_cut_without_seams() -> None:
    """The pass over a block goes chunk by chunk."""
    rng = np.random.default_rng(2)
    X, Z = rng.standard_normal((900, 2)), rng.standard_normal((60, 2))
    np.testing.assert_allclose(nr.RBF(1.0)(X, Z), slow_rbf(X, Z, 1.0), atol=1e-12)


def test_wrong_number_of_lengthscales_is_named() -> None:
    """A silent broadcast would optimise something else."""
    with pytest.raises(nr.NoRegretError, match="2 entries for 3 features"):
        nr.RBF((1.0, 2.0))(np.zeros((1, 3)), np.zeros((1, 3)))


@given(seeds, st.integers(1, 7), st.sampled_from([0.0, 0.5, 3.0]), st.integers(1, 3))
def test_polynomials_are_their_formula(seed: int, degree: int, bias: float, dim: int) -> None:
    """The diagonal too."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((6, dim)), rng.standard_normal((4, dim))
    kernel = nr.Polynomial(degree, bias)
    expected = np.array([[(x @ z + bias) ** degree for z in Z] for x in X])
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-12)
    np.testing.assert_array_equal(nr.Polynomial(1, bias)(X, Z), nr.Linear(bias)(X, Z))


def test_a_box_is_searched_with_a_parabola() -> None:
    """A parabola is found from few evaluations."""
    optimizer = nr.gp_ucb(nr.Box([(-1.0, 2.0)]), kernel=nr.Polynomial(2), noise_std=0.01)
    for _ in range(8):
        batch = optimizer.ask()
        optimizer.tell(batch, [-((x[0] - 0.8) ** 2) for x in batch])
    assert optimizer.best().x[0] == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    ("degree", "bias", "match"),
    [
        *((degree, 1.0, r"degree=...\) must be") for degree in (0, -1, 1.5, True, "2")),
        (2, -1.0, r"bias=...\) must be at least 0"),
    ],
)
def test_what_is_no_covariance_is_refused(degree: Any, bias: float, match: str) -> None:
    """Other powers, or a bias below 0, are not positive definite."""
    with pytest.raises(ArgumentError, match=rf"Polynomial\({match}"):
        nr.Polynomial(degree, bias)

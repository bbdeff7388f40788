"""Factors made, pivoted and solved with, against NumPy from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import blas

from noregret.arrays import Matrix
from noregret.errors import KernelError, NumericalWarning
from noregret.posteriors import cholesky

seeds = st.integers(0, 2**20)


def positive(seed: int, n: int) -> Matrix:
    B = np.random.default_rng(seed).standard_normal((n, n + 2))
    return B @ B.T + 0.1 * np.eye(n)


@given(seeds, st.integers(1, 6), st.integers(1, 6))
def test_pivoting_leaves_out_dependent_rows(seed: int, rank: int, copies: int) -> None:
    """A dictionary that holds a point twice must embed as if it held it once."""
    B = np.random.default_rng(seed).standard_normal((rank, rank + 3))
    B = np.vstack([B, B[:1].repeat(copies, axis=0)])
    A = B @ B.T
    L, kept = cholesky.pivoted(A)
    assert len(kept) == rank
    np.testing.assert_allclose(L @ L.T, A[np.ix_(kept, kept)], rtol=1e-9, atol=1e-9)


@given(seeds, st.integers(1, 8))
def test_the_diagonal_of_the_inverse_is_found_once(seed: int, n: int) -> None:
    A = positive(seed, n)
    factor = cholesky.Factor(cholesky.factor(A))
    diagonal = factor.inverse_diagonal
    np.testing.assert_allclose(diagonal, np.diag(np.linalg.inv(A)), rtol=1e-7)
    assert factor.inverse_diagonal is diagonal


@given(seeds, st.integers(1, 8))
def test_solving(seed: int, n: int) -> None:
    """Every mean is one of these solves."""
    A, b = positive(seed, n), np.random.default_rng(seed).standard_normal(n)
    L = cholesky.factor(A)
    np.testing.assert_allclose(cholesky.solve(L, b), np.linalg.solve(A, b), rtol=1e-7, atol=1e-9)
    B = np.random.default_rng(seed + 1).standard_normal((n, 3))
    np.testing.assert_allclose(
        cholesky.solve_lower(L, B), np.linalg.solve(np.tril(L), B), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        cholesky.solve_lower(L, B[:, :1]), np.linalg.solve(L, B[:, :1]), rtol=1e-7, atol=1e-9
    )
    assert cholesky.log_det(L) == pytest.approx(np.linalg.slogdet(A)[1], rel=1e-9, abs=1e-9)


def test_nothing_is_a_factor_too() -> None:
    """The prior has no points."""
    empty = np.zeros((0, 0))
    assert cholesky.factor(empty).shape == (0, 0)
    assert cholesky.solve_lower(empty, np.zeros((0, 4))).shape == (0, 4)
    assert cholesky.log_det(empty) == 0.0
    # A linear kernel knows its value at the origin; such a point cannot be a member.
    for nothing in (empty, np.zeros((2, 2))):
        L, kept = cholesky.pivoted(nothing)
        assert (L.shape, kept.size) == ((0, 0), 0)


def test_rounding_is_repaired_with_a_warning() -> None:
    """Coinciding candidates at tiny noise must not stop a run, nor pass in silence."""
    A = np.ones((3, 3)) * (1 - 1e-16)
    A[0, 0] -= 1e-16
    with pytest.warns(NumericalWarning, match="nearly coincide"):
        L = cholesky.factor(A)
    np.testing.assert_allclose(L @ L.T, A, atol=1e-7)


def test_an_indefinite_matrix_is_refused() -> None:
    """A kernel that is no covariance has no posterior."""
    for made in (cholesky.factor, cholesky.pivoted):
        with pytest.raises(KernelError, match="not positive definite"):
            made(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize(("n", "k"), [(1, 2), (1, 1), (3, 7), (65, 130), (40, 0), (0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_solve_that_frees_the_lock_is_scipys(n: int, k: int, order: str) -> None:
    """A wrong leading dimension would read past the end of a factor."""
    rng = np.random.default_rng(n + k)
    A = rng.standard_normal((n, n))
    L = np.asfortranarray(np.linalg.cholesky(A @ A.T + np.eye(n)))
    B = np.array(rng.standard_normal((n, k)), order="C" if order == "C" else "F")
    before = B.copy()
    solved = cholesky.solve_lower(L, B)
    assert np.array_equal(B, before), "what was given is left alone"
    if n and k:
        expected = blas.dtrsm(1.0, L, B, lower=1)
        np.testing.assert_allclose(solved, expected, rtol=1e-13, atol=1e-13)
    assert solved.shape == (n, k)


def test_only_what_fortran_can_read_is_taken() -> None:
    """Memory in another order would be solved into nonsense."""
    with pytest.raises(AssertionError):
        cholesky.solve_lower_in_place(np.eye(3, order="F"), np.ones((3, 2), order="C"))
    with pytest.raises(AssertionError):
        cholesky.solve_lower_in_place(np.eye(4, order="F"), np.ones((3, 2), order="F"))

"""Any function as kernel: shapes, diagonals, and nothing of the user's written to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.errors import ArgumentError, KernelError
from noregret.kernels import probe

X = np.random.default_rng(0).random((50, 2))


def laplacian(X: Matrix, Z: Matrix) -> Matrix:
    return np.asarray(np.exp(-3 * np.abs(X[:, None] - Z[None]).sum(axis=2)))


@given(st.integers(0, 100))
def test_the_diagonal_is_that_of_the_function(n: int) -> None:
    """Given, constant, or cut out of blocks, with a last block of any length."""
    rows = np.random.default_rng(n).random((n, 2)) + 0.1
    linear = nr.Linear(0.5)
    for diagonal in (None, linear.diagonal):
        kernel = nr.FunctionKernel(linear, diagonal=diagonal)
        np.testing.assert_allclose(kernel.diagonal(rows), linear.diagonal(rows), rtol=1e-12)
        assert kernel(rows, X).shape == (n, 50)
    constant = nr.FunctionKernel(laplacian, diagonal=1.0)
    np.testing.assert_array_equal(constant.diagonal(rows), np.ones(n))


def test_empty_blocks_do_not_reach_the_function() -> None:
    """Most functions were never tried without rows."""

    def never(X: Matrix, Z: Matrix) -> Matrix:
        raise AssertionError(X, Z)

    kernel = nr.FunctionKernel(never)
    assert kernel(X[:0], X).shape == (0, 50)
    assert kernel(X, X[:0]).shape == (50, 0)
    assert kernel.diagonal(X[:0]).shape == (0,)


def test_it_is_scaled_added_and_probed() -> None:
    """As other kernels are."""
    kernel = 2.0 * nr.FunctionKernel(laplacian) * nr.RBF(0.3) + nr.Linear()
    probe(kernel, X)
    expected = 2 * laplacian(X, X) * nr.RBF(0.3)(X, X) + X @ X.T
    np.testing.assert_allclose(kernel(X, X), expected)


@pytest.mark.parametrize("algorithm", [nr.mini_gp_ucb, nr.bbkb, nr.gp_bucb, nr.bkb])
def test_what_the_function_returns_is_not_written_to(
    algorithm: Callable[..., nr.Optimizer],
) -> None:
    """A function may hand out views of a table of its own, read-only or not."""
    rows = np.random.default_rng(1).random((100, 2))
    table = laplacian(rows, rows)
    before = table.copy()

    def looked_up(A: Matrix, B: Matrix) -> Matrix:
        i, j = A[:, 0].astype(int), B[:, 0].astype(int)
        whole = len(i) > 1 and len(j) > 1 and (np.diff(i) == 1).all() and (np.diff(j) == 1).all()
        return table[i[0] : i[-1] + 1, j[0] : j[-1] + 1] if whole else table[np.ix_(i, j)]

    pool = nr.Pool.numbered(100)
    optimizer = algorithm(pool, kernel=nr.FunctionKernel(looked_up), noise_std=0.2)
    optimizer.tell(range(80), np.sin(np.arange(80)))
    for _ in range(5):
        batch = optimizer.ask(at_most=3)
        optimizer.tell(batch, [0.1] * len(batch))
    np.testing.assert_array_equal(table, before)


def test_its_runs_are_those_of_the_kernel_inside() -> None:
    """Wrapping changes nothing."""
    kernel = nr.Matern(lengthscale=0.4)
    plain = nr.mini_gp_ucb(nr.Pool(X), kernel=kernel, noise_std=0.2)
    wrapped = nr.mini_gp_ucb(nr.Pool(X), kernel=nr.FunctionKernel(kernel), noise_std=0.2)
    for _ in range(15):
        a, b = plain.ask(at_most=4), wrapped.ask(at_most=4)
        assert a.sequence.tolist() == b.sequence.tolist()
        plain.tell(a, [x[0] for x in a])
        wrapped.tell(b, [x[0] for x in b])


ANY: Any = nr.FunctionKernel


def column(X: Matrix) -> Matrix:
    return np.ones((len(X), 1))


def flat(X: Matrix, _: Matrix) -> Vector:
    return np.ones(len(X))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ANY(3), r"must be callable as k\(X, Z\), got 3"),
        (lambda: ANY(nr.RBF), "must be callable"),
        (lambda: ANY(laplacian, diagonal="one"), r"diagonal=...\) must be a finite number"),
        (lambda: ANY(laplacian, diagonal=np.nan), r"diagonal=...\) must be a finite number"),
        (lambda: ANY(flat)(X, X), r"FunctionKernel\(flat\) must return shape \(50, 50\)"),
        (lambda: ANY(laplacian, diagonal=column).diagonal(X), r"must have shape \(50,\)"),
        (
            lambda: nr.gp_ucb(nr.Pool(X), kernel=ANY(laplacian, diagonal=2.0), noise_std=0.1),
            r"diagonal\(X\) must equal",
        ),
        (
            lambda: nr.gp_ucb(nr.Pool(X), kernel=laplacian, noise_std=0.1),  # type: ignore[arg-type]  # what is tested
            r"A function becomes one by noregret.FunctionKernel\(function\)",
        ),
    ],
)
def test_what_is_no_kernel_is_refused(make: Callable[[], object], match: str) -> None:
    """Named as the user wrote it."""
    with pytest.raises((ArgumentError, KernelError), match=match):
        make()

"""Kernels of the user's own: any function, or a given matrix, looked up, not copied, checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.errors import ArgumentError, KernelError, PoolError
from noregret.kernels import custom
from noregret.testing.base import play

X = np.random.default_rng(0).random((50, 2))
FACTOR = np.random.default_rng(3).standard_normal((30, 5))
GRAM: Matrix = FACTOR @ FACTOR.T
POOL = nr.Pool.numbered(30)
SIGNS = np.where(np.eye(30, dtype=np.bool_), 1.0, -0.5)
FUNCTION: Any = nr.FunctionKernel
MATRIX: Any = nr.Precomputed


def laplacian(X: Matrix, Z: Matrix) -> Matrix:
    return np.asarray(np.exp(-3 * np.abs(X[:, None] - Z[None]).sum(axis=2)))


def column(X: Matrix) -> Matrix:
    return np.ones((len(X), 1))


def flat(X: Matrix, _: Matrix) -> Vector:
    return np.ones(len(X))


def with_entry(row: int, column: int, value: float) -> Matrix:
    K = GRAM.copy()
    K[row, column] = value
    return K


@given(st.integers(0, 100))
def test_a_function_has_its_values_and_its_diagonal(n: int) -> None:
    """The latter given, constant, or cut out of blocks, with a last block of any length."""
    rows = np.random.default_rng(n).random((n, 2)) + 0.1
    linear = nr.Linear(0.5)
    for diagonal in (None, linear.diagonal):
        kernel = nr.FunctionKernel(linear, diagonal=diagonal)
        np.testing.assert_allclose(kernel.diagonal(rows), linear.diagonal(rows), rtol=1e-12)
        np.testing.assert_array_equal(kernel(rows, X), linear(rows, X))
    constant = nr.FunctionKernel(laplacian, diagonal=1.0)
    np.testing.assert_array_equal(constant.diagonal(rows), np.ones(n))
    mixed = 2.0 * constant * nr.RBF(0.3) + nr.Linear()
    expected = 2 * laplacian(rows, X) * nr.RBF(0.3)(rows, X) + rows @ X.T
    np.testing.assert_allclose(mixed(rows, X), expected)


def test_empty_blocks_do_not_reach_the_function() -> None:
    """Most functions were never tried without rows."""

    def never(X: Matrix, Z: Matrix) -> Matrix:
        raise AssertionError(X, Z)

    kernel = nr.FunctionKernel(never)
    found = kernel(X[:0], X), kernel(X, X[:0]), kernel.diagonal(X[:0])
    assert [block.shape for block in found] == [(0, 50), (50, 0), (0,)]


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
    play(optimizer, 5, at_most=3)
    np.testing.assert_array_equal(table, before)


def test_runs_are_those_of_the_kernel_inside() -> None:
    """Wrapping changes nothing."""
    inside = nr.Matern(lengthscale=0.4)
    plain, wrapped = (
        play(nr.mini_gp_ucb(nr.Pool(X), kernel=kernel, noise_std=0.2), 15)
        for kernel in (inside, nr.FunctionKernel(inside))
    )
    assert plain == wrapped


def test_runs_are_those_of_the_kernel_that_a_matrix_was_made_by() -> None:
    """With scales and sums, too; names are the pool's."""
    f, names = np.sin(5 * X[:, 0]), [f"m{i}" for i in range(50)]
    kernel, bbkb = nr.Matern(lengthscale=0.4), partial(nr.bbkb, noise_std=0.3, seed=1)
    plain = bbkb(nr.Pool(X, names=names), kernel=2.0 * kernel)
    given_ = 2.0 * nr.Precomputed(kernel(X, X))
    looked_up = bbkb(nr.Pool.numbered(50, names=names), kernel=given_)
    while plain.spent < 50:
        a, b = plain.ask(at_most=5), looked_up.ask(at_most=5)
        assert a.sequence.tolist() == b.sequence.tolist()
        values = f[plain.evidence.points.find(a.sequence)]
        plain.tell(a, values)
        looked_up.tell(b, values)
    assert plain.best().id == looked_up.best().id


@given(st.lists(st.integers(0, 29), max_size=40), st.lists(st.integers(0, 29), max_size=40))
def test_a_matrix_is_looked_up(i: list[int], j: list[int]) -> None:
    """Row for row, repeated or not, more rows than columns or fewer."""
    kernel = nr.Precomputed(GRAM)
    A, B = POOL.rows(np.array(i, dtype=np.int64)), POOL.rows(np.array(j, dtype=np.int64))
    expected = np.array([[GRAM[a, b] for b in j] for a in i]).reshape(len(i), len(j))
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-14)
    np.testing.assert_array_equal(kernel.diagonal(A), GRAM[i, i])


def test_a_matrix_is_not_copied_and_not_written_to(tmp_path: Path) -> None:
    """A similarity of 10⁵ molecules is 80 GB."""
    np.save(tmp_path / "K.npy", GRAM)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r+")
    for K in (GRAM.copy(), mapped, GRAM.astype(np.float32)):
        kernel = nr.Precomputed(K)
        block = kernel(POOL.X, POOL.X)
        assert block.dtype == np.float64
        np.testing.assert_allclose(block, GRAM, rtol=1e-5, atol=1e-5)
        block[:] = 0.0
        np.testing.assert_array_equal(K, GRAM.astype(K.dtype))
        K[3, 3] = 70.0  # and the kernel sees it
        assert kernel.diagonal(POOL.X)[3] == 70.0
    assert (repr(kernel), len(kernel)) == ("Precomputed(30 × 30)", 30)


def test_points_beyond_the_pool_can_be_told() -> None:
    """K may know more rows than the pool has candidates."""
    optimizer = nr.mini_gp_ucb(nr.Pool.numbered(20), kernel=nr.Precomputed(GRAM), noise_std=0.1)
    optimizer.tell([[25.0]], [3.0])
    optimizer.tell([4], [0.1])
    assert optimizer.ask(at_most=1).ids[0] < 20


def run_on(kernel: object, pool: nr.Pool = POOL) -> nr.Optimizer:
    return nr.gp_ucb(pool, kernel=kernel, noise_std=0.1)  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: FUNCTION(3), r"must be callable as k\(X, Z\), got 3"),
        (lambda: FUNCTION(nr.RBF), "must be callable"),
        (lambda: FUNCTION(laplacian, diagonal="one"), r"diagonal=...\) must be a finite number"),
        (lambda: FUNCTION(laplacian, diagonal=np.nan), r"diagonal=...\) must be a finite number"),
        (lambda: FUNCTION(flat)(X, X), r"FunctionKernel\(flat\) must return shape \(50, 50\)"),
        (lambda: FUNCTION(laplacian, diagonal=column).diagonal(X), r"must have shape \(50,\)"),
        (lambda: run_on(FUNCTION(laplacian, diagonal=2.0)), r"diagonal\(X\) must equal"),
        (lambda: run_on(laplacian), r"A function becomes one by noregret.FunctionKernel\(funct"),
        (lambda: MATRIX(GRAM[:5]), r"must be square.*\(5, 30\)"),
        (lambda: MATRIX(GRAM[0]), r"must be square.*\(30,\)"),
        (lambda: MATRIX(GRAM[:0, :0]), r"must be square.*\(0, 0\)"),
        (lambda: MATRIX([["a"]]), "must hold numbers"),
        (lambda: MATRIX(with_entry(7, 2, np.nan)), r"must be finite: K\[7, 2\] is nan"),
        (lambda: MATRIX(with_entry(2, 7, -np.inf)), r"must be finite: K\[2, 7\] is -inf"),
        (lambda: MATRIX(with_entry(3, 9, 8.0)), r"symmetric: K\[3, 9\] is 8, .*\(K \+ K.T\) / 2"),
        (lambda: MATRIX(-GRAM), "not positive semidefinite"),
        (lambda: MATRIX(SIGNS), r"smallest eigenvalue is -13.5.*w.clip\(min=0\)"),
        # A feature is not a row number.
        (lambda: run_on(MATRIX(GRAM), nr.Pool(FACTOR)), r"numbered\(30\), got rows of 5 features"),
        (lambda: run_on(MATRIX(GRAM), nr.Pool.numbered(31)), "rows 0 to 29, got 30"),
        (lambda: MATRIX(GRAM)(np.array([[0.5]]), POOL.X), r"rows 0 to 29, got 0\.5"),
        (lambda: MATRIX(GRAM).diagonal(np.array([[-1.0]])), "got -1"),
    ],
)
def test_what_is_no_kernel_of_these_rows_is_refused(make: Callable[[], object], match: str) -> None:
    """Named as the user wrote it, with the entry, or the eigenvalue and the cure."""
    with pytest.raises((ArgumentError, KernelError), match=match):
        make()


def test_the_cure_in_the_message_cures() -> None:
    """Many similarity scores need it."""
    w, V = np.linalg.eigh(SIGNS)
    for K in ((V * w.clip(min=0)) @ V.T, np.ones((3, 3)), [[2]], np.zeros((2, 2))):
        MATRIX(K)  # the latter of rank 1 and 0


def test_a_large_matrix_is_checked_on_some_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 GB are not read for a check; what is wrong is named as it stands in the whole.

    An eigenvalue of a part is never below the least of the whole.
    """
    monkeypatch.setattr(custom, "SAMPLED", 10)
    for row, column in ((29, 3), (16, 9)):
        np.save(tmp_path / "K.npy", with_entry(row, column, np.nan))
        with pytest.raises(KernelError, match=rf"K\[{row}, {column}\] is nan"):
            nr.Precomputed(np.load(tmp_path / "K.npy", mmap_mode="r"))
    monkeypatch.setattr(custom, "CHUNK_BYTES", 500)
    with pytest.raises(KernelError, match=r"smallest eigenvalue on 10 of its 30 rows is -3\.5"):
        nr.Precomputed(SIGNS)
    with pytest.raises(KernelError, match=r"symmetric: K\[4, 9\]"):
        nr.Precomputed(with_entry(4, 9, 8.0))
    with pytest.raises(KernelError, match=r"K\[17, 2\] is nan"):
        nr.Precomputed(with_entry(17, 2, np.nan))


def test_a_numbered_pool() -> None:
    """Its feature is its row."""
    assert POOL.X.tolist() == [[float(i)] for i in range(30)]
    assert nr.Pool.numbered(2, names=["a", "b"]).find("b").tolist() == [1]
    count: Any
    for count in (0, -1, 2.5, "3"):
        with pytest.raises(nr.NoRegretError, match=r"Pool.numbered\(count\)"):
            nr.Pool.numbered(count)
    with pytest.raises(PoolError, match="1 names for 2"):
        nr.Pool.numbered(2, names=["a"])

"""A given matrix as kernel: looked up, not copied, and checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix
from noregret.errors import KernelError, PoolError
from noregret.kernels import custom, probe

rng = np.random.default_rng(3)
FACTOR = rng.standard_normal((30, 5))
GRAM: Matrix = FACTOR @ FACTOR.T
POOL = nr.Pool.numbered(30)


@given(st.lists(st.integers(0, 29), max_size=40), st.lists(st.integers(0, 29), max_size=40))
def test_it_is_the_matrix(i: list[int], j: list[int]) -> None:
    """Row for row, repeated or not, more rows than columns or fewer."""
    kernel = nr.Precomputed(GRAM)
    X, Z = POOL.rows(np.array(i, dtype=np.int64)), POOL.rows(np.array(j, dtype=np.int64))
    expected = np.array([[GRAM[a, b] for b in j] for a in i]).reshape(len(i), len(j))
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-14)
    np.testing.assert_array_equal(kernel.diagonal(X), GRAM[i, i])
    probe(kernel, POOL.X)


def test_nothing_is_copied_and_nothing_written(tmp_path: Path) -> None:
    """A similarity of 10⁵ molecules is 80 GB."""
    np.save(tmp_path / "K.npy", GRAM)
    mapped = np.load(tmp_path / "K.npy", mmap_mode="r+")
    whole, single = GRAM.copy(), GRAM.astype(np.float32)
    for K in (whole, mapped, single):
        kernel = nr.Precomputed(K)
        block = kernel(POOL.X, POOL.X)
        assert block.dtype == np.float64
        np.testing.assert_allclose(block, GRAM, rtol=1e-5, atol=1e-5)
        block[:] = 0.0
        np.testing.assert_array_equal(K, GRAM.astype(K.dtype))
        K[3, 3] = 70.0  # and the kernel sees it
        assert kernel.diagonal(POOL.X)[3] == 70.0
    assert repr(nr.Precomputed(GRAM)) == "Precomputed(30 × 30)"
    assert len(nr.Precomputed(GRAM)) == 30


def test_runs_are_those_of_the_kernel_it_was_made_by() -> None:
    """With scales and sums, too; names are the pool's."""
    X = np.random.default_rng(0).random((40, 2))
    f = np.sin(5 * X[:, 0])
    kernel = 2.0 * nr.Matern(lengthscale=0.4)
    names = [f"m{i}" for i in range(40)]
    plain = nr.bbkb(nr.Pool(X, names=names), kernel=kernel, noise_std=0.3, seed=1)
    given_ = 2.0 * nr.Precomputed(nr.Matern(lengthscale=0.4)(X, X))
    looked_up = nr.bbkb(nr.Pool.numbered(40, names=names), kernel=given_, noise_std=0.3, seed=1)
    while plain.spent < 50:
        a, b = plain.ask(at_most=5), looked_up.ask(at_most=5)
        assert a.sequence.tolist() == b.sequence.tolist()
        values = f[plain.evidence.points.find(a.sequence)]
        plain.tell(a, values)
        looked_up.tell(b, values)
    assert plain.best().id == looked_up.best().id


def test_points_beyond_the_pool_can_be_told() -> None:
    """K may know more rows than the pool has candidates."""
    optimizer = nr.mini_gp_ucb(nr.Pool.numbered(20), kernel=nr.Precomputed(GRAM), noise_std=0.1)
    optimizer.tell([[25.0]], [3.0])
    optimizer.tell([4], [0.1])
    assert optimizer.ask(at_most=1).ids[0] < 20


def with_entry(row: int, column: int, value: float) -> Matrix:
    K = GRAM.copy()
    K[row, column] = value
    return K


ANY: Any = nr.Precomputed
SIGNS = np.where(np.eye(30, dtype=np.bool_), 1.0, -0.5)


@pytest.mark.parametrize(
    ("K", "match"),
    [
        (GRAM[:5], r"must be square.*\(5, 30\)"),
        (GRAM[0], r"must be square.*\(30,\)"),
        (GRAM[:0, :0], r"must be square.*\(0, 0\)"),
        ([["a"]], "must hold numbers"),
        (with_entry(7, 2, np.nan), r"must be finite: K\[7, 2\] is nan"),
        (with_entry(2, 7, -np.inf), r"must be finite: K\[2, 7\] is -inf"),
        (with_entry(3, 9, 8.0), r"symmetric: K\[3, 9\] is 8, .*\(K \+ K.T\) / 2"),
        (-GRAM, "not positive semidefinite"),
        (SIGNS, r"smallest eigenvalue is -13.5.*w.clip\(min=0\)"),
    ],
)
def test_what_is_no_covariance_is_refused(K: object, match: str) -> None:
    """With the entry, or the eigenvalue and the cure."""
    with pytest.raises(KernelError, match=match):
        ANY(K)


def test_the_cure_in_the_message_cures() -> None:
    """Many similarity scores need it."""
    w, V = np.linalg.eigh(SIGNS)
    nr.Precomputed((V * w.clip(min=0)) @ V.T)
    nr.Precomputed(np.ones((3, 3)))  # of rank 1, semidefinite
    nr.Precomputed([[2]])
    nr.Precomputed(np.zeros((2, 2)))


def test_a_large_one_is_checked_on_some_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eigenvalue of a part is never below the least of the whole."""
    monkeypatch.setattr(custom, "SAMPLED", 10)
    monkeypatch.setattr(custom, "CHUNK_BYTES", 500)
    with pytest.raises(KernelError, match=r"smallest eigenvalue on 10 of its 30 rows is -3\.5"):
        nr.Precomputed(SIGNS)
    with pytest.raises(KernelError, match=r"symmetric: K\[4, 9\]"):
        nr.Precomputed(with_entry(4, 9, 8.0))
    with pytest.raises(KernelError, match=r"K\[17, 2\] is nan"):
        nr.Precomputed(with_entry(17, 2, np.nan))


def test_a_memory_map_is_checked_on_some_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 GB are not read for a check; what is wrong is named as it stands in the whole."""
    monkeypatch.setattr(custom, "SAMPLED", 10)
    for row, column in ((29, 3), (16, 9)):
        np.save(tmp_path / "K.npy", with_entry(row, column, np.nan))
        with pytest.raises(KernelError, match=rf"K\[{row}, {column}\] is nan"):
            nr.Precomputed(np.load(tmp_path / "K.npy", mmap_mode="r"))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: nr.mini_gp_ucb(nr.Pool(FACTOR), kernel=nr.Precomputed(GRAM), noise_std=0.1),
            r"noregret.Pool.numbered\(30\), got rows of 5 features",
        ),
        (
            lambda: nr.bbkb(nr.Pool.numbered(31), kernel=nr.Precomputed(GRAM), noise_std=0.1),
            "rows 0 to 29, got 30",
        ),
        (
            lambda: nr.Precomputed(GRAM)(np.array([[0.5]]), POOL.X),
            r"rows 0 to 29, got 0\.5",
        ),
        (lambda: nr.Precomputed(GRAM).diagonal(np.array([[-1.0]])), "got -1"),
    ],
)
def test_other_pools_are_refused(make: Callable[[], object], match: str) -> None:
    """A feature is not a row number."""
    with pytest.raises(KernelError, match=match):
        make()


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

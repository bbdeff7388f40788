"""Tanimoto by words and by ones, against sets of bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

import noregret as nr
from noregret.arrays import Rows
from noregret.errors import ArgumentError, KernelError
from noregret.kernels import tanimoto
from noregret.threads import parallel_map
from slow_references import slow_tanimoto

seeds = st.integers(0, 2**20)
WAYS = {"words": 10**9, "ones": 0}  # FEW, from which on bytes are added


def fingerprints(seed: int, n: int, width: int, share: float) -> Rows:
    """Rows of 0 and 1, the first of them empty, the second full, the third twice."""
    X = (np.random.default_rng(seed).random((n, width)) < share).astype(np.float64)
    X[:1], X[1:2], X[3:4] = 0.0, 1.0, X[2:3]
    return X


@pytest.mark.parametrize("way", WAYS)
@given(
    seed=seeds,
    n=st.integers(1, 9),
    m=st.integers(1, 9),
    width=st.sampled_from([1, 8, 64, 65, 200]),
    share=st.sampled_from([0.02, 0.3, 0.9]),
)
def test_either_way_counts_what_sets_have_in_common(
    way: str, seed: int, n: int, m: int, width: int, share: float
) -> None:
    """To the last bit: a value must not depend on the block in which it was computed."""
    X, Z = fingerprints(seed, n, width, share), fingerprints(seed + 1, m, width, share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tanimoto, "FEW", WAYS[way])
        patch.setattr(tanimoto, "PAIRS", 0)
        patch.setattr(tanimoto, "SPARSE", 64)
        K = nr.Tanimoto()(nr.BitPool(X).X, nr.BitPool(Z).X)
    np.testing.assert_array_equal(K, slow_tanimoto(X, Z))
    np.testing.assert_array_equal(nr.Tanimoto().diagonal(nr.BitPool(X).X), np.ones(n))


@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("shape", [(70, 400), (400, 70), (1, 300), (300, 1)])
def test_large_blocks_are_cut_without_seams(
    share: float, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sparse ones go by ones, dense ones by words, both in pieces."""
    monkeypatch.setattr(tanimoto, "CACHED", 5000)
    monkeypatch.setattr(tanimoto, "UNPACKED", 150)
    X, Z = (fingerprints(i, n, 300, share) for i, n in enumerate(shape))
    K = nr.Tanimoto()(nr.BitPool(X).X, nr.BitPool(Z).X)
    np.testing.assert_array_equal(K, slow_tanimoto(X, Z))


def test_more_than_255_common_bits_are_counted() -> None:
    """A byte would begin again at 0."""
    X = np.zeros((20, 2048))
    X[:10, :260], X[10:, :300] = 1.0, 1.0  # sparse enough for bytes
    rows = nr.BitPool(np.repeat(X, 30, axis=0)).X
    K = nr.Tanimoto()(rows, rows)
    np.testing.assert_array_equal(np.unique(K), [260 / 300, 1.0])
    np.testing.assert_array_equal(np.diag(K), np.ones(len(K)))


def test_threads_agree() -> None:
    """Blocks are computed side by side; they must not share memory."""
    rows = nr.BitPool(fingerprints(0, 200, 512, 0.1)).X
    whole = nr.Tanimoto()(rows, rows)
    pieces = [rows[start : start + 25] for start in range(0, 200, 25)]
    for _ in range(5):
        found = parallel_map(lambda piece: nr.Tanimoto()(piece, rows), pieces)
        np.testing.assert_array_equal(np.vstack(found), whole)


@pytest.mark.parametrize(
    "kernel",
    [nr.RBF(), nr.Matern(), nr.Linear(), nr.Polynomial(), nr.Categorical(), sk.RBF()],
)
def test_kernels_on_numbers_refuse_packed_bits(kernel: nr.Kernel) -> None:
    """Bytes would be subtracted, and begin again at 255."""
    with pytest.raises(KernelError, match=r"packed bits: use noregret.Tanimoto\(\)"):
        nr.bbkb(nr.BitPool(np.eye(5)), kernel=kernel, noise_std=0.1)


def test_other_rows_are_refused() -> None:
    """0/1 floats in a plain pool would be eight times the work; say so."""
    X = np.eye(3)
    with pytest.raises(ArgumentError, match=r"noregret.BitPool\(X\), got rows of 3 × float64"):
        nr.mini_gp_ucb(nr.Pool(X), kernel=nr.Tanimoto(), noise_std=0.1)
    with pytest.raises(ArgumentError, match="got rows of 3 × uint8"):
        nr.Tanimoto()(np.zeros((1, 3), dtype=np.uint8), nr.BitPool(X).X)
    with pytest.raises(ArgumentError, match="1 and 2 words cannot be compared"):
        nr.Tanimoto()(nr.BitPool(X).X, nr.BitPool(np.ones((1, 100))).X)

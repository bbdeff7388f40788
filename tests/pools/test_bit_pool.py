"""A pool of packed bits: what goes in comes out, and nothing is copied twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ArgumentError, PoolError
from noregret.pools import Points

B = np.random.default_rng(0).integers(0, 2, (6, 21))
PACKED, FULL = np.packbits(B, axis=1), np.full((2, 3), 255, dtype=np.uint8)
WIDTHS = st.sampled_from([1, 2, 7, 8, 9, 63, 64, 65, 100, 128])


@given(st.integers(0, 2**20), WIDTHS, st.integers(1, 5))
def test_bits_come_out_as_they_went_in(seed: int, bits: int, n: int) -> None:
    """Whatever their number; the spare ones are 0 and in whole words."""
    X = np.random.default_rng(seed).integers(0, 2, (n, bits))
    pool = nr.BitPool(X)
    assert (len(pool), pool.bits, pool.dim % 8) == (n, bits, 0)
    assert pool.dim != bits
    np.testing.assert_array_equal(pool.unpacked(pool.X), X)
    assert int(np.bitwise_count(pool.X).sum()) == int(X.sum())
    packed = np.packbits(X, axis=1)
    for other in (
        nr.BitPool(packed, packed=True, bits=bits),
        nr.BitPool(X.astype(np.bool_)),
        nr.BitPool(X.astype(np.float32)),
        nr.BitPool(X.tolist()),
        nr.BitPool(np.asfortranarray(X)),
    ):
        np.testing.assert_array_equal(other.X, pool.X)
        assert other.fingerprint() == pool.fingerprint()
    # `posterior.mean(batch.x)` must be of these candidates, whichever way they are written.
    for again in (pool.shown(pool.X), X, X.astype(np.bool_), *([packed] if bits > 1 else [])):
        np.testing.assert_array_equal(pool.read("X", again), pool.X)
    np.testing.assert_array_equal(pool.read("X", X[-1]), pool.X[-1:])
    assert pool.read("X", X[:0]).shape == (0, pool.dim)
    assert repr(pool) == f"BitPool({n} candidates × {bits} bits)"
    assert repr(nr.BitPool(X, names=range(n))) == f"BitPool({n} candidates × {bits} bits, named)"


def test_the_bits_are_a_copy() -> None:
    """Changing the table afterwards must not change what was asked for."""
    X, packed = B.copy(), np.packbits(np.zeros((3, 64), dtype=np.uint8), axis=1)
    pool, other = nr.BitPool(X), nr.BitPool(packed, packed=True)
    X[:] = 0
    packed[:] = 255
    np.testing.assert_array_equal(pool.unpacked(pool.X), B)
    assert not other.X.any()
    with pytest.raises(ValueError, match="read-only"):
        pool.X[0, 0] = 1


def test_a_memory_map_is_used_where_it_lies(tmp_path: Path) -> None:
    """A library of 10⁹ molecules fits a disk, not a memory."""
    packed = np.random.default_rng(1).integers(0, 256, (50, 24), dtype=np.uint8)
    np.save(tmp_path / "bits.npy", packed)
    mapped = np.load(tmp_path / "bits.npy", mmap_mode="r")
    pool = nr.BitPool(mapped, packed=True)
    assert np.shares_memory(pool.X, mapped)
    assert pool.fingerprint() == nr.BitPool(packed, packed=True).fingerprint()
    np.save(tmp_path / "odd.npy", packed[:, :5])
    odd = np.load(tmp_path / "odd.npy", mmap_mode="r")
    padded = nr.BitPool(odd, packed=True)  # not in whole words: copied once
    assert not np.shares_memory(padded.X, odd)
    np.testing.assert_array_equal(padded.X[:, :5], packed[:, :5])
    assert not padded.X[:, 5:].any()


def test_large_matrices_are_packed_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces must join without seams, and errors name the row of the whole."""
    monkeypatch.setattr("noregret.pools.bits.CHUNK_BYTES", 50)
    pool = nr.BitPool(B)
    np.testing.assert_array_equal(pool.unpacked(pool.X), B)
    assert pool.fingerprint() == nr.BitPool(B.astype(np.bool_)).fingerprint()
    wrong = B.astype(np.float64)
    wrong[5, 20] = 0.5
    with pytest.raises(PoolError, match=r"got 0\.5 in row 5, column 20"):
        nr.BitPool(wrong)


def test_different_pools_have_different_fingerprints() -> None:
    """A run must not go on with other molecules."""
    flipped = B.copy()
    flipped[5, 20] ^= 1
    pools: list[nr.BitPool | nr.Pool] = [
        nr.BitPool(B),
        nr.BitPool(flipped),
        nr.BitPool(B[::-1]),
        nr.BitPool(np.hstack([B, np.zeros((6, 1))])),
        nr.BitPool(B, names=range(1, 7)),
        nr.Pool(B),
        nr.Pool(nr.BitPool(B).X),
    ]
    assert len({pool.fingerprint() for pool in pools}) == len(pools)


def test_points_off_the_pool_are_recognised() -> None:
    points = Points(nr.BitPool(B))
    other = B[0] ^ 1
    first = points.register(points.domain.read("X", np.stack([B[3], other])))
    assert first.tolist() == [3, 6]
    np.testing.assert_array_equal(points.register(points.domain.read("X", other[None])), [6])
    rows = points.rows(np.array([6, 2]))
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows[1], nr.BitPool(B).X[2])


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: nr.BitPool(B + 1), "must hold 0 and 1 only, got 2 in row 0"),
        (lambda: nr.BitPool(PACKED), "need packed=True"),
        (lambda: nr.BitPool(np.where(B == 1, np.nan, 0.0)), "must hold 0 and 1 only, got nan"),
        (lambda: nr.BitPool([["a", "b"]]), "must hold 0 and 1 only"),
        (lambda: nr.BitPool([[1, 0], [1]]), "rows of equal length"),
        (lambda: nr.BitPool(B[0]), r"one fingerprint per row.*shape \(21,\)"),
        (lambda: nr.BitPool(B[:0]), r"shape \(0, 21\)"),
        (lambda: nr.BitPool(B[:, :0]), r"shape \(6, 0\)"),
        (lambda: nr.BitPool(None), r"shape \(\)"),
        (lambda: nr.BitPool(B, packed=True), "must be uint8.*got int64"),
        (lambda: nr.BitPool(B, bits=20), "bits= goes with packed=True"),
        (lambda: nr.BitPool(PACKED, packed=True, bits=25), "3 bytes per row hold 24 bits"),
        (lambda: nr.BitPool(PACKED, packed=True, bits=0), r"BitPool\(bits=.*at least 1"),
        (lambda: nr.BitPool(FULL, packed=True, bits=21), "bits behind the first 21 are set"),
        (lambda: nr.BitPool(B, names=["a"]), "1 names for 6 candidates"),
    ],
)
def test_what_are_no_bits_is_refused(make: Callable[[], object], match: str) -> None:
    with pytest.raises(PoolError, match=match):
        make()


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (np.zeros((2, 20)), r"must have 21 columns of 0 and 1, or 8 of packed bytes .*got 20"),
        (np.full((2, 21), 3), "must hold 0 and 1 only, got 3"),
        (np.full((1, 8), 255, dtype=np.uint8), "bits behind the first 21 are set"),
        (np.zeros((1, 8)), "got 8 of float64"),
    ],
)
def test_what_is_told_of_other_bits_is_refused(rows: Any, match: str) -> None:
    """Fingerprints of another length are of another kind."""
    optimizer = nr.uniform(nr.BitPool(B))
    with pytest.raises(ArgumentError, match=match):
        optimizer.tell(rows, [1.0] * len(rows))
    assert optimizer.evaluations == 0

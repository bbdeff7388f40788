"""k(x, z) of packed fingerprints, in whole numbers until the last division."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError
from noregret.kernels.base import KernelBase
from noregret.storable import storable

Words: TypeAlias = npt.NDArray[np.uint64]  # (rows, words)
Counts: TypeAlias = npt.NDArray[np.float32]  # whole numbers, exact up to 2²⁴
Bytes: TypeAlias = npt.NDArray[np.uint8]
CACHED = 1 << 16  # words or bytes of pairs that stay in the cache of a core
UNPACKED = 1 << 12  # rows whose bits are unpacked to bytes at a time, at most
FEW, PAIRS = 16, 1 << 13  # rows and pairs from which on adding bytes costs less than counting …
SPARSE = 12  # … where a word of 64 bits has at most so many ones, on average


@final
@storable("Tanimoto")
@dataclass(frozen=True, slots=True)
class Tanimoto(KernelBase):
    """Tanimoto kernel on fingerprints: k(x, z) = |x ∧ z|/|x ∨ z|, the share of bits in common.

    For rows of a `BitPool`; two empty fingerprints have k = 1. Words of 64 bits are joined by "and"
    and their ones counted: 2048 bits are 32 words per pair. Where fingerprints are sparse and a
    block is large, the bits of one side are unpacked to bytes once, and the bytes at the ones of
    each row of the other side added up: as many bytes per pair as there are ones. Either way counts
    are exact, so that a value does not depend on the block in which it is computed.

    Source: Gower (1971), for positive definiteness; Ralaivola et al. (2005), for molecules.

    >>> pool = nr.BitPool([[1, 1, 0], [0, 1, 1], [0, 0, 0]])
    >>> nr.Tanimoto()(pool.X, pool.X).round(3)
    array([[1.   , 0.333, 0.   ],
           [0.333, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        if len(X) == 0 or len(Z) == 0:
            return np.zeros((len(X), len(Z)))
        A, B = _words(X), _words(Z)
        if A.shape[1] != B.shape[1]:
            raise ArgumentError(
                f"fingerprints of {A.shape[1]} and {B.shape[1]} words cannot be compared."
            )
        K = np.empty((len(A), len(B)))
        if len(A) <= len(B):
            _write_shares(A, B, K)
        else:
            _write_shares(B, A, K.T)
        return K

    def diagonal(self, X: Rows) -> Vector:
        if len(X):  # empty rows may be of any type
            _words(X)
        return np.ones(len(X))


def _words(X: Rows) -> Words:
    """Return packed rows as words."""
    if X.dtype != np.uint8 or X.shape[1] % 8:
        raise ArgumentError(
            f"Tanimoto compares packed fingerprints in whole words: make the pool by "
            f"noregret.BitPool(X), got rows of {X.shape[1]} × {X.dtype}."
        )
    return np.ascontiguousarray(X).view(np.uint64)


def _added(counts: Bytes) -> Counts:
    """Return the sum of each row: exact, and three times as fast as summing bytes."""
    sums: Counts = counts.astype(np.float32) @ np.ones(counts.shape[1], dtype=np.float32)
    return sums


def _write_shares(A: Words, B: Words, out: Matrix) -> None:
    """Write |x ∧ z|/|x ∨ z| by whichever way costs less; A has no more rows than B."""
    a, b = _added(np.bitwise_count(A)), _added(np.bitwise_count(B))
    large = len(A) >= FEW and len(A) * len(B) >= PAIRS
    if not large or a.max() > 255 or a.mean() > SPARSE * A.shape[1]:
        return _by_words(A, B, a, b, out)
    for start in range(0, len(B), UNPACKED):
        part = slice(start, start + UNPACKED)
        _by_ones(A, B[part], a, b[part], out[:, part])
    return None


def _by_words(A: Words, B: Words, a: Counts, b: Counts, out: Matrix) -> None:
    """Write shares by counting the ones of joined words, a block at a time."""
    width = A.shape[1]
    columns = min(len(B), max(1, CACHED // width))
    step = max(1, CACHED // (width * columns))
    memory: Words = np.empty(step * columns * width, dtype=np.uint64)
    counts: Bytes = np.empty(memory.shape, dtype=np.uint8)
    for left in range(0, len(B), columns):
        beside = slice(left, left + columns)
        for top in range(0, len(A), step):
            down = slice(top, top + step)
            x, z = A[down, None], B[None, beside]
            shape = (len(x), z.shape[1], width)
            size = shape[0] * shape[1] * width
            both = np.bitwise_and(x, z, out=memory[:size].reshape(shape))
            ones = np.bitwise_count(both, out=counts[:size].reshape(shape))
            common = _added(ones.reshape(-1, width)).reshape(shape[:2])
            out[down, beside] = _share(common, a[down, None], b[beside])


def _by_ones(A: Words, B: Words, a: Counts, b: Counts, out: Matrix) -> None:
    """Write shares by adding up, for each row of A, the bits of B under its ones.

    At most 255 are in common, so that bytes hold the sums.
    """
    bits, order = _unpacked(B), np.argsort(a, kind="stable")
    ones = _positions_of_ones(A[order], a[order])
    step = max(1, CACHED // len(B))
    for top in range(0, len(A), step):
        rows = order[top : top + step]
        common: Bytes = np.zeros((len(rows), len(B)), dtype=np.uint8)
        some = np.empty_like(common)
        for one in ones[: int(a[rows[-1]]), top : top + step]:
            np.take(bits, one, axis=0, out=some, mode="clip")
            np.add(common, some, out=common)
        out[rows] = _share(common.astype(np.float32), a[rows, None], b)


def _unpacked(B: Words) -> Bytes:
    """Return a row for each bit, a byte for each row of B, and a row of zeros behind them."""
    packed = np.ascontiguousarray(B.view(np.uint8).T)
    bits: Bytes = np.zeros((8 * len(packed) + 1, len(B)), dtype=np.uint8)
    for at in range(8):  # np.unpackbits takes ten times as long across rows
        np.right_shift(packed, 7 - at, out=bits[at:-1:8])
    np.bitwise_and(bits, 1, out=bits)
    return bits


def _positions_of_ones(A: Words, a: Counts) -> npt.NDArray[np.int64]:
    """Return a column for each row of A: its bits that are set, then the row of zeros."""
    bits = 64 * A.shape[1]
    ones = np.unpackbits(A.view(np.uint8), axis=1).view(np.bool_)
    positions = np.full((len(A), int(a.max())), bits, dtype=np.int64)
    positions[np.arange(positions.shape[1]) < a[:, None]] = np.flatnonzero(ones) % bits
    return np.ascontiguousarray(positions.T)


def _share(common: Counts, a: Counts, b: Counts) -> Matrix:
    """Return common/(a + b − common), 1 where nothing is set on either side."""
    joined: Matrix = np.add(a, b, dtype=np.float64)
    joined -= common
    if joined.all():
        return np.divide(common, joined, out=joined)
    return np.asarray((common + (joined == 0)) / np.maximum(joined, 1.0))

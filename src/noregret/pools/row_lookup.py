"""Rows of a pool found by their features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Rows, chunk_rows
from noregret.pools.base import Candidates

Hashes: TypeAlias = npt.NDArray[np.uint64]
CACHED = 1 << 14  # words that are mixed at once


@final
class RowLookup:
    """Find rows by their exact features, the lowest where several rows agree.

    One pass over the pool and one sort, 16 bytes per row; then O(log N) per look. Rows of equal
    hash are compared, so that no candidate is mistaken for another.
    """

    def __init__(self, pool: Candidates) -> None:
        self._pool = pool
        hashes = all_hashed(pool)
        self._order: Indices = np.argsort(hashes, kind="stable").astype(np.int64)
        self._sorted = hashes[self._order]
        self.has_equal = _has_equal(self._sorted)

    def extended(self, pool: Candidates) -> RowLookup:
        """Return the lookup of a pool that has more rows behind these: O(N), these not hashed."""
        new = all_hashed(pool, len(self._sorted))
        order = np.argsort(new, kind="stable")
        place = np.searchsorted(self._sorted, new[order], side="right")
        grown = RowLookup.__new__(RowLookup)
        grown._pool = pool
        grown._sorted = np.insert(self._sorted, place, new[order])
        grown._order = np.insert(self._order, place, len(self._sorted) + order)
        grown.has_equal = _has_equal(grown._sorted)
        return grown

    def rows(self, X: Rows) -> Indices:
        """Return the row that equals each row of X, −1 where none does."""
        wanted, found = hashed(X), np.full(len(X), -1)
        at = np.searchsorted(self._sorted, wanted)
        left = np.arange(len(X))
        while left.size:  # again only where another candidate has the same hash
            inside = at[left] < len(self._sorted)
            left = left[inside]
            left = left[self._sorted[at[left]] == wanted[left]]
            rows = self._order[at[left]]
            same = (self._pool.rows(rows) == X[left]).all(axis=1)
            found[left[same]] = rows[same]
            left = left[~same]
            at[left] += 1
        return found


def _has_equal(hashes: Hashes) -> bool:
    """Tell whether rows may be equal, of hashes that are sorted."""
    return bool((hashes[1:] == hashes[:-1]).any())


def all_hashed(pool: Candidates, first: int = 0) -> Hashes:
    """Return a number for each row of a pool, from the first one wanted on."""
    hashes: Hashes = np.empty(len(pool) - first, dtype=np.uint64)
    for start, X in rows_from(pool, first):
        hashes[start - first : start - first + len(X)] = hashed(X)
    return hashes


def rows_from(pool: Candidates, first: int) -> Iterator[tuple[int, Rows]]:
    """Walk a pool from a row on, in chunks, with the number of their first row."""
    step = chunk_rows(pool.dim)
    if not first:
        return pool.chunks(step)
    starts = range(first, len(pool), step)
    return ((at, pool.rows(np.arange(at, min(at + step, len(pool))))) for at in starts)


def hashed(X: Rows) -> Hashes:
    """Return a number for each row, equal where rows are."""
    if X.dtype == np.float64:
        X = X + 0.0  # −0 is 0
    width = X.shape[1] * X.itemsize
    raw = np.zeros((len(X), -(-width // 8) * 8), dtype=np.uint8)
    raw[:, :width] = np.ascontiguousarray(X).view(np.uint8)
    words: Hashes = raw.view(np.uint64)
    places = mixed(np.arange(words.shape[1], dtype=np.uint64))  # the same word elsewhere is another
    total: Hashes = np.empty(len(X), dtype=np.uint64)
    step = max(1, CACHED // max(1, len(places)))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        mixed(words[rows] ^ places).sum(axis=1, out=total[rows])
    return mixed(total)


def mixed(words: Hashes) -> Hashes:
    """Return words with all bits mixed: the finaliser of splitmix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(words ^ (words >> np.uint64(31)))

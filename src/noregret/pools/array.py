"""A pool over a NumPy array."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, as_matrix
from noregret.errors import ArgumentError, PoolError
from noregret.pools.base import Keys


@final
class Pool:
    """Hold candidates as rows of a matrix, optionally with a name each.

    The features are copied, so that later changes to your array change nothing here. Looking up
    names costs O(log N) each, vectorised, after one sort.

    >>> pool = Pool([[0.0, 1.0], [2.0, 3.0]], names=["water", "ethanol"])
    >>> len(pool), pool.dim
    (2, 2)
    >>> pool.find(["ethanol"])
    array([1])
    """

    __slots__ = ("_X", "_fingerprint", "_names", "_order")

    def __init__(self, X: object, *, names: object = None) -> None:
        try:
            matrix = as_matrix("Pool(X=...)", X)
        except ArgumentError as error:
            raise PoolError(str(error)) from None
        if matrix.shape[0] == 0 or matrix.shape[1] == 0:
            raise PoolError(
                f"Pool(X=...) needs at least one candidate and one feature, got shape "
                f"{matrix.shape}."
            )
        matrix.flags.writeable = False
        self._X: Matrix = matrix
        self._names: Keys | None = None if names is None else _checked_names(names, len(matrix))
        self._order: Indices | None = None
        self._fingerprint: str | None = None

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self._X.shape[1])

    @property
    def X(self) -> Matrix:
        """All features, read-only."""
        return self._X

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def __repr__(self) -> str:
        named = "" if self._names is None else ", named"
        return f"Pool({len(self)} candidates × {self.dim} features{named})"

    def rows(self, index: Indices) -> Matrix:
        """Return the features of the given rows."""
        return self._X[index]

    def chunks(self, size: int) -> Iterator[tuple[int, Matrix]]:
        """Walk the pool in order, at most `size` rows at a time."""
        for start in range(0, len(self), size):
            yield start, self._X[start : start + size]

    def keys(self, index: Indices) -> Keys:
        """Return the names of the given rows; without names, the rows themselves."""
        return index if self._names is None else self._names[index]

    def find(self, keys: object) -> Indices:
        """Return the rows of the given names (or row numbers, for a pool without names)."""
        try:
            wanted = np.atleast_1d(np.asarray(keys))
        except ValueError:
            raise PoolError(f"ids must be one key or a flat sequence, got {keys!r:.80}.") from None
        if wanted.ndim != 1:
            raise PoolError(f"ids must be one key or a flat sequence, got shape {wanted.shape}.")
        if wanted.size == 0:
            return np.empty(0, dtype=np.int64)
        return self._find_rows(wanted) if self._names is None else self._find_names(wanted)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest of shape, features and names."""
        if self._fingerprint is None:
            digest = hashlib.sha256(repr(self._X.shape).encode())
            digest.update(self._X.data)
            if self._names is not None:
                digest.update(str(self._names.dtype).encode())
                digest.update(np.ascontiguousarray(self._names).tobytes())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def _find_rows(self, wanted: Keys) -> Indices:
        if wanted.dtype.kind not in "iu":
            raise PoolError(
                f"a pool without names is addressed by row numbers, got {wanted[0]!r}. "
                "Give names with Pool(X, names=...)."
            )
        rows = wanted.astype(np.int64)
        outside = rows[(rows < 0) | (rows >= len(self))]
        if outside.size:
            raise PoolError(
                f"row {outside[0]} is outside this pool of {len(self)} candidates; "
                f"rows go from 0 to {len(self) - 1}."
            )
        return rows

    def _find_names(self, wanted: Keys) -> Indices:
        names = self._names
        assert names is not None
        if wanted.dtype.kind not in ("iu" if names.dtype.kind == "i" else "U"):
            raise PoolError(
                f"this pool is addressed by its names, such as {names[0]!r}; got {wanted[0]!r}."
            )
        if self._order is None:
            self._order = np.argsort(names, kind="stable").astype(np.int64)
        place = np.searchsorted(names, wanted, sorter=self._order)
        rows = self._order[np.minimum(place, len(names) - 1)]
        unknown = wanted[names[rows] != wanted]
        if unknown.size:
            raise PoolError(f"unknown name {str(unknown[0])!r}{_nearest(unknown[0], names)}.")
        return rows


def _checked_names(names: object, count: int) -> Keys:
    array = np.asarray(names)
    if array.dtype.kind == "O" and all(isinstance(name, str) for name in array.ravel()):
        array = array.astype(np.str_)
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise PoolError(
            "Pool(names=...) must be a flat sequence of strings or whole numbers, one a candidate."
        )
    if len(array) != count:
        raise PoolError(f"Pool(names=...) holds {len(array)} names for {count} candidates.")
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) < count:
        repeated = unique[counts > 1]
        raise PoolError(
            f"Pool(names=...) must be unique: {str(repeated[0])!r} stands {counts.max()} times "
            f"({len(repeated)} names are repeated)."
        )
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    return array.astype(f"U{max(1, int(np.char.str_len(array).max()))}")  # as wide as needed


def _nearest(name: object, names: Keys) -> str:
    """Suggest a name close to a mistyped one; only where looking is cheap."""
    if len(names) > 100_000 or names.dtype.kind != "U":
        return ""
    close = difflib.get_close_matches(str(name), names.tolist(), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

"""Names of candidates, and how rows are found by them."""

from __future__ import annotations

import difflib
import hashlib
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices
from noregret.errors import PoolError

Keys: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.str_]  # names, or row numbers


@final
class Names:
    """The keys of `count` rows: a name each, or row numbers where none are given.

    A name is looked up in O(log N), vectorised, after one sort.
    """

    __slots__ = ("_count", "_names", "_order")

    def __init__(self, names: object, count: int) -> None:
        self._count = count
        self._names: Keys | None = None if names is None else _checked(names, count)
        self._order: Indices | None = None

    @property
    def given(self) -> bool:
        """Whether there are names."""
        return self._names is not None

    def of(self, index: Indices) -> Keys:
        """Return the names of rows; without names, the rows themselves."""
        return index if self._names is None else self._names[index]

    def find(self, keys: object) -> Indices:
        """Return the rows of names (or row numbers, where there are no names)."""
        try:
            wanted = np.atleast_1d(np.asarray(keys))
        except ValueError:
            raise PoolError(f"ids must be one key or a flat sequence, got {keys!r:.80}.") from None
        if wanted.ndim != 1:
            raise PoolError(f"ids must be one key or a flat sequence, got shape {wanted.shape}.")
        if wanted.size == 0:
            return np.empty(0, dtype=np.int64)
        wanted = _plain(wanted)
        return self._find_rows(wanted) if self._names is None else self._find_names(wanted)

    def digest(self, digest: hashlib._Hash) -> None:
        """Add the names to a fingerprint."""
        if self._names is not None:
            digest.update(str(self._names.dtype).encode())
            digest.update(np.ascontiguousarray(self._names).tobytes())

    def _find_rows(self, wanted: Keys) -> Indices:
        if wanted.dtype.kind not in "iu":
            raise PoolError(
                f"a pool without names is addressed by row numbers, got {wanted[0]!r}. "
                "Give names with Pool(X, names=...)."
            )
        rows = wanted.astype(np.int64)
        outside = rows[(rows < 0) | (rows >= self._count)]
        if outside.size:
            raise PoolError(
                f"row {outside[0]} is outside this pool of {self._count} candidates; "
                f"rows go from 0 to {self._count - 1}."
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


def _checked(names: object, count: int) -> Keys:
    array = _plain(np.asarray(names))
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
        if count and int(array.max()) > np.iinfo(np.int64).max:
            raise PoolError(
                f"Pool(names=...) holds {array.max()}; whole numbers must be below 2^63. "
                "Give such names as strings."
            )
        return array.astype(np.int64)
    return array.astype(f"U{max(1, int(np.char.str_len(array).max()))}")  # as wide as needed


def _plain(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names that data frames hold as objects as what they are: strings, whole numbers."""
    if names.dtype.kind == "T":
        return names.astype(np.str_)
    if names.dtype.kind == "O":
        if all(isinstance(name, str) for name in names.flat):
            return names.astype(np.str_)
        if all(type(name) is int for name in names.flat):
            return np.array(names.tolist())
    return names


def _nearest(name: object, names: Keys) -> str:
    """Suggest a name close to a mistyped one; only where looking is cheap."""
    if len(names) > 100_000 or names.dtype.kind != "U":
        return ""
    close = difflib.get_close_matches(str(name), names.tolist(), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

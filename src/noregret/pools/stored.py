"""What pools over a table of rows share: names, rows, fingerprints, and the columns of frames."""

from __future__ import annotations

import difflib
import hashlib
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Self, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, Rows, as_matrix, chunk_rows
from noregret.errors import ArgumentError, PoolError
from noregret.pools.base import Extensible, Keys
from noregret.pools.stacked_table import StackedTable, stacked_table
from noregret.pools.tables.encoding import Encoding, Level
from noregret.pools.tables.sources import is_frame

Table: TypeAlias = npt.NDArray[Any] | StackedTable
MORE = "extend(more)"  # what messages call candidates that are added


class StoredPool(Extensible):
    """Candidates that are the rows of one table, in memory or on disk."""

    __slots__ = ("_fingerprint", "_names", "_table")
    _kind: ClassVar[type[np.generic]] = np.float64  # of the numbers that rows are handed out in
    _table: Table
    _names: Names
    _fingerprint: str | None  # once it was asked for

    @final
    def _hold(self, table: Table, names: Names) -> None:
        self._table, self._names, self._fingerprint = table, names, None

    @property
    @abstractmethod
    def _size(self) -> str:
        """How much there is, in words."""

    @property
    @abstractmethod
    def _shape(self) -> str:
        """How much there is, as fingerprints begin."""

    @abstractmethod
    def _more(self, more: object, names: object) -> tuple[Table, object]:
        """Return rows to be added, checked, and their names: as given, or as they bring them."""

    @final
    def extended(self, more: object, names: object = None) -> Self:
        """Return a pool of these candidates and of more behind them; no row of this is copied.

        `more` is given as the pool was: an array, a data frame, or a pool of the same kind.

        >>> nr.Pool([[0.0], [0.5]]).extended([[1.0]]).X.ravel()
        array([0. , 0.5, 1. ])
        """
        try:
            table, names = self._more(more, names)
        except ArgumentError as error:
            raise PoolError(str(error)) from None
        if not len(table):
            raise PoolError(f"{MORE} needs at least one candidate, got none.")
        grown = copy(self)
        known = self._names.extended(names, len(table))
        grown._hold(stacked_table(self._table, table), known)
        return grown

    @property
    @final
    def dim(self) -> int:
        return int(self._table.shape[1])

    @final
    def __len__(self) -> int:
        return int(self._table.shape[0])

    @final
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}{', named' if self._names.given else ''})"

    @final
    def rows(self, index: Indices) -> Rows:
        return cast(Rows, np.asarray(self._table[index], dtype=self._kind))

    @final
    def chunks(self, size: int) -> Iterator[tuple[int, Rows]]:
        for start in range(0, len(self), size):
            chunk = np.asarray(self._table[start : start + size], dtype=self._kind)
            yield start, cast(Rows, chunk)

    @final
    def shown(self, X: Rows) -> Rows:
        return X

    @final
    def keys(self, index: Indices) -> Keys:
        return self._names.of(index)

    @final
    def find(self, keys: object) -> Indices:
        return self._names.find(keys)

    @final
    def fingerprint(self) -> str:
        """Return a SHA-256 digest of shape, features and names: one pass, once."""
        if self._fingerprint is None:
            digest = hashlib.sha256(self._shape.encode())
            for _, X in self.chunks(chunk_rows(self.dim)):
                digest.update(np.ascontiguousarray(X).data)
            self._names.digest(digest)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint


class FeaturePool(StoredPool):
    """Rows of numbers, which may have come from the columns of a frame."""

    __slots__ = ("_encoding",)
    _encoding: Encoding

    @property
    def _size(self) -> str:
        made = f": {self._encoding}" if self._encoding.columns else ""
        return f"{len(self)} candidates × {self.dim} features{made}"

    @property
    @final
    def _shape(self) -> str:
        return repr(self._table.shape)

    @final
    def _more(self, more: object, names: object) -> tuple[Table, object]:
        own = self._encoding
        made = more._encoding.columns if isinstance(more, FeaturePool) else is_frame(more)
        if own.columns and not made:
            raise ArgumentError(
                f"{MORE} must be a table with the columns {own}, as this pool was made of one: "
                "rows of numbers may be no candidates at all. Give a data frame, or a pool made "
                "of one."
            )
        if isinstance(more, FeaturePool):
            if more.dim != self.dim or not own.is_like(more._encoding):
                raise ArgumentError(
                    f"{MORE} must have the features of the pool, {self!r}, got {more!r}. What "
                    "columns become is fixed with the pool: give the data frame itself."
                )
            return more._table, more._names.all if names is None else names
        if names is None and own.name is not None and is_frame(more):
            names = own.keys(MORE, more)
        return self.read(MORE, more), names

    @property
    @final
    def columns(self) -> tuple[str, ...]:
        """Names of the features, where they come from a table; none otherwise."""
        return self._encoding.labels

    @property
    @final
    def groups(self) -> dict[str, tuple[int, ...]]:
        """For every column of the table, the features that it became."""
        return self._encoding.groups

    @property
    @final
    def levels(self) -> dict[str, tuple[Level, ...]]:
        """For every column of levels, the levels in the order of their features or codes."""
        return self._encoding.levels

    @final
    def read(self, name: str, X: object) -> Matrix:
        """Return features that a user gave, checked: a matrix, or a frame like the pool's."""
        if self._encoding.columns and is_frame(X):
            return self._encoding.read(name, X)
        return as_matrix(name, X, columns=self.dim)


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

    @property
    def all(self) -> Keys | None:
        """The names, in order; None without."""
        return self._names

    def extended(self, names: object, count: int) -> Names:
        """Return the keys of these rows and of `count` more behind them."""
        whole, known = Names(None, self._count + count), self._names
        if known is None and names is not None:
            raise PoolError(
                "extend(names=...): this pool has no names; new candidates are addressed by their "
                f"row numbers, from {self._count} on. Leave names out."
            )
        if known is None:
            return whole
        if names is None:
            raise PoolError(
                f"this pool is addressed by its names, such as {known[0].item()!r}: new candidates "
                "need one each, by extend(more, names=...)."
            )
        new = _checked(names, count, "extend(names=...)")
        if new.dtype.kind != known.dtype.kind:
            raise PoolError(
                f"extend(names=...) must be like the names of the pool, such as "
                f"{known[0].item()!r}, got {new[0].item()!r}."
            )
        again = new[np.isin(new, known)]
        if again.size:
            raise PoolError(
                f"extend(names=...): the pool has a candidate {str(again[0])!r} already "
                f"({len(again)} of these names are taken)."
            )
        whole._names = np.concatenate([known, new])
        return whole

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
        if self._names is not None:
            return self._find_names(wanted, self._names)
        rule = "a pool without names (Pool(X, names=...) gives them) is addressed by row numbers"
        return row_numbers(wanted, self._count, rule, f"this pool of {self._count} candidates")

    def digest(self, digest: hashlib._Hash) -> None:
        """Add the names to a fingerprint."""
        if self._names is not None:
            digest.update(str(self._names.dtype).encode())
            digest.update(np.ascontiguousarray(self._names).tobytes())

    def _find_names(self, wanted: Keys, names: Keys) -> Indices:
        if wanted.dtype.kind not in ("iu" if names.dtype.kind == "i" else "U"):
            raise PoolError(
                f"this pool is addressed by its names, such as {names[0].item()!r}; got "
                f"{wanted.tolist()[0]!r}."
            )
        if self._order is None:
            self._order = np.argsort(names, kind="stable").astype(np.int64)
        place = np.searchsorted(names, wanted, sorter=self._order)
        rows = self._order[np.minimum(place, len(names) - 1)]
        unknown = wanted[names[rows] != wanted]
        if unknown.size:
            raise PoolError(f"unknown name {str(unknown[0])!r}{_nearest(unknown[0], names)}")
        return rows


def _checked(names: object, count: int, what: str = "Pool(names=...)") -> Keys:
    array = _plain(np.asarray(names))
    if array.ndim != 1 or array.dtype.kind not in "Uiu":
        raise PoolError(
            f"{what} must be a flat sequence of strings or whole numbers, one per candidate."
        )
    if len(array) != count:
        raise PoolError(f"{what} holds {len(array)} names for {count} candidates.")
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) < count:
        repeated, times = unique[counts > 1], counts[counts > 1]
        raise PoolError(
            f"{what} must be unique: {str(repeated[0])!r} occurs {times[0]} times "
            f"({len(repeated)} names are repeated)."
        )
    if array.dtype.kind == "U":
        return array.astype(f"U{max(1, int(np.char.str_len(array).max()))}")  # as wide as needed
    if count and int(array.max()) > np.iinfo(np.int64).max:
        raise PoolError(
            f"{what} holds {array.max()}; whole numbers must be below 2^63. "
            "Give such names as strings."
        )
    return array.astype(np.int64)


def _plain(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names that data frames hold as objects as what they are: strings, whole numbers."""
    kind = names.dtype.kind
    if kind == "T" or (kind == "O" and all(isinstance(name, str) for name in names.flat)):
        return names.astype(np.str_)
    whole = kind == "O" and all(type(name) is int for name in names.flat)
    return np.array(names.tolist()) if whole else names


def _nearest(name: object, names: Keys) -> str:
    """Suggest a name close to a mistyped one; only where looking is cheap."""
    if len(names) > 100_000 or names.dtype.kind != "U":
        return "."
    close = difflib.get_close_matches(str(name), names.tolist(), n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def row_numbers(keys: npt.NDArray[Any], count: int, rule: str, whole: str) -> Indices:
    """Return keys that are row numbers below `count`, or raise: by the `rule`, not of the whole."""
    if keys.dtype.kind not in "iu":
        raise PoolError(f"{rule}, got {keys.tolist()[0]!r}.")
    rows: Indices = keys.astype(np.int64)
    outside = rows[(rows < 0) | (rows >= count)]
    if outside.size:
        raise PoolError(f"row {outside[0]} is outside {whole}, numbered from 0.")
    return rows

"""What pools over a table of rows share: names, rows, fingerprints, and the columns of frames."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, cast, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, Rows, as_matrix, chunk_rows
from noregret.pools.base import Candidates
from noregret.pools.names import Keys, Names
from noregret.pools.tables.encoding import Encoding, Level
from noregret.pools.tables.sources import is_frame


class StoredPool(Candidates):
    """Candidates that are the rows of one table, in memory or on disk."""

    __slots__ = ("_fingerprint", "_names", "_table")
    _kind: ClassVar[type[np.generic]] = np.float64  # of the numbers that rows are handed out in
    _table: npt.NDArray[Any]
    _names: Names
    _fingerprint: str | None  # once it was asked for

    @property
    @final
    def dim(self) -> int:
        return int(self._table.shape[1])

    @final
    def __len__(self) -> int:
        return int(self._table.shape[0])

    @final
    def __repr__(self) -> str:
        named = ", named" if self._names.given else ""
        return f"{type(self).__name__}({self._described()}{named})"

    @abstractmethod
    def _described(self) -> str: ...

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
            digest = hashlib.sha256(self._shape().encode())
            for _, X in self.chunks(chunk_rows(self.dim)):
                digest.update(np.ascontiguousarray(X).data)
            self._names.digest(digest)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    @abstractmethod
    def _shape(self) -> str: ...


class FeaturePool(StoredPool):
    """Rows of numbers, which may have come from the columns of a frame."""

    __slots__ = ("_encoding",)
    _encoding: Encoding

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
    def _sized(self) -> str:
        made = f": {self._encoding}" if self._encoding.columns else ""
        return f"{len(self)} candidates × {self.dim} features{made}"

    @final
    def _shape(self) -> str:
        return repr(self._table.shape)

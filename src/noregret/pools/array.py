"""A pool over a NumPy array."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, as_matrix
from noregret.errors import ArgumentError, PoolError, require_count
from noregret.pools.names import Keys, Names


@final
class Pool:
    """Hold candidates as rows of a matrix, optionally with a name each.

    The features are copied, so that later changes to your array change nothing here.

    >>> pool = Pool([[0.0, 1.0], [2.0, 3.0]], names=["water", "ethanol"])
    >>> len(pool), pool.dim
    (2, 2)
    >>> pool.find(["ethanol"])
    array([1])
    """

    __slots__ = ("_X", "_fingerprint", "_names")

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
        self._names = Names(names, len(matrix))
        self._fingerprint: str | None = None

    @classmethod
    def numbered(cls, count: int, *, names: object = None) -> Pool:
        """Return a pool whose only feature is the row number, as `Precomputed` kernels want it.

        >>> Pool.numbered(3).X.ravel()
        array([0., 1., 2.])
        """
        numbers = np.arange(require_count("Pool.numbered(count)", count), dtype=np.float64)
        return cls(numbers[:, None], names=names)

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
        named = ", named" if self._names.given else ""
        return f"Pool({len(self)} candidates × {self.dim} features{named})"

    def read(self, name: str, X: object) -> Matrix:
        """Return features that a user gave, checked."""
        return as_matrix(name, X, columns=self.dim)

    def shown(self, X: Matrix) -> Matrix:
        """Return features as they are."""
        return X

    def rows(self, index: Indices) -> Matrix:
        """Return the features of the given rows."""
        return self._X[index]

    def chunks(self, size: int) -> Iterator[tuple[int, Matrix]]:
        """Walk the pool in order, at most `size` rows at a time."""
        for start in range(0, len(self), size):
            yield start, self._X[start : start + size]

    def keys(self, index: Indices) -> Keys:
        """Return the names of the given rows; without names, the rows themselves."""
        return self._names.of(index)

    def find(self, keys: object) -> Indices:
        """Return the rows of the given names (or row numbers, for a pool without names)."""
        return self._names.find(keys)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest of shape, features and names."""
        if self._fingerprint is None:
            digest = hashlib.sha256(repr(self._X.shape).encode())
            digest.update(self._X.data)
            self._names.digest(digest)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

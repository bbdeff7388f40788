"""What the rest of the house asks of a pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix
from noregret.errors import PoolError

Keys: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.str_]  # names, or row numbers


@runtime_checkable
class Candidates(Protocol):
    """A finite set of candidates: rows of features, addressed by keys.

    Rows are numbered from 0; the user speaks in keys (names, or row numbers), the library in rows.
    """

    @property
    def dim(self) -> int:
        """Number of features."""
        ...

    def __len__(self) -> int: ...

    def rows(self, index: Indices) -> Matrix:
        """Return the features of the given rows, in float64."""
        ...

    def chunks(self, size: int) -> Iterator[tuple[int, Matrix]]:
        """Walk the pool in order, at most `size` rows at a time, with the first row's number."""
        ...

    def keys(self, index: Indices) -> Keys:
        """Return the user's keys of the given rows."""
        ...

    def find(self, keys: object) -> Indices:
        """Return the rows of the given keys, or raise a PoolError naming the unknown ones."""
        ...

    def fingerprint(self) -> str:
        """Return a digest of every feature and name: equal pools have equal fingerprints."""
        ...


def require_pool(pool: object) -> None:
    """Raise unless `pool` is one."""
    if not isinstance(pool, Candidates):
        raise PoolError(
            f"pool must be a noregret.Pool, got {type(pool).__name__}: give noregret.Pool(X)."
        )

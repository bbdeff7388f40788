"""What the library asks of a domain: a finite pool, or a box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Rows
from noregret.errors import PoolError

Keys: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.str_]  # names, or row numbers


@runtime_checkable
class Domain(Protocol):
    """Where candidates live; translates between features as users see them and as they are kept."""

    __slots__ = ()

    @property
    def dim(self) -> int:
        """Number of features."""

    def read(self, name: str, X: object) -> Rows:
        """Return features that a user gave as argument `name`, checked, as they are kept here."""

    def shown(self, X: Rows) -> Rows:
        """Return features as the user gave them."""

    def fingerprint(self) -> str:
        """Return a digest of every feature and name: equal domains have equal fingerprints."""


@runtime_checkable
class Candidates(Domain, Protocol):
    """A finite set of candidates: rows of features, addressed by keys.

    Rows are numbered from 0; the user speaks in keys (names, or row numbers), the library in rows.
    """

    __slots__ = ()

    def __len__(self) -> int: ...

    def rows(self, index: Indices) -> Rows:
        """Return the features of the given rows."""

    def chunks(self, size: int) -> Iterator[tuple[int, Rows]]:
        """Walk the pool in order, at most `size` rows at a time, with the first row's number."""

    def keys(self, index: Indices) -> Keys:
        """Return the user's keys of the given rows."""

    def find(self, keys: object) -> Indices:
        """Return the rows of the given keys, or raise a PoolError naming the unknown ones."""


@runtime_checkable
class Extensible(Candidates, Protocol):
    """A pool to which candidates can be added while a run goes on: `Optimizer.extend`."""

    __slots__ = ()

    def extended(self, more: object, names: object = None) -> Candidates:
        """Return a pool of these candidates, in the rows they have, and of more behind them."""


def require_domain(pool: object) -> None:
    """Raise unless `pool` is a pool or a box."""
    if isinstance(pool, type) or not isinstance(pool, Domain):
        way = "Pool.from_frame(frame)" if hasattr(pool, "columns") else "Pool(X)"
        raise PoolError(
            f"pool must be a noregret.Pool or noregret.Box, got {type(pool).__name__}: "
            f"give noregret.{way}."
        )

"""A domain, and the points off it that a run has met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Rows, stacked
from noregret.errors import AskError, PoolError
from noregret.pools.base import Candidates, Domain
from noregret.pools.box import Box
from noregret.pools.names import Keys
from noregret.pools.row_lookup import Matching

NO_ROWS: Indices = np.empty(0, dtype=np.int64)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """Points picked to be evaluated; rows not met yet are numbered as they will be."""

    rows: Indices
    X: Rows

    def __len__(self) -> int:
        return len(self.rows)


@final
class Points:
    """Numbers every point of a run: rows of a pool first, then whatever else was told or asked for.

    On a box all points are of the second kind; they are recognised when they come again. Only the
    optimizer adds points, so that looking changes nothing.
    """

    def __init__(self, domain: Domain, extra: Rows | None = None) -> None:
        self.domain = domain
        self._pool = domain if isinstance(domain, Candidates) else None
        self.candidates = 0 if self._pool is None else len(self._pool)  # rows of the pool
        self._matching: Matching | None = None
        self.extra: Rows = np.empty((0, domain.dim))  # features of the others
        self._known: dict[bytes, int] = {}
        if extra is not None:
            self._add(extra)

    @classmethod
    def of(cls, domain: Domain | Points) -> Points:
        return domain if isinstance(domain, Points) else cls(domain)

    @property
    def dim(self) -> int:
        return self.domain.dim

    def __len__(self) -> int:
        return self.candidates + len(self.extra)

    def read(self, name: str, X: object) -> Rows:
        return self.domain.read(name, X)

    def shown(self, X: Rows) -> Rows:
        return self.domain.shown(X)

    def fingerprint(self) -> str:
        return self.domain.fingerprint()

    def rows(self, index: Indices) -> Rows:
        """Return the features of the given rows, in the pool or off it."""
        if self._pool is None:
            return self.extra[index]
        if not len(self.extra):
            return self._pool.rows(index)
        off = index >= self.candidates
        X = self._pool.rows(np.where(off, 0, index))
        X[off] = self.extra[index[off] - self.candidates]
        return X

    def chunks(self, size: int) -> Iterator[tuple[int, Rows]]:
        """Walk the candidates of the pool."""
        return iter(()) if self._pool is None else self._pool.chunks(size)

    def keys(self, index: Indices) -> Keys:
        return index if self._pool is None else self._pool.keys(index)

    def ids(self, index: Indices) -> list[int | str | None]:
        """Return the user's keys of the given rows, None for points off the pool."""
        off = index >= self.candidates if self.candidates else np.zeros(len(index), dtype=np.bool_)
        keys = self.keys(np.where(off, 0, index)).tolist()
        return [None if is_off else key for key, is_off in zip(keys, off, strict=True)]

    def find(self, keys: object) -> Indices:
        """Return the rows of candidates by their keys; on a box, of points met before."""
        if self._pool is not None:
            return self._pool.find(keys)
        wanted = np.atleast_1d(np.asarray(keys))
        if wanted.size == 0:
            return NO_ROWS
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise PoolError(
                "points of a box that were met are numbered, as in batch.ids: give these whole "
                f"numbers, got {keys!r:.80}."
            )
        rows = wanted.astype(np.int64)
        outside = rows[(rows < 0) | (rows >= len(self))]
        if outside.size:
            raise PoolError(
                f"point {outside[0]} is unknown: this run has met {len(self)} points of the box."
            )
        return rows

    def glance(self, count: int) -> Rows:
        """Return some candidates, spread over the domain, the same every time."""
        if isinstance(self.domain, Box):
            return self.domain.sample(count, np.random.default_rng(0))
        return self.rows(np.unique(np.linspace(0, self.candidates - 1, count).astype(np.int64)))

    def some(self, count: int, rng: np.random.Generator) -> Rows:
        """Return so many candidates drawn uniformly, or all of them where there are fewer."""
        if isinstance(self.domain, Box):
            return self.domain.sample(count, rng)
        few = min(count, self.candidates)
        return self.rows(np.sort(rng.choice(self.candidates, few, replace=False)))

    def picks(self, rows: Indices) -> Picks:
        return Picks(rows, self.rows(rows))

    def sample(self, excluded: Mask, size: int, rng: np.random.Generator) -> Picks:
        """Draw uniformly, with replacement, from the candidates that are not excluded."""
        if isinstance(self.domain, Box):
            return self.peek(self.domain.sample(size, rng))
        if not excluded.any():
            return self.picks(rng.integers(self.candidates, size=size))
        allowed = np.flatnonzero(~excluded)
        if not allowed.size:
            raise AskError(
                f"all {len(excluded)} candidates are excluded, so none is left to draw from. "
                "Exclude fewer, or stop here and take best()."
            )
        return self.picks(allowed[rng.integers(len(allowed), size=size)])

    def peek(self, X: Rows) -> Picks:
        """Return points of a box with the rows that `meet` would give them, adding none."""
        new: dict[bytes, int] = {}
        rows = np.empty(len(X), dtype=np.int64)
        for at, key in enumerate(_as_keys(X)):
            row = self._known.get(key)
            rows[at] = new.setdefault(key, len(self) + len(new)) if row is None else row
        return Picks(rows, X)

    def meet(self, X: Rows) -> Indices:
        """Return the rows of points by their features; points not met before are added."""
        found = np.full(len(X), -1)
        if self._pool is not None:
            if self._matching is None:
                self._matching = Matching(self._pool)
            found = self._matching.rows(X)
        off = np.flatnonzero(found < 0)
        found[off] = self._add(X[off])
        return found

    def settled(self, rows: Indices, X: Rows) -> Indices:
        """Add the points among picks that were not met before; return the rows of all."""
        numbers, new = self.expected(rows, X), rows >= len(self)
        if new.any():
            self.meet(X[new])
        return numbers

    def expected(self, rows: Indices, X: Rows) -> Indices:
        """Return the rows of picks as `settled` would, adding no point."""
        new = rows >= len(self)
        numbers = rows.copy()
        if new.any():
            numbers[new] = self.peek(X[new]).rows
        return numbers

    def _add(self, X: Rows) -> Indices:
        rows, new = np.empty(len(X), dtype=np.int64), []
        for at, key in enumerate(_as_keys(X)):
            row = self._known.get(key)
            if row is None:
                row = self._known[key] = self.candidates + len(self._known)
                new.append(at)
            rows[at] = row
        if new:
            self.extra = stacked(self.extra, X[new])
        return rows


def _as_keys(X: Rows) -> Iterator[bytes]:
    return map(bytes, X + 0.0 if X.dtype == np.float64 else np.ascontiguousarray(X))  # −0 is 0

"""The candidates of a run, and the other points that it has met, numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Rows, Vector, stacked
from noregret.errors import ArgumentError, AskError, PoolError
from noregret.pools.base import Candidates, Domain, Keys, require_domain
from noregret.pools.box import Box
from noregret.pools.row_lookup import RowLookup
from noregret.pools.stored import row_numbers
from noregret.text import counted

NO_ROWS: Indices = np.empty(0, dtype=np.int64)
NO_CONTEXTS = (
    "this run has no contexts. Give context_kernel=... to an algorithm with a Gaussian process "
    "over a pool, such as gp_ucb, mini_gp_ucb, bkb, bbkb or batch_thompson; auto, ts_qff, the "
    "baselines and boxes take none."
)
CLOUD = 1024  # points of a box among which new ones are looked for, at least …
PER_POINT = 16  # … and per point that is wanted


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """Points picked to be evaluated; new points of a box get the next numbers."""

    rows: Indices
    X: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: slice | Indices | Mask) -> Picks:
        return Picks(self.rows[at], self.X[at])

    def new(self, taken: Indices) -> Picks:
        """Return each point once, in order of first appearance, without those that are taken."""
        return self[first_new(self.rows, taken)]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Renumbering:
    """New numbers of points that lie off the pool; its candidates keep theirs."""

    candidates: int  # of the pool before
    off: Indices  # the number of each other point now

    def __bool__(self) -> bool:
        """Tell whether there are such points."""
        return len(self.off) > 0

    def __call__(self, rows: Indices) -> Indices:
        moved, is_off = rows.copy(), rows >= self.candidates
        moved[is_off] = self.off[rows[is_off] - self.candidates]
        return moved

    def of(self, row: int) -> int:
        """Return the number of one point now."""
        return row if row < self.candidates else int(self.off[row - self.candidates])


def first_new(rows: Indices, taken: Indices) -> Indices:
    """Return where each row appears for the first time, those taken left out."""
    first = np.sort(np.unique(rows, return_index=True)[1])
    return first[~np.isin(rows[first], taken)]


class Points:
    """Number every point of a run: rows of a pool first, then whatever else was told or asked for.

    On a box all points are of the second kind; a point that comes again keeps its number. Only the
    optimizer registers points, so that looking changes nothing.
    """

    def __init__(self, domain: Domain, extra: Rows | None = None) -> None:
        self.domain = domain
        self.box = domain if isinstance(domain, Box) else None
        self._pool = domain if isinstance(domain, Candidates) else None
        self.candidates = 0 if self._pool is None else len(self._pool)  # rows of the pool
        self._row_lookup: RowLookup | None = None
        self.extra: Rows = np.empty((0, domain.dim))  # features of the others
        self._known: dict[bytes, int] = {}  # … and their rows
        if extra is not None:
            self._add(extra)

    @classmethod
    def of(cls, domain: Domain | Points) -> Points:
        """Return the points of a domain that a user gave."""
        if isinstance(domain, Points):
            return domain
        require_domain(domain)
        return cls(domain)

    @property
    def pool(self) -> Candidates:
        """The candidates, where there are finitely many."""
        assert self._pool is not None
        return self._pool

    @property
    def dim(self) -> int:
        return self.domain.dim

    def __len__(self) -> int:
        return self.candidates + len(self.extra)

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
        rule = "points of a box are addressed by their numbers, as in batch.ids"
        whole = f"the {counted(len(self), 'point')} of the box that this run has met"
        if wanted.ndim != 1:
            raise PoolError(f"{rule}, got shape {wanted.shape}.")
        return row_numbers(wanted, len(self), rule, whole) if wanted.size else NO_ROWS

    def lookup(self, X: Rows) -> Indices:
        """Return the rows of points by their features; new ones as `register` would number them."""
        rows: Indices = np.full(len(X), -1)
        if len(X) and (table := self._lookup_table()) is not None:
            rows = table.rows(X)
        off, new = np.flatnonzero(rows < 0), dict[bytes, int]()
        for at, key in zip(off.tolist(), _as_keys(X[off]), strict=True):
            row = self._known.get(key)
            rows[at] = new.setdefault(key, len(self) + len(new)) if row is None else row
        return rows

    def first_equal(self, rows: Indices) -> Indices:
        """Return the first candidate of the same features, for each row of the pool or off it."""
        table = self._lookup_table()
        if table is None or not table.has_equal:
            return rows
        first, inside = rows.copy(), rows < self.candidates
        first[inside] = table.rows(self.pool.rows(rows[inside]))
        return first

    def _lookup_table(self) -> RowLookup | None:
        if self._row_lookup is None and self._pool is not None:
            self._row_lookup = RowLookup(self._pool)
        return self._row_lookup

    def register(self, X: Rows) -> Indices:
        """Return the rows of points by their features; points not met before are added."""
        rows = self.lookup(X)
        first = np.unique(rows, return_index=True)[1]
        self._add(X[first[rows[first] >= len(self)]])
        return rows

    @property
    def last(self) -> Vector | None:
        """The context that was met last, None where there are none."""
        return None

    @property
    def takes_contexts(self) -> bool:
        """Whether points are pairs of a candidate and a context."""
        return False

    @property
    def context_names(self) -> tuple[str, ...] | None:
        """What the numbers of a context are called, None where they have no names."""
        return None

    def in_last_context(self, X: Rows) -> Rows:
        """Return features of candidates as a kernel is given them, under the last context."""
        return X

    def read_context(
        self, name: str, context: object, vet: Callable[[Rows], None]
    ) -> Vector | None:
        """Return a context that a user gave, checked; None where there are none."""
        if context is not None:
            raise ArgumentError(f"{name}: {NO_CONTEXTS}")
        return None

    def name_contexts(self, context: object) -> None:
        """Remember how a context was given that is now met."""

    def under(self, context: Vector | None) -> Points:
        """Return what a policy is shown of these points: all of it, where there are no contexts."""
        return self

    def rows_under(self, context: Vector | None, numbers: Indices) -> Indices:
        """Return how points are numbered there."""
        return numbers

    def candidates_of(self, numbers: Indices) -> Indices:
        """Return the candidates that points are of."""
        return numbers

    def register_pairs(self, context: Vector | None, rows: Indices) -> Indices:
        """Return the numbers of candidates met under a context; new pairs of both get the next."""
        return rows

    def context_of(self, number: int) -> Vector | None:
        """Return the context of a point, None where there are none."""
        return None

    def contexts_of(self, numbers: Indices) -> Matrix | None:
        """Return the context of each point, None where the run has none."""
        return None

    def has_context(self, context: Vector | None, number: int) -> bool:
        """Tell whether a point is one of this context."""
        return True

    def numbers_under(self, context: Vector | None, rows: Indices) -> Indices:
        """Return the numbers of points seen as these rows under a context."""
        return rows

    def numbers_of_candidates(self, rows: Indices) -> Indices:
        """Return all points of these candidates."""
        return rows

    def extended(self, pool: Candidates) -> tuple[Points, Renumbering]:
        """Return the points over a pool with more rows, and how those off the pool are numbered.

        They come behind the new candidates; one that equals a candidate now is that candidate.
        """
        points = Points(pool)
        if self._row_lookup is not None:
            points._row_lookup = self._row_lookup.extended(pool)
        rows = points.register(self.extra)
        return points, Renumbering(self.candidates, rows)

    def _add(self, X: Rows) -> None:
        """Number new points, in order."""
        if len(X):
            numbers = range(len(self), len(self) + len(X))
            self.extra = stacked(self.extra, X)  # first: a number is never given twice
            self._known.update(zip(_as_keys(X), numbers, strict=True))

    def picks(self, rows: Indices) -> Picks:
        return Picks(rows, self.rows(rows))

    def picks_of(self, X: Rows) -> Picks:
        """Return points with their rows, adding none."""
        return Picks(self.lookup(X), X)

    def glance(self, count: int) -> Rows:
        """Return candidates from all over the domain, the same every time."""
        return self.all_over(count).X

    def all_over(self, count: int) -> Picks:
        """Return the candidates of a glance, with their rows."""
        if self.box is not None:
            return self.picks_of(self.box.sample(count, np.random.default_rng(0)))
        return self.picks(np.unique(np.linspace(0, self.candidates - 1, count).astype(np.int64)))

    def some(self, count: int, rng: np.random.Generator) -> Rows:
        """Return `count` candidates drawn uniformly, or all of them where there are fewer."""
        if self.box is not None:
            return self.box.sample(count, rng)
        size = min(count, self.candidates)
        return self.rows(np.sort(rng.choice(self.candidates, size, replace=False)))

    def sample(self, excluded: Mask, size: int, rng: np.random.Generator) -> Picks:
        """Draw uniformly, with replacement, from the candidates that are not excluded."""
        if self.box is not None:
            return self.picks_of(self.box.sample(size, rng))
        if not excluded.any():
            return self.picks(rng.integers(self.candidates, size=size))
        allowed = np.flatnonzero(~excluded)
        if not allowed.size:
            raise AskError(
                f"all {len(excluded)} candidates are excluded, so none is left to draw from. "
                "Exclude fewer, or stop here and take best()."
            )
        return self.picks(allowed[rng.integers(len(allowed), size=size)])

    def sample_new(
        self, excluded: Mask, taken: Indices, size: int, rng: np.random.Generator
    ) -> Picks:
        """Draw different candidates uniformly, none of them excluded or taken.

        Fewer where fewer are left, or in a box of whole numbers where fewer are found.
        """
        if self.box is None:
            closed = excluded.copy()
            closed[taken[taken < len(closed)]] = True
            left = np.flatnonzero(~closed)
            return self.picks(rng.choice(left, min(size, len(left)), replace=False))
        X = self.box.sample(size, rng)  # enough, unless some come again
        new = self.picks_of(X).new(taken)
        if len(new) < size:
            X = stacked(X, self.box.sample(max(CLOUD, PER_POINT * size) - size, rng))
            new = self.picks_of(X).new(taken)[:size]
        return new


def _as_keys(X: Rows) -> Iterator[bytes]:
    return map(bytes, X + 0.0 if X.dtype == np.float64 else np.ascontiguousarray(X))  # −0 is 0

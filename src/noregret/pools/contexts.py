"""Contexts: what candidates are met under, which is given and not chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast, final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, as_floats, positions, stacked
from noregret.errors import ArgumentError, NothingToldError
from noregret.pools.base import Candidates, Domain, Keys
from noregret.pools.points import NO_ROWS, Points, Renumbering

EVERY = int(np.iinfo(np.int64).max)


def joined(X: Rows, C: Matrix) -> Rows:
    """Return features with those of a context behind them: of one for all, or one for each."""
    same = np.broadcast_to(C, (len(X), C.shape[1]))
    if X.dtype == np.uint8:  # packed bits: the bytes of the numbers
        same = cast(Matrix, np.ascontiguousarray(same).view(np.uint8))
    return np.concatenate([X, same], axis=1)


def parted(X: Rows, dim: int) -> tuple[Rows, Matrix]:
    """Return what was joined, `dim` being the columns of a candidate."""
    if X.dtype != np.uint8:
        return X[:, :dim], X[:, dim:]
    own, bytes_ = np.ascontiguousarray(X[:, :dim]), np.ascontiguousarray(X[:, dim:])
    return own, cast(Matrix, bytes_.view(np.float64))


def _names(context: Mapping[Any, Any]) -> tuple[str, ...]:
    return tuple(sorted(map(str, context)))


@final
class ContextView(Candidates):
    """The candidates of a pool under one context, whose features stand behind their own."""

    __slots__ = ("base", "context")

    def __init__(self, base: Candidates, context: Vector) -> None:
        self.base, self.context = base, context

    @property
    def dim(self) -> int:
        return int(joined(self.base.rows(NO_ROWS), self.context[None]).shape[1])

    def __len__(self) -> int:
        return len(self.base)

    def rows(self, index: Indices) -> Rows:
        return joined(self.base.rows(index), self.context[None])

    def chunks(self, size: int) -> Iterator[tuple[int, Rows]]:
        return ((start, joined(X, self.context[None])) for start, X in self.base.chunks(size))

    def keys(self, index: Indices) -> Keys:
        return self.base.keys(index)

    def find(self, keys: object) -> Indices:
        return self.base.find(keys)

    def read(self, name: str, X: object) -> Rows:
        return joined(self.base.read(name, X), self.context[None])

    def shown(self, X: Rows) -> Rows:
        return self.base.shown(parted(X, self.base.dim)[0])

    def fingerprint(self) -> str:
        return self.base.fingerprint()


class ContextPoints(Points):
    """Number pairs of a candidate and a context, in the order in which they are met.

    `Points` numbers candidates, and what lies off the pool; on top of that, pairs have numbers that
    never change. A policy is shown the pool `under` one context: there a pair of that context is
    the row of its candidate, and the others lie off the pool.
    """

    def __init__(self, domain: Domain, extra: Rows | None = None) -> None:
        Points.__init__(self, domain, extra)
        self.names: tuple[str, ...] | None = None  # of a context's features, where they have some
        self.contexts: Matrix = np.empty((0, 0))  # those met
        self.candidate: Indices = NO_ROWS  # of each pair: a row of the pool or off it …
        self.context: Indices = NO_ROWS  # … and the number of its context
        self._numbers: dict[tuple[int, int], int] = {}
        self._met: dict[bytes, int] = {}
        self._view: ContextView | None = None  # the last one, by which caches know it again

    def saved(self) -> tuple[tuple[str, ...] | None, Matrix, Indices, Indices]:
        """Return what `restore` takes."""
        return self.names, self.contexts, self.candidate, self.context

    def restore(
        self, names: tuple[str, ...] | None, contexts: Matrix, candidate: Indices, context: Indices
    ) -> None:
        """Have the pairs of a run that was saved."""
        self.names, self.contexts = names, contexts
        self.candidate, self.context = candidate, context
        pairs = zip(candidate.tolist(), context.tolist(), strict=True)
        self._numbers = {pair: i for i, pair in enumerate(pairs)}
        self._met = {bytes(c): i for i, c in enumerate(contexts)}

    @property
    def last(self) -> Vector:
        if not len(self.context):
            raise NothingToldError("no context is known yet: call ask or tell first.")
        return self.context_of(len(self.context) - 1)

    @property
    def takes_contexts(self) -> bool:
        return True

    @property
    def context_names(self) -> tuple[str, ...] | None:
        return self.names

    def in_last_context(self, X: Rows) -> Rows:
        return joined(X, self.last[None]) if len(self.context) else X[:0]

    def read_context(
        self, name: str, context: object, vet: Callable[[Rows], None]
    ) -> Vector | None:
        """Read numbers, or numbers by name, as the first context was given."""
        if context is None:
            raise ArgumentError(
                f"{name}: this run has contexts, so say which one: {name.partition('(')[0]}(..., "
                "context=[...]), the numbers that describe it."
            )
        values, names = context, self.names
        if isinstance(context, Mapping):
            if not len(self.contexts):
                names = _names(context)
            if names is None or set(names) != set(context):
                known = "without names" if names is None else f"by the names {', '.join(names)}"
                raise ArgumentError(
                    f"{name} must be given as the first one was, {known}, got {context!r:.80}."
                )
            values = [context[key] for key in names]
        elif names is not None:
            raise ArgumentError(
                f"{name} must be given as the first one was, by the names {', '.join(names)}, got "
                f"{context!r:.80}."
            )
        found = np.atleast_1d(as_floats(name, values))
        columns = self.contexts.shape[1] if len(self.contexts) else found.size
        if found.ndim != 1 or not columns or found.size != columns:
            many = f"{columns} numbers" if len(self.contexts) else "the numbers that describe it"
            raise ArgumentError(f"{name} must be one context, {many}, got {context!r:.80}.")
        given: Vector = found + 0.0  # −0 is 0
        vet(joined(self.glance(1), given[None]))
        return given

    def name_contexts(self, context: object) -> None:
        """Remember the names of a first context."""
        if isinstance(context, Mapping) and self.names is None:
            self.names = _names(context)

    def under(self, context: Vector | None) -> Points:
        assert context is not None
        view = self._view
        if view is None or not np.array_equal(view.context, context):
            view = self._view = ContextView(self.pool, context)
        points = PointsUnder(view)
        points.pairs_of = self
        points.extra = self.rows_of(np.arange(len(self.candidate)), len(context))
        return points

    def rows_of(self, pairs: Indices, width: int) -> Rows:
        """Return the features of pairs, candidate and context."""
        contexts = self.contexts if len(self.contexts) else np.empty((0, width))
        return joined(self.rows(self.candidate[pairs]), contexts[self.context[pairs]])

    def rows_under(self, context: Vector | None, numbers: Indices) -> Indices:
        pairs = numbers
        assert context is not None
        known = self._met.get(bytes(context), -1)
        own = (self.context[pairs] == known) & (self.candidate[pairs] < self.candidates)
        return np.where(own, self.candidate[pairs], self.candidates + pairs)

    def has_context(self, context: Vector | None, number: int) -> bool:
        assert context is not None
        return np.array_equal(self.context_of(number), context)

    def numbers_under(self, context: Vector | None, rows: Indices) -> Indices:
        """Return the numbers of rows seen under a context, those that have one; −1 for others."""
        known = -1 if context is None else self._met.get(bytes(context), -1)
        here = np.flatnonzero((self.context == known) & (self.candidate < self.candidates))
        place = positions(rows, self.candidate[here])
        inside = np.append(here, -1)[place]
        return np.where(rows >= self.candidates, rows - self.candidates, inside)

    def register_pairs(self, context: Vector | None, rows: Indices) -> Indices:
        assert context is not None
        key = bytes(context)
        if key not in self._met:
            self.contexts = stacked(self.contexts, context[None])
            self._met[key] = len(self.contexts) - 1
        number = self._met[key]
        found = []
        new: list[int] = []
        for row in rows.tolist():
            pair = self._numbers.get((row, number))
            if pair is None:
                pair = self._numbers[(row, number)] = len(self._numbers)
                new.append(row)
            found.append(pair)
        self.candidate = np.concatenate([self.candidate, np.array(new, dtype=np.int64)])
        self.context = np.concatenate([self.context, np.full(len(new), number)])
        return np.array(found, dtype=np.int64)

    def candidates_of(self, numbers: Indices) -> Indices:
        return self.candidate[numbers]

    def numbers_of_candidates(self, rows: Indices) -> Indices:
        return np.flatnonzero(np.isin(self.candidate, rows))

    def context_of(self, number: int) -> Vector:
        return np.asarray(self.contexts[self.context[number]])

    def contexts_of(self, numbers: Indices) -> Matrix:
        return np.asarray(self.contexts[self.context[numbers]])

    def extended(self, pool: Candidates) -> tuple[Points, Renumbering]:
        plain, numbers = Points.extended(self, pool)
        grown = ContextPoints(pool, plain.extra if len(plain.extra) else None)
        grown._row_lookup = plain._row_lookup
        grown.restore(self.names, self.contexts, numbers(self.candidate), self.context)
        return grown, Renumbering(EVERY, NO_ROWS)  # pairs keep their numbers


@final
class PointsUnder(Points):
    """What a policy is shown of pairs under one context."""

    pairs_of: ContextPoints

    def ids(self, index: Indices) -> list[int | str | None]:
        pairs, N = self.pairs_of, self.candidates
        off = index >= N
        rows = np.where(off, pairs.candidate[np.where(off, index - N, 0)], index)
        both = zip(Points.ids(pairs, rows), off.tolist(), strict=True)
        return [f"{id} under another context" if is_off else id for id, is_off in both]

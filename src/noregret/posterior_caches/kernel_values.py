"""Kernel values between a pool and the members of a dictionary, and what is made of them."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, Rows
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posteriors import NystromPosterior, Observations
from noregret.threads import Scratch, parallel_map

PIECE = 2048  # rows of a pass taken together: what is computed of them stays in a core's cache


@final
class Columns:
    """k(x_j, x) for the members x_j of today, and for those of earlier days where they fit.

    Most points that were members once will be members again. A piece of the pool lies together in
    memory, point after point, so that the members among them are copied in whole stretches.
    """

    def __init__(self, pool: Candidates, memory: int) -> None:
        self._memory = memory
        self._cut(pool)
        self._K: npt.NDArray[np.float64] = np.empty((self._shape[0], 0, self._shape[1]))
        self._slots: dict[int, int] = {}  # row of a point → its place in K
        self._points: Indices = np.empty(0, dtype=np.int64)  # of members, −1 if not kept
        self._kernel: Kernel | None = None
        self._members: Observations = Observations.none(pool.dim)
        self._first = self._kept = True  # whether they are the first that were kept; all of them
        self._scratch = Scratch()

    def _cut(self, pool: Candidates) -> None:
        N = len(pool)
        self._pool = pool
        self.pieces = [slice(start, min(start + PIECE, N)) for start in range(0, N, PIECE)]
        self._shape = len(self.pieces), min(PIECE, N)
        self._most = self._memory // (8 * self._shape[0] * self._shape[1])  # points that may be

    def extend(self, pool: Candidates) -> None:
        """Follow a pool that has more rows behind these, and has had all points that are kept."""
        old, before, have = self._K, len(self._pool), len(self._slots)
        self._cut(pool)
        if old.shape[1] > self._most:
            self._slots, self._first, self._kept = {}, False, False
            self._K = np.empty((self._shape[0], 0, self._shape[1]))
            return
        self._K = np.empty((self._shape[0], old.shape[1], self._shape[1]))
        self._K[: len(old), :have, : old.shape[2]] = old[:, :have]
        if have:
            self._write(pool.rows(np.array(list(self._slots))), slice(0, have), before)

    def follow(self, kernel: Kernel, members: Observations) -> None:
        """Have the values of these members, where they fit."""
        if kernel is not self._kernel:
            self._slots, self._kernel = {}, kernel
        self._members, rows = members, members.rows.tolist()
        new = [i for i, row in enumerate(rows) if row not in self._slots]
        if len(self._slots) + len(new) > self._most:
            self._slots = {}  # most are no longer members: keep those of today
            new = list(range(len(members)))
        if new and len(new) <= self._most:
            self._fill(members, new)
        self._points = np.array([self._slots.get(row, -1) for row in rows], dtype=np.int64)
        self._first = bool(np.array_equal(self._points, np.arange(len(rows))))
        self._kept = bool((self._points >= 0).all())

    def of(self, rows: slice | Indices) -> Matrix:
        """Return a row for each member, a column for each of the given rows or for a piece.

        The memory is used again by the next call in this thread.
        """
        at = self._piece(rows)
        if at is None or not self._kept:
            return self._some(np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows)
        start, count = at
        if self._first:  # as with a sticky dictionary: nothing to copy
            return self._K[start, : len(self._points), :count]
        out = self._scratch.matrix("columns", len(self._points), self._shape[1])
        np.take(self._K[start], self._points, axis=0, out=out, mode="clip")
        return out[:, :count]

    def _some(self, rows: Indices) -> Matrix:
        if not self._kept:
            assert self._kernel is not None
            return self._kernel(self._members.X, self._pool.rows(rows))
        which, where = np.divmod(rows, PIECE)
        return self._K[which, self._points[:, None], where]

    def _piece(self, rows: slice | Indices) -> tuple[int, int] | None:
        """Return the number and the length of the piece that these rows are, if they are one."""
        if isinstance(rows, slice):
            return rows.start // PIECE, rows.stop - rows.start
        if not len(rows) or rows[0] % PIECE or rows[-1] - rows[0] != len(rows) - 1:
            return None
        whole = len(rows) <= PIECE and bool((np.diff(rows) == 1).all())
        return (int(rows[0]) // PIECE, len(rows)) if whole else None

    def _fill(self, members: Observations, new: list[int]) -> None:
        """Compute the values of members that were none before."""
        have, K = len(self._slots), self._K
        pieces, width = self._shape
        if have + len(new) > K.shape[1]:
            room = min(2 * (have + len(new)) + 16, self._most)
            self._K = np.empty((pieces, room, width))
            self._K[:, :have] = K[:, :have]
        self._write(members.X[new], slice(have, have + len(new)))
        for at, i in enumerate(new, start=have):
            self._slots[int(members.rows[i])] = at

    def _write(self, X: Rows, into: slice, first: int = 0) -> None:
        """Compute the values of points, which go into these places, for rows from the first on."""
        kernel = self._kernel
        assert kernel is not None

        def fill(rows: slice) -> None:
            start, piece = max(rows.start, first), rows.start // PIECE
            some = self._pool.rows(np.arange(start, rows.stop))
            self._K[piece, into, start - rows.start : rows.stop - rows.start] = kernel(X, some)

        parallel_map(fill, self.pieces[first // PIECE :])


@final
class Pairs:
    """c̃ and k̃ of `NystromPosterior`: O(m) a pair, given k_S(x), and O(m²) once for each other."""

    def __init__(self, pool: Candidates, posterior: NystromPosterior) -> None:
        self._pool, self._posterior = pool, posterior
        self._last: tuple[bytes, Matrix, Indices] | None = None  # others, weights, not members

    def between(self, rows: Indices, K: Matrix, others: Indices) -> tuple[Matrix, Matrix]:
        """Return c̃ and k̃ between rows, whose columns k_S(x) are K, and others."""
        p, key, last = self._posterior, others.tobytes(), self._last
        if last is None or last[0] != key:
            outside = np.flatnonzero(~np.isin(others, p.members.rows))  # k = zᵀz at members
            model, projection = p.weights(self._pool.rows(others))
            both = np.concatenate([model, projection[:, outside]], axis=1).T
            last = self._last = key, np.ascontiguousarray(both), outside
        _, both, outside = last  # of this call: other threads may have others
        P = both @ K
        C = P[: len(others)]
        R = C.copy() if outside.size else C
        if outside.size:
            X, Z = self._pool.rows(rows), self._pool.rows(others[outside])
            R[outside] += p.kernel(Z, X) - P[len(others) :]
        return C.T, R.T

"""Kernel values between a whole pool and the points that a dictionary was made of.

Kernel values of candidates with the points evaluated, kept from one look to the next.
"""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Matrix
from noregret.kernels import Kernel, Scaled, WithEffect
from noregret.pools import Candidates, Hashes, all_hashed, hashed
from noregret.posteriors import Observations
from noregret.threads import Scratch, parallel_map

PIECE = 2048  # rows of a pass taken together: what is computed of them stays in a core's cache


@final
class Columns:
    """k(x_j, x) for the members x_j of today, and for those of earlier days where they fit.

    Most points that were members once will be members again. A piece of the pool lies together in
    memory, point after point, so that the members among them are copied in whole stretches.
    """

    def __init__(self, pool: Candidates, memory: int) -> None:
        N = len(pool)
        self._pool = pool
        self.pieces = [slice(start, min(start + PIECE, N)) for start in range(0, N, PIECE)]
        self._shape = len(self.pieces), min(PIECE, N)
        self._most = memory // (8 * self._shape[0] * self._shape[1])  # points that may be kept
        self._K: npt.NDArray[np.float64] = np.empty((self._shape[0], 0, self._shape[1]))
        self._slots: dict[int, int] = {}  # row of a point → its place in K
        self._points: Indices = np.empty(0, dtype=np.int64)  # of members, −1 if not kept
        self._kernel: Kernel | None = None
        self._members: Observations = Observations.none(pool.dim)
        self._first = self._kept = True  # whether they are the first that were kept; all of them
        self._scratch = Scratch()

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
            self._fill(kernel, members, new)
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

    def _fill(self, kernel: Kernel, members: Observations, new: list[int]) -> None:
        """Compute the values of members that were none before."""
        have, K = len(self._slots), self._K
        pieces, width = self._shape
        if have + len(new) > K.shape[1]:
            room = min(2 * (have + len(new)) + 16, self._most)
            self._K = np.empty((pieces, room, width))
            self._K[:, :have] = K[:, :have]
        X, into = members.X[new], slice(have, have + len(new))

        def fill(rows: slice) -> None:
            some = self._pool.rows(np.arange(rows.start, rows.stop))
            self._K[rows.start // PIECE, into, : len(some)] = kernel(X, some)

        parallel_map(fill, self.pieces)
        for at, i in enumerate(new, start=have):
            self._slots[int(members.rows[i])] = at


LEAST = 64  # points that there is room for


@final
class KeptValues:
    """k(x, xᵢ) of a pool's rows and points that are only added to, while it fits the memory.

    A row that is looked at again needs its values with the points since then, and no others:
    reading one costs a tenth of computing it. A kernel that is scaled anew has the values it had,
    times a number, and a part that is each candidate's own (`CandidateEffect`) is added to
    them. Pages of rows never looked at are never touched.
    """

    def __init__(self, pool: Candidates, memory: int) -> None:
        self._pool, self._memory = pool, memory
        self._kernel: Kernel | None = None  # unscaled
        self._points: Observations = Observations.none(pool.dim)  # the columns
        self._values: Matrix = np.empty((0, 0))  # (N, points) with room to grow; (0, 0): not kept
        self._known: npt.NDArray[np.int32] = np.zeros(len(pool), dtype=np.int32)  # columns filled
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)  # a number a row, once it is needed
        self._met: Hashes = np.zeros(0, dtype=np.uint64)  # … and one a point …
        self._met_of: Observations | None = None  # … of these …
        self._is_met: Mask = np.zeros(0, dtype=np.bool_)  # … and which rows have one of them

    def follow(self, kernel: Kernel, points: Observations) -> None:
        """Take in what comes next, and forget what is not of this kernel and these points.

        To be called before `of`, by one thread.
        """
        core, _, own = _parted(kernel)
        if own:
            self._recognise(points)
        if core is self._kernel and points is self._points:
            return
        known = _alike(points, self._points) if core is self._kernel else 0
        if known < len(self._points):
            np.minimum(self._known, known, out=self._known)
        self._kernel, self._points = core, points
        self._make_room(len(points))

    def _recognise(self, points: Observations) -> None:
        """Make ready to tell which rows are points."""
        if not len(self._hashes):
            self._hashes = all_hashed(self._pool)
            self._is_met = np.zeros(len(self._hashes), dtype=np.bool_)
        if self._met_of is not points:
            met = hashed(points.X)
            new = met[~np.isin(met, self._met)]
            self._is_met |= np.isin(self._hashes, new)  # of points that went, marks do no harm
            self._met, self._met_of = met, points  # last, so that one broken off starts again

    def _make_room(self, points: int) -> None:
        """Let so many points have their columns, or keep nothing where they do not fit."""
        N, columns = len(self._pool), self._values.shape[1]
        if points <= columns:
            return
        most = self._memory // (8 * N)
        wanted = min(max(LEAST, points + points // 2), most)
        if points > most:
            self._values = np.empty((0, 0))
            return
        grown = np.empty((N, wanted))
        if columns:
            step = max(1, (1 << 20) // columns)
            for start in range(0, N, step):
                rows = slice(start, start + step)
                some = np.flatnonzero(self._known[rows]) + start
                grown[some, :columns] = self._values[some]
        else:
            self._known[:] = 0
        self._values = grown

    def of(self, kernel: Kernel, points: Observations, rows: Indices) -> Matrix:
        """Return k(x, xᵢ), a row of the pool each; threads may ask for different rows at once."""
        core, scale, own = _parted(kernel)
        K = self._of(core, points, rows)
        if scale != 1.0:
            K *= scale
        if own:
            same = np.flatnonzero(self._is_met[rows])
            K[same] += own * np.equal.outer(self._hashes[rows[same]], self._met)
        return K

    def _of(self, core: Kernel, points: Observations, rows: Indices) -> Matrix:
        if not self._values.size:
            return np.array(core(self._pool.rows(rows), points.X))
        n, known = len(points), self._known[rows]
        for group in (rows[known == 0], rows[(known > 0) & (known < n)]):
            if len(group):
                first = int(self._known[group].min())
                self._values[group, first:n] = core(self._pool.rows(group), points.X[first:])
                self._known[group] = n
        return self._values[rows, :n]


def _parted(kernel: Kernel) -> tuple[Kernel, float, float]:
    """Return a kernel as another one times a number, and the variance of candidate effects."""
    match kernel:
        case Scaled(kernel=inner, variance=variance):
            core, scale, effect = _parted(inner)
            return core, variance * scale, variance * effect
        case WithEffect(shared=shared, effect=more):
            core, scale, effect = _parted(shared)
            return core, scale, effect + more
        case _:
            return kernel, 1.0, 0.0


def _alike(some: Observations, others: Observations) -> int:
    """Return how many points are the same, from the first on."""
    n = min(len(some), len(others))
    same = (some.rows[:n] == others.rows[:n]) & (some.X[:n] == others.X[:n]).all(axis=1)
    return n if same.all() else int(np.argmin(same))

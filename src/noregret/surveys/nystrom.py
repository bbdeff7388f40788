"""A survey of sparse posteriors: a pass a posterior, in which most rows drop out early."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posteriors import NystromPosterior, Posterior, cholesky
from noregret.surveys.base import log_restart, priors
from noregret.threads import spread
from noregret.work import Work

CHUNK = 2048  # rows of a pass taken together: their kernel values stay in a core's cache
STAGES = (0.3, 0.5, 0.65, 0.8, 0.9, 1.0)  # shares of the dictionary taken in one after another
EXITS = (0.8, 0.9, 1.0)  # … after which rows may drop out
WORTH = 0.7  # share of a chunk still in the race over which nobody is left out


@final
class NystromSurvey:
    """Follows Nyström posteriors, each with a dictionary of its own: O(N·m²) at worst.

    With T lower triangular, TᵀT = LS⁻ᵀ(I − ridge·V⁻¹)LS⁻¹, the variance is

        σ̃²(x) = k(x, x) − ‖T k_S(x)‖²,       μ̃(x) = k_S(x)ᵀ LS⁻ᵀθ                          (1)

    Every further entry of T k_S lowers it, so that a part of them gives an upper bound, and a row
    whose bound falls below what the best will reach is not looked at further. Kernel values of
    points that were members once are kept, N together, since most will be members again. Where
    members are sticky a posterior differs from the last by few columns, and every row is carried
    on: O(N·m) a column.
    """

    def __init__(self, pool: Candidates, memory: int, work: Work) -> None:
        N = len(pool)
        self._pool, self._work = pool, work
        self._most = memory // (8 * N)  # columns that may be kept
        self._K: npt.NDArray[np.float64] = np.empty((0, N))  # (kept, N), with room to grow
        self._slots: dict[int, int] = {}  # row of a point → its place in K
        self._kernel: Kernel | None = None
        self._last: NystromPosterior | None = None
        self._sharp: Mask = np.zeros(N, dtype=np.bool_)
        self._places: Indices = np.empty(0, dtype=np.int64)  # of members in K, −1 if not kept
        self._weights: Vector = np.zeros(0)
        self._weighed: tuple[bytes, Matrix, Indices] | None = None  # the last of `covariances`
        self._T: Matrix = np.zeros((0, 0))
        self.mean: Vector = np.zeros(N)
        self.variance: Vector = np.zeros(N)
        self.prior: Vector = np.zeros(N)
        self.slack = self.relative = 0.0

    def follow(self, posterior: Posterior) -> None:
        assert isinstance(posterior, NystromPosterior)
        if posterior is self._last:
            return
        last, self._last = self._last, None  # broken off, the next one starts again
        if posterior.kernel is not self._kernel:
            self._slots, self._kernel = {}, posterior.kernel
            priors(posterior.kernel, self._pool, self.prior)
        T, jitter = cholesky.explained(posterior.R, posterior.ridge, posterior.LS)
        self._T = np.ascontiguousarray(T)
        self._weights = cholesky.solve_upper(posterior.LS, posterior.theta[:, None])[:, 0]
        self.slack, relative = posterior.rounding
        self.relative = relative + 2 * jitter
        moved = None
        if posterior.sticky and last is not None and self._sharp.all():
            moved = posterior.moved(last)
        self._keep(posterior)
        rows = posterior.members.rows.tolist()
        self._weighed = None
        self._places = np.array([self._slots.get(row, -1) for row in rows], dtype=np.int64)
        self._last = posterior
        if moved is None:
            self._sharp[:] = False
        else:
            self._advance(*moved)

    def refresh(self, rows: Indices) -> None:
        blunt = rows[~self._sharp[rows]]
        for start in range(0, len(blunt), CHUNK):
            some = blunt[start : start + CHUNK]
            K = self._values(some)
            self._work.product(K.shape[1], len(K), len(K) // 2)
            Y = self._T @ K
            self.mean[some] = self._weights @ K
            left = self.prior[some] - np.einsum("ij,ij->j", Y, Y)
            self.variance[some] = np.maximum(left, 0.0)  # rounding, as in NystromPosterior
        self._sharp[blunt] = True
        self._work.refreshed += len(blunt)

    def ceilings(self, acquisition: Acquisition, beta: float, top: float, floor: float) -> Vector:
        p, bound = self._last, np.empty(len(self.mean))
        assert p is not None
        if self._sharp.all():
            room = self.relative * self.prior
            return acquisition.score(self.mean + self.slack, self.variance + room, beta, top)
        if p.sticky:  # what is known of every row can be carried on to the next posterior
            floor = -np.inf
        look = partial(self._pass, acquisition, beta, top, floor, bound)
        for work in spread(look, self._pieces()):
            self._work.add(work)
        self._work.scanned += len(bound)
        return bound

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """c̃ and k̃ of `NystromPosterior`, through kept kernel values: O(m) a pair."""
        p = self._last
        assert p is not None
        key = others.tobytes()
        if self._weighed is None or self._weighed[0] != key:
            outside = np.flatnonzero(~np.isin(others, p.members.rows))  # k = zᵀz at members
            model, projection = p.weights(self._pool.rows(others))
            both = np.concatenate([model, projection[:, outside]], axis=1)
            self._weighed = key, both, outside
        _, both, outside = self._weighed
        P = self._values(rows).T @ both
        C = P[:, : len(others)]
        R = C.copy() if outside.size else C
        if outside.size:
            X, Z = self._pool.rows(rows), self._pool.rows(others[outside])
            R[:, outside] += p.kernel(X, Z) - P[:, len(others) :]
        self._work.product(len(rows), len(both), both.shape[1])
        return C, R

    def widen(self, mean_error: float, relative_error: float) -> None:
        self.slack = max(self.slack, mean_error)
        self.relative = max(self.relative, relative_error)
        self._sharp[:] = False
        log_restart(mean_error, relative_error, len(self.mean))

    def _advance(self, U: Matrix, signs: Vector) -> None:
        """Carry what is known of every row on to a posterior that has moved by few columns."""
        W = np.concatenate([U, self._weights[:, None]], axis=1).T

        def advance(rows: slice) -> None:
            Y = W @ self._values(rows)
            self.mean[rows] = Y[-1]
            moved = self.variance[rows] + signs @ Y[:-1] ** 2
            self.variance[rows] = np.maximum(moved, 0.0)  # rounding, as in NystromPosterior

        spread(advance, self._pieces())
        self._work.product(len(self.mean), W.shape[1], len(W))
        self._work.refreshed += len(self.mean)

    def _pieces(self) -> list[slice]:
        N = len(self.mean)
        return [slice(start, min(start + CHUNK, N)) for start in range(0, N, CHUNK)]

    def _pass(
        self,
        acquisition: Acquisition,
        beta: float,
        top: float,
        floor: float,
        bounds: Vector,
        rows: slice,
    ) -> Work:
        """Write upper bounds on scores of some rows, sharp where they reach the floor."""
        K, work = self._values(rows), Work()
        m, count = K.shape
        mean, left = self._weights @ K, self.prior[rows].copy()
        work.product(count, m, 1)
        high, room = mean + self.slack, self.relative * self.prior[rows]
        bound = acquisition.score(high, left + room, beta, top)
        race = np.arange(count)  # those not left out yet; K holds theirs
        done = 0
        for share in STAGES:
            stop = int(np.ceil(share * m))
            Y = self._T[done:stop, :stop] @ K[:stop]
            work.product(len(race), stop, stop - done)
            left[race] -= np.einsum("ij,ij->j", Y, Y)
            done = stop
            if share not in EXITS:
                continue
            some = np.maximum(left[race], 0.0) + room[race]
            bound[race] = acquisition.score(high[race], some, beta, top)
            ahead = np.flatnonzero(bound[race] >= floor)
            if done < m and len(ahead) < WORTH * len(race):
                race, K = race[ahead], K.take(ahead, axis=1)
        work.refreshed = len(race)
        self.mean[rows] = mean
        self.variance[rows] = np.maximum(left, 0.0)  # rounding, as in NystromPosterior
        sharp = np.zeros(count, dtype=np.bool_)
        sharp[race] = True
        self._sharp[rows] = sharp
        bounds[rows] = bound
        return work

    def _values(self, rows: slice | Indices) -> Matrix:
        """Return k(x_j, x) for the members x_j and the given rows x, a row a member."""
        p = self._last
        assert p is not None
        if (self._places < 0).any():
            X = self._pool.rows(np.arange(len(self.mean))[rows])
            return p.kernel(p.members.X, X)
        if not isinstance(rows, slice) and len(rows) > 1 and (np.diff(rows) == 1).all():
            rows = slice(int(rows[0]), int(rows[-1]) + 1)  # rows come in order: copied whole
        if isinstance(rows, slice):
            return self._K[self._places, rows]
        return self._K[self._places[:, None], rows]

    def _keep(self, posterior: NystromPosterior) -> None:
        """Have the kernel values of all members, where they fit."""
        members = posterior.members
        new = [i for i, row in enumerate(members.rows.tolist()) if row not in self._slots]
        have = len(self._slots)
        if have + len(new) > self._most:
            self._slots = {}  # most are no longer members: keep those of today
            have, new = 0, list(range(len(members)))
            if len(new) > self._most:
                return
        if have + len(new) > len(self._K):
            grown = np.empty((min(2 * (have + len(new)) + 16, self._most), self._K.shape[1]))
            grown[:have] = self._K[:have]
            self._K = grown
        X, into = members.X[new], slice(have, have + len(new))

        def fill(rows: slice) -> None:
            some = self._pool.rows(np.arange(rows.start, rows.stop))
            self._K[into, rows] = posterior.kernel(X, some)

        if new:
            spread(fill, self._pieces())
        for at, i in enumerate(new, start=have):
            self._slots[int(members.rows[i])] = at

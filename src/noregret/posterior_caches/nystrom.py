"""The cache of Nyström posteriors: a pass per posterior, in which most rows drop out early."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector, positions
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posterior_caches.base import Work, bring, log_restart, padded, priors
from noregret.posterior_caches.kernel_values import Columns, Pairs
from noregret.posteriors import EPS, NystromPosterior, Posterior, cholesky
from noregret.threads import Scratch, parallel_map

TOGETHER = 2048  # rows brought up to date together, at most
STAGES = (0.4, 0.65, 0.8, 0.9, 1.0)  # shares of the dictionary taken in one after another
EXITS = (0.8, 0.9, 1.0)  # … after which rows may drop out
WORTH = 0.7  # share of a piece still in the race over which nobody is left out
CLOSE = 1e-5  # of the largest deviation: what is left of a new member, at least, in `changed`


@final
class NystromCache:
    """Follows Nyström posteriors, each with a dictionary of its own: O(N·m²) at worst.

    With T lower triangular, TᵀT = LS⁻ᵀ(I − ridge·V⁻¹)LS⁻¹, the variance is

        σ̃²(x) = k(x, x) − ‖T k_S(x)‖²,       μ̃(x) = k_S(x)ᵀ LS⁻ᵀθ                          (1)

    Every further entry of T k_S lowers it, so that a part of them gives an upper bound, and a row
    whose bound falls below what the best will reach is not looked at further.

    Where members stay, a posterior differs from the last by few columns (`changed`), and every row
    is carried on: O(N·m) per column. Sticky members always stay, incremental ones most of the time;
    fresh ones too while all that was
    told is drawn, as where variances are far above the ridge, so that once they have stayed no row
    is left out.
    """

    def __init__(self, pool: Candidates, work: Work, memory: int) -> None:
        N = len(pool)
        self._pool, self._work = pool, work
        self._columns, self._scratch = Columns(pool, memory), Scratch()
        self._kernel: Kernel | None = None
        self._last: NystromPosterior | None = None
        self._T: Matrix | None = None
        self._weights: Vector = np.zeros(0)
        self._pairs: Pairs | None = None
        self._now = 0  # posteriors followed
        self._stamp: npt.NDArray[np.int32] = np.full(N, -1, dtype=np.int32)  # the last they saw
        self._sharp = False  # whether all have seen it
        self._stays = False  # whether its members will likely be those of the next
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
            self._kernel = posterior.kernel
            priors(posterior.kernel, self._pool, self.prior)
        if last is not None and self._sharp and posterior.incremental:
            last = self._without_gone(posterior, last)
        moved = changed(posterior, last) if last is not None and self._sharp else None
        stays = posterior.sticky or posterior.incremental
        self._stays = stays or (last is not None and has_grown(posterior, last))
        self._columns.follow(posterior.kernel, posterior.members)
        self._T, self._weights = None, posterior.mean_weights()
        self._pairs = Pairs(self._pool, posterior)
        self.slack, relative = posterior.rounding
        self.relative = relative + 8 * len(posterior.members) * EPS  # as in `_triangle`
        self._now += 1
        self._sharp = moved is not None
        if moved is not None:
            self._advance(*moved)
        self._last = posterior

    def refresh(self, rows: Indices) -> None:
        behind = rows[self._stamp[rows] < self._now]
        if not behind.size:
            return
        late = rows if 2 * len(behind) > len(rows) else behind  # a whole piece is copied faster
        bring(partial(self._compute, self._triangle()), late, TOGETHER, self._work)

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        p, bound = self._last, np.empty(len(self.mean))
        assert p is not None
        if self._sharp:
            room = self.relative * self.prior
            return acquisition.score(self.mean + self.slack, self.variance + room, beta, best_mean)
        if self._stays:  # what is known of every row can be carried on to the next posterior
            floor = -np.inf
        look = partial(self._pass, self._triangle(), acquisition, beta, best_mean, floor, bound)
        for work in parallel_map(look, self._columns.pieces):
            self._work.add(work)
        self._work.scanned += len(bound)
        self._sharp = bool((self._stamp == self._now).all())
        return bound

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """c̃ and k̃ of `NystromPosterior`, through kept kernel values: O(m) a pair."""
        assert self._pairs is not None
        K = self._columns.of(rows)
        self._work.product(len(rows), len(K), len(others))
        return self._pairs.between(rows, K, others)

    def extend(self, pool: Candidates) -> None:
        N, before = len(pool), len(self.mean)
        self._pool = pool
        self._columns.extend(pool)
        self.mean, self.variance = padded(self.mean, N), padded(self.variance, N)
        self.prior, self._stamp = padded(self.prior, N), padded(self._stamp, N, -1)
        self._sharp = False
        if self._last is not None:
            priors(self._last.kernel, pool, self.prior, before)
            self._pairs = Pairs(pool, self._last)

    def widen(self, mean_error: float, relative_error: float) -> None:
        self.slack = max(self.slack, mean_error)
        self.relative = max(self.relative, relative_error)
        self._now += 1
        self._sharp = False
        log_restart(mean_error, relative_error, len(self.mean))

    def _triangle(self) -> Matrix:
        """Return T of (1)."""
        p = self._last
        assert p is not None
        if self._T is None:
            T, jitter = cholesky.explained(p.R, p.ridge, p.LS)
            self._T = np.ascontiguousarray(T)
            self.relative = max(self.relative, p.rounding[1] + 2 * jitter)
        return self._T

    def _advance(self, U: Matrix, signs: Vector) -> None:
        """Carry every row on to a posterior that has moved by few columns."""
        W = np.concatenate([U, self._weights[:, None]], axis=1).T

        def advance(rows: slice) -> None:
            Y = W @ self._columns.of(rows)
            self.mean[rows] = Y[-1]
            moved = self.variance[rows] + signs @ Y[:-1] ** 2
            self.variance[rows] = np.maximum(moved, 0.0)  # rounding, as in NystromPosterior
            self._stamp[rows] = self._now

        parallel_map(advance, self._columns.pieces)
        self._work.product(len(self.mean), W.shape[1], len(W))
        self._work.refreshed += len(self.mean)

    def _without_gone(self, p: NystromPosterior, last: NystromPosterior) -> NystromPosterior | None:
        """Carry every row on to `last` without the members that p lacks, and return that."""
        kept = positions(p.members.rows, last.members.rows)
        kept = kept[kept >= 0]
        gone = np.setdiff1d(np.arange(len(last.members)), kept)
        if not gone.size:
            return last
        left = None if 4 * len(gone) > len(kept) else lost(last, gone)
        if left is None:
            return None
        self._advance(left, np.repeat([1.0, -1.0], len(gone)))
        return last.without(kept)

    def _compute(self, T: Matrix, rows: Indices) -> Work:
        """Compute (1) for rows."""
        work, K = Work(refreshed=len(rows)), self._columns.of(rows)
        self.mean[rows] = self._weights @ K
        Y = np.matmul(T, K, out=self._scratch.matrix("rows", *K.shape))
        left = self.prior[rows] - np.einsum("ij,ij->j", Y, Y)
        work.product(len(rows), len(K), len(K))
        self.variance[rows] = np.maximum(left, 0.0)  # rounding, as in NystromPosterior
        self._stamp[rows] = self._now
        return work

    def _pass(
        self,
        T: Matrix,
        acquisition: Acquisition,
        beta: float,
        best_mean: float,
        floor: float,
        bounds: Vector,
        rows: slice,
    ) -> Work:
        """Write upper bounds on scores of some rows, sharp where they reach the floor."""
        K, work = self._columns.of(rows), Work()
        m, count = K.shape
        mean, left = self._weights @ K, self.prior[rows].copy()
        work.product(count, m, 1)
        high, room = mean + self.slack, self.relative * self.prior[rows]
        bound = acquisition.score(high, left + room, beta, best_mean)
        race = np.arange(count)  # those not left out yet; K holds theirs
        done = 0
        for share in STAGES:
            stop = int(np.ceil(share * m))
            out = self._scratch.matrix("stage", stop - done, len(race))
            Y = np.matmul(T[done:stop, :stop], K[:stop], out=out)
            work.product(len(race), stop, stop - done)
            left[race] -= np.einsum("ij,ij->j", Y, Y)
            done = stop
            if share not in EXITS:
                continue
            some = np.maximum(left[race], 0.0) + room[race]
            bound[race] = acquisition.score(high[race], some, beta, best_mean)
            ahead = np.flatnonzero(bound[race] >= floor)
            if done < m and len(ahead) < WORTH * len(race):
                race, K = race[ahead], K.take(ahead, axis=1)
        work.refreshed = len(race)
        self.mean[rows] = mean
        self.variance[rows] = np.maximum(left, 0.0)  # rounding, as in NystromPosterior
        stamps = np.full(count, -1, dtype=np.int32)
        stamps[race] = self._now
        self._stamp[rows] = stamps
        bounds[rows] = bound
        return work


def changed(p: NystromPosterior, old: NystromPosterior) -> tuple[Matrix, Vector] | None:
    """Return weights U and signs of what changed from `old` to p; None if they are not few:

        σ̃²(x) = σ̃²_old(x) + Σ ±(k_S(x)ᵀu)²                                             (2)

    The members must be the old ones, and others behind them, and neither may hallucinate. With
    B = LS V LSᵀ, σ̃² = k − k_Sᵀ K_S⁻¹ k_S + ridge·k_Sᵀ B⁻¹ k_S. Old members learn what was told
    since, Woodbury's rank one a point; a new member adds a bordering term to either inverse.
    """
    m, m_old, n_old = len(p.members), len(old.members), len(old.observed)
    told, before = p.observed, np.zeros(len(p.observed))
    same = p.kernel is old.kernel and p.ridge == old.ridge
    if not same or not m_old or len(told) < n_old:
        return None
    before[:n_old] = old.observed.w
    new = np.flatnonzero(told.w != before)
    if 2 * (len(new) + 2 * (m - m_old)) > m or not (
        has_grown(p, old)
        and np.array_equal(told.rows[:n_old], old.observed.rows)
        and (told.w >= before).all()
    ):
        return None
    learned = by_points(old, told.X[new], (told.w - before)[new], 1.0)
    parts = [np.concatenate([learned, np.zeros((m - m_old, len(new)))])]
    unit = np.zeros((m, m - m_old), order="F")
    unit[m_old:] = np.eye(m - m_old)
    half = cholesky.solve_lower(p.LS, unit)
    if float(np.diag(p.LS)[m_old:].min(initial=np.inf)) < CLOSE * float(p.LS[0, 0]):
        return None  # a new member all but explained by the others has inverses of no digits
    parts.append(_bordered(cholesky.solve_upper(p.LS, half), slice(m_old, None)))
    both = cholesky.solve_upper(p.LS, cholesky.solve(p.R, half))
    parts.append(np.sqrt(p.ridge) * _bordered(both, slice(m_old, None)))
    signs = np.repeat([-1.0, -1.0, 1.0], [part.shape[1] for part in parts])
    return np.concatenate(parts, axis=1), signs


def lost(p: NystromPosterior, gone: Indices) -> Matrix | None:
    """Return weights U, one half of which adds to variances and one takes from them, as in (2).

    Where members go, the terms leave that they would add to either inverse if they came last. None
    where one is all but explained by the others.
    """
    unit = np.zeros((len(p.members), len(gone)), order="F")
    unit[gone, np.arange(len(gone))] = 1.0
    half = cholesky.solve_lower(p.LS, unit)
    E = cholesky.solve_upper(p.LS, half)
    if float(E[gone, np.arange(len(gone))].max()) * (CLOSE * float(p.LS[0, 0])) ** 2 > 1:
        return None
    both = cholesky.solve_upper(p.LS, cholesky.solve(p.R, half))
    return np.concatenate([_bordered(E, gone), np.sqrt(p.ridge) * _bordered(both, gone)], axis=1)


def by_points(p: NystromPosterior, X: Matrix, w: Vector, sign: float) -> Matrix:
    """Return U, a column per row of X, with Σ(k_S(x)ᵀu)² the part of σ̃² that its w values take.

    Of values that come next (sign 1) or that p was told (sign −1), by Woodbury's identity.
    """
    Z = p.embed(X)
    solved = cholesky.solve(p.R, Z)
    C = np.diag(1.0 / w) + sign * (Z.T @ solved)
    half = cholesky.solve_lower(cholesky.factor((C + C.T) / 2), solved.T)
    U: Matrix = np.sqrt(p.ridge) * cholesky.solve_upper(p.LS, half.T)
    return U


def _bordered(E: Matrix, at: slice | Indices) -> Matrix:
    """Return E G⁻ᵀ with G Gᵀ = E[at]: columns `at` of an inverse, as a square root."""
    block = (E[at] + E[at].T) / 2
    return cholesky.solve_lower(cholesky.factor(block), E.T).T


def has_grown(p: NystromPosterior, last: NystromPosterior) -> bool:
    """Tell whether the members are the last ones, and perhaps others behind them."""
    known = len(last.members)
    return known > 0 and np.array_equal(p.members.rows[:known], last.members.rows)

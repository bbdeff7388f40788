"""Mean and variance of every row of a pool, kept up to date: the caches behind search.

A survey may be off by rounding. Choices never rest on it alone: `search` decides between contenders
by computing them again, one by one, from the posterior.
"""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posteriors import ExactPosterior, Posterior, cholesky

MOST_BYTES = 1 << 31  # of kernel columns that an ExactSurvey may hold


class Survey(Protocol):
    """Follows posteriors of one run over one pool."""

    mean: Vector  # (N,)
    variance: Vector  # (N,)
    prior: Vector  # (N,) k(x, x)

    def follow(self, posterior: Posterior) -> None:
        """Bring mean and variance to the given posterior."""
        ...


@final
class PlainSurvey:
    """Computes every row anew for each posterior: O(N·width²)."""

    def __init__(self, pool: Candidates) -> None:
        self._pool = pool
        self._last: Posterior | None = None
        self.mean: Vector = np.zeros(len(pool))
        self.variance: Vector = np.zeros(len(pool))
        self.prior: Vector = np.zeros(len(pool))

    def follow(self, posterior: Posterior) -> None:
        if posterior is self._last:
            return
        for start, X in self._pool.chunks(chunk_rows(2 * posterior.width)):
            rows = slice(start, start + len(X))
            self.mean[rows], self.variance[rows] = posterior.marginals(X)
            self.prior[rows] = posterior.kernel.diagonal(X)
        self._last = posterior


@final
class ExactSurvey:
    """Follows exact posteriors that learn a little at a time: O(N·n) a changed point.

    Keeps k(·, x) of the n evaluated points as columns K. Let J be the points that were seen ΔW more
    often, and c = cov_old(·, x_J) for all rows. Then, A being the old posterior's matrix,

        c_j = K·(ridge/w_j) A⁻¹ e_j  for an old point,   k(·, x_j) − K A⁻¹ k(X, x_j)  for a new one
        σ²_new = σ²_old − diag(c (c_JJ + ridge·ΔW⁻¹)⁻¹ cᵀ),        μ_new = K α_new             (1)

    Means carry no history. Variances are computed anew after some n such steps, before their
    rounding adds up, or when too much changed at once.
    """

    def __init__(self, pool: Candidates) -> None:
        self._pool = pool
        self._last: ExactPosterior | None = None
        self._K: npt.NDArray[np.float64] = np.empty((len(pool), 0))
        self._rows: Indices = np.empty(0, dtype=np.int64)
        self._kernel: Kernel | None = None
        self._steps = 0
        self.mean: Vector = np.zeros(len(pool))
        self.variance: Vector = np.zeros(len(pool))
        self.prior: Vector = np.zeros(len(pool))

    @staticmethod
    def affordable(pool: Candidates, posterior: Posterior) -> bool:
        """Tell whether the columns of this many points fit."""
        return 8 * len(pool) * (posterior.width + 1) <= MOST_BYTES

    def follow(self, posterior: Posterior) -> None:
        assert isinstance(posterior, ExactPosterior)
        if posterior is self._last:
            return
        changed = self._changes(posterior)
        n = len(posterior.points)
        last, self._last = self._last, None  # broken off in the middle, the next one starts again
        self._columns(posterior)
        if last is None or changed is None or 2 * len(changed) > n or self._steps > max(64, n):
            self._restart(posterior)
        else:
            self._advance(last, posterior, changed)
        self._last = posterior

    def _changes(self, posterior: ExactPosterior) -> Indices | None:
        """Return the points seen more often than before; None if it is not a continuation."""
        if self._last is None or self._last.kernel is not posterior.kernel:
            return None
        if self._last.ridge != posterior.ridge:
            return None
        before, after = self._last.points, posterior.points
        n = len(before)
        if n > len(after) or not np.array_equal(before.rows, after.rows[:n]):
            return None
        gained = after.w - np.concatenate([before.w, np.zeros(len(after) - n)])
        return None if (gained < 0).any() else np.flatnonzero(gained)

    def _columns(self, posterior: ExactPosterior) -> None:
        """Have k(·, x) for every evaluated point."""
        p = posterior.points
        have = len(self._rows)
        if posterior.kernel is not self._kernel or not np.array_equal(self._rows, p.rows[:have]):
            have = 0
        self._kernel, self._rows = posterior.kernel, p.rows[:0]
        if len(p) > self._K.shape[1]:
            grown = np.empty((len(self._pool), max(16, len(p) + len(p) // 2)))
            grown[:, :have] = self._K[:, :have]
            self._K = grown
        if len(p) > have:
            new = p.X[have:]
            for start, X in self._pool.chunks(chunk_rows(len(new))):
                self._K[start : start + len(X), have : len(p)] = posterior.kernel(X, new)
        self._rows = p.rows

    def _restart(self, posterior: ExactPosterior) -> None:
        n = len(posterior.points)
        for start, X in self._pool.chunks(chunk_rows(2 * n)):
            rows = slice(start, start + len(X))
            K = self._K[rows, :n]
            self.prior[rows] = posterior.kernel.diagonal(X)
            self.mean[rows] = K @ posterior.alpha
            V = cholesky.solve_lower(posterior.L, K.T)
            self.variance[rows] = self.prior[rows] - np.einsum("ij,ij->j", V, V)
        np.maximum(self.variance, 0.0, out=self.variance)  # rounding, as in ExactPosterior
        self._steps = 0

    def _advance(self, old: ExactPosterior, posterior: ExactPosterior, changed: Indices) -> None:
        n, p = len(posterior.points), posterior.points
        gained = p.w[changed]
        is_old = changed < len(old.points)
        gained[is_old] -= old.points.w[changed[is_old]]
        U = np.column_stack([_weights(old, p.X, j, n) for j in changed] or [np.empty((n, 0))])
        c = self._K[p.rows[changed], :n] @ U
        c[np.diag_indices_from(c)] += posterior.ridge / gained
        R = cholesky.factor((c + c.T) / 2)
        both = np.column_stack([U, posterior.alpha])
        step = chunk_rows(len(changed) + 1)
        for start in range(0, len(self.mean), step):
            rows = slice(start, start + step)
            moved = self._K[rows, :n] @ both  # (rows, changed + 1)
            self.mean[rows] = moved[:, -1]
            V = cholesky.solve_lower(R, moved[:, :-1].T)
            self.variance[rows] -= np.einsum("ij,ij->j", V, V)  # (1)
        np.maximum(self.variance, 0.0, out=self.variance)  # rounding, as in ExactPosterior
        self._steps += len(changed)


def _weights(old: ExactPosterior, X: Matrix, j: int, n: int) -> Vector:
    """Return u with cov_old(·, x_j) = K u, over the n points of the new posterior."""
    before = len(old.points)
    u = np.zeros(n)
    if j < before:
        unit = np.zeros(before)
        unit[j] = old.ridge / old.points.w[j]
        u[:before] = cholesky.solve(old.L, unit)
    else:
        u[:before] = -cholesky.solve(old.L, old.kernel(old.points.X, X[j : j + 1])[:, 0])
        u[j] = 1.0
    return u

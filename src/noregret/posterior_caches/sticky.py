"""The cache of Nyström posteriors whose members stay: as lazy as that of exact ones."""

from __future__ import annotations

from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.pools import Candidates
from noregret.posterior_caches.base import Work, bring, log_restart, padded
from noregret.posterior_caches.exact import ExactCache
from noregret.posterior_caches.kernel_values import Pairs
from noregret.posterior_caches.nystrom import by_points
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Posterior

TOGETHER = 1 << 12  # rows brought up to date together, at most
ROOM = 1e-9  # of all gains, by which those of others are rounded up


@final
class StickyCache:
    """Follows Nyström posteriors by the exact one on what was told of their members alone.

    Seen through a dictionary S, a member is seen exactly, and any other point as its projection. So
    the sparse posterior is the exact one on the members, updated by the others, o, once more:

        σ̃²(x) = σ²_S(x) − ‖Uᵀ k_S(x)‖²                                                     (1)
        μ̃ + βσ̃ ≤ μ_old + σ_old·√(β² + Σ s + Σ_o s)                                         (2)

    with a column of U and a gain s for each of the others, and old values from the exact posterior
    as `ExactCache` has them. While members stay, that one learns and never forgets, so that rows
    of low bounds are left alone for as long as they are low. The gains of an update add up to
    ȳᵀA⁻¹ȳ, A being the covariance of averages, so that Σ_o s is a difference of two of these.
    """

    def __init__(self, pool: Candidates, work: Work) -> None:
        N = len(pool)
        self._pool, self._work = pool, work
        self._exact = ExactCache(pool, work, memory=0)
        self._inside: ExactPosterior | None = None  # on the members
        self._last: NystromPosterior | None = None
        self._pairs: Pairs | None = None
        self._now = 0  # posteriors followed
        self._stamp: npt.NDArray[np.int32] = np.full(N, -1, dtype=np.int32)  # the last a row saw
        self._U: Matrix = np.zeros((0, 0))
        self._weights: Vector = np.zeros(0)
        self._least = (0.0, 0.0)  # rounding that was found to be there
        self.mean: Vector = np.zeros(N)
        self.variance: Vector = np.zeros(N)
        self.prior: Vector = self._exact.prior
        self.slack = self.relative = 0.0

    def follow(self, posterior: Posterior) -> None:
        assert isinstance(posterior, NystromPosterior)
        p = posterior
        if p is self._last:
            return
        self._last = None  # broken off, the next one starts again
        self._inside = _on_members(p, self._inside)
        self._exact.follow(self._inside)
        seen = np.isin(p.observed.rows, self._inside.observed.rows)
        self._U, self._weights = np.zeros((0, 0)), p.mean_weights()
        self._exact.extra = 0.0
        if not seen.all():
            self._U = by_points(p, p.observed.X[~seen], p.observed.w[~seen], -1.0)
            gain = _gain(p)
            rest = gain - float(self._inside.observed.y @ self._inside.alpha)
            self._exact.extra = max(rest, 0.0) + ROOM * gain
        slack, relative = p.rounding
        self.slack = max(slack, self._exact.slack, self._least[0])
        self.relative = max(relative + self._exact.relative, self._least[1])
        self._pairs = Pairs(self._pool, p)
        self._last = p
        self._now += 1

    def refresh(self, rows: Indices) -> None:
        behind = rows[self._stamp[rows] < self._now]
        if not behind.size:
            return
        p = self._last
        assert p is not None
        self._exact.refresh(behind)
        step = min(chunk_rows(2 * len(p.members)), TOGETHER)
        bring(partial(self._write, p), behind, step, self._work)

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        return self._exact.ceilings(acquisition, beta, best_mean, floor)

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """c̃ and k̃ of `NystromPosterior`: O(m) a pair."""
        p = self._last
        assert p is not None
        assert self._pairs is not None
        K = p.kernel(p.members.X, self._pool.rows(rows))
        self._work.product(len(rows), len(K), len(others))
        return self._pairs.between(rows, K, others)

    def extend(self, pool: Candidates) -> None:
        N = len(pool)
        self._pool = pool
        self._exact.extend(pool)
        self.mean, self.variance = padded(self.mean, N), padded(self.variance, N)
        self.prior, self._stamp = self._exact.prior, padded(self._stamp, N, -1)
        if self._last is not None:
            self._pairs = Pairs(pool, self._last)

    def widen(self, mean_error: float, relative_error: float) -> None:
        self._least = (max(self._least[0], mean_error), max(self._least[1], relative_error))
        last, self._last, self._inside = self._last, None, None
        assert last is not None
        log_restart(mean_error, relative_error, len(self.mean))
        self._exact.widen(mean_error, relative_error)
        self.follow(last)

    def _write(self, posterior: NystromPosterior, rows: Indices) -> Work:
        """Write mean and variance of rows by (1)."""
        mean, variance, work = self._exact.mean[rows], self._exact.variance[rows], Work()
        if self._U.size:
            K = posterior.kernel(self._pool.rows(rows), posterior.members.X)
            Y = K @ self._U
            mean = K @ self._weights
            variance = variance - np.einsum("ij,ij->i", Y, Y)
            work.product(len(rows), len(self._U), self._U.shape[1] + 1 + self._pool.dim)
        self.mean[rows] = mean
        self.variance[rows] = np.maximum(variance, 0.0)  # rounding, as in NystromPosterior
        self._stamp[rows] = self._now
        return work


def _gain(p: NystromPosterior) -> float:
    """Return ȳᵀ(ZᵀZ + ridge·W⁻¹)⁻¹ȳ over what was told: the squared surprises of all updates."""
    told = p.observed
    fitted = float(p.theta @ (p.V @ p.theta))
    return max(float(told.w @ told.y**2) - fitted, 0.0) / p.ridge


def _on_members(p: NystromPosterior, before: ExactPosterior | None) -> ExactPosterior:
    """Return the exact posterior on what was told of members, from an earlier one if it can."""
    place = {row: at for at, row in enumerate(p.observed.rows.tolist())}
    members = [row for row in p.members.rows.tolist() if row in place]
    old: list[int] = [] if before is None else before.observed.rows.tolist()
    if before is None or before.kernel is not p.kernel or not set(old) <= set(members):
        before, old = None, []
    known = set(old)
    at = np.array(
        [place[row] for row in [*old, *(r for r in members if r not in known)]], dtype=int
    )
    q = p.observed
    if before is None:
        before = ExactPosterior.prior(
            p.kernel, noise_std=p.noise_std, ridge=p.ridge, dim=q.X.shape[1]
        )
    told = Observations(q.rows[at], q.X[at], q.w[at], q.y[at])
    return before.condition(told, Observations.none(q.X.shape[1]), np.random.default_rng(0))

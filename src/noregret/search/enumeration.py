"""The best candidate of a pool, exactly, streamed.

One door: `Search.rank` finds the best candidate under a fresh posterior; the `Ranking` it returns
then answers `best` again and again while variances shrink. Other ways to rank (on a device, over
shards) stand behind the same door and give the same rows.
"""

from __future__ import annotations

from typing import TypeAlias, final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, Mean
from noregret.arrays import Indices, Mask
from noregret.errors import ArgumentError, AskError
from noregret.pools import NO_ROWS, Candidates, ContextView, Picks, Points
from noregret.posterior_caches import (
    ContextValues,
    ExactCache,
    NystromCache,
    PosteriorCache,
    StickyCache,
    Work,
    glance,
)
from noregret.posteriors import ExactPosterior, NystromPosterior, Posterior
from noregret.search import ties
from noregret.search.function_ranking import FunctionRanking
from noregret.search.pool_ranking import PoolRanking, Scores, rank_pool

Kind: TypeAlias = ExactCache | NystromCache | StickyCache
MEMORY = 4 << 30  # bytes of kernel values that a search may keep


@final
class Enumeration:
    """Exact search of a finite pool, by a posterior cache, up to date where it matters.

    `memory` bounds the kernel values that are kept (for exact posteriors half a GiB does too):
    with 0, O(N) numbers are held beside the pool. A sticky dictionary that outgrows it is followed
    lazily.
    """

    def __init__(self, *, memory: int = MEMORY) -> None:
        self.memory = memory
        self.work = Work()
        self.cache: PosteriorCache | None = None
        self._values: ContextValues | None = None  # of candidates, whatever their context
        self._pool: Candidates | None = None
        self._last: dict[type[Acquisition], PoolRanking] = {}  # a guess for the next

    def rank(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        spent: Indices = NO_ROWS,
    ) -> PoolRanking:
        cache = self._opened(points, posterior, excluded)

        def ranking(how: Acquisition, beta: float, best_mean: float, closed: Mask) -> PoolRanking:
            last = self._last.get(type(how))
            expected = (-np.inf, np.inf) if last is None else last.expected()
            scores = Scores(points, cache, posterior, how, beta, best_mean)
            self._last[type(how)] = rank_pool(scores, closed, expected)
            return self._last[type(how)]

        best_mean = 0.0
        if acquisition.uses_best_mean:
            means = ranking(Mean(), 0.0, best_mean, excluded)
            best_mean = means.score(means.best())
        return ranking(acquisition, beta, best_mean, _closed(excluded, spent))

    def rank_samples(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
        spent: Indices = NO_ROWS,
    ) -> FunctionRanking:
        cache = self._opened(points, posterior, excluded)
        return FunctionRanking(points, cache, posterior, beta, _closed(excluded, spent), rng)

    def highest(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        taken: Indices,
        size: int,
        rng: np.random.Generator,
    ) -> Picks:
        """Return the highest of all, low rows first on ties.

        Scores that agree to nine digits are ties, whatever the order of sums behind them.
        """
        closed = np.zeros(points.candidates, dtype=np.bool_)
        closed[taken[taken < len(closed)]] = True
        if closed.all():
            return points.picks(NO_ROWS)
        cache = self._opened(points, posterior, closed)
        bound = cache.ceilings(UCB(), beta, 0.0, -np.inf)
        bound[closed] = -np.inf
        first, looked = ties.highest(bound, 2 * size), list[Indices]()

        def floor() -> float:
            known = bound[np.concatenate(looked)]
            if len(known) < size:
                return ties.LOWEST
            return float(np.partition(known, -size)[-size]) - ties.RANGE_TIE * np.ptp(known)

        for rows in ties.highest_first(bound, first[bound[first] > -np.inf], 8 * size, floor):
            cache.refresh(rows)
            bound[rows] = UCB().score(cache.mean[rows], cache.variance[rows], beta, 0.0)
            looked.append(rows)
        rows = np.concatenate(looked)
        rows = rows[bound[rows] >= floor()]
        quantum = ties.RANGE_TIE * float(np.ptp(bound[rows])) or 1.0
        cells = ties.cells(bound[rows], quantum)
        return points.picks(rows[np.lexsort((rows, -cells))][:size])

    def extend(self, before: Candidates, pool: Candidates, *, renumbered: bool) -> None:
        """Follow a pool that has more rows behind those before; what is known of these stays.

        Where points off the pool have other numbers now, all is looked at again.
        """
        cache, self.cache = self.cache, None
        if cache is not None and before is self._pool and not renumbered:
            cache.extend(pool)
            self.cache = cache
        self._pool = pool

    def _opened(self, points: Points, posterior: Posterior, excluded: Mask) -> PosteriorCache:
        """Return the cache of a pool, following the posterior."""
        if excluded.all():
            raise AskError(
                f"all {len(excluded)} candidates are excluded, so none is left to choose from. "
                "Exclude fewer, or stop here and take best()."
            )
        self.work.rankings += 1
        pool = points.pool
        if pool is not self._pool:
            self._pool, self.cache, self._last = pool, None, {}
        kind = self._kind(pool, posterior)
        begins = False  # under a context, when much may be known
        if not isinstance(self.cache, kind):
            self.cache = None  # its memory may be needed
            if issubclass(kind, StickyCache):
                self.cache = StickyCache(pool, self.work)
            elif isinstance(pool, ContextView) and issubclass(kind, ExactCache):
                if self._values is None or self._values.pool is not pool.base:
                    self._values = ContextValues(pool.base, self.memory)
                self.cache, begins = (
                    ExactCache(pool, self.work, kept=self._values.under(pool)),
                    True,
                )
            else:
                self.cache = kind(pool, self.work, self.memory)
        self.cache.follow(posterior)
        if begins and len(posterior.observed):
            assert isinstance(self.cache, ExactCache)
            assert self._values is not None
            assert isinstance(posterior, ExactPosterior)
            glance(self.cache, self._values, posterior)
        return self.cache

    def _kind(self, pool: Candidates, posterior: Posterior) -> type[Kind]:
        """Return the cache that is fastest for a posterior."""
        if isinstance(posterior, ExactPosterior):
            return ExactCache
        if not isinstance(posterior, NystromPosterior):
            raise ArgumentError(
                "a pool is searched by an ExactPosterior or a NystromPosterior, "
                f"got {posterior!r:.80}. Give the policy one of these as its prior."
            )
        members, points = len(posterior.members), len(posterior.observed)
        fits = 8 * len(pool) * members <= self.memory
        lazy = posterior.sticky and not fits and 2 * members > points
        return StickyCache if lazy else NystromCache


def _closed(excluded: Mask, spent: Indices) -> Mask:
    """Return which candidates are excluded or spent."""
    if not len(spent):
        return excluded
    closed = excluded.copy()
    closed[spent[spent < len(closed)]] = True
    return closed

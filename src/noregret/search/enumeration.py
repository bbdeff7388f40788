"""The best candidate of a pool, exactly, streamed.

One door: `Search.rank` finds the best candidate under a fresh posterior; the `Ranking` it returns
then answers `best` again and again while variances shrink. Other ways to rank (on a device, over
shards) stand behind the same door and give the same rows.
"""

from __future__ import annotations

from typing import TypeAlias, final

import numpy as np

from noregret.acquisitions import Acquisition, Mean
from noregret.arrays import Indices, Mask
from noregret.errors import AskError
from noregret.pools import NO_ROWS, Candidates, Picks, Points
from noregret.posterior_caches import (
    ExactCache,
    NystromCache,
    PlainCache,
    PosteriorCache,
    StickyCache,
    Work,
)
from noregret.posteriors import ExactPosterior, NystromPosterior, Posterior
from noregret.search.function_ranking import FunctionRanking
from noregret.search.pool_ranking import PoolRanking

Kind: TypeAlias = ExactCache | NystromCache | PlainCache | StickyCache
TIE = 1e-9  # of their range: scores closer than this are ties
MEMORY = 4 << 30  # bytes of kernel values that a search may keep


@final
class Enumeration:
    """Exact search of a finite pool, by a survey that is brought up to date where it matters.

    `memory` bounds the kernel values that are kept (for exact posteriors half a GiB does too):
    with 0, O(N) numbers are held beside the pool. A sticky dictionary that outgrows it is followed
    lazily.
    """

    def __init__(self, *, memory: int = MEMORY) -> None:
        self.memory = memory
        self.work = Work()
        self.cache: PosteriorCache | None = None
        self._pool: Candidates | None = None
        self._last: dict[type[Acquisition], PoolRanking] = {}  # a guess for the next

    def rank(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
    ) -> PoolRanking:
        cache = self._opened(points, posterior, excluded)

        def ranking(how: Acquisition, beta: float, best_mean: float) -> PoolRanking:
            last = self._last.get(type(how))
            expected = (-np.inf, np.inf) if last is None else last.expected()
            found = PoolRanking(
                points.pool, cache, posterior, how, beta, excluded, best_mean, expected
            )
            self._last[type(how)] = found
            return found

        best_mean = 0.0
        if acquisition.uses_best_mean:
            means = ranking(Mean(), 0.0, best_mean)
            best_mean = means.score(means.best())
        return ranking(acquisition, beta, best_mean)

    def rank_samples(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
    ) -> FunctionRanking:
        cache = self._opened(points, posterior, excluded)
        return FunctionRanking(points, cache, posterior, beta, excluded, rng)

    def highest(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        taken: Indices,
        size: int,
        rng: np.random.Generator,
    ) -> Picks:
        """Return the highest of all, low rows first on ties.

        Scores that agree to nine digits are ties, whatever the order of sums behind them.
        """
        closed = excluded.copy()
        closed[taken[taken < len(closed)]] = True
        if closed.all():
            return points.picks(NO_ROWS)
        cache = self._opened(points, posterior, closed)
        bound = cache.ceilings(acquisition, beta, 0.0, -np.inf)
        bound[closed] = -np.inf
        looked, most = np.zeros(len(bound), dtype=np.bool_), 2 * size
        floor = -np.inf
        while True:
            rows = np.flatnonzero(~looked & (bound > -np.inf) & (bound >= floor))
            if not rows.size:
                break
            if len(rows) > 2 * most:
                rows = rows[np.argpartition(-bound[rows], most)[:most]]
            cache.refresh(rows)
            bound[rows] = acquisition.score(cache.mean[rows], cache.variance[rows], beta, 0.0)
            looked[rows] = True
            known = bound[looked]
            if len(known) >= size:
                floor = float(np.partition(known, -size)[-size]) - TIE * np.ptp(known)
            most *= 4
        rows = np.flatnonzero(looked & (bound >= floor))
        quantum = TIE * float(np.ptp(bound[rows])) or 1.0
        cells = np.floor(bound[rows] / quantum + 0.37)
        return points.picks(rows[np.lexsort((rows, -cells))][:size])

    def _opened(self, points: Points, posterior: Posterior, excluded: Mask) -> PosteriorCache:
        if excluded.all():
            raise AskError(
                f"all {len(excluded)} candidates are excluded, so none is left to choose from. "
                "Exclude fewer, or stop here and take best()."
            )
        self.work.rankings += 1
        return self._cache_of(points.pool, posterior)

    def _cache_of(self, pool: Candidates, posterior: Posterior) -> PosteriorCache:
        if pool is not self._pool:
            self._pool, self.cache, self._last = pool, None, {}
        kind = self._kind(pool, posterior)
        if not isinstance(self.cache, kind):
            self.cache = None  # its memory may be needed
            self.cache = self._begun(kind, pool)
        self.cache.follow(posterior)
        return self.cache

    def _begun(self, kind: type[Kind], pool: Candidates) -> PosteriorCache:
        if issubclass(kind, NystromCache):
            return NystromCache(pool, self.memory, self.work)
        if issubclass(kind, ExactCache):
            return ExactCache(pool, self.work, self.memory)
        return kind(pool, self.work)

    def _kind(self, pool: Candidates, posterior: Posterior) -> type[Kind]:
        """Return the survey that is fastest for a posterior."""
        if isinstance(posterior, ExactPosterior):
            return ExactCache
        if not isinstance(posterior, NystromPosterior):
            return PlainCache
        members, points = len(posterior.members), len(posterior.observed)
        fits = 8 * len(pool) * members <= self.memory
        lazy = posterior.sticky and not fits and 2 * members > points
        return StickyCache if lazy else NystromCache

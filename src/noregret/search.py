"""The best candidate of a pool, exactly, streamed.

One door: `Search.rank` looks at the whole pool once, under a fresh posterior; the `Ranking` it
returns then answers `best` again and again while variances shrink. Other ways to rank (in lower
precision, on a device, over shards) stand behind the same door and give the same rows.
"""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Mask, Vector, chunk_rows
from noregret.errors import AskError
from noregret.pools import Candidates
from noregret.posteriors import Posterior

FIRST_BLOCK = 32  # rows refreshed together at first; doubled while the winner is still open


class Ranking(Protocol):
    """An order of the pool that follows a posterior whose variances shrink."""

    def best(self) -> int:
        """Return the row of highest score, the lowest such row on ties."""
        ...

    def score(self, row: int) -> float:
        """Return the score that `best` found for a row it returned."""
        ...

    def shrink(self, now: Posterior) -> None:
        """Follow `now`, which has the same mean and nowhere a larger variance."""
        ...


class Search(Protocol):
    """Finds the best candidates of a domain."""

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> Ranking:
        """Score every candidate that is not excluded."""
        ...


@final
class Enumeration:
    """Exact search of a finite pool: one pass a posterior, then lazily.

    Cost: a pass is one `marginals` a chunk, O(N·n²) for n unique points or dictionary members; a
    `best` after `shrink` recomputes only rows whose old score could still win.
    """

    __slots__ = ("pool",)

    def __init__(self, pool: Candidates) -> None:
        self.pool = pool

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> LazyRanking:
        return LazyRanking(self.pool, posterior, acquisition, beta, excluded)


@final
class LazyRanking:
    """Scores of a whole pool, each either up to date or an upper bound.

    The mean and beta are frozen and variances only shrink, so a score from earlier bounds today's.
    The best row is found by refreshing the highest bounds until the highest score is a fresh one.

    Source: BBKB 2020, appendix A.3.
    """

    def __init__(
        self,
        pool: Candidates,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
    ) -> None:
        N = len(pool)
        self._pool, self._posterior = pool, posterior
        self._acquisition, self._beta = acquisition, beta
        self._mean: Vector = np.empty(N)
        self._bound: Vector = np.empty(N)  # variances first, then scores
        for start, X in pool.chunks(chunk_rows(2 * posterior.width)):
            chunk = slice(start, start + len(X))
            self._mean[chunk], self._bound[chunk] = posterior.marginals(X)
        self._top = float(np.max(self._mean, where=~excluded, initial=-np.inf))
        if self._top == -np.inf:
            raise AskError(
                f"all {N} candidates are excluded, so none is left to choose from. "
                "Exclude fewer, or stop here and take best()."
            )
        self._bound = acquisition.score(self._mean, self._bound, beta, self._top)
        self._bound[excluded] = -np.inf
        self._version = 0
        self._seen: npt.NDArray[np.int32] = np.zeros(N, dtype=np.int32)

    def best(self) -> int:
        block = FIRST_BLOCK
        while True:
            row = int(np.argmax(self._bound))
            if self._seen[row] == self._version:
                return row
            self._refresh(np.array([row]))
            stale = self._seen != self._version
            rivals = np.flatnonzero((self._bound >= self._bound[row]) & stale)
            if rivals.size > block:
                rivals = rivals[np.argpartition(-self._bound[rivals], block)[:block]]
            self._refresh(rivals)
            block *= 2

    def score(self, row: int) -> float:
        return float(self._bound[row])

    def shrink(self, now: Posterior) -> None:
        self._posterior = now
        self._version += 1

    def _refresh(self, rows: Indices) -> None:
        if not rows.size:
            return
        variance = self._posterior.variance(self._pool.rows(rows))
        scores = self._acquisition.score(self._mean[rows], variance, self._beta, self._top)
        self._bound[rows] = scores
        self._seen[rows] = self._version

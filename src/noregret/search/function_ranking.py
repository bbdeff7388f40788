"""Thompson sampling over a pool: the best candidate of each function drawn from a posterior."""

from __future__ import annotations

from typing import final

import numpy as np

from noregret.acquisitions import UCB
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.pools import Picks, Points
from noregret.posterior_caches import PosteriorCache
from noregret.posteriors import Paths, Posterior
from noregret.search import ties
from noregret.threads import parallel_map

ODDS = 1e-3  # that a function passes its cut somewhere in the pool
MOST = 32  # functions drawn together, at most
FEW = 512  # candidates looked at first
PIECE = 2048  # looked at together


@final
class FunctionRanking:
    """A ranking by functions drawn from a posterior, a new one for every choice.

    A function f is cut at μ(x) + c·scale·σ(x), which it passes somewhere among N candidates with a
    probability of at most ODDS, c = Φ⁻¹(1 − ODDS/N). So it has an upper confidence bound, and only
    candidates whose bound reaches the best value found are looked at: on a posterior that has seen
    something, a few of a hundred.

    All are drawn from the posterior at the last feedback, as parallel Thompson sampling does;
    variances shrink with every choice for the batch rule alone.

    Source: Kandasamy et al. 2018 (ASYNC-TS of BBKB 2020). Differs: the cut.
    """

    def __init__(
        self,
        points: Points,
        cache: PosteriorCache,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
    ) -> None:
        from scipy.special import ndtri  # loads slowly

        self._points, self._pool = points, points.pool
        self._cache, self._posterior = cache, posterior
        self._now = posterior  # after what was taken
        self._beta, self._excluded, self._rng = beta, excluded, rng
        self._cut = -float(ndtri(ODDS / len(self._pool)))
        self._drawn = 0  # functions drawn, …
        self._waiting: list[tuple[int, float]] = []  # … rows and values of those not yet chosen by
        self._last: tuple[int, float] | None = None
        self._closes = False  # whether some row was closed …
        self._paths: Paths | None = None  # … which the last functions drawn may have to know

    def best(self) -> int:
        if self._last is None:
            if not self._waiting:
                size = min(max(self._drawn, 1), MOST)
                self._waiting = self._found(size)
                self._drawn += size
            self._last = self._waiting.pop(0)
        return self._last[0]

    def score(self, row: int) -> float:
        self.best()
        assert self._last is not None
        return self._last[1]

    def stale(self, row: int) -> float:
        return float(self._posterior.variance(self._points.rows(np.array([row])))[0])

    def now(self, row: int) -> float:
        return float(self._now.variance(self._points.rows(np.array([row])))[0])

    def repeats_while_best(self, row: int, most: int) -> int:
        """The next choice is by another function."""
        return 1

    def picks(self, rows: Indices) -> Picks:
        return self._points.picks(rows)

    def variances(self, rows: Indices) -> Vector:
        self._cache.refresh(rows)
        return self._cache.variance[rows]

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        p, points = self._posterior, self._points
        if max(rows.max(), others.max()) < points.candidates:
            return self._cache.covariances(rows, others)
        X, Z = points.rows(rows), points.rows(others)
        return p.model_covariance(X, Z), p.covariance(X, Z)

    def shrink(self, row: int, count: int) -> None:
        rows = np.array([row])
        taken = rows, self._points.rows(rows), np.array([float(count)])
        self._now = self._now.hallucinate(*taken)
        if self._last is not None and self._last[0] == row:
            self._last = None

    def close(self, row: int) -> None:
        """Functions that wait with this row for their best are looked at again."""
        if not self._closes:
            self._excluded, self._closes = self._excluded.copy(), True
        self._excluded[row] = True
        waits = [at for at, (best, _) in enumerate(self._waiting) if best == row]
        if waits and self._paths is not None:
            again = self._best_rows(self._paths)[-len(self._waiting) :]
            for at in waits:
                self._waiting[at] = again[at]

    def _found(self, size: int) -> list[tuple[int, float]]:
        """Draw functions and return the best row and value of each."""
        paths = Paths.sampled(self._posterior, self._points, size, self._beta, self._rng)
        self._paths = paths
        return self._best_rows(paths)

    def _best_rows(self, paths: Paths) -> list[tuple[int, float]]:
        """Return the best row and value of each function."""
        known = self._posterior.mean(self._posterior.basis)
        floor = float(known.max(initial=-np.inf))
        bound = self._cache.ceilings(UCB(), self._cut * self._beta, 0.0, floor)
        bound[self._excluded] = -np.inf
        tie = ties.SAMPLE_TIE * self._beta * float(self._cache.prior.max()) ** 0.5
        best_rows = BestRows(paths.v.shape[1], tie)
        first = ties.highest(bound, FEW)
        first = first[bound[first] > -np.inf]
        for rows in ties.highest_first(bound, first, 4 * FEW, lambda: best_rows.floor):
            self._look(paths, rows, best_rows)
        return best_rows.found

    def _look(self, paths: Paths, rows: Indices, best_rows: BestRows) -> None:
        """Add the values of rows that can still be the best."""
        cache = self._cache
        cache.refresh(rows)
        reach = self._cut * self._beta
        high = cache.mean[rows] + reach * np.sqrt(cache.variance[rows])
        ahead = high + cache.slack >= best_rows.floor
        rows, high = rows[ahead], high[ahead]

        def values(part: slice) -> Matrix:
            return np.minimum(paths.values(self._pool.rows(rows[part])), high[part, None])

        parts = [slice(start, start + PIECE) for start in range(0, len(rows), PIECE)]
        for part, found in zip(parts, parallel_map(values, parts), strict=True):
            best_rows.add(rows[part], found)


@final
class BestRows:
    """The best row of each function so far; the lowest one where values are as good as equal."""

    def __init__(self, size: int, tie: float) -> None:
        self._near = [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in range(size)]  # … the best
        self._best: Vector = np.full(size, -np.inf)
        self._tie = tie

    @property
    def floor(self) -> float:
        """What a row must reach to be of interest to some function."""
        return float(self._ties(self._best).min())

    @property
    def found(self) -> list[tuple[int, float]]:
        first = [int(rows.min()) if len(rows) else 0 for rows, _ in self._near]  # else all closed
        return list(zip(first, self._best.tolist(), strict=True))

    def _ties(self, best: Vector | float) -> Vector:
        """Return the lowest value that is as good as the best."""
        return np.asarray(best - self._tie - ties.SAMPLE_ROUNDING * np.abs(best))

    def add(self, rows: Indices, values: Matrix) -> None:
        """In whatever order rows come, the same one wins."""
        for j, column in enumerate(values.T):
            self._best[j] = best = max(float(column.max()), float(self._best[j]))
            known, least = self._near[j], self._ties(best)
            near, old = column >= least, known[1] >= least
            self._near[j] = (
                np.concatenate([known[0][old], rows[near]]),
                np.concatenate([known[1][old], column[near]]),
            )

"""The few candidates among which the best is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from noregret.acquisitions import TINY, Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.pools import Picks, Points
from noregret.posterior_caches import PosteriorCache
from noregret.posteriors import Posterior
from noregret.search import ties
from noregret.search.hallucination import Hallucinations

SAFETY = 16.0  # how much more rounding is allowed for than was seen
FEW = 64  # candidates looked at together at first, or one of SOME; more while the best is open
SOME = 2048


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of a pool on one posterior: quickly and as intervals, or of one row by itself."""

    points: Points  # rows are its candidates; some under way may lie off the pool
    cache: PosteriorCache
    posterior: Posterior
    acquisition: Acquisition
    beta: float
    best_mean: float
    _alone: dict[int, tuple[float, float]] = field(default_factory=dict)

    def ceilings(self, floor: float) -> Vector:
        """Return an upper bound on the score of every row, not sharp below the floor."""
        return self.cache.ceilings(self.acquisition, self.beta, self.best_mean, floor)

    def sharpen(self, bound: Vector, rows: Indices) -> Vector:
        """Make bounds of rows sharp, and return how low their scores may be."""
        self.cache.refresh(rows)
        known = self.cache.mean[rows], self.cache.variance[rows], self.cache.prior[rows]
        bound[rows] = self.rounded(*known, 1.0)
        return self.rounded(*known, -1.0)

    def rounded(
        self, mean: Vector, variance: Vector, prior: Vector, sign: float, steps: int = 0
    ) -> Vector:
        """Return scores with all rounding upwards (sign 1) or downwards (sign −1)."""
        relative = self.cache.relative * (1.0 + steps / 128)
        return self.acquisition.score(
            mean + sign * self.cache.slack,
            np.maximum(variance + sign * relative * prior, 0.0),
            self.beta,
            self.best_mean,
        )

    def marginals(self, row: int) -> tuple[float, float]:
        """Return mean and variance of a row by itself."""
        if row not in self._alone:
            mean, variance = self.posterior.marginals(self.points.rows(np.array([row])))
            self._alone[row] = float(mean[0]), float(variance[0])
        return self._alone[row]

    def of(self, mean: float, variance: float) -> float:
        """Return the score of one row."""
        both = np.array([mean]), np.array([variance])
        return float(self.acquisition.score(*both, self.beta, self.best_mean)[0])

    def are_sound(self, row: int) -> bool:
        """Hold a row, computed by itself, against the cache, which starts again if it is off."""
        cache, (mean, variance) = self.cache, self.marginals(row)
        off = abs(mean - float(cache.mean[row]))
        prior = max(float(cache.prior[row]), TINY)
        relative = abs(variance - float(cache.variance[row])) / prior
        if off <= cache.slack and relative <= cache.relative:
            return True
        cache.widen(SAFETY * off, SAFETY * relative)
        return False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """Rows that can be best, highest cell and lowest row first."""

    rows: Indices
    cells: Vector
    floor: float  # no score of other rows reaches it

    @classmethod
    def of(cls, rows: Indices, bound: Vector, quantum: float, floor: float) -> Queue:
        cells = ties.cells(bound[rows], quantum)
        order = np.lexsort((rows, -cells))
        return cls(rows[order], cells[order], floor)


def rank_pool(scores: Scores, excluded: Mask, expected: tuple[float, float]) -> PoolRanking:
    """Return a ranking whose queue holds whoever can be best on this posterior, and nobody else.

    Scores are `expected` to fall from the first number to the second in this batch.
    """
    while True:
        bound = scores.ceilings(min(expected))
        if excluded.any():
            bound[excluded] = -np.inf
        rows, floor = _candidates(scores, excluded, bound, *expected)
        start = scores.of(*scores.marginals(int(rows[np.argmax(bound[rows])])))
        queue = Queue.of(rows[~excluded[rows]], bound, ties.quantum_of(start), floor)
        if scores.are_sound(int(queue.rows[0])):
            return PoolRanking(scores, excluded, bound, queue, start)


def _candidates(
    scores: Scores, excluded: Mask, bound: Vector, guess: float, low: float
) -> tuple[Indices, float]:
    """Return rows that can be best, their bounds sharp, and a floor no score of others reaches.

    Rows with bounds over the guess are looked at first (where the best score has not risen they all
    must be): their best sets the floor, or `low` does, to which scores fell in the last batch.
    """
    few, looked, best = max(FEW, len(bound) // SOME), list[Indices](), -np.inf

    def floor() -> float:
        return min(ties.below_ties(best), low)

    first = np.flatnonzero(bound >= guess)
    if not len(first) or not np.isfinite(guess):
        first = ties.highest(bound, few)
        first = first[~excluded[first]]
    first, _ = ties.parted(bound, first, few)
    for rows in ties.highest_first(bound, first, 4 * few, floor):
        best = max(best, float(scores.sharpen(bound, rows).max()))
        looked.append(rows)
    rows = np.concatenate(looked)
    return rows[bound[rows] >= floor()], floor()


@final
class PoolRanking:
    """A ranking: candidates that can be best, in a queue by score, the first of them active.

    Evaluations are hallucinated: the mean and beta are frozen and variances only shrink, so that
    the first score of a candidate bounds all its later ones. Only the active ones are followed, and
    more of the queue (then of the pool) become active when the best of the active falls to where
    they stand.

    Rounding: scores that agree to some nine digits are ties, and go to the lowest row. A score is
    held as an interval; where that leaves open in which cell of nine digits it lies, it is computed
    from the posterior for that row alone.

    Source: BBKB 2020, appendix A.3.
    """

    def __init__(
        self, scores: Scores, excluded: Mask, bound: Vector, queue: Queue, start: float
    ) -> None:
        self._scores, self._excluded = scores, excluded
        self._bound = bound  # (N,) no score of a row that is not active passes it
        self._queue, self._taken = queue, 0  # … of which so many are active
        self._start, self._quantum = start, ties.quantum_of(start)  # the highest score at first
        self._least = np.inf  # the lowest cell that was best
        self._active = Hallucinations(scores.points, scores.posterior)  # rows, their variances …
        self._mean: Vector = np.empty(0)  # … their means …
        self._prior: Vector = np.empty(0)  # … and prior variances …
        self._high: Vector = np.empty(0)  # … and scores, with all rounding upwards …
        self._low: Vector = np.empty(0)  # … or downwards
        self._activate(FEW)

    def best(self) -> int:
        while True:
            at, cell = self._winner()
            row = int(self._active.rows[at])
            if not self._is_open(cell, row):
                self._least = min(self._least, cell)
                return row
            self._activate(max(FEW, self._taken), low=self._is_low(cell))

    def _winner(self) -> tuple[int, float]:
        """Return the place and cell of the best active row."""
        quantum = self._quantum
        cells, least = ties.cells(self._high, quantum), ties.cells(self._low, quantum)
        close = np.flatnonzero(cells >= least.max())
        if len(close) > 1:
            for at in close[cells[close] != least[close]].tolist():
                cells[at] = ties.cells(self._decided(int(self._active.rows[at])), quantum)
            best = close[cells[close] == cells[close].max()]
            at = int(best[np.argmin(self._active.rows[best])])
            return at, float(cells[at])
        return int(close[0]), float(least[close[0]])  # a tie outside would make more active

    def score(self, row: int) -> float:
        return self._scores.of(*self._scores.marginals(row))

    def stale(self, row: int) -> float:
        return self._scores.marginals(row)[1]

    def now(self, row: int) -> float:
        if not self._active.steps:
            return self.stale(row)
        at = self._place(row)
        return float(self._active.variance[at])

    def repeats_while_best(self, row: int, most: int) -> int:
        """r evaluations of x shrink its model variance s to s/(1 + r·s/ridge), all others less."""
        at = self._place(row)
        moving, ridge = self._active.model_variance(at), self._scores.posterior.ridge
        kept = float(self._active.variance[at]) - moving
        rest = float(np.max(self._high, where=np.arange(len(self._high)) != at, initial=-np.inf))
        rest = max(rest, self._next())
        mean, prior = self._mean[at : at + 1], self._prior[at : at + 1]

        def leads_after(r: int) -> bool:
            shrunk = np.array([kept + moving / (1 + r * moving / ridge)])
            return float(self._rounded(mean, shrunk, prior, -1.0)[0]) > rest

        return ties.repeats_while(leads_after, most)

    def picks(self, rows: Indices) -> Picks:
        return self._scores.points.picks(rows)

    def variances(self, rows: Indices) -> Vector:
        self._scores.cache.refresh(rows)
        return self._scores.cache.variance[rows]

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        p, points = self._scores.posterior, self._scores.points
        if max(rows.max(), others.max()) < points.candidates:
            return self._scores.cache.covariances(rows, others)
        X, Z = points.rows(rows), points.rows(others)
        return p.model_covariance(X, Z), p.covariance(X, Z)

    def shrink(self, row: int, count: int) -> None:
        self._active.take(self._place(row), count)
        self._rescore()

    def close(self, row: int) -> None:
        self._mean[self._place(row)] = -np.inf
        self._rescore()

    def expected(self) -> tuple[float, float]:
        """Return where scores may start and fall to in a batch like this one."""
        if not self._active.steps:
            return self._start, np.inf
        least = float(ties.start_of(self._least, self._quantum))
        return self._start, least - 0.5 * (self._start - least)

    def _next(self) -> float:
        """Return what no score of those that are not active reaches."""
        if not self._in_queue():
            return self._queue.floor
        next_cell = float(self._queue.cells[self._taken])
        return max(ties.start_of(next_cell + 1.0, self._quantum), self._queue.floor)

    def _in_queue(self) -> bool:
        return self._taken < len(self._queue.rows)

    def _is_open(self, cell: float, row: int) -> bool:
        """Tell whether somebody who is not active could be better than a row with this cell."""
        queue, at = self._queue, self._taken
        return self._is_low(cell) or (
            self._in_queue() and (-queue.cells[at], queue.rows[at]) < (-cell, row)
        )

    def _is_low(self, cell: float) -> bool:
        """Tell whether rows outside the queue could reach this cell."""
        return self._queue.floor > ties.start_of(cell, self._quantum)

    def _activate(self, most: int, *, low: bool = False) -> None:
        """Follow the next of the queue; where scores are low, it is filled from the pool again."""
        if low:
            self._refill(max(most, 2 * len(self._queue.rows)))
        rows = self._queue.rows[self._taken : self._taken + most]
        self._taken += len(rows)
        self._bound[rows] = -np.inf  # they are followed from here on
        new = [row for row in rows.tolist() if row not in self._active]
        self._follow(np.array(new, dtype=np.int64))

    def _refill(self, most: int) -> None:
        """Put the rows of highest bounds into the queue."""
        cache, bound, rows = self._scores.cache, self._bound, ties.highest(self._bound, most)
        rows = rows[~self._excluded[rows]]
        lowest = float(bound[rows].min(initial=np.inf))
        floor = float(np.nextafter(lowest, np.inf)) if np.isfinite(lowest) else -np.inf
        rows = rows[bound[rows] > -np.inf]
        cache.refresh(rows)
        known = cache.mean[rows], cache.variance[rows], cache.prior[rows]
        bound[rows] = self._rounded(*known, 1.0)
        self._queue, self._taken = Queue.of(rows, bound, self._quantum, floor), 0

    def _follow(self, rows: Indices) -> None:
        """Make rows active."""
        cache = self._scores.cache
        cache.refresh(rows)
        mean = np.where(self._excluded[rows], -np.inf, cache.mean[rows])  # never the best
        self._active.join(rows, cache.variance[rows])
        self._mean = np.concatenate([self._mean, mean])
        self._prior = np.concatenate([self._prior, cache.prior[rows]])
        self._rescore()

    def _follow_point_off_pool(self, row: int) -> None:
        """Follow a point off the pool that is under way, and never the best."""
        rows = np.array([row])
        prior = self._scores.posterior.kernel.diagonal(self._scores.points.rows(rows))
        self._active.join(rows, np.array([self._scores.marginals(row)[1]]))
        self._mean = np.concatenate([self._mean, [-np.inf]])
        self._prior = np.concatenate([self._prior, prior])
        self._rescore()

    def _place(self, row: int) -> int:
        if row not in self._active and row < len(self._bound):
            self._follow(np.array([row]))
        elif row not in self._active:
            self._follow_point_off_pool(row)
        return self._active.place(row)

    def _rounded(self, mean: Vector, variance: Vector, prior: Vector, sign: float) -> Vector:
        return self._scores.rounded(mean, variance, prior, sign, len(self._active.steps))

    def _rescore(self) -> None:
        known = self._mean, self._active.variance, self._prior
        self._high, self._low = self._rounded(*known, 1.0), self._rounded(*known, -1.0)

    def _decided(self, row: int) -> float:
        """Return the score of a row, computed by itself."""
        mean, variance = self._scores.marginals(row)
        if self._active.steps:
            now = self._active.now()
            variance = float(now.variance(self._scores.points.rows(np.array([row])))[0])
        return self._scores.of(mean, variance)

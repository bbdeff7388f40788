"""The few candidates among which the best is decided."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from noregret.acquisitions import TINY, Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.pools import Candidates, Picks
from noregret.posterior_caches import PosteriorCache
from noregret.posteriors import Posterior
from noregret.search.hallucination import Hallucinations

SAFETY = 16.0  # how much more rounding is allowed for than was seen
FEW = 64  # candidates looked at together at first, or one of SOME; more while the best is open
SOME = 2048
SAMPLED = 64  # one in so many rows is looked at to guess a bound
DIGITS = 32  # binary digits to which scores must agree to be ties
OFFSET = 0.37  # of a cell, so that round numbers do not lie on its edge


@final
class PoolRanking:
    """A ranking: candidates that can be best, in a queue by score, the first of them active.

    Opening, candidates of high bounds are scored; whoever has a bound as high as the best of them
    joins the queue, and nobody else can be best on this posterior. Then evaluations are
    hallucinated: the mean and beta are frozen and variances only shrink, so that the first score of
    a candidate bounds all its later ones. Only the active ones are followed, and more of the queue
    (then of the pool) become active when the best of the active falls to where they stand.

    Rounding: scores that agree to some nine digits are ties, and go to the lowest row, so that no
    choice hangs on the last bits, which differ with the order of sums. A score is held as an
    interval; where that leaves open in which cell of nine digits it lies, it is computed from the
    posterior for that row alone.

    Source: BBKB 2020, appendix A.3.
    """

    def __init__(
        self,
        pool: Candidates,
        cache: PosteriorCache,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        best_mean: float,
        expected: tuple[float, float],
    ) -> None:
        """Open with scores `expected` to fall from the first number to the second in this batch."""
        self._pool, self._cache, self._posterior = pool, cache, posterior
        self._acquisition, self._beta, self._best_mean = acquisition, beta, best_mean
        self._excluded = excluded
        self._single: dict[int, tuple[float, float]] = {}  # mean, variance of rows by themselves
        self._bound: Vector  # (N,) no score of a row that is not active passes it
        self._queue: Indices  # rows that can be best, best first …
        self._queue_cells: Vector  # … their cells …
        self._taken: int  # … and how many of them are active
        self._floor: float  # no score outside the queue reaches it
        self._active: Hallucinations  # the variances of rows that are followed …
        self._mean: Vector  # … their means …
        self._prior: Vector  # … and prior variances …
        self._high: Vector  # … and scores, with all rounding upwards …
        self._low: Vector  # … or downwards
        self._first: float  # the highest score when all began
        self._least: float  # the lowest cell that was best
        while not self._open(*expected):
            pass

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
        cells, least = self._cell(self._high), self._cell(self._low)
        close = np.flatnonzero(cells >= least.max())
        if len(close) > 1:
            for at in close[cells[close] != least[close]].tolist():
                cells[at] = self._cell(self._decided(int(self._active.rows[at])))
            best = close[cells[close] == cells[close].max()]
            at = int(best[np.argmin(self._active.rows[best])])
            return at, float(cells[at])
        return int(close[0]), float(least[close[0]])  # a tie outside would make more active

    def _cell(self, score: Vector | float) -> Vector:
        """Return the cell of a score: those that agree to nine digits share it, and are ties."""
        with np.errstate(over="ignore"):  # far below the best, where the order does not matter
            return np.floor(np.asarray(score) / self._quantum + OFFSET)

    def score(self, row: int) -> float:
        return self._scored(*self._marginals(row))

    def stale(self, row: int) -> float:
        return self._marginals(row)[1]

    def now(self, row: int) -> float:
        if not self._active.steps:
            return self.stale(row)
        at = self._place(row)
        return float(self._active.variance[at])

    def repeats_while_best(self, row: int, most: int) -> int:
        """r evaluations of x shrink its model variance s to s/(1 + r·s/ridge), all others less."""
        at = self._place(row)
        own, ridge = self._active.model_variance(at), self._posterior.ridge
        kept = float(self._active.variance[at]) - own
        rest = float(np.max(self._high, where=np.arange(len(self._high)) != at, initial=-np.inf))
        rest = max(rest, self._next())
        mean, prior = self._mean[at : at + 1], self._prior[at : at + 1]

        def leads_after(r: int) -> bool:
            shrunk = np.array([kept + own / (1 + r * own / ridge)])
            return float(self._scores(mean, shrunk, prior, -1.0)[0]) > rest

        if most == 1 or not leads_after(1):
            return 1
        fine, wrong = 1, 2
        while wrong < most and leads_after(wrong):
            fine, wrong = wrong, 2 * wrong
        wrong = min(wrong, most)
        while wrong - fine > 1:
            middle = (fine + wrong) // 2
            fine, wrong = (middle, wrong) if leads_after(middle) else (fine, middle)
        return wrong

    def picks(self, rows: Indices) -> Picks:
        return Picks(rows, self._pool.rows(rows))

    def variances(self, rows: Indices) -> Vector:
        self._cache.refresh(rows)
        return self._cache.variance[rows]

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        return self._cache.covariances(rows, others)

    def shrink(self, row: int, count: int) -> None:
        at = self._place(row)
        self._active.take(at, count)
        self._rescore()

    def expected(self) -> tuple[float, float]:
        """Return where scores may start and fall to in a batch like this one."""
        if not self._active.steps:
            return self._first, np.inf
        least = float((self._least - OFFSET) * self._quantum)
        return self._first, least - 0.5 * (self._first - least)

    def _open(self, guess: float, low: float) -> bool:
        """Fill the queue; False if the survey was found wanting and has started again."""
        self._active = Hallucinations(self._pool, self._posterior)
        self._mean = self._prior = self._high = self._low = np.empty(0)
        cache, excluded, needed = self._cache, self._excluded, min(guess, low)
        self._bound = cache.ceilings(self._acquisition, self._beta, self._best_mean, needed)
        if excluded.any():
            self._bound[excluded] = -np.inf
        self._quantum = 1.0
        self._queue, self._queue_cells, self._floor = self._rivals(guess, low)
        self._least = np.inf
        self._taken = 0
        self._activate(FEW)
        return self._is_sound()

    def _rivals(self, guess: float, low: float) -> tuple[Indices, Vector, float]:
        """Return the rows that can be best, highest first, their cells, and a floor.

        No score of other rows reaches the floor. Rows with bounds over the guess are looked at
        first (where the best score has not risen they all must be): their best sets the floor, or
        `low` does, to which scores fell in the last batch.
        """
        few = max(FEW, len(self._bound) // SOME)
        rows = np.flatnonzero(self._bound >= guess)
        if not len(rows) or not np.isfinite(guess):
            rows = self._highest(few)
        looked, rows = self._parted(rows, few)
        floor = float(self._lowest(looked).max())
        known, self._bound[looked] = self._bound[looked], -np.inf
        rows = np.flatnonzero(self._bound >= min(self._bottom(floor), low))
        self._bound[looked] = known
        queue, most = [looked], 4 * few
        while len(rows):  # the highest first: they raise the floor, which the others may not reach
            looked, rows = self._parted(rows, most)
            floor = max(floor, float(self._lowest(looked).max()))
            rows = rows[self._bound[rows] >= min(self._bottom(floor), low)]
            queue.append(looked)
            most *= 4
        floor = min(self._bottom(floor), low)
        rows = np.concatenate(queue)
        rows = rows[self._bound[rows] >= floor]
        self._first = self.score(int(rows[np.argmax(self._bound[rows])]))
        if np.isfinite(self._first) and self._first != 0:
            self._quantum = 2.0 ** (math.frexp(self._first)[1] - DIGITS)
        return *self._sorted(rows), floor

    def _parted(self, rows: Indices, most: int) -> tuple[Indices, Indices]:
        """Return the rows of highest bounds among some, and the others."""
        if len(rows) <= 2 * most:
            return rows, rows[:0]
        order = np.argpartition(-self._bound[rows], most)
        return rows[order[:most]], rows[order[most:]]

    def _bottom(self, score: float) -> float:
        """Return a score under all that can tie with this one."""
        return score - 8 * 2.0**-DIGITS * abs(score) if np.isfinite(score) else score

    def _sorted(self, rows: Indices) -> tuple[Indices, Vector]:
        """Return rows, highest cell and lowest row first, and their cells."""
        cache, rows = self._cache, rows[~self._excluded[rows]]
        cache.refresh(rows)
        high = self._scores(cache.mean[rows], cache.variance[rows], cache.prior[rows], 1.0)
        self._bound[rows] = high
        cells = self._cell(high)
        order = np.lexsort((rows, -cells))
        return rows[order], cells[order]

    def _highest(self, most: int) -> Indices:
        """Return rows of highest bounds, so many or a few more."""
        bound, rank = self._bound, 8 + 2 * most // SAMPLED
        sample, rows = bound[::SAMPLED], np.arange(len(bound))
        if rank < len(sample):  # a bound that some more than `most` should reach
            above = np.flatnonzero(bound >= np.partition(sample, -rank)[-rank])
            rows = above if len(above) >= most else rows
        rows, _ = self._parted(rows, most)
        return rows[~self._excluded[rows]]

    def _lowest(self, rows: Indices) -> Vector:
        """Return how low the scores of rows may be; their bounds are sharp from here on."""
        cache = self._cache
        cache.refresh(rows)
        known = cache.mean[rows], cache.variance[rows], cache.prior[rows]
        self._bound[rows] = self._scores(*known, 1.0)
        return self._scores(*known, -1.0)

    def _scores(self, mean: Vector, variance: Vector, prior: Vector, sign: float) -> Vector:
        """Return scores with all rounding upwards (sign 1) or downwards (sign −1)."""
        relative = self._cache.relative * (1.0 + len(self._active.steps) / 128)
        return self._acquisition.score(
            mean + sign * self._cache.slack,
            np.maximum(variance + sign * relative * prior, 0.0),
            self._beta,
            self._best_mean,
        )

    def _is_sound(self) -> bool:
        """Hold the first of the queue, computed by itself, against the survey."""
        row, cache = int(self._queue[0]), self._cache
        mean, variance = self._marginals(row)
        off = abs(mean - float(cache.mean[row]))
        prior = max(float(cache.prior[row]), TINY)
        relative = abs(variance - float(cache.variance[row])) / prior
        if off <= cache.slack and relative <= cache.relative:
            return True
        cache.widen(SAFETY * off, SAFETY * relative)
        return False

    def _next(self) -> float:
        """Return what no score of those that are not active reaches."""
        if not self._in_queue():
            return self._floor
        edge = float(self._queue_cells[self._taken]) + 1.0 - OFFSET
        return max(edge * self._quantum, self._floor)

    def _in_queue(self) -> bool:
        return self._taken < len(self._queue)

    def _is_open(self, cell: float, row: int) -> bool:
        """Tell whether somebody who is not active could be better than a row with this cell."""
        return self._is_low(cell) or (
            self._in_queue()
            and (-self._queue_cells[self._taken], self._queue[self._taken]) < (-cell, row)
        )

    def _is_low(self, cell: float) -> bool:
        """Tell whether rows outside the queue could reach this cell."""
        return self._floor > (cell - OFFSET) * self._quantum

    def _activate(self, most: int, *, low: bool = False) -> None:
        """Follow the next of the queue, which is filled anew from the pool where scores are low."""
        if low:
            rows = self._highest(max(most, 2 * len(self._queue)))
            lowest = float(self._bound[rows].min(initial=np.inf))
            self._floor = float(np.nextafter(lowest, np.inf)) if np.isfinite(lowest) else -np.inf
            self._queue, self._queue_cells = self._sorted(rows[self._bound[rows] > -np.inf])
            self._taken = 0
        rows = self._queue[self._taken : self._taken + most]
        self._taken += len(rows)
        self._bound[rows] = -np.inf  # they are followed from here on
        new = [row for row in rows.tolist() if row not in self._active]
        self._follow(np.array(new, dtype=np.int64))

    def _follow(self, rows: Indices) -> None:
        """Make rows active."""
        cache = self._cache
        cache.refresh(rows)
        mean = np.where(self._excluded[rows], -np.inf, cache.mean[rows])  # never the best
        self._active.join(rows, cache.variance[rows])
        self._mean = np.concatenate([self._mean, mean])
        self._prior = np.concatenate([self._prior, cache.prior[rows]])
        self._rescore()

    def _place(self, row: int) -> int:
        if row not in self._active:
            self._follow(np.array([row]))
        return self._active.place(row)

    def _rescore(self) -> None:
        known = self._mean, self._active.variance, self._prior
        self._high, self._low = self._scores(*known, 1.0), self._scores(*known, -1.0)

    def _decided(self, row: int) -> float:
        """Return the score of a row, computed by itself."""
        mean, variance = self._marginals(row)
        if self._active.steps:
            now = self._active.now()
            variance = float(now.variance(self._pool.rows(np.array([row])))[0])
        return self._scored(mean, variance)

    def _marginals(self, row: int) -> tuple[float, float]:
        """Return mean and variance of a row by itself, on the posterior that was ranked."""
        if row not in self._single:
            mean, variance = self._posterior.marginals(self._pool.rows(np.array([row])))
            self._single[row] = float(mean[0]), float(variance[0])
        return self._single[row]

    def _scored(self, mean: float, variance: float) -> float:
        score = self._acquisition.score(
            np.array([mean]), np.array([variance]), self._beta, self._best_mean
        )
        return float(score[0])

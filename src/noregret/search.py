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
from noregret.arrays import Indices, Mask, Vector
from noregret.errors import AskError
from noregret.pools import Candidates
from noregret.posteriors import ExactPosterior, Posterior
from noregret.surveys import ExactSurvey, PlainSurvey, Survey

MEASURED, SAFETY = 8, 16.0  # rows at which rounding is measured, and how much more is allowed for
TINY = float(np.finfo(np.float64).tiny)
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
    """Exact search of a finite pool: a survey a posterior, then lazily."""

    def __init__(self, pool: Candidates) -> None:
        self.pool = pool
        self._survey: Survey | None = None

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> LazyRanking:
        if excluded.all():
            raise AskError(
                f"all {len(self.pool)} candidates are excluded, so none is left to choose from. "
                "Exclude fewer, or stop here and take best()."
            )
        survey = self._surveyed(posterior)
        return LazyRanking(self.pool, survey, posterior, acquisition, beta, excluded)

    def _surveyed(self, posterior: Posterior) -> Survey:
        exact = isinstance(posterior, ExactPosterior)
        kind = (
            ExactSurvey if exact and ExactSurvey.affordable(self.pool, posterior) else PlainSurvey
        )
        if not isinstance(self._survey, kind):
            self._survey = kind(self.pool)
        self._survey.follow(posterior)
        return self._survey


@final
class LazyRanking:
    """Scores of a whole pool, each decided or an upper bound.

    The mean and beta are frozen and variances only shrink, so a score from earlier bounds today's,
    and so does a score with the rounding of its mean and variance added. The highest bounds are
    made sharper until the highest of all is a score that was decided: computed from the posterior
    for that row alone, so that equal candidates have equal scores to the last bit, however rows
    are grouped. Ties then go to the lowest row.

    Source: BBKB 2020, appendix A.3.
    """

    def __init__(
        self,
        pool: Candidates,
        survey: Survey,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
    ) -> None:
        self._pool, self._survey, self._posterior = pool, survey, posterior
        self._acquisition, self._beta = acquisition, beta
        self._slack, self._relative = _slack(pool, survey, posterior)
        self._top = self._largest_mean(excluded)
        self._version = 0
        self._seen: npt.NDArray[np.int32] = np.zeros(len(pool), dtype=np.int32)
        self._decided: dict[int, int] = {}  # row → version
        self._bound = self._inflated(survey.mean, survey.variance, survey.prior)
        self._bound[excluded] = -np.inf

    def best(self) -> int:
        block = FIRST_BLOCK
        while True:
            row = int(np.argmax(self._bound))
            if self._decided.get(row) == self._version:
                return row
            if self._seen[row] < self._version:
                self._sharpen(self._rivals(block))
                block *= 2
            else:
                self._bound[row] = self._decide(row)

    def score(self, row: int) -> float:
        return float(self._bound[row])

    def shrink(self, now: Posterior) -> None:
        self._posterior = now
        self._version += 1

    def _largest_mean(self, excluded: Mask) -> float:
        """Return the largest mean of the pool, decided like scores."""
        means = self._survey.mean
        highest = float(np.max(means, where=~excluded, initial=-np.inf))
        close = np.flatnonzero((means >= highest - 2 * self._slack) & ~excluded)[:FIRST_BLOCK]
        return max(float(self._posterior.mean(self._pool.rows(np.array([i])))[0]) for i in close)

    def _rivals(self, most: int) -> Indices:
        """Return at most `most` rows of highest bounds among those not seen since the last shrink.

        They are rows that could beat the best decided or sharpened score.
        """
        stale = self._seen < self._version
        fresh = float(np.max(self._bound, where=~stale, initial=-np.inf))
        rivals = np.flatnonzero(stale & (self._bound >= fresh))
        if rivals.size <= most:
            return rivals
        return rivals[np.argpartition(-self._bound[rivals], most)[:most]]

    def _sharpen(self, rows: Indices) -> None:
        """Replace old bounds by today's scores, with rounding added."""
        variance = self._posterior.variance(self._pool.rows(rows))
        mean, prior = self._survey.mean[rows], self._survey.prior[rows]
        self._bound[rows] = np.minimum(self._bound[rows], self._inflated(mean, variance, prior))
        self._seen[rows] = self._version

    def _decide(self, row: int) -> float:
        mean, variance = self._posterior.marginals(self._pool.rows(np.array([row])))
        self._decided[row] = self._version
        return float(self._acquisition.score(mean, variance, self._beta, self._top)[0])

    def _inflated(self, mean: Vector, variance: Vector, prior: Vector) -> Vector:
        return self._acquisition.score(
            mean + self._slack, variance + self._relative * prior, self._beta, self._top
        )


def _slack(pool: Candidates, survey: Survey, posterior: Posterior) -> tuple[float, float]:
    """Return how far rounding may have moved surveyed means, and variances over prior ones.

    A posterior knows the rounding of its own sums; that of kernels, ill-conditioned factors and
    long surveys is measured at some rows, and SAFETY times the worst is allowed for.
    """
    mean, relative = posterior.rounding
    for row in np.unique(np.linspace(0, len(pool) - 1, MEASURED).astype(np.int64)):
        mu, var = posterior.marginals(pool.rows(np.array([row])))
        mean = max(mean, SAFETY * abs(float(mu[0] - survey.mean[row])))
        gap = abs(float(var[0] - survey.variance[row]))
        relative = max(relative, SAFETY * gap / max(float(survey.prior[row]), TINY))
    return mean, relative

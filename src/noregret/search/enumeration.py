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
from noregret.pools import Candidates, Places
from noregret.posterior_caches import (
    ExactSurvey,
    NystromSurvey,
    PlainSurvey,
    StickySurvey,
    Survey,
    Work,
)
from noregret.posteriors import ExactPosterior, NystromPosterior, Posterior
from noregret.search.function_ranking import Draws
from noregret.search.pool_ranking import Contenders

Kind: TypeAlias = ExactSurvey | NystromSurvey | PlainSurvey | StickySurvey
TIE = 1e-9  # of their range: scores closer than this are ties
MEMORY = 4 << 30  # bytes of kernel values that a search may keep


@final
class Enumeration:
    """Exact search of a finite pool, by a survey that is brought up to date where it matters.

    `memory` bounds the kernel values that are kept (for exact posteriors half a GiB does too):
    with 0, O(N) numbers are held beside the pool. A sticky dictionary that outgrows it is followed
    lazily.
    """

    def __init__(self, pool: Candidates, *, memory: int = MEMORY) -> None:
        self.pool = pool
        self.memory = memory
        self.work = Work()
        self._survey: Survey | None = None
        self._last: dict[type[Acquisition], Contenders] = {}  # a guess for the next

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> Contenders:
        survey = self._opened(posterior, excluded)

        def contenders(how: Acquisition, beta: float, top: float) -> Contenders:
            last = self._last.get(type(how))
            expected = (-np.inf, np.inf) if last is None else last.expected()
            found = Contenders(self.pool, survey, posterior, how, beta, excluded, top, expected)
            self._last[type(how)] = found
            return found

        top = 0.0
        if acquisition.uses_top:
            means = contenders(Mean(), 0.0, top)
            top = means.score(means.best())
        return contenders(acquisition, beta, top)

    def within(self, places: Places) -> Enumeration:
        """Candidates of a pool are the same in every run."""
        return self

    def draw(
        self, posterior: Posterior, beta: float, excluded: Mask, rng: np.random.Generator
    ) -> Draws:
        survey = self._opened(posterior, excluded)
        return Draws(self.pool, survey, posterior, beta, excluded, rng)

    def top(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask, size: int
    ) -> Indices:
        """Return the rows of the `size` highest scores, highest first, low rows first on ties.

        For acquisitions that do not look at the largest mean. Scores that agree to nine digits
        are ties, whatever the order of sums behind them.
        """
        survey = self._opened(posterior, excluded)
        bound = survey.ceilings(acquisition, beta, 0.0, -np.inf)
        bound[excluded] = -np.inf
        looked, most = np.zeros(len(bound), dtype=np.bool_), 2 * size
        floor = -np.inf
        while True:
            rows = np.flatnonzero(~looked & (bound > -np.inf) & (bound >= floor))
            if not rows.size:
                break
            if len(rows) > 2 * most:
                rows = rows[np.argpartition(-bound[rows], most)[:most]]
            survey.refresh(rows)
            bound[rows] = acquisition.score(survey.mean[rows], survey.variance[rows], beta, 0.0)
            looked[rows] = True
            known = bound[looked]
            if len(known) >= size:
                floor = float(np.partition(known, -size)[-size]) - TIE * np.ptp(known)
            most *= 4
        rows = np.flatnonzero(looked & (bound >= floor))
        quantum = TIE * float(np.ptp(bound[rows])) or 1.0
        cells = np.floor(bound[rows] / quantum + 0.37)
        return rows[np.lexsort((rows, -cells))][:size]

    def _opened(self, posterior: Posterior, excluded: Mask) -> Survey:
        if excluded.all():
            raise AskError(
                f"all {len(self.pool)} candidates are excluded, so none is left to choose from. "
                "Exclude fewer, or stop here and take best()."
            )
        self.work.rankings += 1
        return self._surveyed(posterior)

    def _surveyed(self, posterior: Posterior) -> Survey:
        kind = self._kind(posterior)
        if not isinstance(self._survey, kind):
            self._survey = None  # its memory may be needed
            self._survey = self._begun(kind)
        self._survey.follow(posterior)
        return self._survey

    def _begun(self, kind: type[Kind]) -> Survey:
        if issubclass(kind, NystromSurvey):
            return NystromSurvey(self.pool, self.memory, self.work)
        if issubclass(kind, ExactSurvey):
            return ExactSurvey(self.pool, self.work, self.memory)
        return kind(self.pool, self.work)

    def _kind(self, posterior: Posterior) -> type[Kind]:
        """Return the survey that is fastest for a posterior."""
        if isinstance(posterior, ExactPosterior):
            return ExactSurvey
        if not isinstance(posterior, NystromPosterior):
            return PlainSurvey
        members, points = len(posterior.members), len(posterior.points)
        fits = 8 * len(self.pool) * members <= self.memory
        lazy = posterior.sticky and not fits and 2 * members > points
        return StickySurvey if lazy else NystromSurvey

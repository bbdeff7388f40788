"""The policy behind every Gaussian-process algorithm: one loop, four parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.acquisitions import UCB, Acquisition
from noregret.arrays import Indices, Vector
from noregret.batching import BatchRule, Choice, Fill, Opening
from noregret.confidence import Information, Standing, Width
from noregret.norms import NormBound
from noregret.policy import Estimates, Evidence, Gap, Proposal
from noregret.pools import Candidates
from noregret.posteriors import Posterior
from noregret.search import Search
from noregret.starts import Start
from noregret.streams import Purpose


@final
@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What is remembered from the opening of one batch to the next."""

    posterior: Posterior  # at the last opening
    information: Information
    norm_bound: float
    started: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bandit:
    """Choose by an acquisition over a posterior, in batches that a rule closes.

    `width` steers the choices; `band` is the width, always of a theorem, by which bounds and
    certificates are given.
    """

    pool: Candidates
    search: Search
    prior: Posterior
    acquisition: Acquisition
    width: Width
    band: Width
    batching: BatchRule
    norm: NormBound
    starts: tuple[Start, ...]

    def begin(self) -> Belief:
        """Return the belief before any feedback."""
        return Belief(self.prior, Information(), self.norm.start)

    def propose(self, state: Belief, evidence: Evidence, room: int) -> tuple[Proposal, Belief]:
        """Believe what was told, then let the starts or the batch loop choose."""
        belief, standing = self._believe(state, evidence)
        if not belief.started:
            for start in self.starts:
                rows = start.rows(evidence, self.pool, room)
                if rows.size:
                    return self._start_with(rows, start.reason, belief), belief
            belief = replace(belief, started=True)
        return self._fill_batch(standing, evidence, room), belief

    def estimates(self, state: Belief, evidence: Evidence) -> Estimates:
        """Return posterior mean and deviation at evaluated points, with the band around them."""
        _, standing = self._believe(state, evidence)
        mean, variance = standing.posterior.marginals(evidence.told.X)
        std = np.sqrt(variance)
        reach = self.band.beta(standing) * std
        return Estimates(mean, std, mean - reach, mean + reach)

    def posterior(self, state: Belief, evidence: Evidence) -> Posterior:
        """Return the posterior that the next batch would start from."""
        return self._believe(state, evidence)[1].posterior

    def certify(self, state: Belief, evidence: Evidence, row: int) -> Gap:
        """Return the largest upper bound of the pool minus the lower bound of `row`."""
        _, standing = self._believe(state, evidence)
        beta = self.band.beta(standing)
        ranking = self.search.rank(standing.posterior, UCB(), beta, evidence.excluded)
        highest = ranking.score(ranking.best())
        mean, variance = standing.posterior.marginals(self.pool.rows(np.array([row])))
        lowest = float(mean[0] - beta * np.sqrt(variance[0]))
        assumptions = (*self.band.assumptions(standing), *self.norm.assumptions(standing))
        return Gap(
            gap=max(highest - lowest, 0.0),
            row=row,
            highest=highest,
            lowest=lowest,
            beta=beta,
            delta=self.band.delta,
            theorem=self.band.theorem,
            assumptions=assumptions,
        )

    def _believe(self, state: Belief, evidence: Evidence) -> tuple[Belief, Standing]:
        """Bring the belief up to date; a pure function, so that looking changes nothing."""
        posterior = state.posterior.condition(
            evidence.told, evidence.open_, evidence.rng(Purpose.DICTIONARY)
        )
        standing = Standing(
            posterior=posterior,
            candidates=len(self.pool),
            evaluations=evidence.evaluations,
            norm_bound=state.norm_bound,
            information=self._booked(state, evidence),
        )
        norm_bound = self.norm.update(standing, self.band)
        standing = replace(standing, norm_bound=norm_bound)
        belief = replace(
            state,
            posterior=posterior,
            information=standing.information,
            norm_bound=norm_bound,
        )
        return belief, standing

    def _booked(self, state: Belief, evidence: Evidence) -> Information:
        """Add what was told since the last opening, with variances from before it was told."""
        ridge, information = state.posterior.ridge, state.information
        for variance, count in zip(evidence.asked_variances, evidence.asked_counts, strict=True):
            information = information.plus(float(variance) / ridge, times=int(count))
        if evidence.unasked_rows.size:
            variances = state.posterior.variance(self.pool.rows(evidence.unasked_rows))
            for variance, count in zip(variances, evidence.unasked_counts, strict=True):
                information = information.plus(int(count) * float(variance) / ridge, times=1)
        return information

    def _start_with(self, rows: Indices, reason: str, belief: Belief) -> Proposal:
        variances = belief.posterior.variance(self.pool.rows(rows))
        return Proposal(rows, np.ones(len(rows), dtype=np.int64), variances, reason)

    def _fill_batch(self, standing: Standing, evidence: Evidence, room: int) -> Proposal:
        """Choose, take, hallucinate, until the rule says that the batch is full.

        Evaluations under way elsewhere are hallucinated first and count towards the rule's bound;
        one evaluation is always given, however much is under way.
        """
        stale = standing.posterior
        fill = self.batching.open(Opening(stale, self.pool, evidence.excluded))
        now, fill = self._owe(stale, evidence, fill)
        beta = self.width.beta(standing)
        ranking = self.search.rank(stale, self.acquisition, beta, evidence.excluded)
        if now is not stale:
            ranking.shrink(now)
        runs, left = _Runs(), room
        while True:
            row = ranking.best()
            choice = self._choice(row, stale, now, left)
            count, fill = self.batching.take(fill, choice)
            runs.add(row, count, choice.stale)
            left -= count
            if self.batching.is_full(fill):
                return runs.proposal(self.batching.reason)
            if left <= 0:
                return runs.proposal(f"at_most {room} reached")
            now = now.hallucinate(row, choice.x, count)
            ranking.shrink(now)

    def _owe(self, stale: Posterior, evidence: Evidence, fill: Fill) -> tuple[Posterior, Fill]:
        now, open_ = stale, evidence.open_
        for row, count in zip(open_.rows, open_.w, strict=True):
            choice = self._choice(int(row), stale, now, 0)
            fill = self.batching.owe(fill, choice, int(count))
            now = now.hallucinate(int(row), choice.x, int(count))
        return now, fill

    def _choice(self, row: int, stale: Posterior, now: Posterior, room: int) -> Choice:
        X = self.pool.rows(np.array([row]))
        before = float(stale.variance(X)[0])
        after = before if now is stale else float(now.variance(X)[0])
        return Choice(row=row, x=X[0], stale=before, now=after, room=room)


@final
class _Runs:
    """Choices in order, consecutive ones of the same row in one run."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.repeats: list[int] = []
        self.variances: list[float] = []

    def add(self, row: int, count: int, variance: float) -> None:
        if self.rows and self.rows[-1] == row:
            self.repeats[-1] += count
            return
        self.rows.append(row)
        self.repeats.append(count)
        self.variances.append(variance)

    def proposal(self, reason: str) -> Proposal:
        rows: Indices = np.array(self.rows, dtype=np.int64)
        variances: Vector = np.array(self.variances)
        return Proposal(rows, np.array(self.repeats, dtype=np.int64), variances, reason)

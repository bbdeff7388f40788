"""The policy behind every Gaussian-process algorithm: one loop, four parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, Thompson
from noregret.arrays import Indices, Rows, Vector
from noregret.batching import BatchRule, Choice, Fill, Opening
from noregret.kernels import probe_rows
from noregret.policies.base import (
    Appraisal,
    ChoiceDiagnostics,
    Estimates,
    Evidence,
    Gap,
    Outlook,
    Proposal,
)
from noregret.policies.model_view import appraised, rank_of
from noregret.policies.random_streams import Purpose
from noregret.policies.starts import Start
from noregret.posteriors import Posterior
from noregret.search import Ranking, Search
from noregret.storable import storable
from noregret.widths import Assumption, Information, NormBound, Width, WidthInputs

LONG = 64  # different candidates told without an ask, from which on they are a long history
FOUND = Assumption("the highest bound on the box was found (many starts, not every point)")


@final
@storable("Belief")
@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What is remembered from the opening of one batch to the next."""

    posterior: Posterior  # at the last opening
    information: Information
    norm_bound: float
    started: bool = False


@final
@storable("Bandit")
@dataclass(frozen=True, slots=True, eq=False)
class Bandit:
    """Choose by an acquisition over a posterior, in batches that a rule closes.

    `width` steers the choices; `band` is the width, always of a theorem, by which bounds and
    certificates are given. The algorithms put one together; to vary a part, compose your own:

    >>> from dataclasses import replace
    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> bandit = nr.gp_ucb(pool, kernel=nr.RBF(0.3), noise_std=0.1).policy
    >>> opt = nr.Optimizer(pool, replace(bandit, batching=nr.FixedSize(2), starts=()))
    >>> len(opt.ask())
    2
    """

    search: Search
    prior: Posterior
    acquisition: Acquisition | Thompson
    width: Width
    band: Width
    batching: BatchRule
    norm: NormBound
    starts: tuple[Start, ...]

    def begin(self) -> Belief:
        """Return the belief before any feedback."""
        return Belief(self.prior, Information(), self.norm.start)

    def told_all(self, evidence: Evidence) -> Belief:
        """Return the belief of a run that was told all this before its first batch."""
        told = evidence.told
        counts = told.w.astype(np.int64)
        at_once = replace(evidence.booked(), unasked_rows=told.rows, unasked_counts=counts)
        belief, _ = self._believe(self.begin(), at_once)
        return replace(belief, started=True)

    def told(self, state: Belief, evidence: Evidence) -> Belief:
        """Return the belief with what was told since the last batch, where none is chosen here."""
        return self._believe(state, evidence)[0]

    def vet(self, X: Rows) -> None:
        """Let the kernel look at points before they are written down."""
        if len(X):
            probe_rows(self.prior.kernel, X)

    def propose(self, state: Belief, evidence: Evidence, room: int) -> tuple[Proposal, Belief]:
        """Believe what was told, then let the starts or the batch loop choose."""
        belief, inputs = self._believe(state, evidence)
        if not belief.started:
            for start in self.starts:
                picks = start.picks(evidence, room)
                if len(picks):
                    diagnostics = self._diagnostics(inputs)
                    variances = belief.posterior.variance(picks.X)
                    first = Proposal.of_singles(picks, start.reason, variances, diagnostics)
                    return first, belief
            belief = replace(belief, started=True)
        return self._fill_batch(inputs, evidence, room), belief

    def estimates(self, state: Belief, evidence: Evidence) -> Estimates:
        """Return posterior mean and deviation at evaluated points, with the band around them."""
        _, inputs = self._believe(state, evidence)
        mean, variance = inputs.posterior.at_points()
        std = np.sqrt(variance)
        reach = self.band.beta(inputs) * std
        return Estimates(mean, std, mean - reach, mean + reach)

    def posterior(self, state: Belief, evidence: Evidence) -> Outlook:
        """Return the posterior that the next batch would start from, and its beta."""
        _, inputs = self._believe(state, evidence)
        return Outlook(inputs.posterior, self.width.beta(inputs))

    def certify(self, state: Belief, evidence: Evidence, row: int) -> Gap:
        """Return the largest upper bound of the pool minus the lower bound of `row`."""
        _, inputs = self._believe(state, evidence)
        beta = self.band.beta(inputs)
        ranking = self.search.rank(
            evidence.points, inputs.posterior, UCB(), beta, evidence.excluded
        )
        highest = ranking.score(ranking.best())
        mean, variance = inputs.posterior.marginals(evidence.points.rows(np.array([row])))
        lowest = float(mean[0] - beta * np.sqrt(variance[0]))
        assumptions = (*self.band.assumptions(inputs), *self.norm.assumptions(inputs))
        if not evidence.points.candidates:
            assumptions = (*assumptions, FOUND)
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

    def appraise(self, state: Belief, evidence: Evidence, row: int) -> Appraisal:
        """Return what is thought of a row now, beside the candidate that comes first.

        Costs an ask, and the rank.
        """
        _, inputs = self._believe(state, evidence)
        posterior, beta, how = inputs.posterior, self.width.beta(inputs), self.acquisition
        first, rank = None, None
        if not (evidence.points.candidates and evidence.excluded.all()):
            ranking = self._ranking(posterior, beta, evidence)
            first = ranking.picks(np.array([ranking.best()]))
        if not isinstance(how, Thompson):
            rank = rank_of(posterior, how, beta, evidence, row)
        name = type(how).__name__
        return appraised(posterior, beta, evidence, row, score=name, first=first, rank=rank)

    def _believe(self, state: Belief, evidence: Evidence) -> tuple[Belief, WidthInputs]:
        """Bring the belief up to date; a pure function, so that looking changes nothing."""
        posterior = state.posterior.condition(
            evidence.told, evidence.open_, evidence.rng(Purpose.DICTIONARY)
        )
        inputs = WidthInputs(
            posterior=posterior,
            candidates=evidence.points.candidates,
            evaluations=evidence.evaluations,
            norm_bound=state.norm_bound,
            information=self._booked(state, evidence, posterior),
        )
        norm_bound = self.norm.update(inputs, self.band)
        inputs = replace(inputs, norm_bound=norm_bound)
        belief = replace(
            state,
            posterior=posterior,
            information=inputs.information,
            norm_bound=norm_bound,
        )
        return belief, inputs

    def _booked(self, state: Belief, evidence: Evidence, now: Posterior) -> Information:
        """Add what was told since the last opening, with variances from before it was told.

        A long history tells of itself many times over: its sum is far from L, and the bound that
        the posterior itself gives takes its place where it is lower.
        """
        ridge, information = state.posterior.ridge, state.information
        for variance, count in zip(evidence.asked_variances, evidence.asked_counts, strict=True):
            information = information.plus(float(variance) / ridge, times=int(count))
        if evidence.unasked_rows.size:
            asked = information
            variances = state.posterior.variance(evidence.points.rows(evidence.unasked_rows))
            for variance, count in zip(variances, evidence.unasked_counts, strict=True):
                information = information.plus(int(count) * float(variance) / ridge, times=1)
            if len(evidence.unasked_rows) > LONG:
                information = information.at_most(now.most_log_det, least=asked)
        return information

    def _diagnostics(self, inputs: WidthInputs) -> ChoiceDiagnostics:
        posterior = inputs.posterior
        return ChoiceDiagnostics(self.width.beta(inputs), posterior.log_det, len(posterior.basis))

    def _fill_batch(self, inputs: WidthInputs, evidence: Evidence, room: int) -> Proposal:
        """Choose, take, hallucinate, until the rule says that the batch is full.

        Evaluations under way elsewhere are hallucinated first and count towards the rule's bound;
        one evaluation is always given, however much is under way.
        """
        stale, diagnostics = inputs.posterior, self._diagnostics(inputs)
        ranking = self._ranking(stale, diagnostics.beta, evidence)
        fill = self.batching.open(
            Opening(stale.ridge, evidence.excluded, ranking.variances, ranking.covariances)
        )
        fill = self._count_pending(ranking, evidence, fill)
        runs, left = _Runs(), room
        while True:
            row = ranking.best()
            choice = self._choice(ranking, row, left)
            count, fill = self.batching.take(fill, choice)
            runs.add(row, count, choice.stale)
            left -= count
            if self.batching.is_full(fill):
                return runs.proposal(ranking, self.batching.reason, diagnostics)
            if left <= 0:
                return runs.proposal(ranking, f"at_most {room} reached", diagnostics)
            ranking.shrink(row, count)

    def _ranking(self, stale: Posterior, beta: float, evidence: Evidence) -> Ranking:
        points, how, excluded = evidence.points, self.acquisition, evidence.excluded
        if isinstance(how, Thompson):
            rng = evidence.rng(Purpose.THOMPSON)
            return self.search.rank_samples(points, stale, beta, excluded, rng)
        return self.search.rank(points, stale, how, beta, excluded)

    def _count_pending(self, ranking: Ranking, evidence: Evidence, fill: Fill) -> Fill:
        open_ = evidence.open_
        for row, count in zip(open_.rows.tolist(), open_.w.tolist(), strict=True):
            fill = self.batching.count_pending(fill, self._choice(ranking, row, 0), int(count))
            ranking.shrink(row, int(count))
        return fill

    def _choice(self, ranking: Ranking, row: int, room: int) -> Choice:
        return Choice(
            row=row,
            stale=ranking.stale(row),
            now=ranking.now(row),
            room=room,
            repeats_while_best=partial(ranking.repeats_while_best, row),
        )


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

    def proposal(self, ranking: Ranking, reason: str, diagnostics: ChoiceDiagnostics) -> Proposal:
        picks = ranking.picks(np.array(self.rows, dtype=np.int64))
        repeats: Indices = np.array(self.repeats, dtype=np.int64)
        variances: Vector = np.array(self.variances)
        return Proposal(picks.rows, picks.X, repeats, variances, reason, diagnostics)

"""The policy behind every Gaussian-process algorithm: one loop, four parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, Thompson
from noregret.arrays import Indices, Mask, Rows, Vector
from noregret.batching import BatchRule, Choice, Opening
from noregret.kernels import InContext, probe_rows
from noregret.policies.allowance import Allowance
from noregret.policies.base import ChoiceDiagnostics, Evidence, Proposal, Purpose
from noregret.policies.model_view import SCORES, Guarantee, ModelView, rank_of
from noregret.policies.starts import Start
from noregret.pools import Picks, Points, Renumbering, rows_from
from noregret.posteriors import ExactPosterior, Posterior, renumbered
from noregret.search import Enumeration, Ranking, Search
from noregret.storable import storable
from noregret.text import counted, probably
from noregret.widths import (
    Assumption,
    Information,
    NormBound,
    Width,
    WidthInputs,
    risk,
    with_prior_variance,
)

LONG = 64  # different candidates told without an ask, from which on they are a long history
FOUND = Assumption("the highest bound on the box was found (many starts, not every point)")


@final
@storable("Belief")
@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What is remembered from the opening of one batch to the next."""

    posterior: Posterior = field(repr=False)  # at the last opening
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

    search: Search = field(repr=False)
    prior: Posterior = field(repr=False)
    acquisition: Acquisition | Thompson
    width: Width
    band: Width
    batching: BatchRule
    norm: NormBound
    starts: tuple[Start, ...]
    bounds_information: bool = False  # information is the posterior's bound, no sum over the run
    norm_check: Width | None = None  # what refutes a guessed norm bound; the band if None

    def begin(self) -> Belief:
        return Belief(self.prior, Information(), self.norm.start)

    @property
    def noise_std(self) -> float:
        return self.prior.noise_std

    def extended(
        self, state: Belief, before: Points, points: Points, numbers: Renumbering
    ) -> tuple[Bandit, Belief]:
        """Widths count on the largest prior variance of all candidates; no theorem needs more."""
        if isinstance(self.search, Enumeration):
            self.search.extend(before.pool, points.pool, renumbered=bool(numbers))
        new = rows_from(points.pool, before.candidates)
        largest = max(float(self.prior.kernel.diagonal(X).max()) for _, X in new)
        width, band = (with_prior_variance(width, largest) for width in (self.width, self.band))
        belief = self.renumbered(state, numbers) if numbers else state
        return replace(self, width=width, band=band), belief

    def renumbered(self, state: Belief, numbers: Callable[[Indices], Indices]) -> Belief:
        """Return the belief where points have other numbers."""
        return replace(state, posterior=renumbered(state.posterior, numbers))

    def told_all(self, evidence: Evidence) -> Belief:
        """Return the belief of a run that was told all this before its first batch."""
        told = evidence.told
        weights = np.floor(told.w)  # half an evaluation is one that failed
        at_once = replace(evidence.booked(), unasked_rows=told.rows, unasked_weights=weights)
        belief, _ = self.believe(self.begin(), at_once)
        return replace(belief, started=True)

    def vet(self, X: Rows) -> None:
        """Let the kernel look at points before they are written down."""
        if len(X):
            kernel = self.prior.kernel
            probe_rows(kernel, X)
            if isinstance(kernel, InContext):
                kernel.vet(X)

    def propose(self, state: Belief, evidence: Evidence, room: int) -> tuple[Proposal, Belief]:
        """Believe what was told, then let the starts or the batch loop choose."""
        belief, inputs = self.believe(state, evidence)
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

    def look(self, state: Belief, evidence: Evidence) -> BanditView:
        return BanditView(self, state, evidence)

    def believe(self, state: Belief, evidence: Evidence) -> tuple[Belief, WidthInputs]:
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
        norm_bound = self.norm.update(inputs, self.norm_check or self.band)
        if norm_bound != inputs.norm_bound:
            inputs = replace(inputs, norm_bound=norm_bound)
        return Belief(posterior, inputs.information, norm_bound, state.started), inputs

    def _booked(self, state: Belief, evidence: Evidence, now: Posterior) -> Information:
        """Add what was told since the last opening, with variances from before it was told.

        Of evaluations that were asked for together each counts as their average weight, which is
        more than they tell: the logarithm is concave. A long history tells of itself many times
        over: its sum is far from L, and the bound that the posterior itself gives takes its place
        where it is lower.
        """
        if self.bounds_information:
            return Information(now.most_log_det, now.most_log_det)
        ridge, information = state.posterior.ridge, state.information
        average = evidence.asked_weights / evidence.asked_counts
        asked_for = zip(evidence.asked_variances, average, evidence.asked_counts, strict=True)
        for variance, weight, count in asked_for:
            leverage = float(variance) / ridge * float(weight)
            information = information.plus(leverage, times=int(count))
        if evidence.unasked_rows.size:
            asked = information
            variances = state.posterior.variance(evidence.points.rows(evidence.unasked_rows))
            for variance, weight in zip(variances, evidence.unasked_weights, strict=True):
                information = information.plus(float(weight) * float(variance) / ridge, times=1)
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
        ranking = self.ranking(stale, diagnostics.beta, evidence)
        fill = self.batching.open(
            Opening(stale.ridge, evidence.excluded, ranking.variances, ranking.covariances)
        )
        open_ = evidence.open_
        for row, count in zip(open_.rows.tolist(), open_.w.tolist(), strict=True):
            fill = self.batching.count_pending(fill, self._choice(ranking, row, 0), int(count))
            ranking.shrink(row, int(count))
        rows, repeats, variances, left = list[int](), list[int](), list[float](), room
        allowance = None if evidence.at_most_each is None else Allowance(evidence)
        while left > 0:
            row = ranking.best()
            choice = self._choice(ranking, row, left)
            if evidence.switch_costs is not None:
                cost = partial(evidence.cost_to, ranking.picks(np.array([row])))
                choice = replace(choice, switch_cost=cost)
            if allowance is not None and allowance.of(row) < left:
                choice = replace(choice, room=allowance.of(row), is_capped=True)
            count, fill = self.batching.take(fill, choice)
            if rows[-1:] == [row]:  # choices in a row are one run
                repeats[-1] += count
            else:
                rows.append(row)
                repeats.append(count)
                variances.append(choice.stale)
            left -= count
            if self.batching.is_full(fill):
                break
            if left > 0:
                ranking.shrink(row, count)
                if allowance is not None and allowance.take(row, count):
                    if allowance.is_used_up:
                        break
                    ranking.close(row)
        full = self.batching.is_full(fill) and not fill.is_cut
        reason = self.batching.reason if full else self.cut_at(room)
        if allowance is not None and left and not full:
            reason = allowance.reason
        picks, times = ranking.picks(np.array(rows, dtype=np.int64)), np.array(repeats)
        return Proposal(picks.rows, picks.X, times, np.array(variances), reason, diagnostics)

    @staticmethod
    def cut_at(room: int) -> str:
        """Return why a batch ends that its rule would have let go on."""
        return f"at_most {room} reached"

    def ranking(self, stale: Posterior, beta: float, evidence: Evidence) -> Ranking:
        """Rank the candidates that are available, as a batch does that opens now."""
        points, how = evidence.points, self.acquisition
        excluded, spent = evidence.excluded, evidence.spent
        if isinstance(how, Thompson):
            rng = evidence.rng(Purpose.THOMPSON)
            return self.search.rank_samples(points, stale, beta, excluded, rng, spent)
        return self.search.rank(points, stale, how, beta, excluded, spent)

    def _choice(self, ranking: Ranking, row: int, room: int) -> Choice:
        return Choice(
            row=row,
            stale=ranking.stale(row),
            now=ranking.now(row),
            room=room,
            repeats_while_best=partial(ranking.repeats_while_best, row),
        )


@final
class BanditView(ModelView):
    """A look at the belief of a `Bandit`."""

    def __init__(self, bandit: Bandit, state: Belief, evidence: Evidence) -> None:
        self._bandit, self._state, self._evidence = bandit, state, evidence

    @cached_property
    def _inputs(self) -> WidthInputs:
        return self._bandit.believe(self._state, self._evidence)[1]

    @cached_property
    def _certified(self) -> WidthInputs:
        """With a norm bound that the band does not refute, where it is guessed."""
        bandit, inputs = self._bandit, self._inputs
        if bandit.norm_check is None:
            return inputs
        return replace(inputs, norm_bound=bandit.norm.update(inputs, bandit.band))

    @property
    def posterior(self) -> Posterior:
        return self._inputs.posterior

    @cached_property
    def beta(self) -> float:
        return self._bandit.width.beta(self._inputs)

    @cached_property
    def band_beta(self) -> float:
        """By how much deviations are multiplied where the theorem of the band speaks."""
        return self._bandit.band.beta(self._certified)

    @property
    def score(self) -> str:
        return type(self._bandit.acquisition).__name__

    @property
    def note(self) -> str:
        return self._bandit.norm.note(self._inputs)

    def means(self) -> Vector:
        return self.posterior.mean_at_points()

    def interval(self, place: int) -> tuple[float, float, float]:
        """O(n²) for an exact posterior on n points."""
        mean, variance = self.posterior.at_point(place)
        std = math.sqrt(variance)
        reach = self.band_beta * std
        return std, mean - reach, mean + reach

    def guarantee(self) -> Guarantee:
        band, norm, inputs = self._bandit.band, self._bandit.norm, self._certified
        assumptions = (*band.assumptions(inputs), *norm.assumptions(inputs))
        if not self._evidence.points.candidates:
            assumptions = (*assumptions, FOUND)
        return Guarantee(self.band_beta, risk(band, inputs), band.theorem, assumptions)

    def highest_bound(self, place: int) -> float:
        """A pass over the pool, O(N·m²) where it was not looked at before."""
        search, seen = self._bandit.search, self._evidence
        ranking = search.rank(seen.points, self.posterior, UCB(), self.band_beta, seen.excluded)
        return ranking.score(ranking.best())

    def next_choice(self) -> Picks | None:
        if self._evidence.points.candidates and self._evidence.unavailable.all():
            return None
        ranking = self._bandit.ranking(self.posterior, self.beta, self._evidence)
        return ranking.picks(np.array([ranking.best()]))

    def rank(self, row: int) -> int | None:
        how = self._bandit.acquisition
        if isinstance(how, Thompson):
            return None
        return rank_of(self.posterior, how, self.beta, self._evidence, row)

    def account(self, outwards: Callable[[float], float]) -> tuple[str, ...]:
        bandit, band, posterior = self._bandit, self._bandit.band, self.posterior
        points, belief = counted(len(self._evidence.told), "unique point"), "Exact posterior on"
        if not isinstance(posterior, ExactPosterior):
            belief = f"Posterior through a dictionary of {len(posterior.basis)} of"
        noise = f"noise {posterior.noise_std:.3g} per evaluation"
        return (
            f"{belief} {points}; kernel {posterior.kernel!r}; "
            f"{noise if posterior.noise_std else 'no noise'}.",
            f"After the start, choices have the highest {SCORES.get(self.score, self.score)}, "
            f"with beta = {self.beta:.3g} by {type(bandit.width).__name__}; a batch ends by the "
            f"rule {bandit.batching!r}.",
            f"The bounds of best() and certificate() hold {probably(risk(band, self._inputs))} "
            f"by {band.theorem}, under the assumptions that certificate() lists.",
            *filter(None, [self.note]),
        )

    def with_excluded(self, excluded: Mask) -> BanditView:
        """Return the same look where other candidates are excluded."""
        other = BanditView(self._bandit, self._state, replace(self._evidence, excluded=excluded))
        other._inputs = self._inputs
        return other

"""The policy without knobs: it learns its model, uses it, and goes on doubting it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import numpy as np

from noregret.accounts import account_of
from noregret.acquisitions import UCB, ExpectedImprovement, Thompson
from noregret.arrays import Mask, Rows
from noregret.bandit import Bandit, Belief
from noregret.batching import BatchRule, FixedSize, GlobalRatio
from noregret.confidence import BBKBWidth, ConstantWidth, RKHSWidth, Width
from noregret.designs import UniformDesign
from noregret.errors import ExhaustedError
from noregret.growing import GrowingWidth
from noregret.kernels import probe_rows
from noregret.learning import Family, Lesson, learn, share
from noregret.norms import GuessAndDouble
from noregret.paths import draw
from noregret.policy import Appraisal, Estimates, Evidence, Gap, Outlook, Proposal
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample
from noregret.search import Enumeration, Search
from noregret.standings import Assumption
from noregret.stays import Settle
from noregret.streams import Purpose

Attitude: TypeAlias = Literal["safe", "balanced", "greedy"]
FACTORS = {"balanced": 0.45, "greedy": 0.25}  # of √(2 log(1 + t))
FIRST = 6  # candidates drawn by chance
MORE, GROWTH = 5, 1.3  # points after which a model is learned anew
KNOWN = 0.5  # variance over ridge below which another evaluation tells next to nothing
PATIENCE, PACE = 2.0, 4.0  # evaluations without news before one is spent on doubt, and its growth
MANY = 1000  # unique points from which on they are seen through a dictionary
OVERSAMPLE = 2.0  # q̄ of that dictionary
LIMIT = 2.0  # C̃ of its batches
PARTS = 64  # deterministic batches are this part of all points, once these are many
OPTIMISM, DRAWN = 3.0, 300  # deviations, and candidates that high, among which doubt chooses
DOUBT = "doubt: a function drawn"
QUIET = 1e-6  # of the variance of f: the least ridge

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is remembered from the opening of one batch to the next."""

    lesson: Lesson | None = None
    belief: Belief | None = None
    points: int = 0  # unique points …
    values: int = 0  # … and values told, when the lesson was learned
    idle: int = 0  # evaluations that told nothing new, since the last one spent on doubt
    doubts: int = 0  # evaluations spent on doubt


@final
@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Choose by upper bounds on a learned model, and now and then by a function drawn from it.

    The model is fitted anew on a geometric schedule, when a batch opens. With t values told,

        β_t = factor·√(2 log(1 + t))·widening                                                  (1)

    A learned model may be confident and wrong: then the same candidates win again and again, and
    nothing is learned. So where the choice is one that is known (its variance is below half the
    noise), it is exploited; but after 2 + k/4 evaluations of that kind, one is spent on doubt,
    the k-th: the best, in a function drawn from the posterior, of those candidates that are not
    known and reach highest by three deviations. Of T evaluations that are at most √(8T) or so.

    `attitude="safe"` takes a theorem's width in place of (1), and needs no doubt. Where values are
    deterministic nothing is evaluated twice, and expected improvement chooses.
    """

    search: Search
    family: Family
    names: tuple[str, ...] = ()  # of the family's parameters
    attitude: Attitude = "balanced"
    delta: float = 0.1
    workers: int = 1
    switch_cost: float = 0.0
    deterministic: bool = False

    def begin(self) -> Knowledge:
        """Return what is known before any feedback: nothing."""
        return Knowledge()

    def vet(self, X: Rows) -> None:
        """Let a kernel of the family look at points before they are written down."""
        if len(X):
            probe_rows(self.family.kernel(self.family.prior[0]), X)

    def propose(
        self, state: Knowledge, evidence: Evidence, room: int
    ) -> tuple[Proposal, Knowledge]:
        """Start by chance; then learn if it is time, and exploit or doubt."""
        first = self._started(evidence, room)
        if first is not None:
            return first, state
        state = self._taught(state, evidence)
        closed = self._closed(evidence)
        bandit, seen = self._bandit(state, evidence), self._seen(state, evidence, closed)
        assert state.belief is not None
        left = math.ceil(self._interval(state) - state.idle)
        most = min(room, max(left, self.workers, 1)) if self._doubts else room
        proposal, belief = bandit.propose(state.belief, seen, most)
        state = replace(state, belief=belief)
        known = (proposal.variances < KNOWN * bandit.prior.ridge) & np.isin(
            proposal.rows, evidence.told.rows
        )
        idle = int(proposal.repeats[known].sum())
        if not (self._doubts and idle):
            return proposal, state
        if state.idle >= self._interval(state):
            doubt = self._doubted(bandit, belief, seen, room)
            if doubt is not None:
                return doubt, replace(state, idle=0, doubts=state.doubts + 1)
        return proposal, replace(state, idle=state.idle + idle)

    def estimates(self, state: Knowledge, evidence: Evidence) -> Estimates:
        """Return mean and deviation at evaluated points, with a theorem's band around them."""
        state = self._asked(state, evidence)
        bandit, seen = self._bandit(state, evidence), self._seen(state, evidence)
        assert state.belief is not None
        at, m = bandit.estimates(state.belief, seen), _mean(state)
        return Estimates(at.mean + m, at.std, at.lower + m, at.upper + m)

    def posterior(self, state: Knowledge, evidence: Evidence) -> Outlook:
        """Return the posterior that the next batch would start from."""
        state = self._asked(state, evidence)
        assert state.belief is not None
        seen = self._seen(state, evidence)
        return replace(
            self._bandit(state, evidence).posterior(state.belief, seen), centre=_mean(state)
        )

    def certify(self, state: Knowledge, evidence: Evidence, row: int) -> Gap:
        """Return how far a row can be from the best, and what was learned for that."""
        state = self._asked(state, evidence)
        assert state.belief is not None
        assert state.lesson is not None
        gap = self._bandit(state, evidence).certify(state.belief, self._seen(state, evidence), row)
        m, lesson = _mean(state), state.lesson
        learned = (
            Assumption(
                f"kernel and mean, learned {lesson.number} times from the values, are right"
            ),
            Assumption(f"values below {lesson.floor:.4g} may count as this"),
            Assumption("noise is even across the pool", False if lesson.is_uneven else None),
        )
        return replace(
            gap,
            delta=self.delta,
            highest=gap.highest + m,
            lowest=gap.lowest + m,
            assumptions=(*gap.assumptions, *learned),
        )

    def appraise(self, state: Knowledge, evidence: Evidence, row: int) -> Appraisal:
        """Return what is thought of a row now."""
        state = self._asked(state, evidence)
        assert state.belief is not None
        bandit, m = self._bandit(state, evidence), _mean(state)
        closed = self._closed(evidence)
        thought = bandit.appraise(state.belief, self._seen(state, evidence, closed), row)
        leader = thought.leader
        if leader is not None:
            leader = replace(leader, mean=leader.mean + m)
        return replace(thought, mean=thought.mean + m, leader=leader)

    @property
    def _doubts(self) -> bool:
        return self.attitude != "safe" and not self.deterministic

    def _interval(self, state: Knowledge) -> float:
        """Return after how many evaluations without news one is spent on doubt."""
        pause = PATIENCE + state.doubts / PACE + self.switch_cost
        return pause * self.workers * (2.0 if self.attitude == "greedy" else 1.0)

    def _started(self, evidence: Evidence, room: int) -> Proposal | None:
        """Draw the first candidates by chance, and more while none of them has a value."""
        places, under_way = evidence.places, len(evidence.open_)
        size = max(FIRST, self.workers)
        if not len(evidence.told):
            size = max(size, under_way + self.workers)
        start = UniformDesign(size)
        picks = start.picks(evidence, room)
        if not len(picks) and not len(evidence.told):
            picks = places.draw(evidence.excluded, 1, evidence.rng(Purpose.START))
        if not len(picks):
            return None
        ones = np.ones(len(picks), dtype=np.int64)
        return Proposal(picks.rows, picks.X, ones, np.zeros(len(picks)), start.reason)

    def _taught(self, state: Knowledge, evidence: Evidence) -> Knowledge:
        """Learn a model anew if there is enough to learn since the last."""
        n, values = len(evidence.told), evidence.evaluations
        due = max(state.points + MORE, math.ceil(GROWTH * state.points))
        if state.lesson is not None and n < due and values < 2 * state.values:
            return state
        told = evidence.told
        lesson = learn(
            self.family,
            *(told.X, told.w, told.y, evidence.entries, evidence.scatter),
            last=state.lesson,
            deterministic=self.deterministic,
            rng=evidence.rng(Purpose.LEARNING),
        )
        fresh = replace(state, lesson=lesson, points=n, values=values)
        bandit = self._bandit(fresh, evidence)
        log.info("%s", self._how(fresh))
        return replace(fresh, belief=bandit.told_all(self._seen(fresh, evidence)))

    def _asked(self, state: Knowledge, evidence: Evidence) -> Knowledge:
        """Return the state to look with: a model is learned for the look where there is none."""
        return state if state.lesson is not None else self._taught(state, evidence)

    def _closed(self, evidence: Evidence) -> Mask:
        """Return what must not be chosen: where values are deterministic, what has been."""
        if not (self.deterministic and evidence.places.candidates):
            return evidence.excluded
        closed = evidence.excluded.copy()
        for rows in (evidence.told.rows, evidence.open_.rows):
            closed[rows[rows < len(closed)]] = True
        if closed.all():
            raise ExhaustedError(
                "every candidate has been evaluated, and deterministic=True says that none is "
                "worth evaluating twice."
            )
        return closed

    def _seen(self, state: Knowledge, evidence: Evidence, closed: Mask | None = None) -> Evidence:
        """Return the evidence as the model sees it: averages from a floor up, about its mean."""
        assert state.lesson is not None
        told = replace(evidence.told, y=state.lesson.seen(evidence.told.y))
        return replace(
            evidence, told=told, excluded=evidence.excluded if closed is None else closed
        )

    def _doubted(
        self, bandit: Bandit, belief: Belief, seen: Evidence, room: int
    ) -> Proposal | None:
        """Choose by functions drawn from the posterior, known candidates left out."""
        if not isinstance(self.search, Enumeration):
            drawing = replace(
                bandit,
                acquisition=Thompson(),
                width=ConstantWidth(1.0, self.delta),
                batching=FixedSize(self.workers),
            )
            proposal, _ = drawing.propose(belief, seen, room)
            return replace(proposal, reason=DOUBT)
        posterior, excluded = belief.posterior, seen.excluded.copy()
        rows = seen.told.rows[posterior.variance(seen.told.X) < KNOWN * posterior.ridge]
        excluded[rows[rows < len(excluded)]] = True
        if excluded.all():
            return None
        rows = self.search.top(posterior, UCB(), OPTIMISM, excluded, DRAWN)
        picks = seen.places.picks(rows)
        values = draw(posterior, picks.X, min(room, self.workers), seen.rng(Purpose.THOMPSON))
        chosen, counts = np.unique(values.argmax(axis=0), return_counts=True)
        X = picks.X[chosen]
        return Proposal(rows[chosen], X, counts, posterior.variance(X), DOUBT)

    def _bandit(self, state: Knowledge, evidence: Evidence) -> Bandit:
        """Put together the algorithm for the model and the number of points."""
        lesson = state.lesson
        assert lesson is not None
        model, many = lesson.model, self._many(state)
        ridge = max(model.noise_std**2, QUIET * model.scale)
        delta = share(self.delta, lesson.number)
        noise, dim = math.sqrt(ridge), evidence.places.dim
        prior: ExactPosterior | NystromPosterior
        band: Width
        if many:
            oversample = Oversample(OVERSAMPLE, False, None, delta)
            prior = NystromPosterior.prior(
                model.kernel, noise_std=noise, ridge=ridge, dim=dim, oversample=oversample
            )
            band = BBKBWidth(delta, LIMIT, fresh=True)
        else:
            prior = ExactPosterior.prior(model.kernel, noise_std=noise, ridge=ridge, dim=dim)
            band = RKHSWidth(delta)
        band = lesson.widening * band
        acquisition, width = self._acquisition(lesson, band)
        return Bandit(
            search=self.search,
            prior=prior,
            acquisition=acquisition,
            width=width,
            band=band,
            batching=self._batching(state),
            norm=GuessAndDouble(),
            starts=(),
        )

    def _many(self, state: Knowledge) -> bool:
        return state.points > MANY

    def _acquisition(self, lesson: Lesson, band: Width) -> tuple[UCB | ExpectedImprovement, Width]:
        if self.attitude == "safe":
            return UCB(), band
        if self.deterministic:
            return ExpectedImprovement(), ConstantWidth(lesson.widening, self.delta)
        return UCB(), GrowingWidth(FACTORS[self.attitude] * lesson.widening, self.delta)

    def _batching(self, state: Knowledge) -> BatchRule:
        if self.deterministic and self._many(state):
            return FixedSize(max(self.workers, state.points // PARTS))
        if self.workers > 1:
            return FixedSize(self.workers)
        return GlobalRatio(LIMIT) if self._many(state) else Settle(switch_cost=self.switch_cost)

    def account(
        self, state: Knowledge, evidence: Evidence, outwards: Callable[[float], float]
    ) -> tuple[str, ...]:
        """Say in some sentences what is done and why, the first of them in short."""
        if len(evidence.told):
            state = self._asked(state, evidence)
        return account_of(
            self.family,
            state.lesson,
            how=self._how(state),
            attitude=self.attitude,
            names=self.names,
            outwards=outwards,
        )

    def _how(self, state: Knowledge) -> str:
        """Say in one line which algorithm runs, and why."""
        n = state.points
        points = f"{n} unique points"
        if self._many(state):
            belief = f"BBKB's dictionary, as {points} have piled up (more than {MANY})"
        else:
            belief = f"Exact posterior on {points}"
        if self.attitude == "safe":
            choice = "upper bounds of a theorem's width (safe)"
        elif self.deterministic:
            choice = "expected improvement, nothing twice (deterministic)"
        else:
            choice = f"upper bounds ({self.attitude}), with {state.doubts} doubts so far"
        size = (
            f"{self.workers} at a time" if self.workers > 1 else "stays while nothing is to learn"
        )
        return f"{belief}; {choice}; {size}"


def _mean(state: Knowledge) -> float:
    assert state.lesson is not None
    return state.lesson.model.mean

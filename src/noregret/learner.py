"""The policy without knobs: it learns its model, uses it, and goes on doubting it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import numpy as np

from noregret import doubts
from noregret.accounts import account_of
from noregret.acquisitions import UCB, ExpectedImprovement
from noregret.arrays import Mask, Rows
from noregret.bandit import Bandit, Belief
from noregret.batching import BatchRule, FixedSize, GlobalRatio
from noregret.confidence import BBKBWidth, ConstantWidth, RKHSWidth, ScaledWidth, Width
from noregret.designs import UniformDesign
from noregret.errors import ExhaustedError
from noregret.growing import GrowingWidth
from noregret.kernels import probe_rows
from noregret.learning import Family, Lesson, learn, share
from noregret.norms import GuessAndDouble
from noregret.policy import Appraisal, Estimates, Evidence, Gap, Outlook, Proposal
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample
from noregret.search import Search
from noregret.standings import Assumption, Information
from noregret.stays import Settle
from noregret.streams import Purpose

Attitude: TypeAlias = Literal["safe", "balanced", "greedy"]
FACTORS = {"balanced": 0.45, "greedy": 0.25}  # of √(2 log(1 + t))
FIRST, PER_FEATURE = 5, 0.5  # candidates drawn by chance, and more for every lengthscale
FEATURES = 20  # lengthscales that are counted, at most
MORE, GROWTH = 5, 1.3  # points after which a model is learned anew, …
SOON = 1.05  # … or after a surprise
MANY = 1000  # unique points from which on they are seen through a dictionary
OVERSAMPLE = 2.0  # q̄ of that dictionary
LIMIT = 2.0  # C̃ of its batches
PARTS = 64  # the part of all evaluations that a batch is, where feedback matters little
QUIET = 1e-6  # of the variance of f: the least ridge

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """A model, and what is believed by it."""

    lesson: Lesson
    belief: Belief
    points: int  # unique points …
    values: int  # … and values told, when it was learned

    @property
    def mean(self) -> float:
        return self.lesson.model.mean

    @property
    def is_sparse(self) -> bool:
        """Whether points are so many that they are seen through a dictionary."""
        return self.points > MANY

    def seen(self, evidence: Evidence) -> Evidence:
        """Return the evidence as the model sees it: averages from a floor up, about its mean."""
        return replace(evidence, told=replace(evidence.told, y=self.lesson.seen(evidence.told.y)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is remembered from the opening of one batch to the next."""

    grasp: Grasp | None = None
    idle: int = 0  # evaluations that told nothing new, since the last one spent on doubt
    doubts: int = 0  # how often that happened


@final
@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Choose by upper bounds on a learned model, and now and then in doubt of it.

    The model is fitted anew on a geometric schedule, when a batch opens. With t values told,

        β_t = factor·√(2 log(1 + t))·widening                                                  (1)

    A learned model may be confident and wrong: then the same candidates win again and again, and
    nothing is learned. So where the choice is one that is known (its variance is below half the
    noise), it is exploited; but after 2 + k/4 evaluations of that kind one is spent on doubt, the
    k-th: by a function drawn from the posterior, every fourth by chance alone. Where a constant
    explains the values as well as the model, two of three evaluations are by chance.

    `attitude="safe"` takes a theorem's width in place of (1), and has no doubts. Where values are
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
        grasp = self._taught(state.grasp, evidence)
        seen, bandit = grasp.seen(self._open(evidence)), self._bandit(grasp, evidence)
        pause, most = math.inf, room
        if self.attitude != "safe" and not self.deterministic:
            pause = self._pause(state, grasp)
            left = pause - state.idle if state.idle < pause else pause
            most = min(room, max(math.ceil(left), self.workers))
        proposal, belief = bandit.propose(grasp.belief, seen, most)
        state = replace(state, grasp=replace(grasp, belief=belief))
        if self.deterministic:
            return self._new(proposal, bandit, belief, seen, room), state
        idle = doubts.without_news(proposal, evidence, bandit.prior.ridge)
        if idle and state.idle >= pause:
            doubt = self._doubt(state, grasp, bandit, belief, seen, room)
            state = replace(state, idle=0, doubts=state.doubts + 1)
            if doubt is not None:  # else all is known
                return doubt, state
        return proposal, replace(state, idle=state.idle + idle)

    def estimates(self, state: Knowledge, evidence: Evidence) -> Estimates:
        """Return mean and deviation at evaluated points, with a theorem's band around them.

        Where all values told were the same, nothing is known of scale, and bounds are infinite.
        """
        grasp = self._grasp(state, evidence)
        at = self._bandit(grasp, evidence).estimates(grasp.belief, grasp.seen(evidence))
        m, reach = grasp.mean, math.inf if grasp.lesson.is_constant else 0.0
        return Estimates(at.mean + m, at.std, at.lower + m - reach, at.upper + m + reach)

    def posterior(self, state: Knowledge, evidence: Evidence) -> Outlook:
        """Return the posterior that the next batch would start from."""
        grasp = self._grasp(state, evidence)
        outlook = self._bandit(grasp, evidence).posterior(grasp.belief, grasp.seen(evidence))
        return replace(outlook, centre=grasp.mean)

    def certify(self, state: Knowledge, evidence: Evidence, row: int) -> Gap:
        """Return how far a row can be from the best, and what was learned for that."""
        grasp = self._grasp(state, evidence)
        gap = self._bandit(grasp, evidence).certify(grasp.belief, grasp.seen(evidence), row)
        lesson, m = grasp.lesson, grasp.mean
        learned = (
            Assumption(
                f"kernel and mean, learned {lesson.number} times from the values, are right"
            ),
            Assumption("noise is even across the pool", False if lesson.is_uneven else None),
            Assumption("not all values told are the same", not lesson.is_constant),
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
        grasp = self._grasp(state, evidence)
        seen = grasp.seen(self._open(evidence))
        thought = self._bandit(grasp, evidence).appraise(grasp.belief, seen, row)
        leader = thought.leader
        if leader is not None:
            leader = replace(leader, mean=leader.mean + grasp.mean)
        return replace(thought, mean=thought.mean + grasp.mean, leader=leader)

    def account(
        self, state: Knowledge, evidence: Evidence, outwards: Callable[[float], float]
    ) -> tuple[str, ...]:
        """Say in some sentences what is done and why, the first of them in short."""
        grasp = self._grasp(state, evidence) if len(evidence.told) else None
        return account_of(
            self.family,
            None if grasp is None else grasp.lesson,
            how="" if grasp is None else self._how(grasp, state.doubts),
            attitude=self.attitude,
            names=self.names,
            outwards=outwards,
        )

    def _how(self, grasp: Grasp, doubted: int) -> str:
        """Say in one line which algorithm runs, and why."""
        points = f"{grasp.points} unique points"
        if grasp.is_sparse:
            belief = f"BBKB's dictionary, as {points} have piled up (more than {MANY})"
        else:
            belief = f"Exact posterior on {points}"
        if self.attitude == "safe":
            choice = "upper bounds of a theorem's width (safe)"
        elif self.deterministic:
            choice = "expected improvement, nothing twice (deterministic)"
        else:
            choice = f"upper bounds ({self.attitude}), doubted {doubted} times"
        size = (
            f"{self.workers} at a time" if self.workers > 1 else "stays while nothing is to learn"
        )
        return f"{belief}; {choice}; {size}"

    def _pause(self, state: Knowledge, grasp: Grasp) -> float:
        """Return after how many evaluations without news one is spent on doubt."""
        if grasp.lesson.is_blank:
            return float(self._blank(grasp))
        slow = 2.0 if self.attitude == "greedy" else 1.0
        return self.workers * slow * (doubts.pause(state.doubts) + self.switch_cost)

    def _blank(self, grasp: Grasp) -> int:
        """Return how many evaluations a blank model is used for at once: more, as time goes by."""
        return max(self.workers, grasp.values // PARTS)

    def _doubt(
        self,
        state: Knowledge,
        grasp: Grasp,
        bandit: Bandit,
        belief: Belief,
        seen: Evidence,
        room: int,
    ) -> Proposal | None:
        """Choose against the model: by chance, or by a function drawn from it."""
        doubt = None
        if grasp.lesson.is_blank:
            size = min(room, doubts.BLANK * self._blank(grasp))
            doubt = doubts.by_chance(belief.posterior, seen, size)
        elif state.doubts % doubts.BLIND == doubts.BLIND - 1:
            doubt = doubts.by_chance(belief.posterior, seen, min(room, self.workers))
        return doubt or doubts.by_draw(bandit, belief, seen, min(room, self.workers))

    def _new(
        self, proposal: Proposal, bandit: Bandit, belief: Belief, seen: Evidence, room: int
    ) -> Proposal:
        """Return a proposal of different points that are new: the one given, if it is that."""
        batching = bandit.batching
        size = min(room, batching.size if isinstance(batching, FixedSize) else 1)
        new: Proposal | None = proposal
        if size > 1:
            new = doubts.by_draw(bandit, belief, seen, size)
        if new is None or np.isin(new.rows, seen.told.rows).any() or (new.repeats > 1).any():
            new = doubts.by_chance(belief.posterior, seen, size)
        return new or proposal

    def _started(self, evidence: Evidence, room: int) -> Proposal | None:
        """Draw the first candidates by chance, and more while none of them has a value."""
        features = min(self.family.size, FEATURES)
        size = max(FIRST + math.ceil(PER_FEATURE * features), self.workers)
        if not len(evidence.told):
            size = max(size, len(evidence.open_) + self.workers)
        start = UniformDesign(size)
        picks = start.picks(evidence, room)
        if not len(picks) and not len(evidence.told):  # fewer candidates than that, all under way
            picks = evidence.places.draw(evidence.excluded, 1, evidence.rng(Purpose.START))
        if not len(picks):
            return None
        ones = np.ones(len(picks), dtype=np.int64)
        return Proposal(picks.rows, picks.X, ones, np.zeros(len(picks)), start.reason)

    def _taught(self, last: Grasp | None, evidence: Evidence) -> Grasp:
        """Learn a model anew if there is enough to learn since the last."""
        told, values = evidence.told, evidence.evaluations
        if last is not None:
            due = max(last.points + MORE, math.ceil(GROWTH * last.points))
            soon = len(told) >= 1 + SOON * last.points
            early = soon and doubts.is_surprised(last.belief, last.seen(evidence))
            if len(told) < due and values < 2 * last.values and not early:
                return last
        lesson = learn(
            self.family,
            *(told.X, told.w, told.y, evidence.entries, evidence.scatter),
            last=None if last is None else last.lesson,
            deterministic=self.deterministic,
            rng=evidence.rng(Purpose.LEARNING),
        )
        nothing = Belief(self._prior(lesson, len(told), evidence), Information(), 1.0)
        grasp = Grasp(lesson, nothing, len(told), values)
        log.info("%s", self._how(grasp, 0))
        belief = self._bandit(grasp, evidence).told_all(grasp.seen(evidence))
        return replace(grasp, belief=belief)

    def _grasp(self, state: Knowledge, evidence: Evidence) -> Grasp:
        """Return what to look with: a model is learned for the look where there is none."""
        return state.grasp or self._taught(None, evidence)

    def _open(self, evidence: Evidence) -> Evidence:
        """Return the evidence with all excluded that must not be chosen.

        Where values are deterministic, that is all that has been evaluated or is under way.
        """
        if not (self.deterministic and evidence.places.candidates):
            return evidence
        closed: Mask = evidence.excluded.copy()
        for rows in (evidence.told.rows, evidence.open_.rows):
            closed[rows[rows < len(closed)]] = True
        if closed.all():
            raise ExhaustedError(
                "every candidate has been evaluated, and deterministic=True says that none is "
                "worth evaluating twice."
            )
        return replace(evidence, excluded=closed)

    def _prior(
        self, lesson: Lesson, points: int, evidence: Evidence
    ) -> ExactPosterior | NystromPosterior:
        """Return the model before any feedback: exact, or through a dictionary."""
        model, dim = lesson.model, evidence.places.dim
        ridge = max(model.noise_std**2, QUIET * model.scale)
        if points > MANY:
            oversample = Oversample(OVERSAMPLE, False, None, share(self.delta, lesson.number))
            return NystromPosterior.prior(
                model.kernel,
                noise_std=math.sqrt(ridge),
                ridge=ridge,
                dim=dim,
                oversample=oversample,
            )
        return ExactPosterior.prior(model.kernel, noise_std=math.sqrt(ridge), ridge=ridge, dim=dim)

    def _bandit(self, grasp: Grasp, evidence: Evidence) -> Bandit:
        """Put together the algorithm for a model and the number of points."""
        lesson = grasp.lesson
        delta = share(self.delta, lesson.number)
        theorem: Width = RKHSWidth(delta)
        if grasp.is_sparse:
            theorem = BBKBWidth(delta, LIMIT, fresh=True)
        band = ScaledWidth(theorem, lesson.widening)
        acquisition, width = self._acquisition(lesson, band)
        return Bandit(
            search=self.search,
            prior=self._prior(lesson, grasp.points, evidence),
            acquisition=acquisition,
            width=width,
            band=band,
            batching=self._batching(grasp),
            norm=GuessAndDouble(),
            starts=(),
        )

    def _acquisition(self, lesson: Lesson, band: Width) -> tuple[UCB | ExpectedImprovement, Width]:
        if self.attitude == "safe":
            return UCB(), band
        if self.deterministic:
            return ExpectedImprovement(), ConstantWidth(lesson.widening, self.delta)
        return UCB(), GrowingWidth(FACTORS[self.attitude] * lesson.widening, self.delta)

    def _batching(self, grasp: Grasp) -> BatchRule:
        if self.deterministic:
            parts = grasp.points // PARTS if grasp.is_sparse else 1
            return FixedSize(max(self.workers, parts))
        if self.workers > 1:
            return FixedSize(self.workers)
        return GlobalRatio(LIMIT) if grasp.is_sparse else Settle(switch_cost=self.switch_cost)

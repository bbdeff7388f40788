"""How a run without knobs behaves, by what only its user can know."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, ExpectedImprovement, KnowledgeGradient
from noregret.arrays import Mask, positions, stacked
from noregret.automatic import exploration
from noregret.batching import BatchRule, FixedSize, GlobalRatio, Settle
from noregret.fitting import FittedModel, share
from noregret.policies import Bandit, Belief, Evidence
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample, subset
from noregret.search import Search
from noregret.storable import storable
from noregret.text import counted, times
from noregret.widths import (
    BBKBWidth,
    ConstantWidth,
    GrowingWidth,
    GuessAndDouble,
    KnownNorm,
    RKHSWidth,
    ScaledWidth,
    Width,
)

Attitude: TypeAlias = Literal["safe", "balanced", "greedy"]
AHEAD = {"balanced": 3.0, "greedy": 0.5}  # evaluations to come, for every one that was, …
BEGUN = 50  # … and for so many more, since hardly anybody stops before
FACTORS = {"balanced": 0.45, "greedy": 0.25}  # of √(2 log(1 + t)), in a box
MANY = 2000  # unique points from which on they are seen through a dictionary
OVERSAMPLE = 2.0  # q̄ of that dictionary
LIMIT = 2.0  # C̃ of its batches
LEEWAY = 0.05  # of the deviation at a point of a box, for which it is evaluated again
PARTS = 64  # the part of all evaluations that a batch is, where feedback matters little
LATE = 10_000  # values from which on doubts come two at once, then three, …
HALF = 0.5  # of a value: an evaluation that failed
FAILURES = 2  # after which a candidate without a value is given up
QUIET, COARSE = 1e-6, 1e-3  # of the variance of f: the least ridge, exact or by a dictionary


@final
@storable("AutoModel")
@dataclass(frozen=True, slots=True, eq=False)
class AutoModel:
    """A model, and what is believed by it."""

    fitted: FittedModel
    belief: Belief
    points: int  # unique points, those that failed among them, …
    values: int  # … and values told, when it was learned

    @property
    def mean(self) -> float:
        return self.fitted.estimate.mean

    @property
    def is_sparse(self) -> bool:
        """Whether points are so many that they are seen through a dictionary."""
        return self.points > MANY

    def seen(self, evidence: Evidence) -> Evidence:
        """Return the evidence as the model sees it: averages from a floor up, about its mean.

        What failed and never had a value counts as half a low one: else nothing would be known
        there, and what is not known is what attracts. Points stand in the order of the belief.
        """
        told, known = evidence.told, self.belief.posterior.observed.rows
        lost = evidence.lost
        if len(lost):
            told = Observations(
                np.concatenate([told.rows, lost]),
                stacked(told.X, evidence.points.rows(lost)),
                np.concatenate([told.w, np.full(len(lost), HALF)]),
                np.concatenate([told.y, np.full(len(lost), self.fitted.lost)]),
            )
        if not np.array_equal(told.rows[: len(known)], known):
            new = np.flatnonzero(~np.isin(told.rows, known))
            told = subset(told, np.concatenate([positions(known, told.rows), new]))
        return replace(evidence, told=replace(told, y=self.fitted.seen(told.y)))


@final
@storable("AutoState")
@dataclass(frozen=True, slots=True, eq=False)
class AutoState:
    """What is remembered from the opening of one batch to the next."""

    model: AutoModel | None = None
    idle: int = 0  # evaluations that told nothing new, since the last one spent on probe
    explorations: int = 0  # how often that happened; halved when it was found to have paid
    leader: int = -1  # the best row at the last probe


@final
@storable("AutoSettings")
@dataclass(frozen=True, slots=True)
class AutoSettings:
    """What a user has to say, and the algorithm that follows from it and a model."""

    enumerates: bool  # the candidates of a pool; else points of a box are searched for
    attitude: Attitude = "balanced"
    delta: float = 0.1
    workers: int = 1
    switch_cost: float = 0.0
    deterministic: bool = False

    @property
    def explores(self) -> bool:
        return self.attitude != "safe" and not self.deterministic

    @property
    def uses_knowledge_gradient(self) -> bool:
        """Whether candidates are chosen by what they may gain."""
        return self.explores and self.enumerates

    def closed(self, evidence: Evidence) -> Mask:
        """Tell which candidates must not be chosen: beside the excluded ones, those given up.

        That is what failed twice and never had a value; where values are deterministic, what failed
        once too, and all that has been evaluated or is under way.
        """
        often = evidence.failed_counts >= (1 if self.deterministic else FAILURES)
        closed = evidence.closed(np.intersect1d(evidence.failed_rows[often], evidence.lost))
        return closed | evidence.closed(evidence.taken) if self.deterministic else closed

    def describe(self, model: AutoModel, unique: int, explored: int) -> str:
        """Say in one line which algorithm runs on so many points, and why."""
        points = counted(unique, "unique point")
        if model.is_sparse:
            belief = f"BBKB's dictionary, as {points} have piled up (more than {MANY})"
        else:
            belief = f"Exact posterior on {points}"
        if self.attitude == "safe":
            choice = "upper bounds of a theorem's width (safe)"
        elif self.deterministic:
            choice = "expected improvement, nothing twice (deterministic)"
        else:
            score = "knowledge gradients" if self.uses_knowledge_gradient else "upper bounds"
            choice = f"{score} ({self.attitude}), explored {times(explored)}"
        size = (
            f"{self.workers} at a time" if self.workers > 1 else "stays while nothing is to learn"
        )
        return f"{belief}; {choice}; {size}"

    def pause(self, model: AutoModel, explored: int) -> float:
        """Return after how many evaluations without news one is spent on doubt."""
        if model.fitted.is_blank:
            return self.blank(model) + self.switch_cost
        slow = self.together(model) * (2.0 if self.attitude == "greedy" else 1.0)
        return self.workers * slow * (exploration.pause(explored) + self.switch_cost)

    def together(self, model: AutoModel) -> int:
        """Return how many doubts come at once, for each worker: more, as time goes by.

        There are as many as before, and what one of them finds out matters little to the next.
        """
        return 1 + model.values // LATE

    def blank(self, model: AutoModel) -> int:
        """Return how many evaluations a blank model is used for at once: more, as time goes by."""
        return max(self.workers, model.values // PARTS)

    def prior(
        self, fitted: FittedModel, points: int, dim: int
    ) -> ExactPosterior | NystromPosterior:
        """Return the model before any feedback: exact, or through a dictionary.

        No dictionary can hold what is each candidate's own: there it counts as noise.
        """
        estimate = fitted.estimate
        noise = estimate.noise_std**2
        if points <= MANY:
            ridge = max(noise, QUIET * estimate.scale)
            return ExactPosterior.prior(
                estimate.kernel, noise_std=math.sqrt(ridge), ridge=ridge, dim=dim
            )
        ridge = max(noise + estimate.effect_variance, COARSE * estimate.scale)
        return NystromPosterior.prior(
            estimate.shared,
            noise_std=math.sqrt(ridge),
            ridge=ridge,
            dim=dim,
            oversample=Oversample(OVERSAMPLE, False, None, share(self.delta, fitted.number)),
        )

    def bandit(self, model: AutoModel, search: Search, evidence: Evidence) -> Bandit:
        """Put together the algorithm for a model and the number of points."""
        fitted, prior = model.fitted, self.prior(model.fitted, model.points, evidence.points.dim)
        delta = share(self.delta, fitted.number)
        theorem: Width = RKHSWidth(delta)
        if model.is_sparse:
            theorem = BBKBWidth(delta, LIMIT, fresh=True)
        band = ScaledWidth(theorem, fitted.widening * fitted.small_sample_factor)
        acquisition, width = self._acquisition(fitted, band, prior.ridge, evidence)
        return Bandit(
            search=search,
            prior=prior,
            acquisition=acquisition,
            width=width,
            band=band,
            batching=self._batching(model),
            norm=GuessAndDouble(),
            starts=(),
        )

    def choosing(self, bandit: Bandit) -> Bandit:
        """Return the algorithm as it chooses: unless safe, by no norm, which looks find anew."""
        return bandit if self.attitude == "safe" else replace(bandit, norm=KnownNorm())

    def _acquisition(
        self, fitted: FittedModel, band: Width, noise: float, evidence: Evidence
    ) -> tuple[Acquisition, Width]:
        if self.attitude == "safe":
            return UCB(leeway=LEEWAY), band
        calibrated = ConstantWidth(fitted.widening, self.delta)
        if self.deterministic:
            return ExpectedImprovement(), calibrated
        if self.uses_knowledge_gradient:
            ahead = AHEAD[self.attitude] * fitted.optimism * (BEGUN + evidence.evaluations)
            return KnowledgeGradient(ahead, noise), calibrated
        return UCB(leeway=LEEWAY), GrowingWidth(
            FACTORS[self.attitude] * fitted.widening, self.delta
        )

    def _batching(self, model: AutoModel) -> BatchRule:
        if self.deterministic:
            parts = model.points // PARTS if model.is_sparse else 1
            return FixedSize(max(self.workers, parts))
        if self.workers > 1:
            return FixedSize(self.workers)
        if model.is_sparse and not self.switch_cost:
            return GlobalRatio(LIMIT)
        return Settle(switch_cost=self.switch_cost)

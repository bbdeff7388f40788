"""A fitted model with its belief, and the algorithm that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, ExpectedImprovement, KnowledgeGradient
from noregret.arrays import positions, stacked
from noregret.automatic.constants import DEFAULTS, AutoConstants
from noregret.automatic.settings import AutoSettings
from noregret.batching import BatchRule, FixedSize, GlobalRatio, Settle
from noregret.fitting import Family, FittedModel, learn, share
from noregret.policies import Bandit, Belief, Evidence, Purpose
from noregret.posteriors import ExactPosterior, NystromPosterior, Observations, Oversample, subset
from noregret.search import Search
from noregret.storable import storable
from noregret.widths import (
    BBKBWidth,
    ConstantWidth,
    GrowingWidth,
    GuessAndDouble,
    Information,
    NystromWidth,
    RKHSWidth,
    ScaledWidth,
    Width,
)


@final
@storable("AutoModel")
@dataclass(frozen=True, slots=True, eq=False)
class AutoModel:
    """A model, and what is believed by it."""

    fitted: FittedModel
    belief: Belief
    points: int  # unique points, those that failed among them, …
    values: int  # … and values told, when it was fitted
    constants: AutoConstants = DEFAULTS

    @property
    def is_sparse(self) -> bool:
        """Whether points are so many that they are seen through a dictionary."""
        return isinstance(self.belief.posterior, NystromPosterior)

    @property
    def together(self) -> int:
        """How many explorations come at once, for each worker: more, as time goes by.

        There are as many as before, and what one of them finds out matters little to the next.
        """
        return 1 + self.values // self.constants.together

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
                np.concatenate([told.w, np.full(len(lost), self.constants.failed_weight)]),
                np.concatenate([told.y, np.full(len(lost), self.fitted.lost)]),
            )
        if not np.array_equal(told.rows[: len(known)], known):
            new = np.flatnonzero(~np.isin(told.rows, known))
            told = subset(told, np.concatenate([positions(known, told.rows), new]))
        return replace(evidence, told=replace(told, y=self.fitted.seen(told.y)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ModelBuilder:
    """Fits models to a run, and puts the algorithm together that follows from one."""

    search: Search
    family: Family
    names: tuple[str, ...]  # of the family's lengthscales
    settings: AutoSettings

    def fitted(self, last: AutoModel | None, evidence: Evidence) -> AutoModel:
        """Return the last model, or a new one that was told everything, if a fit is due."""
        if last is not None and not self._is_due(last, evidence):
            return last
        told, points = evidence.told, len(evidence.told) + len(evidence.lost)
        fitted = learn(
            self.family,
            *(told.X, told.w, told.y, evidence.entries, evidence.scatter),
            last=None if last is None else last.fitted,
            deterministic=self.settings.deterministic,
            rng=evidence.rng(Purpose.LEARNING),
            constants=self.settings.constants.fit,
        )
        nothing = Belief(self.prior(fitted, points, evidence.points.dim), Information(), 1.0)
        model = AutoModel(fitted, nothing, points, evidence.evaluations, self.settings.constants)
        belief = self.bandit(model, evidence.evaluations).told_all(model.seen(evidence))
        return replace(model, belief=belief)

    def _is_due(self, last: AutoModel, evidence: Evidence) -> bool:
        constants, points = self.settings.constants, len(evidence.told) + len(evidence.lost)
        if points >= math.ceil(constants.growth * last.points):
            return True
        if evidence.evaluations >= constants.values_growth * last.values:
            return True
        soon = points >= 1 + constants.surprised_growth * last.points
        return soon and is_surprised(last.belief, last.seen(evidence), constants.surprise)

    def prior(
        self, fitted: FittedModel, points: int, dim: int
    ) -> ExactPosterior | NystromPosterior:
        """Return the model before any feedback: exact, or through a dictionary.

        No dictionary can hold candidate effects: there they count as noise.
        """
        estimate, constants = fitted.estimate, self.settings.constants
        noise = estimate.noise_std**2
        if points <= constants.exact_points:
            ridge = max(noise, constants.exact_ridge * estimate.scale)
            return ExactPosterior.prior(
                estimate.kernel, noise_std=math.sqrt(ridge), ridge=ridge, dim=dim
            )
        ridge = max(noise + estimate.effect_variance, constants.sparse_ridge * estimate.scale)
        delta = share(self.settings.delta, fitted.number)
        return NystromPosterior.prior(
            estimate.shared,
            noise_std=math.sqrt(ridge),
            ridge=ridge,
            dim=dim,
            oversample=Oversample(constants.oversample, False, None, delta),
        )

    def bandit(self, model: AutoModel, evaluations: int) -> Bandit:
        """Put together the algorithm for a model, after so many evaluations."""
        settings, fitted = self.settings, model.fitted
        delta = share(settings.delta, fitted.number)
        theorem: Width = RKHSWidth(delta)
        steering = theorem
        if model.is_sparse:
            theorem = NystromWidth(delta)
            steering = BBKBWidth(delta, settings.constants.limit, fresh=True)
        wider = fitted.widening * fitted.small_sample_factor
        band, safe = ScaledWidth(theorem, wider), ScaledWidth(steering, wider)
        acquisition, width = self._acquisition(model, safe, evaluations)
        return Bandit(
            search=self.search,
            prior=model.belief.posterior,
            acquisition=acquisition,
            width=width,
            band=band,
            batching=self._batching(model),
            norm=GuessAndDouble(),
            starts=(),
            norm_check=safe if model.is_sparse else None,
        )

    def _acquisition(
        self, model: AutoModel, safe: Width, evaluations: int
    ) -> tuple[Acquisition, Width]:
        settings, constants, fitted = self.settings, self.settings.constants, model.fitted
        if settings.attitude == "safe":
            return UCB(constants.leeway), safe
        calibrated = ConstantWidth(fitted.widening, settings.delta)
        if settings.deterministic:
            return ExpectedImprovement(), calibrated
        if settings.uses_knowledge_gradient:
            ahead = constants.greedy_ahead if settings.attitude == "greedy" else constants.ahead
            ahead = ahead * fitted.optimism * (constants.ahead_at_first + evaluations)
            return KnowledgeGradient(ahead, model.belief.posterior.ridge), calibrated
        factor = constants.greedy_width if settings.attitude == "greedy" else constants.width
        return UCB(constants.leeway), GrowingWidth(factor * fitted.widening, settings.delta)

    def _batching(self, model: AutoModel) -> BatchRule:
        settings, constants = self.settings, self.settings.constants
        if settings.deterministic:
            parts = model.points // constants.most_at_once if model.is_sparse else 1
            return FixedSize(max(settings.workers, parts))
        if settings.workers > 1:
            return FixedSize(settings.workers)
        if model.is_sparse and not settings.switch_cost:
            return GlobalRatio(constants.limit)
        return Settle(constants.short, constants.long, settings.switch_cost)


@final
@storable("AutoState")
@dataclass(frozen=True, slots=True, eq=False)
class AutoState:
    """What is remembered from the opening of one batch to the next."""

    model: AutoModel | None = None
    idle: int = 0  # evaluations that told nothing new since the last exploration
    explorations: int = 0  # how many there were; halved when they were found to have paid
    leader: int = -1  # the best row at the last exploration


def is_surprised(belief: Belief, seen: Evidence, deviations: float) -> bool:
    """Tell whether a value told since the last batch is far higher than the belief allowed.

    An average of m new values should lie within some √(σ² + ridge/m) of the mean that was believed
    before them. Values far too low are left to the floor.
    """
    posterior, told = belief.posterior, seen.told
    known, missing = posterior.observed, len(told) - len(posterior.observed)
    w, y = np.pad(known.w, (0, missing)), np.pad(known.y, (0, missing))
    changed = np.flatnonzero(told.w > w)
    if not changed.size:
        return False
    more = told.w[changed] - w[changed]
    average = (told.w[changed] * told.y[changed] - w[changed] * y[changed]) / more
    mean, variance = posterior.marginals(told.X[changed])
    room = deviations * np.sqrt(variance + posterior.ridge / more)
    return bool((average - mean > room).any())

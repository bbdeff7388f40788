"""The policy without knobs: it fits a model, chooses by it, and looks past it now and then."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.arrays import Rows
from noregret.automatic import exploration
from noregret.automatic.account import described
from noregret.automatic.exploration import Exploration
from noregret.automatic.model import AutoModel, AutoState, ModelBuilder
from noregret.automatic.settings import AutoSettings
from noregret.automatic.view import AutoView
from noregret.errors import ArgumentError
from noregret.fitting import Family, WithCandidateEffect, family_for, parameter_prior
from noregret.kernels import probe_rows
from noregret.policies import Bandit, Belief, Evidence, Proposal, Purpose
from noregret.pools import Domain, Points, Renumbering
from noregret.search import Search, search_of
from noregret.storable import storable
from noregret.widths import KnownNorm

FARTHEST = 1e100  # features off the pool
log = logging.getLogger(__name__)


@final
@storable("AutoPolicy")
@dataclass(frozen=True, slots=True, eq=False)
class AutoPolicy:
    """Choose by what a fitted model expects to gain, and explore past it now and then.

    The model is fitted again on a geometric schedule, when a batch opens. With t values told, a
    candidate of a pool is worth its mean, and what it may gain in the 3·(t + 50) evaluations that
    are taken to come (`KnowledgeGradient`); deviations and gains count as far as points that were
    left out bear them out (`LeftOut`). In a box, where the points around one say as much as itself,
    it is worth an upper bound of width

        β_t = factor·√(2 log(1 + t))·widening                                                  (1)

    A fitted model may be confident and wrong: then the same candidates win again and again, and
    nothing is learned. So after 2 + k/2 evaluations of candidates that are known (of a variance
    below half the noise) one explores, the k-th: by a function sampled from the posterior, from the
    eighth on every second time by one that promises more than the best, and every eighth by chance
    alone. After 10⁴ values they come two by two, then three by three. Where the best so far is
    clearly better than at the last exploration, k is halved. Where the highest value is a ceiling
    (`FittedModel.tied`), nothing but exploration looks for more. Where a constant explains the
    values as well as the model, two of three evaluations are by chance.

    `attitude="safe"` chooses by upper bounds of a theorem's width, and does not explore besides.
    Where values are deterministic nothing is evaluated twice, and expected improvement chooses.

    All these numbers stand in `AutoConstants`, and may be chosen:

    >>> from noregret.automatic import AutoConstants, AutoPolicy, AutoSettings
    >>> pool = nr.Pool([[x / 100] for x in range(101)])
    >>> settings = AutoSettings(enumerates=True, constants=AutoConstants(first=9))
    >>> opt = nr.Optimizer(pool, AutoPolicy.of(pool, settings))
    >>> len(opt.ask())
    10
    """

    search: Search
    family: Family
    names: tuple[str, ...]  # of the family's lengthscales
    settings: AutoSettings

    @classmethod
    def of(cls, pool: Domain | Points, settings: AutoSettings) -> AutoPolicy:
        """Return the policy for a domain, with the kernels that suit its features."""
        points = Points.of(pool)
        family, names = family_for(points, settings.constants.fit)
        if points.candidates:
            family = WithCandidateEffect(family)
        return cls(search_of(points), family, names, settings)

    @property
    def builder(self) -> ModelBuilder:
        return ModelBuilder(self.search, self.family, self.names, self.settings)

    def begin(self) -> AutoState:
        return AutoState()

    def extended(
        self, state: AutoState, before: Points, points: Points, numbers: Renumbering
    ) -> tuple[AutoPolicy, AutoState]:
        """Lengthscales stay in units of the ranges that features had at the start."""
        if state.model is None:
            return self, state
        bandit = self.builder.bandit(state.model, 0)
        _, belief = bandit.extended(state.model.belief, before, points, numbers)
        model = replace(state.model, belief=belief)
        return self, replace(state, model=model, leader=numbers.of(state.leader))

    def vet(self, X: Rows) -> None:
        """Let a kernel of the family look at points before they are written down."""
        if not len(X):
            return
        if X.dtype == np.float64 and np.abs(X).max() > FARTHEST:
            raise ArgumentError(
                f"a feature of {np.abs(X).max():g} is too large to be compared with others; give "
                f"numbers of at most {FARTHEST:g}."
            )
        theta = parameter_prior(self.family, 1.0, self.settings.constants.fit)[0]
        probe_rows(self.family.kernel(theta[2:]), X)

    def look(self, state: AutoState, evidence: Evidence) -> AutoView:
        return AutoView(self.builder, state, evidence)

    def propose(
        self, state: AutoState, evidence: Evidence, room: int
    ) -> tuple[Proposal, AutoState]:
        """Start by chance; then fit a model if it is due, and choose by it or explore."""
        first = self._first(evidence, room)
        if first is not None:
            return first, state
        settings, builder = self.settings, self.builder
        model = builder.fitted(state.model, evidence)
        seen = model.seen(replace(evidence, excluded=settings.still_open(evidence)))
        if model is not state.model:  # its belief was told everything
            seen = seen.booked()
            if log.isEnabledFor(logging.INFO):
                log.info("%s", described(settings, model, model.points, state.explorations))
        bandit = builder.bandit(model, evidence.evaluations)
        if settings.attitude != "safe":  # looks double the norm when they ask for a bound
            bandit = replace(bandit, norm=KnownNorm())
        pause, most = math.inf, room
        if settings.explores:
            pause = exploration.pause_of(model, settings, state.explorations)
            left = pause - state.idle if state.idle < pause else pause
            most = min(room, max(math.ceil(left), settings.workers))
        proposal, belief = self._chosen(model, bandit, seen, most)
        state = replace(state, model=replace(model, belief=belief))
        if most < room and proposal.reason == f"at_most {most} reached":
            proposal = replace(proposal, reason="until the next exploration")
        other = Exploration(settings.constants, bandit, belief, seen)
        if settings.deterministic:
            return other.unmet(proposal, room), state
        known = settings.constants.known * belief.posterior.ridge
        idle = exploration.without_news(proposal, evidence, known)
        if idle and state.idle >= pause:
            probe = self._explored(model, other, state.explorations, room)
            leader = other.leader(state.leader)
            paid = settings.constants.paid if leader != state.leader >= 0 else 1
            count = (state.explorations + model.together) // paid
            state = replace(state, idle=0, explorations=count, leader=leader)
            if probe is not None:  # else all is known
                return probe, state
        return proposal, replace(state, idle=state.idle + idle)

    def _chosen(
        self, model: AutoModel, bandit: Bandit, seen: Evidence, most: int
    ) -> tuple[Proposal, Belief]:
        """Choose by the model; where the highest value is a ceiling, that again."""
        if model.fitted.tied and self.settings.explores:
            belief, _ = bandit.believe(model.belief, seen)
            best = exploration.at_ceiling(belief, seen, model.fitted.tied, most)
            if best is not None:
                return best, belief
        return bandit.propose(model.belief, seen, most)

    def _explored(
        self, model: AutoModel, other: Exploration, explorations: int, room: int
    ) -> Proposal | None:
        """Explore by chance, or by functions sampled from the model."""
        settings, constants, probe = self.settings, self.settings.constants, None
        turn, most = explorations // model.together, min(room, model.together * settings.workers)
        if model.fitted.is_blank:
            size = constants.blank_by_chance * exploration.blank_size(model, settings)
            probe = other.by_chance(min(room, size))
        elif turn % constants.by_chance == constants.by_chance - 1:
            probe = other.by_chance(most)
        if probe is None:
            probe = other.by_sampled_functions(most, other.functions(turn))
        if probe is None or not settings.switch_cost:
            return probe
        return other.prolonged(probe, settings.switch_cost, room)

    def _first(self, evidence: Evidence, room: int) -> Proposal | None:
        """Draw the first candidates by chance, and more while none of them has a value."""
        told, constants = len(evidence.told), self.settings.constants
        workers = self.settings.workers
        lengthscales = min(self.family.lengthscales, constants.most_lengthscales)
        size = constants.first + math.ceil(constants.first_per_lengthscale * lengthscales)
        left = max(size, workers) - told - len(evidence.open_)
        if not told:
            left = max(left, workers)
        if left <= 0:
            return None
        rng = evidence.rng(Purpose.START)
        picks = exploration.chance(evidence, min(left, room), rng)
        if not len(picks):
            closed = self.settings.still_open(evidence)  # raises where all is closed
            if told:
                return None
            picks = evidence.points.sample(closed, 1, rng)
        return Proposal.of_singles(picks, "start: drawn by chance")

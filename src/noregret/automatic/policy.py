"""The policy without knobs: it learns its model, uses it, and goes on doubting it."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from noregret.arrays import Rows
from noregret.automatic import exploration
from noregret.automatic.settings import AutoModel, AutoSettings, AutoState
from noregret.automatic.view import AutoView
from noregret.batching import FixedSize
from noregret.errors import ArgumentError, ExhaustedError
from noregret.fitting import Family, FitConstants, learn
from noregret.fitting.map_estimate import prior
from noregret.kernels import probe_rows
from noregret.policies import Bandit, Belief, Evidence, Proposal, Purpose
from noregret.search import Search
from noregret.storable import storable
from noregret.widths import Information

FIRST, PER_FEATURE = 5, 0.2  # candidates drawn by chance, and more for every lengthscale
FEATURES = 20  # lengthscales that are counted, at most
GROWTH = 1.1  # of the points after which a model is learned anew, …
SOON = 1.05  # … or after a surprise
FARTHEST = 1e100  # features off the pool
log = logging.getLogger(__name__)


@final
@storable("AutoPolicy")
@dataclass(frozen=True, slots=True, eq=False)
class AutoPolicy:
    """Choose by what a learned model promises, and now and then in doubt of it.

    The model is fitted anew on a geometric schedule, when a batch opens. With t values told, a
    candidate of a pool is worth its mean, and what it may gain in the 3·(t + 50) evaluations that
    are taken to come (`KnowledgeGradient`); deviations and gains count as far as points that were
    left out bear them out (`LeftOut`). In a box, where the points around one say as much as itself,
    it is worth an upper bound of width

        β_t = factor·√(2 log(1 + t))·widening                                                  (1)

    A learned model may be confident and wrong: then the same candidates win again and again, and
    nothing is learned. So where the choice is one that is known (its variance is below half the
    noise), it is exploited; but after 2 + k/2 evaluations of that kind one is spent on a probe, the
    k-th: by a function drawn from the posterior, from the eighth on every second time by one that
    promises more than the best, and every eighth by chance alone. After 10⁴ values they come two by
    two, then three by three. Where the best so far is clearly better than at the last probe,
    looking further has paid, and k is halved. Where the highest value is a ceiling
    (`FittedModel.tied`), nothing but a probe looks for more. Where a constant explains the values
    as well as the model, two of three evaluations are by chance.

    `attitude="safe"` chooses by upper bounds of a theorem's width, and has no doubts. Where values
    are deterministic nothing is evaluated twice, and expected improvement chooses.
    """

    search: Search
    family: Family
    names: tuple[str, ...]  # of the family's lengthscales
    settings: AutoSettings

    def begin(self) -> AutoState:
        """Return what is known before any feedback: nothing."""
        return AutoState()

    def vet(self, X: Rows) -> None:
        """Let a kernel of the family look at points before they are written down."""
        if not len(X):
            return
        if X.dtype == np.float64 and np.abs(X).max() > FARTHEST:
            raise ArgumentError(
                f"a feature of {np.abs(X).max():g} is too large to be compared with others; give "
                f"numbers of at most {FARTHEST:g}."
            )
        probe_rows(self.family.kernel(prior(self.family, 1.0, FitConstants())[0][2:]), X)

    def propose(
        self, state: AutoState, evidence: Evidence, room: int
    ) -> tuple[Proposal, AutoState]:
        """Start by chance; then learn if it is time, and exploit or doubt."""
        first = self._started(evidence, room)
        if first is not None:
            return first, state
        model = self.taught(state.model, evidence)
        seen = model.seen(self._open(evidence))
        bandit = self.settings.choosing(self.bandit(model, evidence))
        if model is not state.model:  # its belief was told everything
            seen = seen.booked()
        pause, most = math.inf, room
        if self.settings.explores:
            pause = self.settings.pause(model, state.explorations)
            left = pause - state.idle if state.idle < pause else pause
            most = min(room, max(math.ceil(left), self.settings.workers))
        proposal, belief = self._chosen(model, bandit, seen, most)
        state = replace(state, model=replace(model, belief=belief))
        if most < room and proposal.reason == f"at_most {most} reached":
            proposal = replace(proposal, reason="until the next doubt")
        if self.settings.deterministic:
            return self._new(proposal, bandit, belief, seen, room), state
        idle = exploration.without_news(proposal, evidence, bandit.prior.ridge)
        if idle and state.idle >= pause:
            probe = self._explore(state, model, bandit, belief, seen, room)
            leader = exploration.leading(belief.posterior, state.leader)
            paid = leader != state.leader >= 0
            count = (state.explorations + self.settings.together(model)) // (2 if paid else 1)
            state = replace(state, idle=0, explorations=count, leader=leader)
            if probe is not None:  # else all is known
                return probe, state
        return proposal, replace(state, idle=state.idle + idle)

    def look(self, state: AutoState, evidence: Evidence) -> AutoView:
        """Return what is believed now; nothing is computed yet."""
        return AutoView(
            state,
            evidence,
            settings=self.settings,
            family=self.family,
            names=self.names,
            fit=partial(self.taught, None),
            bandit=self.bandit,
        )

    def _chosen(
        self, model: AutoModel, bandit: Bandit, seen: Evidence, most: int
    ) -> tuple[Proposal, Belief]:
        """Choose by the model; where the highest value is a ceiling, that again."""
        if model.fitted.tied and self.settings.explores:
            belief = bandit.told(model.belief, seen)
            top = exploration.at_ceiling(belief.posterior, seen, model.fitted.tied, most)
            if top is not None:
                return top, belief
        return bandit.propose(model.belief, seen, most)

    def _explore(
        self,
        state: AutoState,
        model: AutoModel,
        bandit: Bandit,
        belief: Belief,
        seen: Evidence,
        room: int,
    ) -> Proposal | None:
        """Choose against the model: by chance, or by functions drawn from it."""
        together, probe = self.settings.together(model), None
        turn, most = state.explorations // together, min(room, together * self.settings.workers)
        if model.fitted.is_blank:
            size = min(room, exploration.BLANK * self.settings.blank(model))
            probe = exploration.by_chance(belief.posterior, seen, size)
        elif turn % exploration.BLIND == exploration.BLIND - 1:
            probe = exploration.by_chance(belief.posterior, seen, most)
        if probe is None:
            probe = exploration.by_sampled_function(
                bandit, belief, seen, most, exploration.promises(turn)
            )
        if probe is None or not self.settings.switch_cost:
            return probe
        return exploration.prolonged(probe, bandit.prior.ridge, self.settings.switch_cost, room)

    def _new(
        self, proposal: Proposal, bandit: Bandit, belief: Belief, seen: Evidence, room: int
    ) -> Proposal:
        """Return a proposal of different points that are new: the one given, if it is that."""
        batching = bandit.batching
        size = min(room, batching.size if isinstance(batching, FixedSize) else 1)
        new: Proposal | None = proposal
        if size > 1:
            new = exploration.several(bandit, belief, seen, size)
        if new is not None:
            new = exploration.unmet(new, seen)
        if new is None:
            new = exploration.by_chance(belief.posterior, seen, size)
        if new is None:  # of a box of whole numbers, as pools are closed before
            raise ExhaustedError("no point was found that was never evaluated.")
        return new

    def _started(self, evidence: Evidence, room: int) -> Proposal | None:
        """Draw the first candidates by chance, and more while none of them has a value."""
        told, open_ = evidence.told.rows, evidence.open_.rows
        size = max(
            FIRST + math.ceil(PER_FEATURE * min(self.family.lengthscales, FEATURES)),
            self.settings.workers,
        )
        left = size - len(told) - len(open_)
        if not len(told):
            left = max(left, self.settings.workers)
        if left <= 0:
            return None
        rng = evidence.rng(Purpose.START)
        picks = exploration.chance(evidence, min(left, room), rng)
        if not len(picks):
            left_open = self._open(evidence)  # raises where nothing may come twice
            if len(told):
                return None
            picks = evidence.points.sample(left_open.excluded, 1, rng)
        return Proposal.of_singles(picks, "start: drawn by chance")

    def taught(self, last: AutoModel | None, evidence: Evidence) -> AutoModel:
        """Learn a model anew if there is enough to learn since the last."""
        told, values = evidence.told, evidence.evaluations
        points = len(told) + len(evidence.lost)
        if last is not None:
            due = math.ceil(GROWTH * last.points)
            soon = points >= 1 + SOON * last.points
            early = soon and exploration.is_surprised(last.belief, last.seen(evidence))
            if points < due and values < 2 * last.values and not early:
                return last
        fitted = learn(
            self.family,
            *(told.X, told.w, told.y, evidence.entries, evidence.scatter),
            last=None if last is None else last.fitted,
            deterministic=self.settings.deterministic,
            rng=evidence.rng(Purpose.LEARNING),
        )
        nothing = Belief(
            self.settings.prior(fitted, points, evidence.points.dim), Information(), 1.0
        )
        model = AutoModel(fitted, nothing, points, values)
        log.info("%s", self.settings.describe(model, points, 0))
        belief = self.bandit(model, evidence).told_all(model.seen(evidence))
        return replace(model, belief=belief)

    def bandit(self, model: AutoModel, evidence: Evidence) -> Bandit:
        """Put together the algorithm for a model."""
        return self.settings.bandit(model, self.search, evidence)

    def _open(self, evidence: Evidence) -> Evidence:
        """Return the evidence with all excluded that must not be chosen; raise if that is all."""
        closed = self.settings.closed(evidence)
        if len(closed) and closed.all() and not evidence.excluded.all():
            under_way = len(evidence.open_)
            wait = f" ({under_way} are still under way: tell them first)" if under_way else ""
            raise ExhaustedError(
                f"no candidate is left that was neither evaluated, excluded nor failed{wait}, and "
                "none of these is worth evaluating again."
            )
        return replace(evidence, excluded=closed)

"""A bandit whose lengthscales shrink and whose norm bound grows, on a schedule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

from noregret.arrays import Rows
from noregret.kernels import shortened
from noregret.policies.bandit import Bandit, BanditView, Belief
from noregret.policies.base import Evidence, Proposal
from noregret.pools import Points, Renumbering
from noregret.storable import storable
from noregret.widths import GrowthSchedule, StagedWidth, at_stage


@final
@storable("GrowingState")
@dataclass(frozen=True, slots=True, eq=False)
class GrowingState:
    """The stage of the schedule, and what the bandit of that stage remembers."""

    stage: int
    belief: Belief = field(repr=False)


@final
@storable("GrowingBandit")
@dataclass(frozen=True, slots=True, eq=False)
class GrowingBandit:
    """A `Bandit` that knows nothing of its kernel: `norm_bound="grow"`.

    When a batch opens in a new stage, everything told is believed again under shorter lengthscales:
    one posterior made from scratch, on unique points, O(log t) times in all. Within a stage it is a
    bandit like any other. A batch ends where its stage does, however long a rule would let it be.
    """

    bandit: Bandit
    schedule: GrowthSchedule

    @property
    def noise_std(self) -> float:
        return self.bandit.noise_std

    def begin(self) -> GrowingState:
        return GrowingState(0, self.at(0).begin())

    def extended(
        self, state: GrowingState, before: Points, points: Points, numbers: Renumbering
    ) -> tuple[GrowingBandit, GrowingState]:
        bandit, belief = self.bandit.extended(state.belief, before, points, numbers)
        return replace(self, bandit=bandit), replace(state, belief=belief)

    def vet(self, X: Rows) -> None:
        self.bandit.vet(X)

    def propose(
        self, state: GrowingState, evidence: Evidence, room: int
    ) -> tuple[Proposal, GrowingState]:
        now = self._now(state, evidence)
        under_way = int(evidence.open_.counts.sum())
        left = max(self.schedule.end(now.stage) - evidence.evaluations - under_way, 1)
        bandit, most = self.at(now.stage), min(room, left)
        proposal, belief = bandit.propose(now.belief, evidence, most)
        if most < room and proposal.reason == bandit.cut_at(most):
            proposal = replace(proposal, reason="lengthscales shrink next")
        return proposal, replace(now, belief=belief)

    def look(self, state: GrowingState, evidence: Evidence) -> BanditView:
        now = self._now(state, evidence)
        return self.at(now.stage).look(now.belief, evidence)

    def at(self, stage: int) -> Bandit:
        """Return the bandit of a stage; its prior has the kernel that was given."""
        return replace(
            self.bandit,
            width=at_stage(self.bandit.width, stage),
            band=StagedWidth(self.bandit.band, stage),
            norm=self.schedule.norm_at(stage),
            bounds_information=True,
        )

    def _now(self, state: GrowingState, evidence: Evidence) -> GrowingState:
        """Return the state, with nothing believed yet where a new stage has begun."""
        stage = self.schedule.stage(evidence.evaluations)
        if stage <= state.stage:
            return state
        kernel = shortened(self.bandit.prior.kernel, self.schedule.shrink_factor(stage))
        prior = replace(self.bandit.prior, kernel=kernel)  # type: ignore[type-var]  # a dataclass
        blank = replace(self.at(stage), prior=prior).begin()
        return GrowingState(stage, replace(blank, started=state.belief.started))

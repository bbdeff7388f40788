"""Regularised evolution: a population that ages, of which the fittest have children."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.baselines import (
    anything,
    average,
    averages,
    no_certificate,
    no_posterior,
    singles,
    uncertified,
)
from noregret.errors import require_count
from noregret.mutations import Groups, Kin, stepped
from noregret.policy import Evidence, Proposal
from noregret.pools import Box, Picks
from noregret.posteriors import Points
from noregret.streams import Purpose


@final
@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The last evaluations, each an individual, oldest first."""

    members: Indices  # places among the points told
    counts: Vector  # evaluations of each point told that have joined

    def grown(self, told: Points, most: int) -> Population:
        """Let what was told since then join, in the order of the ledger; the oldest leave.

        An evaluation joins when its value comes, however late or by whichever way.
        """
        before = np.zeros(len(told))
        before[: len(self.counts)] = self.counts
        new = np.minimum(told.w - before, most).astype(np.int64)
        joined = np.repeat(np.arange(len(told)), new)
        return Population(np.concatenate([self.members, joined])[-most:], told.w)


@final
@dataclass(frozen=True, slots=True)
class Evolution:
    """Mutate the best of a few members of a population; the child joins, the oldest leaves.

    The first `population` evaluations are drawn uniformly. Then, for every evaluation, `sample`
    members are drawn with replacement, the one of highest average has a child, and the population
    is the last `population` evaluations. Evaluations under way are no members yet, and those that
    failed never are; excluded candidates have no children and are none.

    Source: Real et al., AAAI 2019, Algorithm 1 (aging evolution).
    Differs: a member's fitness is the average of all values of its candidate, not its own alone.
    """

    population: int = 100
    sample: int = 10
    groups: Groups | None = None
    neighbours: int = 10
    size: int = 1
    _kin: list[Kin] = field(default_factory=list, init=False, repr=False, compare=False)  # a cache
    estimates = averages
    posterior = no_posterior
    certify = no_certificate
    no_theorem = uncertified
    appraise = average
    vet = anything

    def __post_init__(self) -> None:
        require_count("regularized_evolution(population=...)", self.population)
        require_count("regularized_evolution(sample=...)", self.sample)
        require_count("regularized_evolution(neighbours=...)", self.neighbours)
        require_count("regularized_evolution(batch_size=...)", self.size)

    def begin(self) -> Population:
        """Return the population before any feedback: nobody."""
        return Population(np.empty(0, dtype=np.int64), np.empty(0))

    def propose(
        self, state: Population, evidence: Evidence, room: int
    ) -> tuple[Proposal, Population]:
        """Draw founders until there are enough, then children of those alive."""
        state = state.grown(evidence.told, self.population)
        alive = state.members[evidence.eligible[state.members]]
        begun = evidence.evaluations + int(evidence.open_.w.sum())
        rng, born = evidence.rng(Purpose.POLICY), list[Picks]()
        for at in range(min(self.size, room)):
            if begun + at < self.population or not alive.size:
                born.append(evidence.places.draw(evidence.excluded, 1, rng))
            else:
                born.append(self._child(self._parent(alive, evidence.told, rng), evidence, rng))
        rows, X = np.concatenate([one.rows for one in born]), np.concatenate([b.X for b in born])
        new = isinstance(evidence.places.domain, Box)  # numbered together, each by its own
        picks = evidence.places.peek(X) if new else Picks(rows, X)
        return singles(picks, self.size, room), state

    def _parent(self, alive: Indices, told: Points, rng: np.random.Generator) -> int:
        """Return the place of the best of a few, ties going to the lowest row."""
        drawn = alive[rng.integers(len(alive), size=self.sample)]
        best = drawn[told.y[drawn] == told.y[drawn].max()]
        return int(best[np.argmin(told.rows[best])])

    def _child(self, parent: int, evidence: Evidence, rng: np.random.Generator) -> Picks:
        places, told = evidence.places, evidence.told
        if isinstance(places.domain, Box):
            return places.peek(stepped(places.domain, told.X[parent], rng))
        if not self._kin or self._kin[0].places is not places:
            self._kin[:] = [Kin(places, self.groups, self.neighbours)]
        row = self._kin[0].mutated(int(told.rows[parent]), evidence.excluded, rng)
        if row is None:  # there is no other candidate
            return places.draw(evidence.excluded, 1, rng)
        return places.picks(np.array([row]))

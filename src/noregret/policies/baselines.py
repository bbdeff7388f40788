"""Policies without a model, to be beaten."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Rows
from noregret.errors import require_at_least, require_count, require_positive
from noregret.policies.allowance import Allowance, sample
from noregret.policies.base import Evidence, Proposal, Purpose
from noregret.pools import Picks
from noregret.storable import storable

EPSILON_GRID: tuple[Mapping[str, float], ...] = tuple(
    {"a": a, "b": b} for a in (0.1, 1.0, 10.0) for b in (1 / 3, 1 / 2, 1.0, 2.0)
)  # of MINI 2022, appendix B.1, whose best on NAS-Bench was a = 1, b = 1/2


@final
@storable("Nothing")
@dataclass(frozen=True, slots=True)
class Nothing:
    """The state of a policy that remembers nothing."""


class Baseline:
    """A policy without a model: it takes any point, and certifies nothing."""

    __slots__ = ()

    @final
    def vet(self, X: Rows) -> None:
        """Take any point: nothing is computed of its features."""

    @property
    @final
    def no_theorem(self) -> str:
        return (
            f"{type(self).__name__} is a baseline: it has no posterior and no certificate. "
            "Use one of the Gaussian-process algorithms, such as mini_gp_ucb or bbkb."
        )


def singles(picks: Picks, size: int, room: int) -> Proposal:
    """Return picks as a batch of single evaluations."""
    reason = f"fixed size {size} reached" if size <= room else f"at_most {room} reached"
    if len(picks) < min(size, room):
        reason = "at_most_each allows no more"
    return Proposal.of_singles(picks, reason)


@final
@storable("Uniform")
@dataclass(frozen=True, slots=True)
class Uniform(Baseline):
    """The policy of `uniform`."""

    size: int = 1

    def __post_init__(self) -> None:
        require_count("uniform(batch_size=...)", self.size)

    def begin(self) -> Nothing:
        return Nothing()

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        rng = evidence.rng(Purpose.POLICY)
        return singles(sample(evidence, min(self.size, room), rng), self.size, room), state


@final
@storable("RandomSearch")
@dataclass(frozen=True, slots=True)
class RandomSearch(Baseline):
    """The policy of `random_search`: draw from the candidates evaluated least often, in O(N).

    In a box of whole numbers a few draws are made to find a point that was not met before.
    """

    size: int = 1

    def __post_init__(self) -> None:
        require_count("random_search(batch_size=...)", self.size)

    def begin(self) -> Nothing:
        return Nothing()

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        rng = evidence.rng(Purpose.POLICY)
        points, size = evidence.points, min(self.size, room)
        if points.candidates:
            picks = points.picks(self._rarest(evidence, size, rng))
        else:
            met = np.arange(len(points))
            picks = points.sample_new(evidence.excluded, met, self.size, rng)[:size]
            if len(picks) < size:  # all whole numbers that were found have been evaluated
                again = sample(evidence, size - len(picks), rng)
                picks = points.picks_of(np.concatenate([picks.X, again.X]))
        return singles(picks, self.size, room), state

    def _rarest(self, evidence: Evidence, size: int, rng: np.random.Generator) -> Indices:
        """Return rows drawn, each from those that are then the rarest."""
        evidence.points.sample(evidence.unavailable, 0, rng)  # raises where nothing is left
        counts = np.zeros(len(evidence.points))
        for points in (evidence.told, evidence.open_):
            counts[points.rows] += points.counts
        allowed = np.flatnonzero(~evidence.unavailable)
        counts, taken, left = counts[allowed], list[Indices](), size
        most = math.inf if evidence.at_most_each is None else evidence.at_most_each
        while left > 0 and counts.min() < most:  # drawn whole, so that `size` only cuts
            rarest = np.flatnonzero(counts == counts.min())
            counts[rarest] += 1
            taken.append(allowed[rng.permutation(rarest)])
            left -= len(rarest)
        return np.concatenate(taken)[:size]


@final
@storable("EpsilonGreedy")
@dataclass(frozen=True, slots=True)
class EpsilonGreedy(Baseline):
    """The policy of `epsilon_greedy`."""

    a: float = 1.0
    b: float = 0.5
    size: int = 1

    def __post_init__(self) -> None:
        require_positive("epsilon_greedy(a=...)", self.a)
        require_at_least("epsilon_greedy(b=...)", self.b, 0.0)
        require_count("epsilon_greedy(batch_size=...)", self.size)

    def begin(self) -> Nothing:
        return Nothing()

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        rng = evidence.rng(Purpose.POLICY)
        size = min(self.size, room)
        luck = rng.random(self.size)[:size]  # drawn whole, so that `room` only cuts
        picks = sample(evidence, size, rng)
        size = len(picks)
        t = evidence.evaluations + int(evidence.open_.w.sum()) + 1 + np.arange(size)
        explore = luck[:size] < self.a / t**self.b
        allowed = evidence.eligible
        if allowed.any():
            y = np.where(allowed, evidence.told.y, -np.inf)
            best = evidence.told.rows[y == y.max()].min()
            at = int(np.flatnonzero(evidence.told.rows == best)[0])
            if evidence.at_most_each is None:
                rows = np.where(explore, picks.rows, best)
                picks = Picks(rows, np.where(explore[:, None], picks.X, evidence.told.X[at]))
            else:
                picks = self._best_within(evidence, picks, explore)
        return singles(picks, self.size, room), state

    def _best_within(self, evidence: Evidence, drawn: Picks, explore: Mask) -> Picks:
        """Return what was drawn where one explores, and else the best that a cap leaves."""
        told, allowance = evidence.told, Allowance(evidence)
        places = np.flatnonzero(evidence.eligible)
        order = iter(places[np.lexsort((told.rows[places], -told.y[places]))].tolist())
        best, rows, X = next(order, None), drawn.rows.copy(), drawn.X.copy()
        for row in drawn.rows[explore].tolist():
            allowance.take(row, 1)
        kept = explore.copy()
        for at in np.flatnonzero(~explore).tolist():
            while best is not None and not allowance.of(int(told.rows[best])):
                best = next(order, None)
            if best is not None:
                rows[at], X[at] = told.rows[best], told.X[best]
            kept[at] = allowance.of(int(rows[at])) > 0
            if kept[at]:
                allowance.take(int(rows[at]), 1)
        return Picks(rows[kept], X[kept])

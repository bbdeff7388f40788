"""How every policy decides: evidence in, a proposal out.

A `Policy` is a value. What it must remember between batches is its state, a value too, which the
optimizer holds and saves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum, unique
from typing import Protocol, TypeVar, final, runtime_checkable

import numpy as np

from noregret.arrays import Indices, Mask, Rows, Vector, positions
from noregret.errors import ArgumentError
from noregret.pools import NO_ROWS, Picks, Points, Renumbering, SwitchCosts
from noregret.posteriors import Observations


@unique
class Purpose(IntEnum):
    """What a stream of random numbers is for. The numbers are part of saved runs."""

    START = 0
    DICTIONARY = 1
    POLICY = 2
    THOMPSON = 3
    LEARNING = 4
    EXPLORATION = 5


def stream(seed: int, purpose: Purpose, step: int) -> np.random.Generator:
    """Return the generator for one purpose at one step (the number of batches opened before)."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), step)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All that is known when a batch is opened: values are centred on the offset, larger better."""

    points: Points  # the domain, and points off it
    told: Observations
    entries: Vector  # (n,) values, or averages of several, told of each …
    scatter: Vector  # (n,) … and their sample variance, NaN where there are fewer than two
    open_: Observations
    excluded: Mask  # (N,)
    asked_variances: Vector  # σ²_stale of evaluations told since the last batch was opened …
    asked_counts: Indices  # … and how many of each …
    asked_weights: Vector  # … of what weight together
    unasked_rows: Indices  # rows told without having been asked for since then …
    unasked_weights: Vector  # … and of what weight
    failed_rows: Indices  # rows of which evaluations failed …
    failed_counts: Indices  # … and how many
    seed: int
    step: int  # batches opened so far
    at_most_each: int | None = None  # evaluations of one candidate, told and under way
    switch_costs: SwitchCosts | None = None  # between candidates …
    set_up: int | None = None  # … of which this row is what the worker asked for last …
    came_from: int | None = None  # … and this what was set up before it

    @property
    def evaluations(self) -> int:
        return int(self.told.counts.sum())

    @property
    def lost(self) -> Indices:
        """Rows of which evaluations failed, and none had a value."""
        failed = self.failed_rows  # mostly none, which is found out in no time
        return failed[~np.isin(failed, self.told.rows)] if len(failed) else failed

    @property
    def taken(self) -> Indices:
        """Rows that were evaluated or are under way."""
        return np.union1d(self.told.rows, self.open_.rows)

    def counted(self) -> tuple[Indices, Vector]:
        """Return rows of which evaluations count towards `at_most_each`, and how many of each.

        Those told and under way count, failures do not; but what failed as often as it may be
        evaluated counts as evaluated.
        """
        rows, counts = self.told.rows, self.told.counts
        most = np.inf if self.at_most_each is None else self.at_most_each
        failed = self.failed_rows[self.failed_counts >= most]
        for more, times in (
            (self.open_.rows, self.open_.counts),
            (failed, np.full(len(failed), most)),
        ):
            if len(more):  # mostly not
                at = positions(more, rows)
                known, new = at >= 0, at < 0
                counts = np.append(counts, times[new])
                counts[at[known]] += times[known]
                rows = np.append(rows, more[new])
        return rows, counts

    @property
    def spent(self) -> Indices:
        """Rows evaluated, under way, or failed, as often as `at_most_each` allows."""
        if self.at_most_each is None:
            return NO_ROWS
        rows, counts = self.counted()
        spent: Indices = rows[counts >= self.at_most_each]
        return spent

    @property
    def unavailable(self) -> Mask:
        """Which candidates of a pool must not be chosen: those excluded, and those spent."""
        return self.excluded if self.at_most_each is None else self.closed(NO_ROWS)

    def closed(self, rows: Indices) -> Mask:
        """Return which candidates of a pool are unavailable or stand in these rows."""
        closed = self.excluded.copy()
        for some in (rows, self.spent):
            closed[some[some < len(closed)]] = True
        return closed

    def booked(self) -> Evidence:
        """Return the evidence with nothing that is new since the last batch was opened."""
        return replace(
            self,
            asked_variances=np.empty(0),
            asked_counts=NO_ROWS,
            asked_weights=np.empty(0),
            unasked_rows=NO_ROWS,
            unasked_weights=np.empty(0),
        )

    @property
    def eligible(self) -> Mask:
        """Which of the points told can be recommended: candidates that are not excluded."""
        N = len(self.excluded)
        if not N:  # a box, where every point is a candidate
            return np.ones(len(self.told), dtype=np.bool_)
        rows = self.told.rows
        return np.asarray((rows < N) & ~self.excluded[np.minimum(rows, N - 1)])

    def cost_to(self, pick: Picks) -> float:
        """Return the cost of the switch that leads to a point, where costs are by pair.

        To what is set up already the switch has been made; that to the first cannot be known.
        """
        assert self.switch_costs is not None
        before = self.came_from if self.set_up == pick.rows[0] else self.set_up
        if before is None:
            return self.switch_costs.typical(self.points, pick)
        now = self.points.picks(np.array([before]))
        return float(self.switch_costs.between(self.points, now, pick)[0, 0])

    def rng(self, purpose: Purpose) -> np.random.Generator:
        return stream(self.seed, purpose, self.step)


@final
@dataclass(frozen=True, slots=True)
class ChoiceDiagnostics:
    """What a choice rested on; as here for policies without a model."""

    beta: float = math.nan  # by how much deviations were multiplied
    log_det: float = math.nan  # twice the information gained about f
    dictionary: int = 0  # points that carried the posterior


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """What to evaluate next, as runs."""

    rows: Indices
    X: Rows  # their features
    repeats: Indices
    variances: Vector  # σ²_stale at each run
    reason: str
    diagnostics: ChoiceDiagnostics = ChoiceDiagnostics()

    @classmethod
    def of_singles(
        cls,
        picks: Picks,
        reason: str,
        variances: Vector | None = None,
        diagnostics: ChoiceDiagnostics = ChoiceDiagnostics(),
    ) -> Proposal:
        """Propose one evaluation of each point; variances that nobody knows are NaN."""
        ones = np.ones(len(picks), dtype=np.int64)
        known = np.full(len(picks), np.nan) if variances is None else variances
        return cls(picks.rows, picks.X, ones, known, reason, diagnostics)


State = TypeVar("State")


@runtime_checkable
class Policy(Protocol[State]):
    """Decides what to evaluate; holds no state of its own, caches apart."""

    def begin(self) -> State:
        """Return what is remembered before any feedback."""

    def vet(self, X: Rows) -> None:
        """Raise where points with these features could not be believed; none are told by then."""

    def propose(self, state: State, evidence: Evidence, room: int) -> tuple[Proposal, State]:
        """Return a batch of at most `room` evaluations and what to remember."""


@runtime_checkable
class ExtensiblePolicy(Protocol[State]):
    """A policy that must know when candidates are added; others go on as they are."""

    def extended(
        self, state: State, before: Points, points: Points, numbers: Renumbering
    ) -> tuple[Policy[State], State]:
        """Return the policy and what it remembers for points that take the place of others.

        These have more candidates, behind the others; what lies off the pool has other numbers.
        """


def as_policy(policy: Policy[State]) -> Policy[State]:
    """Return a policy, or raise if it is none."""
    if isinstance(policy, type) or not isinstance(policy, Policy):
        raise ArgumentError(
            "policy must be an object that can begin, vet and propose, such as "
            f"noregret.policies.RandomSearch(), got {policy!r:.80}. Algorithms make an optimizer "
            "themselves: noregret.auto(pool)."
        )
    return policy


@runtime_checkable
class KnowsNoise(Protocol):
    """A policy that was told how noisy an evaluation is: values of other noise can be weighed."""

    @property
    def noise_std(self) -> float:
        """The standard deviation of one evaluation."""


def known_noise_std(policy: object) -> float | None:
    """Return the noise of an evaluation that a policy was told; None where it was not."""
    return float(policy.noise_std) if isinstance(policy, KnowsNoise) else None


@runtime_checkable
class Uncertified(Protocol):
    """A policy that has no theorem, so that nothing it finds can be certified."""

    @property
    def no_theorem(self) -> str:
        """Why, and what to use instead."""

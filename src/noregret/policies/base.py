"""What an optimizer thinks with: evidence in, a proposal out.

The `Optimizer` keeps the books (names, signs, tickets, the ledger); a `Policy` is a value that
reads them and decides. Whatever a policy must remember between batches is its state, a value too,
which the optimizer holds and saves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, final, runtime_checkable

import numpy as np

from noregret.arrays import Indices, Mask, Rows, Vector
from noregret.policies.random_streams import Purpose, stream
from noregret.pools import Picks, Points
from noregret.posteriors import Observations, Posterior
from noregret.widths import Assumptions


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
    asked_counts: Indices  # … and how many of each
    unasked_rows: Indices  # rows told without having been asked for since then …
    unasked_counts: Indices  # … and how often
    failed_rows: Indices  # rows of which evaluations failed …
    failed_counts: Indices  # … and how many
    seed: int
    step: int  # batches opened so far

    @property
    def evaluations(self) -> int:
        return int(self.told.w.sum())

    @property
    def lost(self) -> Indices:
        """Rows of which evaluations failed, and none had a value."""
        return self.failed_rows[~np.isin(self.failed_rows, self.told.rows)]

    @property
    def taken(self) -> Indices:
        """Rows that were evaluated or are under way."""
        return np.union1d(self.told.rows, self.open_.rows)

    def closed(self, rows: Indices) -> Mask:
        """Return which candidates of a pool are excluded or stand in these rows."""
        closed = self.excluded.copy()
        closed[rows[rows < len(closed)]] = True
        return closed

    def booked(self) -> Evidence:
        """Return the evidence with nothing that is new since the last batch was opened."""
        none: Indices = np.empty(0, dtype=np.int64)
        return replace(
            self,
            asked_variances=np.empty(0),
            asked_counts=none,
            unasked_rows=none,
            unasked_counts=none,
        )

    @property
    def eligible(self) -> Mask:
        """Which of the points told can be recommended: candidates that are not excluded."""
        N = len(self.excluded)
        if not N:  # a box, where every point is a candidate
            return np.ones(len(self.told), dtype=np.bool_)
        rows = self.told.rows
        return np.asarray((rows < N) & ~self.excluded[np.minimum(rows, N - 1)])

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
        """Propose one evaluation of each point; policies without a model know no variances."""
        ones = np.ones(len(picks), dtype=np.int64)
        known = np.zeros(len(picks)) if variances is None else variances
        return cls(picks.rows, picks.X, ones, known, reason, diagnostics)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What is believed of each evaluated point."""

    mean: Vector
    std: Vector
    lower: Vector
    upper: Vector


@final
@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """What is believed of f everywhere, and how wide."""

    posterior: Posterior
    beta: float  # what steers choices
    centre: float = 0.0  # to be added to means of the posterior
    floor: float = -math.inf  # averages below it count as this


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """How far a row can be from the best, with probability 1 − delta."""

    gap: float
    row: int
    highest: float  # upper bound on the best value among candidates not excluded
    lowest: float  # lower bound on the value of `row`
    beta: float
    delta: float
    theorem: str
    assumptions: Assumptions


@final
@dataclass(frozen=True, slots=True, eq=False)
class Leader:
    """The candidate of highest score."""

    row: int
    X: Rows  # (1, d)
    mean: float
    std: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Appraisal:
    """What is thought of one point now; as here by policies without a model."""

    mean: float = math.nan
    std: float = math.nan
    beta: float = math.nan
    score: str = ""  # what ranks candidates
    correlations: Vector | None = None  # (n,) a priori, with each point told
    rank: int | None = None  # 1 is the highest score; None where that was not looked at
    leader: Leader | None = None
    floor: float = -math.inf  # averages below it count as this


State = TypeVar("State")


class Policy(Protocol[State]):
    """Decides what to evaluate; holds no state of its own, caches apart."""

    def begin(self) -> State: ...

    def vet(self, X: Rows) -> None:
        """Raise where points with these features could not be believed; none are told by then."""
        ...

    def propose(self, state: State, evidence: Evidence, room: int) -> tuple[Proposal, State]:
        """Return a batch of at most `room` evaluations and what to remember."""
        ...

    def estimates(self, state: State, evidence: Evidence) -> Estimates: ...

    def posterior(self, state: State, evidence: Evidence) -> Outlook: ...

    def certify(self, state: State, evidence: Evidence, row: int) -> Gap: ...
    def appraise(self, state: State, evidence: Evidence, row: int) -> Appraisal: ...


@runtime_checkable
class Accountable(Protocol):
    """A policy that can say what it has learned and does."""

    def account(
        self, state: Any, evidence: Evidence, outwards: Callable[[float], float]
    ) -> tuple[str, ...]:
        """Return some sentences; `outwards` puts a value in the user's sign and units."""
        ...


@runtime_checkable
class Uncertified(Protocol):
    """A policy that has no theorem, so that its `certify` always raises."""

    @property
    def no_theorem(self) -> str:
        """Why, and what to use instead."""
        ...

"""How often is a choice taken, and when is the batch full?

A batch b₁ … b_k is chosen with no new feedback. `stale` is the posterior at the last feedback,
`now` the one after the choices so far. Each ratio rule holds a bound on σ²_stale(x)/σ²_now(x), so
that the batch ends before it is built on a confidence it does not have. The choice that crosses
the limit stays: it was made while the bound held.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

from noregret.batching.local_bound import LocalSums, Opening


@final
@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A candidate about to be taken into the batch."""

    row: int
    stale: float  # its variance at the last feedback
    now: float  # its variance after the choices before it
    room: int  # how many evaluations may still be taken
    repeats_while_best: Callable[[int], int]  # how often in a row, up to a number
    is_capped: bool = False  # whether `room` is all that the run still allows of it
    switch_cost: Callable[[], float] | None = None  # that leads to it, where it is of the pair


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """How full a batch is."""

    opening: Opening
    size: int = 0  # evaluations taken, where the rule counts them
    bound: float = 1.0  # the rule's, on σ²_stale/σ²_now
    over: bool = False  # nothing more is to be taken
    is_cut: bool = False  # … since no more of the candidate may be, where the rule wanted more
    local: LocalSums | None = None

    @property
    def ridge(self) -> float:
        return self.opening.ridge


@runtime_checkable
class BatchRule(Protocol):
    """Decides how often a choice is taken and when the batch is full."""

    __slots__ = ()

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why a batch ended, where this rule ended it."""

    @abstractmethod
    def open(self, opening: Opening) -> Fill:
        """Return a batch with nothing in it."""

    @abstractmethod
    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        """Count in evaluations under way elsewhere, chosen on older feedback."""

    @abstractmethod
    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        """Return how many evaluations of the choice to take, and the batch with them."""

    @abstractmethod
    def is_full(self, fill: Fill) -> bool:
        """Tell whether the batch ends here."""

    @abstractmethod
    def admits(self, batch: int) -> float:
        """Return the variance over ridge up to which every batch holds `batch` evaluations."""


class BatchRuleBase(BatchRule):
    """A rule whose batches begin empty and end where `take` or `count_pending` says so."""

    __slots__ = ()

    @final
    def open(self, opening: Opening) -> Fill:
        return Fill(opening)

    @final
    def is_full(self, fill: Fill) -> bool:
        return fill.over

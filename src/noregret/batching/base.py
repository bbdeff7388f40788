"""How often, and is the batch full?

A batch b₁ … b_k is chosen with no new feedback. `stale` is the posterior at the last feedback,
`now` the one after the choices so far. Each ratio rule holds a bound on σ²_stale(x)/σ²_now(x), so
that the batch ends before it is built on a confidence it does not have. The choice that crosses
the limit stays: it was made while the bound held.
"""

from __future__ import annotations

import math
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
    repeats_while_best: Callable[
        [int], int
    ]  # how often it would be chosen in a row, up to a number


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """How full a batch is: evaluations taken, the rule's bound, and the local sums if any."""

    ridge: float
    size: int = 0
    bound: float = 1.0
    over: bool = False
    local: LocalSums | None = None


@runtime_checkable
class BatchRule(Protocol):
    """Decides how often a choice is taken and when the batch is full."""

    @property
    def reason(self) -> str:
        """Why a batch ended, where this rule ended it."""
        ...

    def open(self, opening: Opening) -> Fill: ...

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        """Count in evaluations under way elsewhere, chosen on older feedback."""
        ...

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        """Return how many evaluations of the choice to take, and the batch with them."""
        ...

    def is_full(self, fill: Fill) -> bool: ...

    def admits(self, batch: int) -> float:
        """Return the variance over ridge up to which every batch holds `batch` evaluations."""
        ...


def opened(self: BatchRule, opening: Opening) -> Fill:
    return Fill(ridge=opening.ridge)


class Limited(Protocol):
    """A rule with a limit on a sum of variances over ridge."""

    @property
    def limit(self) -> float: ...


def by_sum(self: Limited, batch: int) -> float:
    return (self.limit - 1) / batch


def times_in_a_row(choice: Choice, left: float) -> int:
    """Return how often to take a choice at once, `left` being how often the limit lets it.

    As often as it would be chosen in a row, and once more than the limit lets it, since the choice
    that crosses the limit stays. A value known exactly changes nothing: it wins all the room.

    Source: one choice after the other in BBKB 2020, Algorithm 1; taking runs at once changes none.
    """
    if choice.stale == 0:
        return choice.room
    most = min(choice.room, 1 + max(math.floor(left), 0)) if left < choice.room else choice.room
    return choice.repeats_while_best(most) if most > 1 else 1


def with_rounding(limit: float) -> float:
    """Return the limit with rounding added: sums that meet it exactly do so in any order."""
    return limit + 1e-12 * (limit - 1.0)


def ratio(left: float, share: float) -> float:
    return left / share if share > 0 else math.inf


def ignore_pending(self: BatchRule, fill: Fill, choice: Choice, count: int) -> Fill:
    return fill

"""At most so many evaluations of each candidate: who may still be chosen, and how often.

A candidate is a row of a pool, or a point of a box: two rows of equal features are two candidates.
Evaluations that have a value count, and those under way; one that failed does not, but a candidate
that failed as often as it may be evaluated is given up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np

from noregret.arrays import Indices, stacked
from noregret.errors import AskError, ExhaustedError
from noregret.policies.base import Evidence, Policy, Proposal, State
from noregret.pools import CLOUD, PER_POINT, Picks, Points
from noregret.text import counted, times

TRIES = 16  # clouds of a box in which points that may still be evaluated are looked for


@final
class Allowance:
    """How often each candidate may still be evaluated, counted down while a batch is chosen."""

    def __init__(self, evidence: Evidence) -> None:
        assert evidence.at_most_each is not None
        self._most = evidence.at_most_each
        self._taken: dict[int, int] = {}  # of rows that were asked about
        rows, counts = evidence.counted()
        order = np.argsort(rows)
        self._rows, self._counts = rows[order], counts[order]
        self._candidates = math.inf  # with something left: of a box nobody knows
        if evidence.points.candidates:
            self._candidates = int(np.count_nonzero(~evidence.unavailable))

    def of(self, row: int) -> int:
        """Return how many evaluations of a row are left."""
        taken = self._taken.get(row)
        if taken is None:
            at = np.searchsorted(self._rows, row)
            known = at < len(self._rows) and self._rows[at] == row
            taken = self._taken[row] = int(self._counts[at]) if known else 0
        return max(self._most - taken, 0)

    def take(self, row: int, count: int) -> bool:
        """Count evaluations of a row, and tell whether none are left of it."""
        self._taken[row] = self._most - self.of(row) + count
        is_spent = not self.of(row)
        self._candidates -= is_spent
        return is_spent

    def admitted(self, rows: Indices, repeats: Indices) -> Indices:
        """Take runs in order, and return how many evaluations of each are within the cap."""
        admitted = np.zeros(len(rows), dtype=np.int64)
        for at, (row, count) in enumerate(zip(rows.tolist(), repeats.tolist(), strict=True)):
            admitted[at] = min(count, self.of(row))
            if admitted[at]:
                self.take(row, int(admitted[at]))
        return admitted

    @property
    def is_used_up(self) -> bool:
        """Whether no candidate has anything left."""
        return not self._candidates

    @property
    def reason(self) -> str:
        return f"at_most_each {self._most} reached"


def sample(evidence: Evidence, size: int, rng: np.random.Generator) -> Picks:
    """Draw uniformly, with replacement, from the candidates that may still be evaluated.

    Under a cap fewer, where that is all that is left.
    """
    points = evidence.points
    picks = points.sample(evidence.unavailable, size, rng)
    if evidence.at_most_each is None:
        return picks
    tries = math.inf if points.candidates else TRIES
    while True:
        allowance, rows = Allowance(evidence), _rows(points, picks)
        kept = np.flatnonzero(allowance.admitted(rows, np.ones(len(rows), dtype=np.int64)))[:size]
        picks, left, tries = picks[kept], size - len(kept), tries - 1
        if not left or allowance.is_used_up or not tries:
            return picks if len(picks) or not size else _none_found(evidence)
        spent = np.array([row for row in set(rows.tolist()) if not allowance.of(row)], np.int64)
        many = left if points.candidates else max(CLOUD, PER_POINT * size)
        more = points.sample(evidence.closed(spent), many, rng)
        picks = Picks(np.concatenate([picks.rows, more.rows]), stacked(picks.X, more.X))


def propose_within(
    policy: Policy[State], state: State, evidence: Evidence, room: int
) -> tuple[Proposal, State]:
    """Let a policy propose a batch, and hold it against the cap."""
    if evidence.points.candidates and evidence.unavailable.all() and not evidence.excluded.all():
        raise ExhaustedError(_all_spent(evidence))
    proposal, after = policy.propose(state, evidence, room)
    allowance, rows = Allowance(evidence), _rows(evidence.points, proposal)
    admitted = allowance.admitted(rows, proposal.repeats)
    if (admitted == proposal.repeats).all():
        return proposal, after
    kept = np.flatnonzero(admitted)
    if not len(kept):
        raise AskError(
            f"{policy!r:.80} proposes only candidates that were evaluated as often as at_most_each="
            f"{evidence.at_most_each} allows. A policy chooses among those that "
            "evidence.unavailable leaves."
        )
    cut = replace(
        proposal,
        rows=proposal.rows[kept],
        X=proposal.X[kept],
        repeats=admitted[kept],
        variances=proposal.variances[kept],
        reason=allowance.reason,
    )
    return cut, after


def _rows(points: Points, what: Picks | Proposal) -> Indices:
    """Return rows, those of new points of a box as they would be numbered together."""
    return what.rows if points.candidates else points.lookup(what.X)


def _all_spent(evidence: Evidence) -> str:
    under_way, most = int(evidence.open_.counts.sum()), evidence.at_most_each or 0
    lost = len(evidence.lost) > 0
    done = {
        "was evaluated": len(evidence.told) or not (under_way or lost),
        "failed": lost,
        "is under way": under_way,
    }
    how = " or ".join(word for word, holds in done.items() if holds)
    rule = f"at_most_each={most}{' (or deterministic=True)' if most == 1 else ''}"
    way_out = "Stop here and take best()." if len(evidence.told) else "Stop here."
    if under_way:
        way_out = f"Tell the {counted(under_way, 'evaluation')} under way first."
    return (
        f"every candidate that is not excluded {how} {times(most)}, and {rule} allows no more of "
        f"any. {way_out}"
    )


def _none_found(evidence: Evidence) -> Picks:
    raise ExhaustedError(
        f"no point of the box was found that at_most_each={evidence.at_most_each} leaves: all that "
        "were tried have been evaluated as often as that."
    )

"""What an optimizer writes down: values told, batches handed out, and where every point lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Rows, Vector, extended, read_only
from noregret.errors import ArgumentError
from noregret.optimizer.batch import Batch
from noregret.optimizer.ledger import Ledger
from noregret.optimizer.pending import (
    RUN,
    PendingBatch,
    PendingBatches,
    Runs,
    as_runs,
)
from noregret.optimizer.results import Units
from noregret.optimizer.switching import ordered
from noregret.optimizer.telling import Telling
from noregret.optimizer.trace import BATCH, COLUMNS, Trace
from noregret.policies import Bandit, ChoiceDiagnostics, Evidence, Policy, Proposal
from noregret.pools import Picks, Points, SwitchCosts
from noregret.posteriors import Observations
from noregret.storable import storable


@final
@dataclass(frozen=True, slots=True)
class SetUp:
    """What a worker asked for last, and the other candidate before that, as rows."""

    row: int | None = None
    came_from: int | None = None

    def after(self, rows: Indices) -> SetUp:
        """Return what is set up after these rows, in order."""
        row, others = int(rows[-1]), rows[rows != rows[-1]]
        if others.size:
            return SetUp(row, int(others[-1]))
        return SetUp(row, self.came_from if self.row == row else self.row)


@final
@storable("Records")
@dataclass(slots=True, eq=False)
class Records:
    """The trace as it grows: some 100 bytes per batch, and 24 per run of one candidate in it.

    Times are looked at by nobody but the user; no choice depends on them.
    """

    batches: npt.NDArray[np.void] = field(default_factory=lambda: np.empty(0, dtype=BATCH))
    runs: Runs = field(default_factory=lambda: np.empty(0, dtype=RUN))  # of all batches, in order
    words: dict[str, int] = field(default_factory=dict)  # of workers and reasons, numbered
    paid: float = 0.0  # for switches, by what the run was told of their costs
    _handed_out: float = field(init=False, default=math.nan)  # when the last batch was
    _set_up: dict[str, SetUp] = field(init=False, default_factory=dict)  # of workers

    def __post_init__(self) -> None:
        if self.batches.dtype != BATCH:  # saved before it was told what was paid up to each batch
            known, self.batches = self.batches, np.zeros(len(self.batches), dtype=BATCH)
            for name in known.dtype.names or ():
                self.batches[name] = known[name]
            self.batches["paid"] = np.nan if self.paid else 0.0
            self.batches["paid"][-1:] = self.paid
        workers = np.repeat(self.batches["worker"], self.batches["runs"])
        names = tuple(self.words)
        for number in np.unique(workers).tolist():
            self._set_up[names[number]] = SetUp().after(self.runs["row"][workers == number])

    def __len__(self) -> int:
        return len(self.batches)

    def add(
        self,
        pending: PendingBatch,
        runs: Runs,
        diagnostics: ChoiceDiagnostics,
        known: tuple[int, int],
        *,
        asked: float,
        now: float,
        paid: float = 0.0,
    ) -> None:
        """Write down a batch that was asked for at one time of a clock and is handed out now."""
        unique, told = known
        rows, before = runs["row"], self.set_up(pending.worker)
        self._set_up[pending.worker] = before.after(rows)
        changes = int(np.count_nonzero(rows[1:] != rows[:-1]))
        changes += before.row is not None and before.row != rows[0]
        self.paid += paid
        row: dict[str, float] = {
            "batch": pending.number,
            "worker": self._numbered(pending.worker),
            "size": len(pending.fate),
            "runs": len(runs),
            "beta": diagnostics.beta,
            "information": diagnostics.log_det / 2,
            "dictionary": diagnostics.dictionary,
            "unique": unique,
            "told": told,
            "switches": self.switches + changes,
            "paid": self.paid,
            "seconds": now - asked,
            "waited": asked - self._handed_out,
            "reason": self._numbered(pending.reason),
        }
        new = np.array([tuple(row[name] for name in COLUMNS)], dtype=BATCH)
        self.batches, self.runs = extended(self.batches, new), extended(self.runs, runs)
        self._handed_out = now

    def shown(self) -> Trace:
        """Return the trace as it is now, without copying it."""
        batches = self.batches[:]
        batches.flags.writeable = False
        return Trace(batches, tuple(self.words))

    @property
    def switches(self) -> int:
        """Changes of candidate from one evaluation that a worker asked for to its next."""
        return int(self.batches["switches"][-1]) if len(self) else 0

    def set_up(self, worker: str) -> SetUp:
        """Return what a worker has set up, if anything."""
        return self._set_up.get(worker, SetUp())

    def _numbered(self, word: str) -> int:
        return self.words.setdefault(word, len(self.words))


@final
@storable("RunState")
@dataclass(slots=True, eq=False)
class RunState(Telling):
    """Ledger, batches and records of one run; an entry is made wholly or not at all."""

    points: Points
    units: Units
    seed: int
    ledger: Ledger
    pending: PendingBatches
    records: Records
    excluded: Mask  # (N,)
    at_most_each: int | None = None  # evaluations of one candidate, told and under way
    deterministic: bool = False  # whether the same candidate always has the same value
    switch_costs: SwitchCosts | None = None

    @classmethod
    def opened(cls, points: Points, units: Units, seed: int) -> RunState:
        """Return the state of a run that nothing was told of."""
        ledger, excluded = Ledger(points.candidates), np.zeros(points.candidates, dtype=np.bool_)
        return cls(points, units, seed, ledger, PendingBatches(), Records(), excluded)

    def hand_out(
        self,
        worker: str,
        proposal: Proposal,
        context: Vector | None,
        *,
        asked: float,
        now: float,
    ) -> PendingBatch:
        """Open a batch; points of it that are new are numbered."""
        order, paid = self._switching(proposal, worker)
        candidates = self._runs(proposal, self.points.register)
        runs = candidates.copy()
        runs["row"] = self.points.register_pairs(context, candidates["row"])
        pending = self.pending.open(worker, runs, proposal.reason, order)
        shown = candidates if order is None else candidates[order]
        known = (len(self.ledger), self.ledger.evaluations)
        self.records.add(
            pending, shown, proposal.diagnostics, known, asked=asked, now=now, paid=paid
        )
        return pending

    def _switching(self, proposal: Proposal, worker: str) -> tuple[Indices | None, float]:
        """Return the order in which runs are shown, and what their switches cost."""
        if self.switch_costs is None:
            return None, 0.0
        rows = self._runs(proposal, self.points.lookup)["row"]
        picks = self.points.picks(rows) if self.points.candidates else Picks(rows, proposal.X)
        return ordered(picks, self.points, self.switch_costs, self.records.set_up(worker).row)

    def held_by(self, worker: str, context: Vector | None) -> PendingBatch | None:
        """Return the oldest open batch of a worker, under this context."""
        has_context, held = self.points.has_context, self.pending.held_by(worker)
        return next((one for one in held if has_context(context, one.runs["row"][0])), None)

    def open_part(self, pending: PendingBatch, room: int) -> Batch:
        """Show the first stretch of a batch that is open, cut to `room`."""
        start, stop = pending.first_open_stretch()
        runs, context = pending.shown_runs.copy(), self.points.context_of(pending.runs["row"][0])
        runs["row"] = self.points.candidates_of(runs["row"])
        whole = self._shown(pending.number, runs, pending.reason, context)
        if start == 0 and stop == len(pending.fate) <= room:
            return whole
        part = whole[start : min(stop, start + room)]
        return part if start + room >= stop else replace(part, reason=f"at_most {room} reached")

    def draft(self, proposal: Proposal, worker: str, context: Vector | None) -> Batch:
        """Show a proposal as the batch that it would be."""
        runs, X = self._runs(proposal, self.points.lookup), proposal.X
        order, _ = self._switching(proposal, worker)
        if order is not None:
            runs, X = runs[order], X[order]
        return self._shown(self.pending.opened, runs, proposal.reason, context, X)

    def _shown(
        self, ticket: int, runs: Runs, reason: str, context: Vector | None, X: Rows | None = None
    ) -> Batch:
        ids = self.points.keys(runs["row"].copy())  # copies: these are the user's own
        repeats = runs["repeats"].copy()
        X = self.points.rows(runs["row"]) if X is None or context is not None else X
        shown = self.points.domain.shown(X)
        return Batch(ticket, ids, repeats, shown, reason, context=copy(context))

    def _runs(self, proposal: Proposal, numbered: Callable[[Rows], Indices]) -> Runs:
        """Return the runs of a proposal; on a box, rows are as they are numbered now."""
        rows = proposal.rows if self.points.candidates else numbered(proposal.X)
        return as_runs(rows, proposal.repeats, proposal.variances)

    def exclude(self, ids: object) -> None:
        """Strike candidates off, and take open evaluations of them back."""
        if not self.points.candidates:
            raise ArgumentError("a box has no candidates to exclude; bounds exclude parts of it.")
        rows = self.points.find(ids)
        excluded = self.excluded.copy()  # who was shown the old one keeps it
        excluded[rows] = True
        self.excluded = excluded
        self.pending.withdraw(self.points.numbers_of_candidates(rows))

    def read_context(self, name: str, context: object, policy: Policy[Any]) -> Vector | None:
        """Return a context that a user gave, checked; None where the run has none."""
        return self.points.read_context(name, context, policy.vet)

    def with_rows(self, policy: Policy[Any], state: Any, context: Vector | None) -> Any:
        """Return the state of a policy with points numbered as they are seen under a context."""
        return _renumbered(policy, state, self.points.rows_under, context)

    def with_numbers(self, policy: Policy[Any], state: Any, context: Vector | None) -> Any:
        """Return the state of a policy, which has seen points under a context, as it is kept."""
        return _renumbered(policy, state, self.points.numbers_under, context)

    def evidence(self, worker: str = "", context: Vector | None = None) -> Evidence:
        """Return all that is known now, to a worker, as it is seen under a context."""
        ledger, pending, points = self.ledger, self.pending, self.points.under(context)
        seen = partial(self.points.rows_under, context)
        costs = self.switch_costs
        by_pair = costs is not None and costs.by_pair
        set_up = self.records.set_up(worker) if by_pair else SetUp()
        rows, counts = pending.under_way()
        asked = sorted(pending.asked)
        unasked = sorted(pending.unasked)
        return Evidence(
            points=points,
            told=self._told(points, seen),
            entries=ledger.entries.astype(np.float64),
            scatter=ledger.variances(),
            open_=_observations(points, seen(rows), counts.astype(np.float64), np.zeros(len(rows))),
            excluded=read_only(self.excluded),
            asked_variances=np.array(
                [pending.by_number[number].runs["variance"][run] for number, run in asked]
            ),
            asked_counts=np.array([pending.asked[key] for key in asked], dtype=np.int64),
            asked_weights=np.array([pending.asked_weights[key] for key in asked]),
            unasked_rows=seen(np.array(unasked, dtype=np.int64)),
            unasked_weights=np.array([pending.unasked[row] for row in unasked], dtype=np.float64),
            failed_rows=seen(np.array(list(pending.failed), dtype=np.int64)),
            failed_counts=np.array(list(pending.failed.values()), dtype=np.int64),
            seed=self.seed,
            step=pending.opened,
            at_most_each=self.at_most_each,
            switch_costs=costs if by_pair else None,
            set_up=set_up.row,
            came_from=set_up.came_from,
        )

    def _told(self, points: Points, seen: Callable[[Indices], Indices]) -> Observations:
        ledger = self.ledger
        told = _observations(points, seen(ledger.rows), ledger.weights.copy(), ledger.averages)
        if not ledger.is_weighted:
            return told
        return replace(told, evaluations=read_only(ledger.counts.astype(np.float64)))


def _observations(points: Points, rows: Indices, w: Vector, averages: Vector) -> Observations:
    X = points.rows(rows)
    return Observations(read_only(rows), read_only(X), read_only(w), read_only(averages))


def _renumbered(
    policy: Policy[Any],
    state: Any,
    numbers: Callable[[Vector | None, Indices], Indices],
    context: Vector | None,
) -> Any:
    if context is None:
        return state
    assert isinstance(policy, Bandit)
    return policy.renumbered(state, partial(numbers, context))

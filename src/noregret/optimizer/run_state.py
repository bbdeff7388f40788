"""What an optimizer writes down: values told, batches handed out, and where every point lies."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Rows, Vector, extended, read_only
from noregret.errors import ArgumentError, TellError
from noregret.optimizer.batch import Batch
from noregret.optimizer.deterministic import require_same_values
from noregret.optimizer.feedback import Feedback, reports
from noregret.optimizer.ledger import MOST_VALUE, Ledger
from noregret.optimizer.pending import (
    OPEN,
    RUN,
    PendingBatch,
    PendingBatches,
    Runs,
    as_runs,
    digest_of,
)
from noregret.optimizer.results import Units
from noregret.optimizer.switching import ordered
from noregret.optimizer.trace import BATCH, COLUMNS, Trace
from noregret.policies import ChoiceDiagnostics, Evidence, Proposal
from noregret.pools import Picks, Points, SwitchCosts, is_frame
from noregret.posteriors import Observations
from noregret.storable import storable


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

    def __len__(self) -> int:
        return len(self.batches)

    def add(
        self,
        pending: PendingBatch,
        diagnostics: ChoiceDiagnostics,
        known: tuple[int, int],
        *,
        asked: float,
        now: float,
        paid: float = 0.0,
    ) -> None:
        """Write down a batch that was asked for at one time of a clock and is handed out now."""
        runs, (unique, told) = pending.shown_runs, known
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
            "switches": self._switches(runs["row"]),
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

    def _switches(self, rows: Indices) -> int:
        inside = int(np.count_nonzero(rows[1:] != rows[:-1]))
        return self.switches + inside + (int(rows[0] != self.runs["row"][-1]) if len(self) else 0)

    @property
    def switches(self) -> int:
        """Changes of candidate from one evaluation asked for to the next."""
        return int(self.batches["switches"][-1]) if len(self) else 0

    def last_row(self, worker: str) -> int | None:
        """Return what a worker asked for last, if anything: O(batches)."""
        his = np.flatnonzero(self.batches["worker"] == self.words.get(worker, -1))
        if not his.size:
            return None
        return int(self.runs["row"][np.cumsum(self.batches["runs"])[his[-1]] - 1])

    def _numbered(self, word: str) -> int:
        return self.words.setdefault(word, len(self.words))


@final
@storable("RunState")
@dataclass(slots=True, eq=False)
class RunState:
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
        self, worker: str, proposal: Proposal, *, asked: float, now: float
    ) -> PendingBatch:
        """Open a batch; points of it that are new are numbered."""
        order, paid = self._switching(proposal, worker)
        runs = self._runs(proposal, self.points.register)
        pending = self.pending.open(worker, runs, proposal.reason, order)
        known = (len(self.ledger), self.ledger.evaluations)
        self.records.add(pending, proposal.diagnostics, known, asked=asked, now=now, paid=paid)
        return pending

    def _switching(self, proposal: Proposal, worker: str) -> tuple[Indices | None, float]:
        """Return the order in which runs are shown, and what their switches cost."""
        if self.switch_costs is None:
            return None, 0.0
        picks = Picks(self._runs(proposal, self.points.lookup)["row"], proposal.X)
        return ordered(picks, self.points, self.switch_costs, self.records.last_row(worker))

    def open_part(self, pending: PendingBatch, room: int) -> Batch:
        """Show the first stretch of a batch that is open, cut to `room`."""
        start, stop = pending.first_open_stretch()
        X = self.points.rows(pending.shown_runs["row"])
        whole = self._shown(pending.number, pending.shown_runs, X, pending.reason)
        if start == 0 and stop == len(pending.fate) <= room:
            return whole
        part = whole[start : min(stop, start + room)]
        return part if start + room >= stop else replace(part, reason=f"at_most {room} reached")

    def draft(self, proposal: Proposal, worker: str) -> Batch:
        """Show a proposal as the batch that it would be."""
        runs, X = self._runs(proposal, self.points.lookup), proposal.X
        order, _ = self._switching(proposal, worker)
        if order is not None:
            runs, X = runs[order], X[order]
        return self._shown(self.pending.opened, runs, X, proposal.reason)

    def _shown(self, ticket: int, runs: Runs, X: Rows, reason: str) -> Batch:
        ids = self.points.keys(runs["row"].copy())  # copies: these are the user's own
        repeats = runs["repeats"].copy()
        return Batch(ticket, ids, repeats, self.points.domain.shown(X), reason)

    def _runs(self, proposal: Proposal, numbered: Callable[[Rows], Indices]) -> Runs:
        """Return the runs of a proposal; on a box, rows are as they are numbered now."""
        rows = proposal.rows if self.points.candidates else numbered(proposal.X)
        return as_runs(rows, proposal.repeats, proposal.variances)

    def tell(self, what: object, told: Feedback, vet: Callable[[Rows], None]) -> None:
        """Enter what was told of a batch, of ids or of points that `vet` lets pass."""
        told.require_one_kind(of_batch=isinstance(what, Batch))
        if isinstance(what, Batch):
            self._tell_batch(what, told)
        elif told.is_of_means:
            self._tell_means(self._given(what, vet), told)
        else:
            self._tell_values(self._given(what, vet), told)

    def _tell_batch(self, batch: Batch, told: Feedback) -> None:
        """Enter one value per evaluation of a batch, in order."""
        numbers, failed = told.parsed(len(batch), f"batch {batch.ticket}")
        weights = told.weights(failed, deterministic=self.deterministic)
        asked = np.repeat(self.points.find(batch.ids), batch.repeats)
        start, stop = batch.start, batch.start + len(batch)
        digest = digest_of(asked, numbers, failed, weights)
        if self.pending.is_repetition(batch.ticket, start, stop, digest):
            return
        pending, positions = self._positions(batch)
        inside = self._inwards(numbers)
        new = self.pending.untold(pending, positions, numbers, weights)
        if pending.order is not None:
            new = new[np.argsort(positions[new])]  # as they stand in the batch, not as run
        rows, lost = pending.rows_of(positions[new]), failed[new]
        w = None if weights is None else weights[new]
        self._require_same(rows[~lost], inside[new][~lost])
        self.ledger.add(rows[~lost], inside[new][~lost], None if w is None else w[~lost])
        self.pending.settle(pending, positions[new], numbers[new], lost, w)
        pending.receipts.append((start, stop, digest))

    def _tell_values(self, given: Indices | Rows, told: Feedback) -> None:
        """Enter one value per id, or per point."""
        numbers, failed = told.parsed(len(given), "tell(ids, values)")
        weights = told.weights(failed, deterministic=self.deterministic)
        inside = self._inwards(numbers)
        good = ~failed if failed.any() else slice(None)  # a slice copies nothing
        self._require_same(given[good], inside[good])
        rows, w = self._met(given), None if weights is None else weights[good]
        self.ledger.add(rows[good], inside[good], w)
        for report in reports(rows[good], None, w):
            self.pending.settle_by_row(report, failed=False)
        for report in reports(rows[failed]):
            self.pending.settle_by_row(report, failed=True)

    def _tell_means(self, given: Indices | Rows, told: Feedback) -> None:
        """Enter averages of several values each."""
        averages, whole = told.averaged(len(given))
        weights = told.weights(np.zeros(len(given), np.bool_), deterministic=self.deterministic)
        inside = self._inwards(averages)
        self._require_same(given, inside)
        rows = self._met(given)
        self.ledger.add_means(rows, inside, whole, weights)
        for report in reports(rows, whole, weights):
            self.pending.settle_by_row(report, failed=False)

    def _require_same(self, given: Indices | Rows, values: Vector) -> None:
        """Raise where values contradict each other, though they are said to be deterministic."""
        if self.deterministic:
            rows = self.points.lookup(cast(Rows, given)) if given.ndim == 2 else given
            require_same_values(self.ledger, cast(Indices, rows), values, self.units.outwards)

    def fail(self, batch: object) -> None:
        """Enter that what is open of a batch has failed."""
        if not isinstance(batch, Batch):
            raise TellError(
                f"fail() takes a batch or a slice of one, got {batch!r:.80}. "
                "By id: tell(ids, [noregret.FAILED, ...])."
            )
        pending, positions = self._positions(batch)
        still_open = positions[pending.fate[positions] == OPEN]
        failed = np.ones(len(still_open), dtype=np.bool_)
        self.pending.settle(pending, still_open, np.zeros(len(still_open)), failed)

    def exclude(self, ids: object) -> None:
        """Strike candidates off, and take open evaluations of them back."""
        if not self.points.candidates:
            raise ArgumentError("a box has no candidates to exclude; bounds exclude parts of it.")
        rows = self.points.find(ids)
        excluded = self.excluded.copy()  # who was shown the old one keeps it
        excluded[rows] = True
        self.excluded = excluded
        self.pending.withdraw(rows)

    def evidence(self, worker: str = "") -> Evidence:
        """Return all that is known now, to a worker."""
        ledger, pending, costs = self.ledger, self.pending, self.switch_costs
        by_pair = costs is not None and costs.by_pair
        rows, counts = pending.under_way()
        asked = sorted(pending.asked)
        unasked = sorted(pending.unasked)
        return Evidence(
            points=self.points,
            told=self._told(),
            entries=ledger.entries.astype(np.float64),
            scatter=ledger.variances(),
            open_=self._points(rows, counts.astype(np.float64), np.zeros(len(rows))),
            excluded=read_only(self.excluded),
            asked_variances=np.array(
                [pending.by_number[number].runs["variance"][run] for number, run in asked]
            ),
            asked_counts=np.array([pending.asked[key] for key in asked], dtype=np.int64),
            asked_weights=np.array([pending.asked_weights[key] for key in asked]),
            unasked_rows=np.array(unasked, dtype=np.int64),
            unasked_weights=np.array([pending.unasked[row] for row in unasked], dtype=np.float64),
            failed_rows=np.array(list(pending.failed), dtype=np.int64),
            failed_counts=np.array(list(pending.failed.values()), dtype=np.int64),
            seed=self.seed,
            step=pending.opened,
            at_most_each=self.at_most_each,
            switch_costs=costs if by_pair else None,
            set_up=self.records.last_row(worker) if by_pair else None,
        )

    def _told(self) -> Observations:
        ledger = self.ledger
        points = self._points(ledger.rows, ledger.weights.copy(), ledger.averages)
        if not ledger.is_weighted:
            return points
        return replace(points, evaluations=read_only(ledger.counts.astype(np.float64)))

    def _points(self, rows: Indices, w: Vector, averages: Vector) -> Observations:
        X = self.points.rows(rows)
        return Observations(read_only(rows), read_only(X), read_only(w), read_only(averages))

    def _given(self, what: object, vet: Callable[[Rows], None]) -> Indices | Rows:
        """Return the rows of ids, or checked features where one point a row is given."""
        try:
            dimensions = 2 if is_frame(what) else np.ndim(what)  # type: ignore[arg-type]  # anything
        except ValueError:  # a ragged list: `find` says what is wrong with it
            dimensions = 1
        if dimensions != 2:
            return self.points.find(what)
        X = self.points.domain.read("tell(X, ...)", what)
        vet(X)
        return X

    def _met(self, given: Indices | Rows) -> Indices:
        """Return rows; points given by features are recognised, or numbered behind the others."""
        return self.points.register(cast(Rows, given)) if given.ndim == 2 else cast(Indices, given)

    def _inwards(self, numbers: Vector) -> Vector:
        inside = self.units.inwards(numbers)
        if inside.size and max(inside.max(), -inside.min()) > MOST_VALUE:
            raise TellError(
                f"values must lie within {MOST_VALUE:g} of the offset, got "
                f"{numbers[np.argmax(np.abs(inside))]:g}. Rescale them, or pass noregret.FAILED."
            )
        return inside

    def _positions(self, batch: Batch) -> tuple[PendingBatch, Indices]:
        pending, positions = self.pending.stretch(
            batch.ticket, batch.start, batch.start + len(batch)
        )
        held = self.points.keys(pending.rows_of(positions))
        if not np.array_equal(held, np.repeat(batch.ids, batch.repeats)):
            raise TellError(
                f"batch {batch.ticket} holds other candidates than this optimizer asked for: it "
                "comes from another optimizer. Tell by ids instead."
            )
        return pending, positions

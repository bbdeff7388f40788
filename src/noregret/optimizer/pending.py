"""What became of each evaluation that was handed out, and what was told since the last batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Vector
from noregret.errors import ArgumentError, TellError, require_count
from noregret.optimizer.feedback import Report, added, tallied
from noregret.storable import storable

MOST_EVALUATIONS = 100_000  # in one batch, where ask() is not given at_most
MOST_RECEIPTS = 10_000  # of closed batches, kept to recognise what is told again
OPEN, TOLD, FAILED_ONCE, TOLD_BY_ID, WITHDRAWN = range(5)  # what became of an evaluation
Key = TypeVar("Key", int, tuple[int, int])
Number = TypeVar("Number", int, float)
Receipt: TypeAlias = tuple[int, int, str]  # start, stop, digest
Runs: TypeAlias = npt.NDArray[np.void]  # of one candidate each, as RUN
RUN: Final = np.dtype([("row", np.int64), ("repeats", np.int64), ("variance", np.float64)])


def room_for(name: str, at_most: object, worker: object) -> int:
    """Check what ask() or peek() was given, and return for how many evaluations it has room."""
    if not isinstance(worker, str):
        raise ArgumentError(f"{name}(worker=...) must be a string, got {worker!r}.")
    return MOST_EVALUATIONS if at_most is None else require_count(f"{name}(at_most=...)", at_most)


def as_runs(rows: Indices, repeats: Indices, variances: Vector) -> Runs:
    """Return runs of evaluations; `variances` are σ²_stale when the batch was opened."""
    runs = np.empty(len(rows), dtype=RUN)
    runs["row"], runs["repeats"], runs["variance"] = rows, repeats, variances
    return runs


@final
@storable("PendingBatch")
@dataclass(slots=True, eq=False)
class PendingBatch:
    """One batch handed out: its runs, and the fate of each evaluation."""

    number: int
    worker: str
    runs: Runs
    reason: str
    fate: npt.NDArray[np.int8]  # (evaluations,)
    values: Vector  # (evaluations,) as told; NaN where there is none
    receipts: list[Receipt] = field(default_factory=list)
    weights: Vector | None = None  # (evaluations,) of values told; None where all are 1
    order: Indices | None = None  # of the runs, as the user is shown them; None: as they stand

    @property
    def shown_runs(self) -> Runs:
        """The runs in the order shown to the user."""
        runs: Runs = self.runs if self.order is None else self.runs[self.order]
        return runs

    def shown_positions(self, start: int = 0, stop: int | None = None) -> Indices:
        """Return where evaluations from start to stop, in the order shown to the user, stand."""
        if self.order is None:
            return np.arange(start, len(self.fate) if stop is None else stop)
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(rank))
        return np.argsort(np.repeat(rank, self.runs["repeats"]), kind="stable")[start:stop]

    def runs_of(self, positions: Indices) -> Indices:
        """Return the run that each position belongs to."""
        return np.searchsorted(np.cumsum(self.runs["repeats"]), positions, side="right")

    def rows_of(self, positions: Indices) -> Indices:
        """Return the row that is evaluated at each position."""
        rows: Indices = self.runs["row"][self.runs_of(positions)]
        return rows

    def open_positions(self) -> Indices:
        """Return where evaluations are open."""
        return np.flatnonzero(self.fate == OPEN)

    def open_positions_of(self, row: int) -> Indices:
        """Return where evaluations of a row are open: O(runs), whatever their number."""
        at = np.flatnonzero(self.runs["row"] == row)
        if not at.size:
            return at
        ends, repeats = np.cumsum(self.runs["repeats"])[at], self.runs["repeats"][at]
        parts = [np.arange(end - count, end) for end, count in zip(ends, repeats, strict=True)]
        positions: Indices = np.concatenate(parts)
        still_open: Indices = positions[self.fate[positions] == OPEN]
        return still_open

    def first_open_stretch(self) -> tuple[int, int]:
        """Return the first unbroken stretch of open evaluations, in the order shown."""
        positions = np.flatnonzero(self.fate[self.shown_positions()] == OPEN)
        gaps = np.flatnonzero(np.diff(positions) > 1)
        return int(positions[0]), int(positions[gaps[0] if gaps.size else -1]) + 1


@final
@storable("PendingBatches")
@dataclass(slots=True, eq=False)
class PendingBatches:
    """The register of all batches, and of evaluations told since the last one was opened."""

    opened: int = 0
    failures: int = 0
    by_number: dict[int, PendingBatch] = field(default_factory=dict)
    open_numbers: list[int] = field(default_factory=list)  # oldest first
    just_closed: list[int] = field(default_factory=list)  # since the last opening
    closed: dict[int, list[Receipt]] = field(default_factory=dict)
    asked: dict[tuple[int, int], int] = field(default_factory=dict)  # (batch, run) → count
    unasked: dict[int, float] = field(default_factory=dict)  # row → weight
    failed: dict[int, int] = field(default_factory=dict)  # row → failures, ever
    asked_weights: dict[tuple[int, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.asked_weights:  # saved when all values weighed 1
            self.asked_weights = {key: float(count) for key, count in self.asked.items()}

    def open(
        self, worker: str, runs: Runs, reason: str, order: Indices | None = None
    ) -> PendingBatch:
        """Hand out a new batch; what was told before it is booked by now."""
        self._file_away()
        fate = np.full(int(runs["repeats"].sum()), OPEN, dtype=np.int8)
        values = np.full(len(fate), np.nan)
        pending = PendingBatch(self.opened, worker, runs, reason, fate, values, order=order)
        self.by_number[pending.number] = pending
        self.open_numbers.append(pending.number)
        self.opened += 1
        self.asked, self.unasked, self.asked_weights = {}, {}, {}
        return pending

    def held_by(self, worker: str) -> Iterator[PendingBatch]:
        """Walk the open batches of a worker, oldest first."""
        return (held for held in self._open() if held.worker == worker)

    def under_way(self) -> tuple[Indices, Indices]:
        """Return the rows under way and how many evaluations of each, oldest first."""
        counts: dict[int, int] = {}
        for pending in self._open():
            for run, count in tallied(pending.runs_of(pending.open_positions())):
                _add(counts, int(pending.runs["row"][run]), count)
        return np.array(list(counts), dtype=np.int64), np.array([*counts.values()], dtype=np.int64)

    def stretch(self, number: int, start: int, stop: int) -> tuple[PendingBatch, Indices]:
        """Return a batch and where its evaluations from start to stop, as shown, stand in it."""
        pending = self.by_number.get(number)
        if pending is None and 0 <= number < self.opened:
            raise TellError(
                f"batch {number} was told long ago and is closed. "
                "For additional measurements use tell(ids, values)."
            )
        if pending is None or not 0 <= start <= stop <= len(pending.fate):
            raise TellError(
                f"batch {number} with evaluations {start} to {stop} was not given out by this "
                f"optimizer, which has opened {self.opened} batches. Tell by ids instead."
            )
        return pending, pending.shown_positions(start, stop)

    def is_repetition(self, number: int, start: int, stop: int, digest: str) -> bool:
        """Tell whether just this was told before; raise if the batch is closed and it was not."""
        pending = self.by_number.get(number)
        receipts = self.closed.get(number, []) if pending is None else pending.receipts
        if (start, stop, digest) in receipts:
            return True
        if pending is None and number in self.closed:
            raise TellError(_told_before(number, stop - start, stop - start))
        return False

    def untold(
        self,
        pending: PendingBatch,
        positions: Indices,
        values: Vector,
        weights: Vector | None = None,
    ) -> Indices:
        """Return the positions still to be told; what was told before must be the same.

        Evaluations that are open, failed or withdrawn may be told.
        """
        fate = pending.fate[positions]
        if (fate == TOLD_BY_ID).any():
            raise TellError(
                f"{int((fate == TOLD_BY_ID).sum())} of these {len(positions)} evaluations of batch "
                f"{pending.number} were closed by values told by id. Tell the others: ask() gives "
                "what is open. For additional measurements use tell(ids, values)."
            )
        told = fate == TOLD
        if (pending.values[positions[told]] != values[told]).any():
            raise TellError(_told_before(pending.number, int(told.sum()), len(positions)))
        before = 1.0 if pending.weights is None else pending.weights[positions[told]]
        if np.any(before != (1.0 if weights is None else weights[told])):
            raise TellError(
                f"batch {pending.number} was told before with another noise_std: "
                f"{int(told.sum())} of these {len(positions)} evaluations already have a value. "
                "For additional measurements use tell(ids, values, noise_std=...)."
            )
        return np.flatnonzero(~told)

    def settle(
        self,
        pending: PendingBatch,
        positions: Indices,
        values: Vector,
        failed: Mask,
        weights: Vector | None = None,
    ) -> None:
        """Mark evaluations as told or failed."""
        pending.values[positions] = np.where(failed, np.nan, values)
        if weights is not None and pending.weights is None:
            pending.weights = np.ones(len(pending.fate))
        if pending.weights is not None:
            pending.weights[positions] = 1.0 if weights is None else weights
        late = int((pending.fate[positions] == FAILED_ONCE).sum())
        self.failures += int(failed.sum()) - late
        pending.fate[positions] = np.where(failed, FAILED_ONCE, TOLD)
        for run, count in tallied(pending.runs_of(positions[failed])):
            _add(self.failed, int(pending.runs["row"][run]), count)
        told = None if weights is None else weights[~failed]
        self._count_asked(pending, positions[~failed], told)
        self._close_if_done(pending)

    def settle_by_row(self, report: Report, *, failed: bool) -> None:
        """Let a report by id close open evaluations of that row, oldest first."""
        row, left = report.row, report
        for pending in self._open():
            taken = pending.open_positions_of(row)[: left.count]
            pending.fate[taken] = FAILED_ONCE if failed else TOLD_BY_ID
            if not failed:
                self._count_asked(pending, taken, left.first(len(taken)))
            left = left.without(len(taken))
            self._close_if_done(pending)
        if failed:
            self.failures += report.count
            _add(self.failed, row, report.count)
        elif left.count:
            self.unasked[row] = left.added_to(self.unasked.get(row, 0.0))

    def withdraw(self, rows: Indices) -> None:
        """Take open evaluations of these rows back; a value that still comes is accepted."""
        for pending in self._open():
            taken = pending.open_positions()
            pending.fate[taken[np.isin(pending.rows_of(taken), rows)]] = WITHDRAWN
            self._close_if_done(pending)

    def _open(self) -> list[PendingBatch]:
        return [self.by_number[number] for number in self.open_numbers]

    def _count_asked(
        self, pending: PendingBatch, positions: Indices, weights: Vector | None
    ) -> None:
        runs = pending.runs_of(positions)  # in order
        for run, count in tallied(runs):
            key = pending.number, run
            _add(self.asked, key, count)
            if weights is None:
                _add(self.asked_weights, key, float(count))
            else:
                its = weights[slice(*np.searchsorted(runs, [run, run + 1]))]
                self.asked_weights[key] = added(self.asked_weights.get(key, 0.0), its)

    def _file_away(self) -> None:
        """Keep only the receipts of batches that were told wholly; the others may still be told."""
        for number in dict.fromkeys(self.just_closed):
            pending = self.by_number[number]
            if ((pending.fate == TOLD) | (pending.fate == TOLD_BY_ID)).all():
                shown, positions = pending.shown_runs, pending.shown_positions()
                rows, values = np.repeat(shown["row"], shown["repeats"]), pending.values[positions]
                weights = None if pending.weights is None else pending.weights[positions]
                digest = digest_of(rows, values, np.isnan(values), weights)
                self.closed[number] = [*pending.receipts, (0, len(rows), digest)]
                del self.by_number[number]
        self.just_closed = []
        while len(self.closed) > MOST_RECEIPTS:
            self.closed.pop(next(iter(self.closed)))

    def _close_if_done(self, pending: PendingBatch) -> None:
        if (pending.fate == OPEN).any():
            return
        self.just_closed.append(pending.number)
        if pending.number in self.open_numbers:
            self.open_numbers.remove(pending.number)


def _add(sums: dict[Key, Number], key: Key, number: Number) -> None:
    sums[key] = sums[key] + number if key in sums else number


def digest_of(rows: Indices, values: Vector, failed: Mask, weights: Vector | None = None) -> str:
    """Return a short digest by which telling the same again is recognised."""
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=12)
    digest.update(np.where(failed, np.nan, values).tobytes())
    if weights is not None and (weights != 1.0).any():
        digest.update(weights.tobytes())
    return digest.hexdigest()


def _told_before(number: int, told: int, count: int) -> str:
    return (
        f"batch {number} was told before with other values: {told} of these {count} evaluations "
        "already have one. Telling the same values again is harmless; for additional "
        "measurements use tell(ids, values)."
    )

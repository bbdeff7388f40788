"""Who is evaluating what: batches handed out and what became of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Vector
from noregret.errors import TellError
from noregret.storable import storable

MOST_RECEIPTS = 10_000  # of closed batches, kept to recognise what is told again
OPEN, TOLD, FAILED_ONCE, TOLD_BY_ID, WITHDRAWN = range(5)  # what became of an evaluation


@final
@storable("PendingBatch")
@dataclass(slots=True, eq=False)
class PendingBatch:
    """One batch handed out: runs of rows, and the fate of each evaluation."""

    number: int
    worker: str
    rows: Indices  # (runs,)
    repeats: Indices  # (runs,)
    variances: Vector  # (runs,) σ²_stale when the batch was opened
    reason: str
    fate: npt.NDArray[np.int8]  # (evaluations,)
    values: Vector  # (evaluations,) as told; NaN where there is none
    receipts: list[tuple[int, int, str]] = field(default_factory=list)  # start, stop, digest

    @property
    def is_open(self) -> bool:
        return bool((self.fate == OPEN).any())

    def open_runs(self) -> Indices:
        """Return how many evaluations of each run are open."""
        edges = np.concatenate([[0], np.cumsum(self.repeats)[:-1]])
        return np.add.reduceat((self.fate == OPEN).astype(np.int64), edges)

    def runs_of(self, positions: Indices) -> Indices:
        """Return the run that each position belongs to."""
        return np.searchsorted(np.cumsum(self.repeats), positions, side="right")

    def first_open_stretch(self) -> tuple[int, int]:
        """Return the first unbroken stretch of open evaluations."""
        positions = np.flatnonzero(self.fate == OPEN)
        start = int(positions[0])
        gaps = np.flatnonzero(np.diff(positions) > 1)
        return start, int(positions[gaps[0]] + 1 if gaps.size else positions[-1] + 1)


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
    closed: dict[int, list[tuple[int, int, str]]] = field(default_factory=dict)  # receipts
    asked: dict[tuple[int, int], int] = field(default_factory=dict)  # (pending, run) → count
    unasked: dict[int, int] = field(default_factory=dict)  # row → count
    failed: dict[int, int] = field(default_factory=dict)  # row → failures, ever

    def open(
        self, worker: str, rows: Indices, repeats: Indices, variances: Vector, reason: str
    ) -> PendingBatch:
        """Hand out a new batch; what was told before it is booked by now."""
        self._file_away()
        fate = np.zeros(int(repeats.sum()), dtype=np.int8)
        values = np.full(len(fate), np.nan)
        pending = PendingBatch(self.opened, worker, rows, repeats, variances, reason, fate, values)
        self.by_number[pending.number] = pending
        self.open_numbers.append(pending.number)
        self.opened += 1
        self.asked, self.unasked = {}, {}
        return pending

    def held_by(self, worker: str) -> PendingBatch | None:
        """Return the oldest open batch of a worker."""
        for number in self.open_numbers:
            if self.by_number[number].worker == worker:
                return self.by_number[number]
        return None

    def under_way(self) -> tuple[Indices, Indices]:
        """Return the rows under way and how many evaluations of each, oldest first."""
        counts: dict[int, int] = {}
        for number in self.open_numbers:
            pending = self.by_number[number]
            for row, count in zip(pending.rows, pending.open_runs(), strict=True):
                if count:
                    counts[int(row)] = counts.get(int(row), 0) + int(count)
        rows = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        return rows, np.fromiter(counts.values(), dtype=np.int64, count=len(counts))

    def stretch(self, number: int, start: int, stop: int) -> tuple[PendingBatch, Indices]:
        """Return a pending and the positions [start, stop) of it, or say that it is unknown."""
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
        return pending, np.arange(start, stop)

    def is_repetition(self, number: int, start: int, stop: int, digest: str) -> bool:
        """Tell whether just this was told before; raise if the batch is closed and it was not."""
        pending = self.by_number.get(number)
        receipts = self.closed.get(number, []) if pending is None else pending.receipts
        if (start, stop, digest) in receipts:
            return True
        if pending is None and number in self.closed:
            raise TellError(_told_before(number, stop - start, stop - start))
        return False

    def untold(self, pending: PendingBatch, positions: Indices, values: Vector) -> Indices:
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
        return np.flatnonzero(~told)

    def settle(
        self, pending: PendingBatch, positions: Indices, values: Vector, failed: Mask
    ) -> None:
        """Mark evaluations as told or failed."""
        pending.values[positions] = np.where(failed, np.nan, values)
        late = int((pending.fate[positions] == FAILED_ONCE).sum())
        self.failures += int(failed.sum()) - late
        pending.fate[positions] = np.where(failed, FAILED_ONCE, TOLD)
        for run, count in counted(pending.runs_of(positions[failed])):
            self._fail(int(pending.rows[run]), count)
        for run, count in counted(pending.runs_of(positions[~failed])):
            key = (pending.number, run)
            self.asked[key] = self.asked.get(key, 0) + count
        self._close_if_done(pending)

    def settle_by_row(self, row: int, count: int, *, failed: bool) -> None:
        """Let reports by id close open evaluations of that row, oldest first."""
        left = count
        for number in list(self.open_numbers):
            pending = self.by_number[number]
            for run in np.flatnonzero(pending.rows == row):
                edge = int(pending.repeats[:run].sum())
                own = np.arange(edge, edge + int(pending.repeats[run]))
                taken = own[pending.fate[own] == OPEN][:left]
                left -= len(taken)
                pending.fate[taken] = FAILED_ONCE if failed else TOLD_BY_ID
                if taken.size and not failed:
                    key = (number, int(run))
                    self.asked[key] = self.asked.get(key, 0) + len(taken)
            self._close_if_done(pending)
        if failed:
            self.failures += count
            self._fail(row, count)
        elif left:
            self.unasked[row] = self.unasked.get(row, 0) + left

    def _fail(self, row: int, count: int) -> None:
        self.failed[row] = self.failed.get(row, 0) + count

    def withdraw(self, rows: Indices) -> None:
        """Take open evaluations of these rows back; a value that still comes is accepted."""
        for number in list(self.open_numbers):
            pending = self.by_number[number]
            runs = pending.runs_of(np.arange(len(pending.fate)))
            unwanted = np.isin(pending.rows, rows)[runs] & (pending.fate == OPEN)
            pending.fate[unwanted] = WITHDRAWN
            self._close_if_done(pending)

    def _file_away(self) -> None:
        """Keep only the receipts of batches that were told wholly; the others may still be told."""
        for number in dict.fromkeys(self.just_closed):
            pending = self.by_number[number]
            if ((pending.fate == TOLD) | (pending.fate == TOLD_BY_ID)).all():
                rows = np.repeat(pending.rows, pending.repeats)
                digest = digest_of(rows, pending.values, np.isnan(pending.values))
                self.closed[number] = [*pending.receipts, (0, len(rows), digest)]
                del self.by_number[number]
        self.just_closed = []
        while len(self.closed) > MOST_RECEIPTS:
            self.closed.pop(next(iter(self.closed)))

    def _close_if_done(self, pending: PendingBatch) -> None:
        if pending.is_open:
            return
        self.just_closed.append(pending.number)
        if pending.number in self.open_numbers:
            self.open_numbers.remove(pending.number)


def digest_of(rows: Indices, values: Vector, failed: Mask) -> str:
    """Return a short digest by which telling the same again is recognised."""
    digest = hashlib.blake2b(rows.astype(np.int64).tobytes(), digest_size=12)
    digest.update(np.where(failed, np.nan, values).tobytes())
    return digest.hexdigest()


def _told_before(number: int, told: int, count: int) -> str:
    return (
        f"batch {number} was told before with other values: {told} of these {count} evaluations "
        "already have one. Telling the same values again is harmless; for additional "
        "measurements use tell(ids, values)."
    )


def counted(runs: Indices) -> list[tuple[int, int]]:
    """Return each number with how often it stands there."""
    if len(runs) > int(runs.max(initial=0)) // 8:  # a table of all numbers beats sorting them
        table = np.bincount(runs)
        numbers = np.flatnonzero(table)
        counts = table[numbers]
    else:
        numbers, counts = np.unique(runs, return_counts=True)
    return [(int(number), int(count)) for number, count in zip(numbers, counts, strict=True)]

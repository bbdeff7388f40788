"""Who is evaluating what: batches handed out and what became of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Mask, Vector
from noregret.errors import TellError

MOST_RECEIPTS = 10_000  # of closed batches, kept to recognise what is told again
OPEN, TOLD, FAILED_ONCE, TOLD_BY_ID, WITHDRAWN = range(5)  # what became of an evaluation


@final
@dataclass(slots=True, eq=False)
class Ticket:
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
@dataclass(slots=True, eq=False)
class Tickets:
    """The register of all batches, and of evaluations told since the last one was opened."""

    opened: int = 0
    failures: int = 0
    by_number: dict[int, Ticket] = field(default_factory=dict)
    open_numbers: list[int] = field(default_factory=list)  # oldest first
    just_closed: list[int] = field(default_factory=list)  # since the last opening
    closed: dict[int, list[tuple[int, int, str]]] = field(default_factory=dict)  # receipts
    asked: dict[tuple[int, int], int] = field(default_factory=dict)  # (ticket, run) → count
    unasked: dict[int, int] = field(default_factory=dict)  # row → count
    failed: dict[int, int] = field(default_factory=dict)  # row → failures, ever

    def open(
        self, worker: str, rows: Indices, repeats: Indices, variances: Vector, reason: str
    ) -> Ticket:
        """Hand out a new batch; what was told before it is booked by now."""
        self._file_away()
        fate = np.zeros(int(repeats.sum()), dtype=np.int8)
        values = np.full(len(fate), np.nan)
        ticket = Ticket(self.opened, worker, rows, repeats, variances, reason, fate, values)
        self.by_number[ticket.number] = ticket
        self.open_numbers.append(ticket.number)
        self.opened += 1
        self.asked, self.unasked = {}, {}
        return ticket

    def held_by(self, worker: str) -> Ticket | None:
        """Return the oldest open batch of a worker."""
        for number in self.open_numbers:
            if self.by_number[number].worker == worker:
                return self.by_number[number]
        return None

    def pending(self) -> tuple[Indices, Indices]:
        """Return the rows under way and how many evaluations of each, oldest first."""
        counts: dict[int, int] = {}
        for number in self.open_numbers:
            ticket = self.by_number[number]
            for row, count in zip(ticket.rows, ticket.open_runs(), strict=True):
                if count:
                    counts[int(row)] = counts.get(int(row), 0) + int(count)
        rows = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        return rows, np.fromiter(counts.values(), dtype=np.int64, count=len(counts))

    def stretch(self, number: int, start: int, stop: int) -> tuple[Ticket, Indices]:
        """Return a ticket and the positions [start, stop) of it, or say that it is unknown."""
        ticket = self.by_number.get(number)
        if ticket is None and 0 <= number < self.opened:
            raise TellError(
                f"batch {number} was told long ago and is closed. "
                "For additional measurements use tell(ids, values)."
            )
        if ticket is None or not 0 <= start <= stop <= len(ticket.fate):
            raise TellError(
                f"batch {number} with evaluations {start} to {stop} was not given out by this "
                f"optimizer, which has opened {self.opened} batches. Tell by ids instead."
            )
        return ticket, np.arange(start, stop)

    def is_repetition(self, number: int, start: int, stop: int, digest: str) -> bool:
        """Tell whether just this was told before; raise if the batch is closed and it was not."""
        ticket = self.by_number.get(number)
        receipts = self.closed.get(number, []) if ticket is None else ticket.receipts
        if (start, stop, digest) in receipts:
            return True
        if ticket is None and number in self.closed:
            raise TellError(_told_before(number, stop - start, stop - start))
        return False

    def untold(self, ticket: Ticket, positions: Indices, values: Vector) -> Indices:
        """Return the positions still to be told; what was told before must be the same.

        Evaluations that are open, failed or withdrawn may be told.
        """
        fate = ticket.fate[positions]
        if (fate == TOLD_BY_ID).any():
            raise TellError(
                f"{int((fate == TOLD_BY_ID).sum())} of these {len(positions)} evaluations of batch "
                f"{ticket.number} were closed by values told by id. Tell the others: ask() gives "
                "what is open. For additional measurements use tell(ids, values)."
            )
        told = fate == TOLD
        if (ticket.values[positions[told]] != values[told]).any():
            raise TellError(_told_before(ticket.number, int(told.sum()), len(positions)))
        return np.flatnonzero(~told)

    def settle(self, ticket: Ticket, positions: Indices, values: Vector, failed: Mask) -> None:
        """Mark evaluations as told or failed."""
        ticket.values[positions] = np.where(failed, np.nan, values)
        late = int((ticket.fate[positions] == FAILED_ONCE).sum())
        self.failures += int(failed.sum()) - late
        ticket.fate[positions] = np.where(failed, FAILED_ONCE, TOLD)
        for run, count in counted(ticket.runs_of(positions[failed])):
            self._fail(int(ticket.rows[run]), count)
        for run, count in counted(ticket.runs_of(positions[~failed])):
            key = (ticket.number, run)
            self.asked[key] = self.asked.get(key, 0) + count
        self._close_if_done(ticket)

    def settle_by_row(self, row: int, count: int, *, failed: bool) -> None:
        """Let reports by id close open evaluations of that row, oldest first."""
        left = count
        for number in list(self.open_numbers):
            ticket = self.by_number[number]
            for run in np.flatnonzero(ticket.rows == row):
                edge = int(ticket.repeats[:run].sum())
                own = np.arange(edge, edge + int(ticket.repeats[run]))
                taken = own[ticket.fate[own] == OPEN][:left]
                left -= len(taken)
                ticket.fate[taken] = FAILED_ONCE if failed else TOLD_BY_ID
                if taken.size and not failed:
                    key = (number, int(run))
                    self.asked[key] = self.asked.get(key, 0) + len(taken)
            self._close_if_done(ticket)
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
            ticket = self.by_number[number]
            runs = ticket.runs_of(np.arange(len(ticket.fate)))
            unwanted = np.isin(ticket.rows, rows)[runs] & (ticket.fate == OPEN)
            ticket.fate[unwanted] = WITHDRAWN
            self._close_if_done(ticket)

    def _file_away(self) -> None:
        """Keep only the receipts of batches that were told wholly; the others may still be told."""
        for number in dict.fromkeys(self.just_closed):
            ticket = self.by_number[number]
            if ((ticket.fate == TOLD) | (ticket.fate == TOLD_BY_ID)).all():
                rows = np.repeat(ticket.rows, ticket.repeats)
                digest = digest_of(rows, ticket.values, np.isnan(ticket.values))
                self.closed[number] = [*ticket.receipts, (0, len(rows), digest)]
                del self.by_number[number]
        self.just_closed = []
        while len(self.closed) > MOST_RECEIPTS:
            self.closed.pop(next(iter(self.closed)))

    def _close_if_done(self, ticket: Ticket) -> None:
        if ticket.is_open:
            return
        self.just_closed.append(ticket.number)
        if ticket.number in self.open_numbers:
            self.open_numbers.remove(ticket.number)


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

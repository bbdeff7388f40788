"""The register of batches against a plain list of evaluations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noregret.arrays import Indices
from noregret.errors import TellError
from noregret.optimizer.feedback import Report
from noregret.optimizer.pending import (
    MOST_RECEIPTS,
    PendingBatch,
    PendingBatches,
    as_runs,
    digest_of,
)

ROWS = 4
contents = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(1, 3)), min_size=1, max_size=4)


VALUES = np.linspace(0.5, 60.0, 200)


def hand_out(
    tickets: PendingBatches, content: list[tuple[int, int]], worker: str = "", variance: float = 1.0
) -> PendingBatch:
    rows = np.array([row for row, _ in content], dtype=np.int64)
    repeats = np.array([count for _, count in content], dtype=np.int64)
    return tickets.open(worker, as_runs(rows, repeats, np.full(len(rows), variance)), "reason")


def tell(
    tickets: PendingBatches, ticket: PendingBatch, positions: list[int], *, failed: bool = False
) -> None:
    index: Indices = np.array(positions, dtype=np.int64)
    tickets.settle(ticket, index, VALUES[index], np.full(len(index), failed))


def pending(tickets: PendingBatches) -> dict[int, int]:
    rows, counts = tickets.under_way()
    return dict(zip(rows.tolist(), counts.tolist(), strict=True))


@dataclass
class Plain:
    """Every evaluation ever handed out, one entry each, in order."""

    evaluations: list[tuple[int, int, int]] = field(default_factory=list)  # ticket, position, row
    open_: set[tuple[int, int]] = field(default_factory=set)
    failures: int = 0
    unasked: Counter[int] = field(default_factory=Counter)
    asked: int = 0

    def hand_out(self, number: int, content: list[tuple[int, int]]) -> None:
        rows = [row for row, count in content for _ in range(count)]
        for position, row in enumerate(rows):
            self.evaluations.append((number, position, row))
            self.open_.add((number, position))
        self.unasked, self.asked = Counter(), 0

    def report(self, row: int, count: int, *, failed: bool) -> None:
        waiting = [(n, p) for n, p, r in self.evaluations if r == row and (n, p) in self.open_]
        self.open_ -= set(waiting[:count])
        if failed:
            self.failures += count
            return
        self.asked += len(waiting[:count])
        if count > len(waiting):
            self.unasked[row] += count - len(waiting)

    def pending(self) -> dict[int, int]:
        return dict(Counter(r for n, p, r in self.evaluations if (n, p) in self.open_))


orders = st.lists(
    st.tuples(st.just("open"), contents)
    | st.tuples(st.just("told"), st.tuples(st.integers(0, ROWS - 1), st.integers(1, 4)))
    | st.tuples(st.just("failed"), st.tuples(st.integers(0, ROWS - 1), st.integers(1, 4)))
    | st.tuples(st.just("batch"), st.tuples(st.integers(0, 5), st.integers(1, 3))),
    max_size=25,
)


@given(orders)
def test_the_register_is_a_list_of_evaluations(
    script: list[tuple[str, list[tuple[int, int]] | tuple[int, int]]],
) -> None:
    """An evaluation lost here is never measured; one kept too long holds up its worker."""
    tickets, plain = PendingBatches(), Plain()
    for what, how in script:
        if isinstance(how, list):
            number = hand_out(tickets, how, worker=str(tickets.opened)).number
            plain.hand_out(number, how)
        elif what in ("told", "failed"):
            tickets.settle_by_row(Report(how[0], how[1]), failed=what == "failed")
            plain.report(how[0], how[1], failed=what == "failed")
        elif tickets.open_numbers:
            ticket = tickets.by_number[tickets.open_numbers[how[0] % len(tickets.open_numbers)]]
            start, stop = ticket.first_open_stretch()
            some = list(range(start, min(stop, start + how[1])))
            assert all((ticket.number, p) in plain.open_ for p in some)
            tell(tickets, ticket, some)
            plain.open_ -= {(ticket.number, p) for p in some}
            plain.asked += len(some)
        # In this order, oldest first, hallucinations are made, so that a resumed run repeats them.
        assert list(pending(tickets).items()) == list(plain.pending().items())
        assert tickets.failures == plain.failures
        assert tickets.unasked == dict(plain.unasked)
        assert sum(tickets.asked.values()) == plain.asked
        assert tickets.open_numbers == sorted({n for n, _ in plain.open_})


def test_a_worker_holds_its_open_batches_oldest_first() -> None:
    tickets = PendingBatches()
    first = hand_out(tickets, [(0, 2)], worker="a")
    assert list(tickets.held_by("a")) == [first]
    assert list(tickets.held_by("b")) == []
    second = hand_out(tickets, [(1, 1)], worker="b")
    third = hand_out(tickets, [(2, 1)], worker="a")
    tell(tickets, first, [0])
    assert list(tickets.held_by("a")) == [first, third]
    tell(tickets, first, [1])
    assert list(tickets.held_by("a")) == [third]
    assert list(tickets.held_by("b")) == [second]


def test_the_first_open_stretch_ends_at_the_first_gap() -> None:
    """A slice of a batch is unbroken; what lies behind the gap is given later."""
    tickets = PendingBatches()
    ticket = hand_out(tickets, [(0, 3), (1, 3)])
    tell(tickets, ticket, [0, 3])
    assert ticket.first_open_stretch() == (1, 3)
    assert ticket.open_positions().tolist() == [1, 2, 4, 5]
    tell(tickets, ticket, [1, 2])
    assert ticket.first_open_stretch() == (4, 6)
    assert ticket.runs_of(np.array([0, 2, 3, 5])).tolist() == [0, 0, 1, 1]


def test_told_evaluations_are_booked_by_run_until_the_next_batch() -> None:
    """The width adds each of them with the variance its batch was opened with."""
    tickets = PendingBatches()
    old = hand_out(tickets, [(0, 2), (1, 1), (0, 1)], worker="a")
    tell(tickets, old, [0, 3])
    assert tickets.asked == {(0, 0): 1, (0, 2): 1}
    tickets.settle_by_row(Report(0, 3), failed=False)
    assert tickets.asked == {(0, 0): 2, (0, 2): 1}
    assert tickets.unasked == {0: 2}
    hand_out(tickets, [(2, 1)], worker="b")
    assert (tickets.asked, tickets.unasked) == ({}, {})
    tell(tickets, old, [2])
    assert tickets.asked == {(0, 1): 1}


def test_a_late_value_takes_its_failure_back() -> None:
    """One evaluation is spent once, whatever was said of it first."""
    tickets = PendingBatches()
    ticket = hand_out(tickets, [(0, 3)])
    tell(tickets, ticket, [0, 1], failed=True)
    assert tickets.failures == 2
    tell(tickets, ticket, [1], failed=True)
    assert tickets.failures == 2
    tell(tickets, ticket, [0])
    assert tickets.failures == 1
    tell(tickets, ticket, [2])
    assert tickets.open_numbers == []
    hand_out(tickets, [(1, 1)])
    assert ticket.number in tickets.by_number  # it may still get its value
    tell(tickets, ticket, [1])
    assert tickets.failures == 0
    hand_out(tickets, [(1, 1)])
    assert ticket.number not in tickets.by_number


KEYS = np.array([4, 4])


def test_receipts_know_what_was_told() -> None:
    """A retry is recognised, whole or in parts, also long after the batch was filed away."""
    tickets = PendingBatches()
    ticket = hand_out(tickets, [(4, 2)])
    fine, both = np.zeros(2, dtype=np.bool_), np.arange(2)
    whole = digest_of(KEYS, VALUES[:2], fine)
    assert not tickets.is_repetition(0, 0, 2, whole)
    assert tickets.untold(ticket, both, VALUES[:2]).tolist() == [0, 1]
    tell(tickets, ticket, [0])
    assert tickets.untold(ticket, both, VALUES[:2]).tolist() == [1]
    tell(tickets, ticket, [1])
    assert tickets.untold(ticket, both, VALUES[:2]).tolist() == []
    with pytest.raises(TellError, match="batch 0 was told before with other values: 2 of these 2"):
        tickets.untold(ticket, both, VALUES[:2] + 1)
    for _ in range(3):
        hand_out(tickets, [(1, 1)])
        assert tickets.is_repetition(0, 0, 2, whole)
        with pytest.raises(TellError, match="batch 0 was told before with other values"):
            tickets.is_repetition(0, 0, 2, digest_of(KEYS, VALUES[:2] + 1, fine))


def test_failures_do_not_slow_the_register() -> None:
    """A flaky instrument: batches that failed must not be looked through at every ask."""
    tickets = PendingBatches()
    for _ in range(50):
        ticket = hand_out(tickets, [(0, 1)])
        tell(tickets, ticket, [0], failed=True)
        assert len(tickets.just_closed) == 1
    assert len(tickets.by_number) == 50  # each may still get a late value


def test_old_receipts_are_let_go() -> None:
    """A run of years must not grow without end."""
    tickets = PendingBatches()
    for _ in range(MOST_RECEIPTS + 20):
        tell(tickets, hand_out(tickets, [(0, 1)]), [0])
    hand_out(tickets, [(0, 1)])
    assert len(tickets.closed) == MOST_RECEIPTS
    assert min(tickets.closed) == 20
    assert len(tickets.by_number) == 1
    with pytest.raises(TellError, match="batch 3 was told long ago and is closed"):
        tickets.stretch(3, 0, 1)


def test_unknown_batches_are_refused() -> None:
    tickets = PendingBatches()
    ticket = hand_out(tickets, [(0, 2)])
    found, positions = tickets.stretch(0, 1, 2)
    assert found is ticket
    assert positions.tolist() == [1]
    for number, start, stop in ((1, 0, 1), (-1, 0, 1), (0, 0, 3), (0, -1, 1), (0, 2, 1)):
        with pytest.raises(TellError, match=f"batch {number} with evaluations {start} to {stop}"):
            tickets.stretch(number, start, stop)


def test_digests_tell_values_and_failures_apart() -> None:
    fine, broken = np.zeros(2, dtype=np.bool_), np.array([False, True])
    reports = [
        digest_of(KEYS, np.array([1.0, 2.0]), fine),
        digest_of(KEYS, np.array([2.0, 1.0]), fine),
        digest_of(KEYS, np.array([1.0, np.nextafter(2.0, 3.0)]), fine),
        digest_of(KEYS, np.array([1.0, 0.0]), fine),
        digest_of(KEYS, np.array([1.0, 0.0]), broken),
        digest_of(KEYS + 1, np.array([1.0, 2.0]), fine),
    ]
    assert len(set(reports)) == len(reports)
    assert digest_of(KEYS, np.array([1.0, 7.0]), broken) == reports[-2]  # a failure has no value

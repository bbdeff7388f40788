"""A batch against the plain list that it stands for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noregret import FAILED, Batch

runs = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), min_size=1, max_size=8)
edge = st.none() | st.integers(-40, 40)


def batch_of(content: list[tuple[int, int]]) -> Batch:
    ids = np.array([row for row, _ in content], dtype=np.int64)
    repeats = np.array([count for _, count in content], dtype=np.int64)
    return Batch(ticket=4, ids=ids, repeats=repeats, x=ids[:, None] / 2.0, reason="repeat rule")


@given(runs, edge, edge, edge, edge)
def test_a_batch_and_its_slices_are_those_of_the_list(
    content: list[tuple[int, int]], a: int | None, b: int | None, c: int | None, d: int | None
) -> None:
    """Values are told in this order; one place off and every value is another molecule's.

    Also of slices of slices: each knows where it stands in the whole batch.
    """
    batch, rows = batch_of(content), [row for row, count in content for _ in range(count)]
    for part, expected in (
        (batch, rows),
        (batch[a:b], rows[a:b]),
        (batch[a:b][c:d], rows[a:b][c:d]),
        (batch[a:b:1], rows[a:b]),
    ):
        assert part.sequence.tolist() == expected
        assert len(part) == len(expected)
        assert np.repeat(part.ids, part.repeats).tolist() == expected
        assert [float(x[0]) for x in part] == [row / 2 for row in expected]
        assert rows[part.start : part.start + len(part)] == expected
        assert 0 <= part.start <= len(rows)
        assert np.all(part.repeats > 0)
        assert (part.ticket, part.reason) == (4, "repeat rule")
    singles = [batch[i : i + 1] for i in range(len(batch))]
    assert [int(single.ids[0]) for single in singles] == rows
    assert [single.start for single in singles] == list(range(len(rows)))


def test_a_slice_does_not_share_memory() -> None:
    """Sorting the ids of a slice must not reorder the batch."""
    batch = batch_of([(7, 2), (3, 1), (5, 4)])
    part = batch[:]
    part.ids.sort()
    part.repeats.sort()
    assert batch.sequence.tolist() == [7, 7, 3, 5, 5, 5, 5]


def test_names_are_kept() -> None:
    """ids are what the user calls the candidates."""
    batch = Batch(0, np.array(["salt", "acid"]), np.array([1, 2]), np.zeros((2, 3)), "")
    assert batch.sequence.tolist() == ["salt", "acid", "acid"]
    assert batch[1:].ids.tolist() == ["acid"]
    assert batch[:0].sequence.tolist() == []


def test_repr_counts_evaluations_and_candidates() -> None:
    """Two runs of one candidate are one candidate."""
    batch = batch_of([(7, 2), (3, 1), (7, 4)])
    text = "Batch(ticket=4, 7 evaluations of 2 candidates, reason='repeat rule')"
    assert repr(batch) == text
    assert repr(FAILED) == "noregret.FAILED"

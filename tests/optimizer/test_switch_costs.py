"""The ways to say what a switch costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.errors import ArgumentError, SnapshotError
from small_switching import COSTS, MODEL, TABLE, of_rows, value


def matrix() -> Any:
    return np.array([[of_rows(i, j) for j in range(40)] for i in range(40)])


WAYS: dict[str, Any] = {
    "columns": COSTS,
    "matrix": matrix(),
    "function": lambda x, z: 60.0 * (x[0] != z[0]) + 5.0 * bool((x[1:4] != z[1:4]).any()),
    "numbers of columns": {0: 60.0, 1: 2.5, 2: 2.5, 3: 2.5},  # two of three change
}


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_say_it_agree(way: str) -> None:
    """Columns are the short way to say what a matrix or a function says at length."""
    settings: dict[str, Any] = {"rule": nr.FixedSize(9), "start": [], **MODEL}
    bare = nr.Pool(TABLE.X) if way == "numbers of columns" else TABLE
    one = nr.gp_bucb(TABLE, switch_cost=COSTS, **settings)
    other = nr.gp_bucb(bare, switch_cost=WAYS[way], **settings)
    for time in range(3):
        a, b = one.ask(), other.ask()
        assert a.sequence.tolist() == b.sequence.tolist()
        assert other.peek().sequence.tolist() == b.sequence.tolist()
        for optimizer in (one, other):
            optimizer.tell(a, [value(row, time) for row in a.sequence.tolist()])
    assert one.paid == other.paid


def test_to_stay_costs_nothing_whatever_the_matrix_says() -> None:
    """A diagonal is easily filled with what stands around it, or with anything."""
    costs = np.full((2, 2), 7.0)
    np.fill_diagonal(costs, 30.0)
    optimizer = nr.mini_gp_ucb(
        nr.Pool([[0.0], [1.0]]), limit=99.0, switch_cost=costs, start=[], **MODEL
    )
    sizes, before = set(), None
    for _ in range(12):
        batch = optimizer.ask()
        sizes.add((before == batch.ids[0], len(batch)))
        optimizer.tell(batch, [float(batch.ids[0])] * len(batch))
        before = batch.ids[0]
    assert {stays for stays, _ in sizes} == {True, False}
    assert {size for _, size in sizes} == {7}
    assert optimizer.paid == 7.0 * optimizer.switches


def test_boxes_have_columns_by_number_and_functions_see_the_users_units() -> None:
    """A furnace with a range of temperatures."""
    box = nr.Box([(20, 200), (1, 4)], integer=[1])
    seen: list[float] = []

    def cost(x: Any, z: Any) -> float:
        seen.extend([x[0], z[0]])
        return float(abs(x[0] - z[0]))

    optimizer = nr.uniform(box, batch_size=6, switch_cost=cost)
    peeked = optimizer.peek()
    batch = optimizer.ask()
    assert peeked.x.tolist() == batch.x.tolist()
    heats = batch.x[:, 0].tolist()
    assert heats in (sorted(heats), sorted(heats, reverse=True))
    assert min(seen) >= 20
    assert max(seen) <= 200
    optimizer.tell(batch, [0.1] * 6)
    by_column = nr.uniform(box, batch_size=6, switch_cost={1: 3.0})
    whole = by_column.ask().x[:, 1].tolist()
    assert sum(a != b for a, b in pairwise(whole)) == len(set(whole)) - 1


def test_a_function_is_not_saved(tmp_path: Path) -> None:
    """A file holds no code; columns or a matrix say the same."""
    optimizer = nr.uniform(TABLE, switch_cost=WAYS["function"])
    with pytest.raises(SnapshotError, match="whose switch_cost is a function cannot be saved"):
        optimizer.save(tmp_path / "run")


@pytest.mark.parametrize(
    ("cost", "match"),
    [
        (-1.0, "switch_cost must be at least 0"),
        (True, "switch_cost must be a finite number, got True"),
        ("costly", "switch_cost must be a finite number, got 'costly'"),
        ([1.0, 2.0], r"a matrix has 40 × 40 costs for this pool, got shape \(2,\)"),
        (np.full((40, 40), np.nan), "switch_cost"),
        (-np.ones((40, 40)), "every cost must be a finite number of at least 0"),
        ({"heat": -5}, r"switch_cost\['heat'\] must be at least 0"),
        ({"temperature": 5}, "there is no column 'temperature'; there are 'heat', 'solvent'"),
        ({7: 5}, "there is no column 7; there are 'heat', 'solvent'"),
        ({0: 5}, "there is no column 0; there are 'heat', 'solvent'"),  # of the features, or ours?
        (pd.DataFrame(np.ones((40, 40))), "is a data frame, whose labels would not be looked at"),
        ({True: 5}, "there is no column True"),
    ],
)
@pytest.mark.parametrize("make", [nr.uniform, nr.auto, partial(nr.mini_gp_ucb, **MODEL)])
def test_costs_that_are_none_are_refused(
    make: Callable[..., nr.Optimizer], cost: Any, match: str
) -> None:
    """Before anything is done."""
    with pytest.raises(ArgumentError, match=match):
        make(TABLE, switch_cost=cost)


def test_a_function_that_gives_no_cost_is_named_and_nothing_is_handed_out() -> None:
    """It is called when a batch is put together."""
    box = nr.Box([(0, 1)])
    optimizer = nr.gp_bucb(box, rule=nr.FixedSize(3), switch_cost=lambda _x, _z: -1.0, **MODEL)
    optimizer.tell([[0.5]], [0.3])
    state, points = optimizer.state, len(optimizer.evidence.points)
    with pytest.raises(ArgumentError, match=r"switch_cost\(x, z\) must be at least 0"):
        optimizer.ask()
    assert optimizer.batches == 0
    assert optimizer.state is state
    assert len(optimizer.evidence.points) == points


def test_a_matrix_needs_a_pool() -> None:
    """A box has no rows."""
    with pytest.raises(ArgumentError, match="a matrix needs a pool, got shape"):
        nr.uniform(nr.Box([(0, 1)]), switch_cost=np.zeros((2, 2)))


def test_a_matrix_knows_no_candidates_that_are_added() -> None:
    """Columns do: what an oven takes to heat up is the same for a new candidate."""
    costs: list[Any] = [np.ones((3, 3)), {0: 5.0}]
    fixed, open_ended = (nr.uniform(nr.Pool.numbered(3), switch_cost=cost) for cost in costs)
    with pytest.raises(ArgumentError, match=r"extend\(\) cannot know .* matrix of the 3"):
        fixed.extend([[3.0]])
    assert fixed.evidence.points.candidates == 3
    open_ended.extend([[3.0]])
    for _ in range(9):
        open_ended.tell(open_ended.ask(), [0.0])
    assert open_ended.paid == 5.0 * open_ended.switches

"""The ways to say what a switch costs."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
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


@pytest.mark.parametrize("way", ["matrix", "function"])
def test_a_function_or_matrix_is_given_again_and_the_run_goes_on(way: str, tmp_path: Path) -> None:
    """A file holds no code, nor the square of the pool; as with a kernel of one's own."""
    settings: dict[str, Any] = {"rule": nr.FixedSize(5), "switch_cost": WAYS[way], **MODEL}
    unbroken, broken = (nr.gp_bucb(TABLE, **settings) for _ in "ab")
    for time in range(4):
        for optimizer in (unbroken, broken):
            batch = optimizer.ask()
            optimizer.tell(batch, [value(row, time) for row in batch.sequence.tolist()])
        broken.save(tmp_path / "run")
        broken = nr.load(tmp_path / "run", pool=TABLE, switch_cost=WAYS[way])
        assert broken.ask().sequence.tolist() == unbroken.ask().sequence.tolist()
    assert broken.paid == unbroken.paid > 0
    assert (tmp_path / "run").stat().st_size < 8 * 40**2 + 20_000


def test_costs_given_again_must_be_those_of_the_run(tmp_path: Path) -> None:
    """Half a run by one bill and half by another is neither."""
    other = matrix()
    other[7, 30] += 1.0
    wrong: dict[str, list[Any]] = {
        "matrix": [other, matrix().T + 1.0, WAYS["function"], COSTS, 60.0],
        "function": [lambda _x, _z: 60.0, matrix(), COSTS, 60.0],
    }
    for way, others in wrong.items():
        optimizer = nr.uniform(TABLE, switch_cost=WAYS[way])
        optimizer.save(tmp_path / "run")
        with pytest.raises(SnapshotError, match="function or matrix of yours, which are not saved"):
            nr.load(tmp_path / "run", pool=TABLE)
        for costs in others:
            with pytest.raises(SnapshotError, match=r"switch_cost=.* not that of the saved run"):
                nr.load(tmp_path / "run", pool=TABLE, switch_cost=costs)
        with pytest.raises(ArgumentError, match="a matrix has 40 × 40 costs"):
            nr.load(tmp_path / "run", pool=TABLE, switch_cost=np.ones((3, 3)))
    for costs in (None, 60.0, COSTS):
        nr.uniform(TABLE, switch_cost=costs).save(tmp_path / "run")
        nr.load(tmp_path / "run", pool=TABLE)
        for more in (60.0, COSTS, matrix()):
            with pytest.raises(SnapshotError, match=r"leave out load\(switch_cost=\.\.\.\)"):
                nr.load(tmp_path / "run", pool=TABLE, switch_cost=more)


def test_a_matrix_that_was_saved_whole_is_read(tmp_path: Path) -> None:
    """Runs of before hold it, and go on without it."""
    optimizer = nr.uniform(TABLE, batch_size=6, switch_cost=matrix())
    optimizer.tell(optimizer.ask(), [0.0] * 6)
    optimizer.save(tmp_path / "run")
    buffer = io.BytesIO()
    np.save(buffer, matrix())
    with (
        zipfile.ZipFile(tmp_path / "run") as archive,
        zipfile.ZipFile(tmp_path / "old", "w") as old,
    ):
        for name in archive.namelist():
            content = archive.read(name)
            if name == "run.json":
                tree = json.loads(content)
                costs = {"tag": "MatrixSwitchCosts", "fields": {"matrix": {"array": "whole"}}}
                tree["run"]["tuple"][2]["fields"]["switch_costs"] = costs
                content = json.dumps(tree).encode()
            old.writestr(name, content)
        old.writestr("whole.npy", buffer.getvalue())
    again = nr.load(tmp_path / "old", pool=TABLE)
    assert again.ask().sequence.tolist() == optimizer.ask().sequence.tolist()
    assert again.paid == optimizer.paid


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


def test_a_function_is_called_once_for_each_pair_of_a_batch() -> None:
    """It may ask a robot for the way; those who do not stay for it need no cost of each choice."""
    calls: Counter[tuple[float, ...]] = Counter()

    def cost(x: Any, z: Any) -> float:
        calls[(*x, *z)] += 1
        return float(abs(x[0] - z[0]))

    optimizer = nr.uniform(nr.Pool(np.random.default_rng(0).random((50, 2))), batch_size=20)
    optimizer = nr.Optimizer(optimizer.pool, optimizer.policy, switch_cost=cost)
    gp = nr.gp_bucb(optimizer.pool, rule=nr.FixedSize(20), switch_cost=cost, start=[], **MODEL)
    for one in (optimizer, gp):
        calls.clear()
        batch = one.ask()
        m = len(set(batch.ids.tolist()))
        assert (set(calls.values()), calls.total()) == ({1}, m * (m - 1))
        one.tell(batch, [0.0] * len(batch))
        calls.clear()
        m = len(set(one.ask().ids.tolist()))
        assert calls.total() <= m * m  # and from what is set up to each

"""Switches that cost by the pair: the order of a batch, what was paid, and no other choice."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.recfunctions import repack_fields

import noregret as nr
from noregret.errors import TellError
from noregret.optimizer.switching import ordered
from noregret.optimizer.trace import COLUMNS
from noregret.pools import Points
from noregret.pools.switch_costs import FlatSwitchCost, MatrixSwitchCosts
from small_switching import COSTS, FRAME, MODEL, TABLE, of_rows, value

ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "plate": partial(nr.gp_bucb, rule=nr.FixedSize(8), **MODEL),
    "gp_ucb": partial(nr.gp_ucb, start=nr.UniformDesign(9), **MODEL),
    "gp_bucb": partial(nr.gp_bucb, limit=9.0, **MODEL),
    "bbkb": partial(nr.bbkb, limit=9.0, **MODEL),
    "bbkb-sticky": partial(nr.bbkb, limit=6.0, rule="local", dictionary="sticky", **MODEL),
    "batch_thompson": partial(nr.batch_thompson, batch_size=7, **MODEL),
    "uniform": partial(nr.uniform, batch_size=8),
    "evolution": partial(nr.regularized_evolution, population=6, sample=3, batch_size=5),
    "auto": partial(nr.auto, workers=6),
}


def paid_for(sequence: list[int]) -> float:
    return sum(of_rows(one, other) for one, other in pairwise(sequence))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_is_chosen_and_run_in_a_cheaper_order(name: str) -> None:
    """The order is for the laboratory; what the model is told must not depend on it."""
    plain, ordered = (
        ALGORITHMS[name](TABLE, seed=3, **given) for given in ({}, {"switch_cost": COSTS})
    )
    at, as_given = None, 0.0
    for time in range(7):
        a, b = plain.ask(at_most=20), ordered.ask(at_most=20)
        assert Counter(a.sequence.tolist()) == Counter(b.sequence.tolist())
        assert (a.reason, a.ticket) == (b.reason, b.ticket)
        before = list[int]() if at is None else [at]
        costly, cheap = (paid_for([*before, *batch.sequence.tolist()]) for batch in (a, b))
        assert cheap <= costly
        as_given += costly
        for optimizer, batch in ((plain, a), (ordered, b)):
            half = batch[: len(batch) // 2] if time % 3 == 1 else batch
            optimizer.tell(batch, [value(row, time) for row in batch.sequence.tolist()])
            optimizer.tell(half, [value(row, time) for row in half.sequence.tolist()])  # again
        at = b.sequence.tolist()[-1]
    assert plain.best().mean == ordered.best().mean  # to the last bit
    assert ordered.paid == pytest.approx(paid_for(ordered.sequence.tolist()))
    assert ordered.paid < as_given
    assert f"switches so far cost {ordered.paid:g}." in ordered.account()
    ways = [ordered.sequence.tolist()[:stop] for stop in np.cumsum(ordered.trace["size"])]
    assert ordered.trace["paid"] == pytest.approx([paid_for(way) for way in ways])
    assert ordered.cost_of(ways[-1]) == pytest.approx(ordered.paid)
    assert plain.cost_of(ways[-1]) == plain.trace["paid"][-1] == 0.0
    assert ("paid" in repr(ordered.trace), "paid" in repr(plain.trace)) == (True, False)


@given(st.integers(0, 2**20))
def test_parts_of_a_batch_are_told_failed_and_asked_for_again_in_its_order(seed: int) -> None:
    """Positions are those of the batch as it was shown, whatever happens to parts of it."""
    rng = np.random.default_rng(seed)
    optimizer = ALGORITHMS["plate"](TABLE, switch_cost=COSTS, start=[], seed=seed % 7)
    batch = optimizer.ask()
    rows = batch.sequence.tolist()
    fate = dict.fromkeys(range(len(rows)), "open")
    for _ in range(4):
        start, stop = sorted(rng.integers(0, len(rows) + 1, 2).tolist())
        part, event = batch[start:stop], rng.random()
        if event < 0.4:
            optimizer.tell(part, [value(row, 0) for row in rows[start:stop]])
            fate |= dict.fromkeys(range(start, stop), "told")
        elif event < 0.7:
            optimizer.fail(part)
            fate |= {at: "failed" for at in range(start, stop) if fate[at] == "open"}
        left = [at for at in fate if fate[at] == "open"]
        if not left:
            break
        again = optimizer.ask()
        assert again.start == left[0]
        assert again.sequence.tolist() == rows[left[0] : left[0] + len(again)]
    told = [rows[at] for at in fate if fate[at] == "told"]
    assert Counter(optimizer.evaluated.ids) == Counter(told)
    averages = dict(zip(optimizer.evaluated.ids, optimizer.evaluated.averages, strict=True))
    assert all(averages[row] == pytest.approx(value(row, 0)) for row in told)


def test_a_batch_told_twice_with_other_values_is_refused() -> None:
    """Also when it was filed away, in the order that it was shown in."""
    optimizer = ALGORITHMS["plate"](TABLE, switch_cost=COSTS, start=[])
    batch = optimizer.ask()
    values = [value(row, 0) for row in batch.sequence.tolist()]
    optimizer.tell(batch[:3], values[:3])
    optimizer.tell(batch[3:], values[3:])
    optimizer.ask()
    optimizer.tell(batch, values)
    with pytest.raises(TellError, match="told before with other values"):
        optimizer.tell(batch, values[::-1])


def test_an_order_starts_from_what_the_worker_has_set_up() -> None:
    """The second plate begins near the temperature of the first; another oven has its own."""
    pool = nr.Pool([[0.0], [10.0], [8.0], [2.0]])
    given: dict[str, Any] = {"noise_std": 1.0, "start": [0, 1, 3, 2]}
    optimizer = nr.gp_ucb(
        pool, kernel=nr.RBF(9.0), switch_cost=lambda x, z: abs(x[0] - z[0]), **given
    )
    for worker in "ab":
        batch = optimizer.ask(at_most=1, worker=worker)
        optimizer.tell(batch, [0.0])
    assert optimizer.peek(at_most=2, worker="c").ids.tolist() in ([3, 2], [2, 3])
    assert optimizer.peek(at_most=2, worker="a").ids.tolist() == [3, 2]
    assert optimizer.peek(at_most=2, worker="b").ids.tolist() == [2, 3]
    assert optimizer.ask(at_most=2, worker="b").ids.tolist() == [2, 3]
    assert optimizer.paid == 2 + 6  # nothing for the first of each


def test_runs_of_one_candidate_stay_apart_where_that_costs_less() -> None:
    """Costs need not keep the triangle inequality: the way round may be the cheap one."""
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 100.0], [100.0, 100.0, 0.0]])
    points = Points(nr.Pool.numbered(3))
    picks = points.picks(np.array([0, 1, 0, 2]))
    assert ordered(picks, points, MatrixSwitchCosts(costs), 0) == (None, 3.0)


def test_what_is_set_up_is_run_first_whatever_stands_on_the_diagonal() -> None:
    """The order starts from it: there, going on is free, though the matrix has a number for it."""
    costs = np.array([[90.0, 3.0, 4.0], [3.0, 90.0, 5.0], [4.0, 5.0, 90.0]])
    points = Points(nr.Pool.numbered(3))
    order, paid = ordered(points.picks(np.array([1, 2, 0])), points, MatrixSwitchCosts(costs), 0)
    assert order is not None
    assert (order.tolist(), paid) == ([2, 0, 1], 8.0)


def test_the_way_to_the_first_of_a_batch_may_be_what_differs() -> None:
    """Among themselves they are alike; from what is set up one of them is near."""
    costs = np.array([[0.0, 5.0, 5.0], [5.0, 0.0, 5.0], [9.0, 1.0, 0.0]])
    points = Points(nr.Pool.numbered(3))
    order, paid = ordered(points.picks(np.array([0, 1])), points, MatrixSwitchCosts(costs), 2)
    assert order is not None
    assert (order.tolist(), paid) == ([1, 0], 6.0)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(-1, 4))
def test_where_all_switches_cost_the_same_as_few_as_can_be_are_made(
    rows: list[int], before: int
) -> None:
    """A plate that holds a candidate three times need not be set up for it three times."""
    points, set_up = Points(nr.Pool.numbered(5)), None if before < 0 else before
    way = [] if set_up is None else [set_up]
    costs = FlatSwitchCost(2.0), MatrixSwitchCosts(np.full((5, 5), 2.0))
    picks = points.picks(np.array(rows))
    flat, pairs = (ordered(picks, points, one, set_up) for one in costs)
    least = min(
        sum(a != b for a, b in pairwise([*way, *order])) for order in permutations(set(rows))
    )
    assert flat[1] == pairs[1] == 2.0 * least
    assert (flat[0] is None) == (pairs[0] is None)
    if flat[0] is not None and pairs[0] is not None:
        assert flat[0].tolist() == pairs[0].tolist()


def test_the_first_setting_up_is_free_and_a_number_counts_switches() -> None:
    """As `optimizer.switches` has it."""
    optimizer = nr.uniform(TABLE, batch_size=5, switch_cost=2.5)
    for _ in range(3):
        batch = optimizer.ask()
        optimizer.tell(batch, [0.0] * len(batch))
    assert optimizer.paid == 2.5 * optimizer.switches > 0
    assert nr.uniform(TABLE).paid == 0.0
    assert "cost" not in nr.uniform(TABLE).account()


def test_mini_stays_until_the_switch_that_it_made_was_worth_it() -> None:
    """Six evaluations for an hour of heating, and six more if it is the best again; one of a
    candidate that another led to at the same heat."""
    hours = {"heat": 6.0}
    make = partial(nr.mini_gp_ucb, TABLE, limit=99.0, seed=1, start=[], **MODEL)
    optimizer, way = make(switch_cost=hours), list[int]()
    seen: Counter[tuple[bool, bool]] = Counter()
    for time in range(40):
        batch = optimizer.ask()
        row = int(batch.ids[0])
        others = [at for at in way if at != row]
        heated = not others or FRAME["heat"][row] != FRAME["heat"][others[-1]]
        assert len(batch) == (6 if heated else 1)
        seen[bool(heated), way[-1:] == [row]] += 1
        optimizer.tell(batch, [value(row, time)] * len(batch))
        way.append(row)
    assert len(seen) == 4
    assert "switch cost by pair" in batch.reason


@pytest.mark.parametrize("name", ["plate", "bbkb", "auto"])
def test_a_saved_run_goes_on_in_the_middle_of_a_batch(name: str, tmp_path: Path) -> None:
    """The order belongs to the batch that is open."""
    unbroken, broken = (ALGORITHMS[name](TABLE, switch_cost=COSTS, seed=2) for _ in "ab")
    for time in range(4):
        batches = []
        for optimizer in (unbroken, broken):
            batch = optimizer.ask(at_most=9)
            half = len(batch) // 2
            optimizer.tell(batch[:half], [value(r, time) for r in batch[:half].sequence.tolist()])
            if optimizer is broken:
                broken.save(tmp_path / "run")
                broken = optimizer = nr.load(tmp_path / "run", pool=TABLE)
            rest = optimizer.ask(at_most=9)
            assert rest.sequence.tolist() == batch[half:].sequence.tolist()
            optimizer.tell(rest, [value(row, time) for row in rest.sequence.tolist()])
            batches.append(batch.sequence.tolist())
        assert batches[0] == batches[1]
    assert broken.paid == unbroken.paid


def test_a_result_says_what_its_switches_cost() -> None:
    """Those that were made: of a batch that was broken off, not those that were planned."""

    def broken(row: Any) -> float:
        calls.append(row)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return value(row, 0)

    calls: list[int] = []
    result = nr.maximize(
        broken, TABLE, 99, algorithm=nr.uniform, batch_size=3, by_id=True, switch_cost=COSTS
    )
    way = list(map(int, result.ids))
    assert len(way) == 19
    assert result.paid == pytest.approx(paid_for(way))
    assert 0 < result.paid < result.optimizer.paid
    assert f"{result.switches} switches that cost {result.paid:g};" in str(result)
    free = nr.maximize(lambda x: x[0], TABLE, 9, algorithm=nr.uniform)
    assert free.paid == 0.0
    assert "cost" not in str(free)


@pytest.mark.parametrize("switch_cost", [None, COSTS])
def test_a_run_saved_before_its_trace_said_what_was_paid_goes_on(
    switch_cost: Any, tmp_path: Path
) -> None:
    """What was paid in all was kept; what of it by which batch, nobody knows."""
    optimizer = nr.uniform(TABLE, batch_size=8, switch_cost=switch_cost)
    for _ in range(3):
        batch = optimizer.ask()
        optimizer.tell(batch, [0.0] * 8)
    optimizer.save(tmp_path / "run")
    columns = [name for name in COLUMNS if name != "paid"]
    with (
        zipfile.ZipFile(tmp_path / "run") as archive,
        zipfile.ZipFile(tmp_path / "old", "w") as old,
    ):
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                if "paid" in (array.dtype.names or ()):
                    buffer = io.BytesIO()
                    np.save(buffer, repack_fields(array[columns]), allow_pickle=False)
                    content = buffer.getvalue()
            old.writestr(name, content)
    again = nr.load(tmp_path / "old", pool=TABLE)
    before, paid = again.trace["paid"], optimizer.paid
    np.testing.assert_array_equal(before, [*[np.nan if paid else 0.0] * 2, paid])
    for column in columns:
        np.testing.assert_array_equal(again.trace[column], optimizer.trace[column])
    one, other = again.ask(), optimizer.ask()
    assert one.sequence.tolist() == other.sequence.tolist()
    assert again.paid == optimizer.paid == again.trace["paid"][-1]


def test_a_cost_without_end_is_paid_once_it_is_switched() -> None:
    """Infinite costs are for MINI, which then stays as long as its bound lets it."""
    optimizer = nr.uniform(nr.Pool.numbered(1), switch_cost=float("inf"))
    for _ in range(2):
        optimizer.tell(optimizer.ask(), [0.0])
    assert optimizer.paid == optimizer.cost_of([0, 0]) == 0.0
    optimizer = nr.uniform(nr.Pool.numbered(9), batch_size=9, switch_cost=float("inf"))
    optimizer.ask()
    assert optimizer.paid == float("inf")


def test_a_run_saved_before_there_were_orders_goes_on(tmp_path: Path) -> None:
    """Runs of last month, with a batch that is open."""
    optimizer = ALGORITHMS["plate"](TABLE, start=[])
    batch = optimizer.ask()
    optimizer.save(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    text = parts["run.json"].decode()
    tree = json.loads(text)
    fields = tree["run"]["tuple"][2]["fields"]
    del fields["switch_costs"], fields["records"]["fields"]["paid"]
    for _, pending in fields["pending"]["fields"]["by_number"]["dict"]:
        del pending["fields"]["order"]
    rule = tree["run"]["tuple"][0]["fields"]["batching"]
    assert rule["tag"] == "FixedSize"
    with zipfile.ZipFile(tmp_path / "old", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, json.dumps(tree).encode() if name == "run.json" else content)
    again = nr.load(tmp_path / "old", pool=TABLE)
    assert again.ask().sequence.tolist() == batch.sequence.tolist()
    assert again.paid == 0.0

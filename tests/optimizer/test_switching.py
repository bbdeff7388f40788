"""Switches that cost by the pair: the order of a batch, what was paid, and no other choice."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import TellError
from noregret.optimizer.switching import ordered
from noregret.pools import Points
from noregret.pools.switch_costs import FlatSwitchCost, MatrixSwitchCosts
from small_switching import COSTS, FRAME, MODEL, TABLE, X, of_rows, value

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


EVENTS = ["tell", "tell", "tell", "part", "fail", "late", "unasked", "exclude", "save"]


@given(
    st.lists(
        st.tuples(st.sampled_from(EVENTS), st.sampled_from("ab"), st.integers(1, 9)), max_size=12
    ),
    st.sampled_from([0.0, 0.5, 1.0, 2.2, 4.0, 7.0]),
    st.sampled_from([nr.mini_gp_ucb, nr.mini_gp_ei, partial(nr.mini, acquisition=nr.Thompson())]),
    st.integers(0, 9),
)
def test_costs_that_are_the_same_for_all_pairs_choose_as_a_number_does(
    story: list[tuple[str, str, int]], cost: float, algorithm: Any, seed: int
) -> None:
    """Two ways to say one thing, whoever is asked, whatever fails, and after every load."""
    pool = nr.Pool(X[:12])
    costs = np.full((12, 12), cost)
    np.fill_diagonal(costs, 0.0)
    make = partial(algorithm, pool, limit=9.0, seed=seed, start=[1, 2], **MODEL)
    runs = [make(switch_cost=given) for given in (cost, costs, lambda _x, _z: cost)]
    for time, (event, worker, at_most) in enumerate([*story, ("tell", "a", 9), ("tell", "b", 9)]):
        batches = [one.ask(at_most=at_most, worker=worker) for one in runs]
        for at, (one, batch) in enumerate(zip(runs, batches, strict=True)):
            told = [value(row, time) for row in batch.sequence.tolist()]
            if event == "part":
                one.tell(batch[:1], told[:1])
            elif event == "fail":
                one.fail(batch)
            elif event != "late":
                one.tell(batch, told)
            if event == "unasked":
                one.tell([3], [0.4])
            elif event == "exclude" and len(np.flatnonzero(one.evidence.excluded)) < 6:
                one.exclude([int(batch.ids[0])])
            elif event == "save" and at == 1:
                with TemporaryDirectory() as folder:
                    one.save(f"{folder}/run")
                    runs[1] = nr.load(f"{folder}/run", pool=pool)
        assert batches[0].sequence.tolist() == batches[1].sequence.tolist()
        assert batches[0].sequence.tolist() == batches[2].sequence.tolist()
    assert runs[0].sequence.tolist() == runs[1].sequence.tolist() == runs[2].sequence.tolist()
    assert runs[0].switches == runs[1].switches == runs[2].switches
    assert [one.paid for one in runs] == pytest.approx([cost * runs[0].switches] * 3)


@pytest.mark.parametrize("cost", [6.0, np.full((4, 4), 6.0), {0: 6.0}])
def test_the_first_stay_is_as_long_as_others_are(cost: Any) -> None:
    """Nothing led to it; it is stayed on as after a switch that costs what most others would."""
    pool = nr.Pool.numbered(4)
    optimizer = nr.mini_gp_ucb(pool, limit=99.0, switch_cost=cost, start=[], **MODEL)
    assert [len(optimizer.ask(worker=worker)) for worker in "abc"] == [6, 6, 6]


def test_before_the_first_the_middle_of_all_costs_is_taken() -> None:
    """A far one of many is no reason to stay long, nor is a near one to leave at once."""
    costs = np.array([[0.0, 9.0, 2.0, 3.0], [8.0, 0, 0, 0], [4.0, 0, 0, 0], [30.0, 0, 0, 0]])
    make = partial(nr.mini_gp_ucb, nr.Pool.numbered(4), limit=99.0, start=[], **MODEL)
    for goal in range(4):
        optimizer = make(switch_cost=costs)
        optimizer.exclude([row for row in range(4) if row != goal])
        middle = float(np.median(np.delete(costs[:, goal], goal)))
        assert len(optimizer.ask()) == max(1, middle)
    alone = nr.mini_gp_ucb(
        nr.Pool.numbered(1), limit=99.0, switch_cost=lambda _x, _z: 9.0, start=[], **MODEL
    )
    assert len(alone.ask()) == 1


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

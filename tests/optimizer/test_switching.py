"""Switches that cost by the pair: the order of a batch, what was paid, and no other choice."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import TellError
from noregret.optimizer.switching import ordered
from noregret.pools import Points
from noregret.pools.switch_costs import MatrixSwitchCosts
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
    """Twenty evaluations for an hour of heating; one where nothing was changed."""
    hours = {"heat": 6.0}
    make = partial(nr.mini_gp_ucb, TABLE, limit=99.0, seed=1, **MODEL)
    optimizer, stays = make(switch_cost=hours), Counter[tuple[bool, int]]()
    before = None
    for time in range(30):
        batch = optimizer.ask()
        row = int(batch.ids[0])
        changed = before is not None and FRAME["heat"][row] != FRAME["heat"][before]
        stays[bool(changed), len(batch)] += 1
        optimizer.tell(batch, [value(row, time)] * len(batch))
        before = row
    assert {size for changed, size in stays if not changed} == {1}
    assert {size for changed, size in stays if changed} == {6}
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

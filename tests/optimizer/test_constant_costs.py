"""Costs that are the same for all pairs, and what MINI makes of the first candidate."""

from __future__ import annotations

from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from small_switching import MODEL, X, value

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
                    runs[1] = nr.load(f"{folder}/run", pool=pool, switch_cost=costs)
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

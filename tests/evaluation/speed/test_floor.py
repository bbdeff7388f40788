"""The floor: what the machine needs at best for what was moved and computed."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.methods.library import make_optimizer, work_of
from evaluation.problems.speed import make_problem
from evaluation.speed.machine import Meter, floor_seconds, measure_floor
from evaluation.speed.report import moved_gb, over_floor, passes
from evaluation.speed.results import Figures

N = {"N": 100}
FLOOR = {"bandwidth": 10e9, "flops": 100e9}


def work(bytes_: int, flops: int) -> dict[str, int]:
    return {"rankings": 2, "refreshed": 300, "scanned": 7, "bytes": bytes_, "flops": flops}


def test_the_floor_is_the_larger_of_reading_and_computing() -> None:
    assert floor_seconds(work(20 * 10**9, 10**9), FLOOR) == pytest.approx(2.0)
    assert floor_seconds(work(10**9, 300 * 10**9), FLOOR) == pytest.approx(3.0)


def test_figures_over_the_floor() -> None:
    figures = Figures(seconds=6.0, work=work(20 * 10**9, 0), floor=FLOOR)
    assert over_floor(figures, N) == pytest.approx(3.0)
    assert moved_gb(figures, N) == pytest.approx(20.0)
    assert passes(figures, N) == pytest.approx(3.0)
    unknown = Figures(seconds=6.0, work=None, floor=FLOOR)
    assert over_floor(unknown, N) is moved_gb(unknown, N) is passes(unknown, N) is None
    assert over_floor(Figures(seconds=1.0, work=work(0, 0), floor=FLOOR), N) is None


def test_a_floor_can_be_measured() -> None:
    floor = measure_floor(2, read_bytes=1 << 20, product=64)
    assert floor["bandwidth"] > 0
    assert floor["flops"] > 0


def test_work_is_read_where_the_library_counts_it() -> None:
    """A baseline ranks nothing, so that it has no work to show."""
    problem = make_problem(50)
    assert work_of(make_optimizer("uniform", problem)) is None
    optimizer = make_optimizer("mini_gp_ucb", problem)
    batch = optimizer.ask()
    optimizer.tell(batch, np.zeros(len(batch)))
    optimizer.ask()
    counted = work_of(optimizer)
    assert counted is None or all(isinstance(value, int) for value in counted.values())


def test_a_meter_adds_up_stretches_and_sees_memory() -> None:
    meter = Meter(60.0)
    with meter:
        first = np.ones(1 << 21)
    with meter:
        second = first + 1
    figures = meter.figures()
    assert 0 < figures["seconds"] < 60
    assert figures["peak"] > figures["beyond"] >= 0
    assert len(second) == 1 << 21

"""One run and what is written down of it, against the slow way of counting."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest

import noregret as nr
from evaluation.methods.papers import optimizer
from evaluation.runs.cells import Setting
from evaluation.runs.trial import checkpoints, makespan, run
from small_runs import cell, small

METHODS: list[Setting] = [
    {"algorithm": "bbkb", "rule": "local", "limit": 1.5, "bandwidth": 0.3},
    {"algorithm": "bkb", "bandwidth": 0.3},
    {"algorithm": "gp_ucb", "bandwidth_squared": 0.09},
    {"algorithm": "gp_bucb", "limit": 1.5, "bandwidth": 0.3},
    {"algorithm": "mini_gp_ucb", "limit": 1.21, "bandwidth": 0.3, "noise_variance": "noise level"},
    {"algorithm": "mini_gp_ei", "limit": 1.21, "bandwidth": 0.3},
    {"algorithm": "batch_thompson", "batch_size": 7, "width_divided_by": 10, "bandwidth": 0.3},
    {"algorithm": "epsilon_greedy", "a": 1.0, "b": 0.5},
    {"algorithm": "regularized_evolution", "population": 10, "sample": 3},
    {"algorithm": "uniform"},
]


@pytest.mark.parametrize("history", [0, 40])
@pytest.mark.parametrize("setting", METHODS, ids=lambda setting: str(setting["algorithm"]))
def test_curves_are_those_of_a_run_counted_by_hand(setting: Setting, history: int) -> None:
    """A curve that counts wrongly would refute or confirm a paper for nothing."""
    problem, one = small(), cell(setting, history=history)
    record = run(one, problem)

    opt = optimizer(problem, one)
    known = []
    if history:
        rng = np.random.default_rng([3, 2])
        known = rng.integers(60, size=history).tolist()
        opt.tell(known, problem.feedback(np.array(known), rng))
    rng = np.random.default_rng([3, 1])
    chosen: list[int] = []
    sizes: list[int] = []
    while len(chosen) < 90:
        batch = opt.ask(at_most=90 - len(chosen))
        rows = [int(row) for row in batch.sequence]
        opt.tell(batch, problem.feedback(np.array(rows), rng))
        chosen += rows
        sizes += [len(rows)] * len(rows)

    best = problem.values.max()
    for i, t in enumerate(record["steps"]):
        gaps = [best - problem.values[row] for row in chosen[:t]]
        assert record["regret"][i] == pytest.approx(sum(gaps))
        seen = gaps + [best - problem.values[row] for row in known]
        assert record["simple"][i] == pytest.approx(min(seen))
        assert record["unique"][i] == len(set(chosen[:t]))
        assert record["switches"][i] == 1 + sum(a != b for a, b in pairwise(chosen[:t]))
        assert record["batch"][i] == sizes[t - 1]
    assert record["steps"][-1] == 90
    assert record["uniform"] == pytest.approx(float((best - problem.values).mean()))
    assert problem.seconds is not None
    assert record["total"]["1"][-1] >= problem.seconds[chosen].sum()


def test_equal_cells_give_equal_choices() -> None:
    """What is stored once must be what anybody else would have stored."""
    first, second = (run(cell(METHODS[0]), small()) for _ in range(2))
    for name in ("regret", "simple", "unique", "switches", "batch", "batches"):
        assert first[name] == second[name]


def test_repetitions_differ() -> None:
    first, second = (run(cell(METHODS[0], repetition=r), small()) for r in (0, 1))
    assert first["regret"] != second["regret"]


@pytest.mark.parametrize("workers", [1, 2, 3, 9])
def test_workers_take_the_next_evaluation_when_they_are_free(workers: int) -> None:
    """Against a clock that ticks: total times of figures rest on it."""
    durations = np.random.default_rng(workers).integers(1, 6, size=12).astype(np.float64)
    waiting, busy, now = list(durations), list[float](), 0
    while waiting or busy:
        busy = [left for left in busy if left > 0]
        while waiting and len(busy) < workers:
            busy.append(waiting.pop(0))
        if busy:
            busy, now = [left - 1 for left in busy], now + 1
    assert makespan(durations, workers) == now


def test_no_order_of_work_beats_the_longest_evaluation() -> None:
    durations = np.array([3.0, 1.0, 2.0])
    assert {makespan(np.array(order), 5) for order in permutations(durations)} == {3.0}


def test_checkpoints_end_at_the_horizon() -> None:
    for horizon in (1, 2, 17, 10_000):
        steps = checkpoints(horizon)
        assert steps[0] == 1
        assert steps[-1] == horizon
        assert np.all(np.diff(steps) > 0)


def test_settings_reach_the_algorithm() -> None:
    """Table 1 printed beside a run that ignored it would be worse than no table."""
    problem = small()
    bandit: Any = optimizer(problem, cell(METHODS[4])).policy
    assert bandit.batching == nr.Repeat(1.21)
    assert bandit.prior.ridge == pytest.approx(problem.noise_std)
    assert bandit.prior.noise_std == problem.noise_std**0.5
    assert bandit.prior.kernel == nr.RBF(0.3)
    theirs: Any = optimizer(problem, cell({**METHODS[4], "noise_variance": "noise level²"})).policy
    assert theirs.prior.noise_std == problem.noise_std
    squared: Any = optimizer(problem, cell(METHODS[2])).policy
    assert squared.prior.kernel == nr.RBF(0.3)
    thompson: Any = optimizer(problem, cell(METHODS[6])).policy
    assert thompson.width == 0.1 * nr.RKHSWidth(1 / 90)

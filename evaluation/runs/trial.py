"""A cell of the papers' figures: curves of one run, at a few hundred steps."""

from __future__ import annotations

import heapq
from typing import TypedDict

import numpy as np

from evaluation.methods import every
from evaluation.methods.papers import optimizer
from evaluation.methods.players import Ours, Player
from evaluation.problems.base import Problem
from evaluation.runs.cells import Cell
from evaluation.runs.loop import HISTORY, Clock, Run
from noregret.arrays import Indices, Vector

WORKERS = (1, 16, 128)  # machines that evaluate at the same time, where evaluations take time


class Record(TypedDict):
    """Curves of one run, one entry per step of `steps`."""

    steps: list[int]  # evaluations so far
    regret: list[float]  # cumulative regret
    simple: list[float]  # gap of the best candidate evaluated so far, history included
    unique: list[int]  # different candidates among those asked for
    switches: list[int]  # how often the next evaluation was of another candidate than the last
    batch: list[int]  # size of the batch that this step is in
    batches: list[int]
    seconds: list[float]  # processor time of asks and tells
    total: dict[str, list[float]]  # that and the evaluations' own time, by the number of workers
    uniform: float  # expected regret of one uniform evaluation


def run(cell: Cell, problem: Problem) -> Record:
    """Return the curves of one run; equal cells give equal choices.

    Past evaluations are the same for every method of a repetition.
    """
    clock, known = Clock(), np.inf  # gap of the best candidate in the history
    with clock:
        player = _player(problem, cell)
    if cell.history:
        rng = np.random.default_rng([cell.repetition, HISTORY])
        past = rng.integers(len(problem.values), size=cell.history)
        values = problem.feedback(past, rng)
        assert isinstance(player, Ours), f"{cell.method['algorithm']} takes no history"
        with clock:
            player.optimizer.tell(past, values)
        known = float(problem.gaps(past).min())
    done = Run(problem, player, cell.repetition, clock)
    done.until(cell.horizon)
    return curves(done, known)


def _player(problem: Problem, cell: Cell) -> Player:
    if cell.method["algorithm"] == every.GP_BUCB:
        return every.GPBUCB.of(problem, cell)
    return Ours(problem, optimizer(problem, cell))


def curves(run: Run, known: float) -> Record:
    """Return the curves of a run at the checkpoints."""
    rows, gaps = run.points, run.problem.gaps(run.points)
    at = checkpoints(run.spent) - 1
    sizes = np.array([len(batch) for batch in run.batches])
    of_batch = np.repeat(np.arange(len(sizes)), sizes)[at]
    first = np.zeros(len(rows), dtype=bool)
    first[np.unique(rows, return_index=True)[1]] = True
    switched = np.append(True, rows[1:] != rows[:-1])
    seconds, took = np.array(run.seconds), run.problem.seconds
    spans: dict[int, Vector] = {}  # when each batch has been evaluated, by the number of workers
    if took is not None:
        for P in WORKERS:
            spans[P] = np.cumsum([makespan(took[batch], P) for batch in run.batches])
    return Record(
        steps=(at + 1).tolist(),
        regret=np.cumsum(gaps)[at].tolist(),
        simple=np.minimum.accumulate(np.minimum(gaps, known))[at].tolist(),
        unique=np.cumsum(first)[at].tolist(),
        switches=np.cumsum(switched)[at].tolist(),
        batch=sizes[of_batch].tolist(),
        batches=(of_batch + 1).tolist(),
        seconds=seconds[of_batch].round(6).tolist(),
        total={str(P): (seconds + spent)[of_batch].tolist() for P, spent in spans.items()},
        uniform=run.problem.uniform,
    )


def checkpoints(horizon: int) -> Indices:
    """Return some two hundred steps up to the horizon, early ones densely."""
    early = np.geomspace(1, horizon, 80)
    even = np.linspace(1, horizon, 121)
    return np.unique(np.concatenate([early, even]).round().astype(np.int64))


def makespan(durations: Vector, workers: int) -> float:
    """Return how long `workers` need for all, each taking the next when it is free."""
    if workers == 1:
        return float(durations.sum())
    free = [0.0] * min(workers, len(durations))
    for duration in durations:
        heapq.heapreplace(free, free[0] + duration)
    return max(free)

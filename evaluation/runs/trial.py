"""Run one cell: ask, evaluate, tell, and write down the curves."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import final

import numpy as np

from evaluation.methods.papers import optimizer
from evaluation.problems.papers.base import Problem
from evaluation.runs.cells import Cell
from evaluation.runs.records import WORKERS, Record, checkpoints
from noregret.arrays import Indices, Vector

NOISE, HISTORY = 1, 2  # streams of chance beside the optimizer's own


def run(cell: Cell, problem: Problem) -> Record:
    """Return the curves of one run; equal cells give equal choices."""
    clock = Clock()
    rng = np.random.default_rng([cell.repetition, NOISE])
    with clock:
        opt = optimizer(problem, cell)
    diary = Diary(problem, cell.horizon)
    if cell.history:
        past, values = _history(problem, cell)
        with clock:
            opt.tell(past, values)
        diary.know(past)
    while diary.spent < cell.horizon:
        with clock:
            batch = opt.ask(at_most=cell.horizon - diary.spent)
        rows = batch.sequence.astype(np.int64)
        values = problem.measure(rows, rng)
        with clock:
            opt.tell(batch, values)
        diary.add(rows, clock.seconds)
    return diary.record()


def _history(problem: Problem, cell: Cell) -> tuple[Indices, Vector]:
    """Return past evaluations, the same for every method of a repetition."""
    rng = np.random.default_rng([cell.repetition, HISTORY])
    rows = rng.integers(len(problem.X), size=cell.history)
    return rows, problem.measure(rows, rng)


@final
@dataclass(slots=True)
class Clock:
    """Processor time, which other programs on the machine do not lengthen much."""

    seconds: float = 0.0
    _began: float = 0.0

    def __enter__(self) -> None:
        self._began = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._began


@final
@dataclass(slots=True, eq=False)
class Diary:
    """What was evaluated so far, batch by batch."""

    problem: Problem
    horizon: int
    known: float = np.inf  # gap of the best candidate in the history
    chosen: list[Indices] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # after each batch
    spent: int = 0

    def know(self, rows: Indices) -> None:
        self.known = float(self.problem.gaps[rows].min())

    def add(self, rows: Indices, seconds: float) -> None:
        self.chosen.append(rows)
        self.seconds.append(seconds)
        self.spent += len(rows)

    def record(self) -> Record:
        """Return the curves at the checkpoints."""
        rows = np.concatenate(self.chosen)
        gaps = self.problem.gaps
        at = checkpoints(self.horizon) - 1
        sizes = np.array([len(batch) for batch in self.chosen])
        of_batch = np.repeat(np.arange(len(sizes)), sizes)[at]
        first = np.zeros(len(rows), dtype=bool)
        first[np.unique(rows, return_index=True)[1]] = True
        switched = np.append(True, rows[1:] != rows[:-1])
        seconds = np.array(self.seconds)
        return Record(
            steps=(at + 1).tolist(),
            regret=np.cumsum(gaps[rows])[at].tolist(),
            simple=np.minimum.accumulate(np.minimum(gaps[rows], self.known))[at].tolist(),
            unique=np.cumsum(first)[at].tolist(),
            switches=np.cumsum(switched)[at].tolist(),
            batch=sizes[of_batch].tolist(),
            batches=(of_batch + 1).tolist(),
            seconds=seconds[of_batch].round(6).tolist(),
            total={str(P): (seconds + spent)[of_batch].tolist() for P, spent in self._spans()},
            uniform=float(gaps.mean()),
        )

    def _spans(self) -> list[tuple[int, Vector]]:
        """Return when each batch has been evaluated, for so many workers."""
        if self.problem.seconds is None:
            return []
        took = self.problem.seconds
        return [
            (P, np.cumsum([makespan(took[batch], P) for batch in self.chosen])) for P in WORKERS
        ]


def makespan(durations: Vector, workers: int) -> float:
    """Return how long `workers` need for all, each taking the next when it is free."""
    if workers == 1:
        return float(durations.sum())
    free = [0.0] * min(workers, len(durations))
    for duration in durations:
        heapq.heapreplace(free, free[0] + duration)
    return max(free)

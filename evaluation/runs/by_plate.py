"""A cell of plates: a method that fills plates on a pool, read off after every one of them."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from evaluation.methods.by_plate import FILLERS
from evaluation.problems.base import Problem
from evaluation.problems.by_plate import problem
from evaluation.runs.cells import Cell
from evaluation.runs.limits import Late, at_most_seconds
from evaluation.runs.loop import Clock, Run
from noregret.arrays import Indices

SECONDS = 600.0  # of processor time, for one plate
TOP = 100  # of so many candidates one is sought
ALONE = (240, 960)  # evaluations after which a run of one at a time is read off


class PlateReading(TypedDict):
    """What a run was like after some plates, one entry each."""

    plates: list[int]
    regret: list[float]  # cumulative, of the true values
    simple: list[float]  # by how much the recommendation truly falls short of the best
    top: list[float]  # share of the top hundredth evaluated so far
    distinct: list[float]  # different candidates per plate, since the last entry
    seconds: list[float]  # processor time of the method per plate, since the last entry
    late: bool  # the next plate was not there after `SECONDS`
    uniform: float  # expected regret of one uniform evaluation
    best: float  # the highest true value
    noise_std: float  # of one evaluation; 0 if evaluations are exact


def play(cell: Cell) -> PlateReading:
    """Run a cell, equal cells alike, until its horizon or a plate that takes too long.

    What is timed is all that a method does between two plates: it is told values, recommends, and
    fills the next plate.
    """
    held, filler = problem(cell.problem), FILLERS[str(cell.method["algorithm"])]
    size = int(cell.method["batch"])
    clock, found = Clock(), dict[int, tuple[float, ...]]()
    with clock:
        player = filler.make(held, cell.repetition, size)
    run, wanted = Run(held, player, cell.repetition, clock), top(held)
    late, before, seconds = False, 0, 0.0
    try:
        for plates in marks(size, cell.horizon // size):
            for plate in range(before, plates):
                with at_most_seconds(SECONDS):
                    run.until((plate + 1) * size)
            with at_most_seconds(SECONDS), clock:
                advice = player.advise()
            since = run.batches[before:]
            found[plates] = (
                float(held.gaps(run.points).sum()),
                float(held.gaps(advice.point)[0]),
                float(np.isin(wanted, run.points).mean()),
                float(np.mean([len(np.unique(batch)) for batch in since])),
                round((clock.seconds - seconds) / len(since), 5),
            )
            before, seconds = plates, clock.seconds
    except Late:
        late = True
    columns = [list(column) for column in zip(*found.values(), strict=True)] or [[]] * 5
    regret, simple, hits, distinct, took = columns
    return PlateReading(
        plates=[*found],
        regret=regret,
        simple=simple,
        top=hits,
        distinct=distinct,
        seconds=took,
        late=late,
        uniform=held.uniform,
        best=held.best,
        noise_std=held.noise_std,
    )


def marks(size: int, plates: int) -> list[int]:
    """Return after which plates a run is read off: all of them, or a few of very many."""
    if size == 1:
        return sorted({*(one for one in ALONE if one < plates), plates})
    return list(range(1, plates + 1))


def top(held: Problem) -> Indices:
    """Return the best hundredth of a pool, and those that equal the last of them."""
    values = held.values
    rank = -(-len(values) // TOP)
    return np.flatnonzero(values >= np.sort(values)[-rank])

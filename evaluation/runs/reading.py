"""A cell of the comparison: a contestant on a problem, read off at every budget."""

from __future__ import annotations

from typing import TypedDict, cast

import numpy as np

from evaluation.methods.contestants import CONTESTANTS
from evaluation.methods.players import Advice
from evaluation.problems.comparison import problem
from evaluation.runs.cells import Cell
from evaluation.runs.loop import Clock, Run


class Reading(TypedDict):
    """What a run was like at its budgets, one entry each."""

    budgets: list[int]
    regret: list[float]  # cumulative, of the true values
    simple: list[float]  # by how much the recommendation truly falls short of the best
    covered: list[bool | None]  # whether the truth is between the bounds; None without bounds
    width: list[float | None]  # between the bounds
    unique: list[int]
    seconds: list[float]  # processor time of the method
    uniform: float  # expected regret of one uniform evaluation


def play(cell: Cell) -> Reading:
    """Run a cell, equal cells alike; the horizon is the longest budget."""
    held, contestant = problem(cell.problem), CONTESTANTS[str(cell.method["algorithm"])]
    clock = Clock()
    with clock:
        player = contestant.make(held, cell.repetition, cell.horizon)
    run, entries = Run(held, player, cell.repetition, clock), []
    for budget in sorted({*held.budgets, cell.horizon}):
        if budget <= cell.horizon:
            run.until(budget)
            with clock:
                advice = player.advise()
            entries.append(entry(run, advice))
    columns = {name: [one[name] for one in entries] for name in entries[0]}
    return cast(Reading, {**columns, "uniform": held.uniform})


def entry(run: Run, advice: Advice) -> dict[str, object]:
    """Return how things are with a run at its budget."""
    truth, points = float(run.problem.truth(advice.point)[0]), run.points
    width = advice.upper - advice.lower
    bounded = bool(np.isfinite(width))
    return {
        "budgets": run.spent,
        "regret": float(run.problem.gaps(points).sum()),
        "simple": run.problem.best - truth,
        "covered": bool(advice.lower <= truth <= advice.upper) if bounded else None,
        "width": width if bounded else None,
        "unique": len(np.unique(points, axis=0)),
        "seconds": round(run.clock.seconds, 4),
    }

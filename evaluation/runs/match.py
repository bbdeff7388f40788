"""Run one cell: a contestant on a problem, read off at every budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TypedDict, cast, final

import numpy as np

from evaluation.methods.contestants import CONTESTANTS
from evaluation.methods.players import Advice, Player
from evaluation.problems.comparison import problem
from evaluation.problems.comparison.base import Observations, Problem
from evaluation.runs.cells import Cell
from evaluation.runs.store import Store
from evaluation.runs.trial import NOISE, Clock


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
    make = partial(contestant.make, held, cell.repetition, cell.horizon)
    budgets = [budget for budget in held.budgets if budget <= cell.horizon]
    clock = Clock()
    with clock:
        player = make()
    sheet = CSVSource(held)
    rng = np.random.default_rng([cell.repetition, NOISE])
    for budget in sorted({*budgets, cell.horizon}):
        while sheet.spent < budget:
            sheet.add(_step(player, held, clock, budget - sheet.spent, rng))
        with clock:
            advice = player.advise()
        sheet.read(advice, clock.seconds)
    return sheet.reading()


def _step(
    player: Player, held: Problem, clock: Clock, room: int, rng: np.random.Generator
) -> Observations:
    with clock:
        player.ask(room)
    points = player.points()
    values = held.feedback(points, rng)
    with clock:
        player.tell(values)
    return points


@final
@dataclass(slots=True, eq=False)
class CSVSource:
    """What was evaluated so far, and the readings."""

    problem: Problem
    spent: int = 0
    _points: list[Observations] = field(default_factory=list)
    _rows: list[tuple[int, float, float, bool | None, float | None, int, float]] = field(
        default_factory=list
    )

    def add(self, points: Observations) -> None:
        self._points.append(points)
        self.spent += len(points)

    def read(self, advice: Advice, seconds: float) -> None:
        """Write down how things stand."""
        points = np.concatenate(self._points)
        truth = float(self.problem.truth(advice.point)[0])
        bounded = np.isfinite(advice.upper - advice.lower)
        self._rows.append(
            (
                self.spent,
                float(self.problem.gaps(points).sum()),
                self.problem.best - truth,
                bool(advice.lower <= truth <= advice.upper) if bounded else None,
                advice.upper - advice.lower if bounded else None,
                len(np.unique(points, axis=0)),
                round(seconds, 4),
            )
        )

    def reading(self) -> Reading:
        names = ("budgets", "regret", "simple", "covered", "width", "unique", "seconds")
        columns = dict(zip(names, map(list, zip(*self._rows, strict=True)), strict=True))
        return cast(Reading, {**columns, "uniform": self.problem.uniform})


def read(store: Store, cell: Cell) -> Reading:
    return cast(Reading, store.load(cell))

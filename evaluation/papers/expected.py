"""Small seeded versions of the figures, and what they gave: `python -m evaluation.papers.expected`.

Choices depend on rounding where candidates are nearly as good as each other, so that another
machine may find slightly other numbers; a tolerance says how far they may lie.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict, cast

from evaluation.papers.settings import FOLDER, sweep
from evaluation.problems.papers import problem
from evaluation.runs.cells import Cell, Setting
from evaluation.runs.trial import run

TOLERANCE = 0.1  # of each number, beside one or two candidates
SMALL: dict[str, dict[str, tuple[int, int]]] = {  # figure: horizon and history by problem
    "bbkb-fig1": {"abalone": (300, 0), "cadata": (150, 0)},
    "bbkb-squared": {"abalone": (300, 0)},
    "bbkb-nas": {"nasbench101-subset": (200, 300)},
    "bbkb-stand-ins": {"nasbench201": (200, 300)},
    "mini-nas": {"nasbench101-subset": (200, 0), "nasbench201": (200, 0)},
    "mini-fig3": dict.fromkeys(("f104", "f116", "f122", "rastrigin"), (200, 0)),
}


class Expectation(TypedDict):
    """A cell, and at its horizon the regret over uniform's, unique candidates and batches."""

    problem: str
    method: str
    setting: Setting
    horizon: int
    history: int
    ratio: float
    unique: int
    batches: int
    tolerance: float


def path_of(paper: str) -> Path:
    return FOLDER / paper / "expected.json"


def read(paper: str) -> list[Expectation]:
    return cast(list[Expectation], json.loads(path_of(paper).read_text()))


def found(expectation: Expectation) -> Expectation:
    """Run an expectation's cell and return what it gives."""
    size = {"horizon": expectation["horizon"], "history": expectation["history"]}
    cell = Cell.of(expectation["problem"], expectation["setting"], repetition=0, **size)
    record = run(cell, problem(cell.problem))
    ratio = record["regret"][-1] / (cell.horizon * record["uniform"])
    gave = {"unique": record["unique"][-1], "batches": record["batches"][-1]}
    return cast(Expectation, {**expectation, "ratio": round(ratio, 4), **gave})


def expectations() -> dict[str, list[Expectation]]:
    """Return what is to be expected, by paper; of a grid, its first setting."""
    made: dict[str, list[Expectation]] = {}
    for figure, sizes in SMALL.items():
        for line in sweep(figure):
            horizon, history = sizes.get(line.problem, (0, 0))
            if horizon and bool(history) == bool(line.history):
                where = {"problem": line.problem, "method": line.label}
                size = {"setting": line.settings[0], "horizon": horizon, "history": history}
                unknown = {"ratio": 0.0, "unique": 0, "batches": 0, "tolerance": TOLERANCE}
                one = cast(Expectation, {**where, **size, **unknown})
                made.setdefault(figure.split("-")[0], []).append(found(one))
    return made


if __name__ == "__main__":
    for paper, those in expectations().items():
        path_of(paper).write_text(json.dumps(those, indent=1) + "\n")

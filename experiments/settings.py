"""The settings of a paper's figures, from its TOML file to lines."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, final

from experiments.cells import Setting
from experiments.lines import Line

FOLDER = Path(__file__).parent


@final
@dataclass(frozen=True, slots=True)
class Sweep:
    """All lines of a figure."""

    figure: str  # such as bbkb-fig1
    lines: tuple[Line, ...]

    def of(self, problem: str, *, panel: str = "", history: int | None = None) -> list[Line]:
        """Return the lines of one panel."""
        return [
            line
            for line in self.lines
            if line.problem == problem and line.panel == panel and history in (None, line.history)
        ]


def sweep(figure: str, *, quick: bool = False) -> Sweep:
    """Return the lines of a figure named as on the command line.

    A figure's table says `problems`, `methods`, `horizon`, `repetitions`; and, where needed,
    `history` (a list), `each` (an argument and its values: a panel each), `tuning` (repetitions of
    each entry of the methods' grids, `tune`), `set.<problem>.<method>` (arguments of one line), and
    `fewer` (repetitions of single methods). `quick` overrides any of these.
    """
    paper, name = figure.split("-", 1)
    held = tomllib.loads((FOLDER / paper / "settings.toml").read_text())
    table: dict[str, Any] = dict(held[name])
    short = table.pop("quick", {})
    if quick:
        table |= short
    argument, values = next(iter(table.get("each", {"": [""]}).items()))
    lines = []
    for problem, history, value in product(table["problems"], table.get("history", [0]), values):
        given: Setting = {argument: value} if argument else {}
        for label in table["methods"]:
            method: dict[str, Any] = dict(held["methods"][label])
            grid = method.pop("tune", {})
            own = table.get("set", {}).get(problem, {}).get(label, {})
            if argument and argument not in method.pop("takes", [argument]):
                given_here: Setting = {}
            else:
                given_here = given
            method.pop("takes", None)
            fixed: Setting = {**method, **given_here, **own}
            lines.append(
                Line(
                    problem,
                    label,
                    tuple(_grid(fixed, {k: v for k, v in grid.items() if k not in own})),
                    table["horizon"],
                    table.get("fewer", {}).get(f"{problem}/{label}", table["repetitions"]),
                    table.get("tuning", 1),
                    history,
                    f"{value:g}" if argument else "",
                )
            )
    return Sweep(figure, tuple(lines))


def _grid(fixed: Setting, grid: dict[str, list[Any]]) -> list[Setting]:
    return [{**fixed, **dict(zip(grid, values, strict=True))} for values in product(*grid.values())]

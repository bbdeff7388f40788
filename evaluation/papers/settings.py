"""The settings of a paper's figures, from its TOML file to lines."""

from __future__ import annotations

import tomllib
from itertools import chain, product
from pathlib import Path
from typing import Any

from evaluation.problems.papers import architectures, cells
from evaluation.runs.cells import Line, Setting

FOLDER = Path(__file__).parent
SIGNS = {  # of what panels differ by
    "bandwidth": "σ",
    "bandwidth_squared": "σ²",
    "limit": "C̃",
    "noise_variance": "λ",
    "norm_bound": "F",
    "width_divided_by": "width divided by",
}
GROUPS = {"nas": architectures, "nas101": cells}  # what is at hand of them


def sweep(figure: str, *, quick: bool = False) -> tuple[Line, ...]:
    """Return the lines of a figure, named by its paper and its table in that paper's settings.

    The table says `problems`, `methods`, `horizon` and `repetitions`; and where needed

    - `given`: arguments for all methods that take them (a method's `takes`, else any);
    - `each`: an argument and its values, a panel for each;
    - `set.<problem>.<method>`: arguments of one line, which are then not tuned;
    - `history`: numbers of past evaluations, with `bandwidth_by_history`;
    - `tune`: a grid for all methods that take it, beside a method's own `tune`;
    - `tuning`: repetitions of each entry of these grids, and `rounds` of fewer before it, after
      each of which the better third goes on;
    - `on.<problem>`: what is different on a problem;
    - `fewer.<method>`: repetitions of a method that would take too long, or a list of them, one
      for each value of `each`, or of `history` where there is no `each`;
    - `quick`: what is different in a quick run.
    """
    if not figure:  # computed at once
        return ()
    paper, name = figure.split("-", 1)
    held = tomllib.loads((FOLDER / paper / "settings.toml").read_text())
    whole: dict[str, Any] = held[name]
    named = (GROUPS[name]() if name in GROUPS else (name,) for name in whole["problems"])
    problems = [*chain.from_iterable(named)]
    argument, values = next(iter(whole.get("each", {"": [0.0]}).items()))
    lines = []
    for problem, (late, history), (at, value) in product(
        problems, enumerate(whole.get("history", [0])), enumerate(values)
    ):
        here, quickly = whole.get("on", {}).get(problem, {}), whole.get("quick", {})
        table: dict[str, Any] = {**whole, **here, **(quickly if quick else {})}
        given = dict(table.get("given", {}))
        panel = f"{SIGNS[argument]} = {_word(value)}" if argument else ""
        if argument:
            given[argument] = value
        if by_history := table.get("bandwidth_by_history"):
            given["bandwidth"] = by_history[str(history)]
        for label in table["methods"]:
            own = table.get("set", {}).get(problem, {}).get(label, {})
            fewer = table.get("fewer", {}).get(label, table["repetitions"])
            if isinstance(fewer, list):
                fewer = fewer[at if argument else late]
            lines.append(
                Line(
                    problem=problem,
                    label=label,
                    settings=_grid(held["methods"][label], given, table.get("tune", {}), own),
                    horizon=table["horizon"],
                    repetitions=min(fewer, table["repetitions"]),
                    tuning=table.get("tuning", 1),
                    rounds=tuple(table.get("rounds", [])),
                    history=history,
                    panel=panel,
                )
            )
    return tuple(lines)


def _word(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _grid(
    method: dict[str, Any], given: Setting, tune: dict[str, list[Any]], own: Setting
) -> tuple[Setting, ...]:
    """Return all settings of a method's grid, with what a figure gives and tunes."""
    takes = method.get("takes")
    fixed = {key: value for key, value in method.items() if key not in ("takes", "tune")}
    fixed |= {key: value for key, value in given.items() if takes is None or key in takes}
    grid = {key: values for key, values in tune.items() if takes is None or key in takes}
    grid |= method.get("tune", {})
    grid = {key: values for key, values in grid.items() if key not in own}
    return tuple(
        {**fixed, **dict(zip(grid, values, strict=True)), **own}
        for values in product(*grid.values())
    )

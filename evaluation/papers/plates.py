"""A plate: one figure of a paper, how it is drawn, what the paper says of it, and what we found."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np

from evaluation.papers.curves import Runs
from evaluation.papers.settings import FOLDER
from evaluation.reports.drawing import canvas, labelled, legend
from evaluation.reports.markdown import Claim

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "Global-BBKB": "#0060ad",
    "BBKB": "#0060ad",
    "GlobalLocal-BBKB": "#56b4e9",
    "MINI-GP-UCB": "#d55e00",
    "MINI-GP-EI": "#e69f00",
    "BKB": "#8a5fbf",
    "GP-UCB": "#009e73",
    "GP-BUCB": "#7fb800",
    "ASYNC-TS": "#cc79a7",
    "GP-BTS": "#cc79a7",
    "EPS-GREEDY": "#888888",
    "REG-EVOLUTION": "#222222",
    "GP-UCB, all rows": "#009e73",
    "GP-BUCB, all rows": "#7fb800",
}
NEARLY_NONE = 1e-4  # below this an axis that shows 0 as well is linear


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity of every method against the steps, or against another quantity."""

    quantity: str
    scale: str = "log"
    history: int = 0
    against: str = "t"
    until: int | None = None

    def draw(self, axes: Axes, runs: Runs) -> None:
        curves = runs.bands(self.quantity)
        across = {} if self.against == "t" else runs.bands(self.against)
        for label, curve in curves.items():
            keep = curve.steps <= (self.until or curve.steps[-1])
            x = (across[label].mean if across else curve.steps)[keep]
            mean, half = curve.mean[keep], np.nan_to_num(curve.half[keep])
            named = f"{label} ({curve.repetitions})"
            axes.plot(x, mean, color=COLOURS[label], linewidth=1.4, label=named)
            axes.fill_between(
                x, mean - half, mean + half, color=COLOURS[label], alpha=0.15, linewidth=0
            )
        linear_below = {"linthresh": NEARLY_NONE} if self.scale == "symlog" else {}
        axes.set_yscale(self.scale, **linear_below)
        positive = [curve.mean[curve.mean > 0] for curve in curves.values()]
        if self.scale == "log" and any(part.size for part in positive):
            # Intervals may reach below 0, where there is nothing to see.
            axes.set_ylim(bottom=0.6 * min(part.min() for part in positive if part.size))
        if self.scale == "symlog":
            axes.set_ylim(bottom=0)
        if across:
            axes.set_xscale("log")
        axes.set_xlabel(self.against)
        axes.set_ylabel(self.quantity)
        axes.grid(visible=True, alpha=0.25)


def panels(
    runs: Runs,
    shown: Sequence[Panel],
    columns: int,
    *,
    title_size: int = 9,
    say_history: bool = False,
    share: bool = False,
    **size: float,
) -> Figure:
    """Draw panels row by row, for every panel of the runs and every problem."""
    drawn = []
    for which, name, panel in product(runs.names("panel"), runs.names("problem"), shown):
        part = runs.of(problem=name, panel=which, history=panel.history)
        after = f"after {panel.history} evaluations" if panel.history else "from nothing"
        title = part.title + (f", {which}" if which else "")
        drawn.append((part, f"{title},\n{after}" if say_history else title, panel))
    rows = len(drawn) // columns
    figure = canvas(rows, columns, **size)
    grid = figure.subplots(rows, columns, sharex=share, squeeze=False)
    for axes, (part, title, panel) in zip(grid.flat, drawn, strict=True):
        panel.draw(axes, part)
        axes.set_title(title, fontsize=title_size)
    under_all(figure)
    return figure


def under_all(figure: Figure) -> None:
    """Put one legend under all panels: methods, and how often each was run (at least)."""
    named: dict[str, tuple[Artist, int]] = {}
    for label, handle in labelled(figure):
        method, _, count = label.rpartition(" (")
        times = int(count.removesuffix(")"))
        named[method] = (handle, min(times, named.get(method, (handle, times))[1]))
    legend(figure, {f"{method} ({times})": handle for method, (handle, times) in named.items()})


Claims: TypeAlias = Callable[[Runs], Iterable[Claim]]
Draw: TypeAlias = "Callable[[Runs], Figure]"


@final
@dataclass(frozen=True, slots=True)
class Plate:
    """A figure: which runs it is made of, how it is drawn, what is claimed of it."""

    name: str  # such as bbkb-fig2
    title: str
    draw: Draw
    claims: Claims
    runs: str = ""  # the settings' table, such as bbkb-fig1; none where it is computed at once
    quantities: tuple[str, ...] = ()  # in its JSON; the first is in its table too …
    step: int | None = None  # … at this step, or at the end
    histories: tuple[int, ...] = (0,)  # of these past evaluations

    @property
    def paper(self) -> str:
        return self.name.split("-", 1)[0]


def plates(
    paper: str, claims: Mapping[str, Claims], drawn: Mapping[str, Draw] | None = None
) -> tuple[Plate, ...]:
    """Return the figures in a paper's settings, with what is claimed of each.

    Those that are no grid of panels are drawn by functions of their own. What is claimed of a
    figure that is `aside`, another reading or another problem than the paper's, is not counted.
    """
    settings = tomllib.loads((FOLDER / paper / "settings.toml").read_text())
    made = []
    for name, table in settings["figures"].items():
        if drawn and name in drawn:
            draw = drawn[name]
        else:
            shown = [Panel(**one) for one in table["panels"]]
            look = table.get("look", {})
            draw = partial(panels, shown=shown, columns=table["columns"], **look)
        made.append(
            Plate(
                f"{paper}-{name}",
                table["title"],
                draw,
                partial(_aside, claims[name]) if table.get("aside") else claims[name],
                f"{paper}-{table['runs']}",
                tuple(table["quantities"]),
                table.get("step"),
                tuple(table.get("histories", [0])),
            )
        )
    return tuple(made)


def _aside(claims: Claims, runs: Runs) -> Iterator[Claim]:
    return (replace(claim, ours=True) for claim in claims(runs))

"""Curves with their intervals, in the same colours everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from evaluation.papers.curves import Runs
from evaluation.reports.drawing import canvas, labelled, legend

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
    for which, name, panel in product(runs.all("panel"), runs.all("problem"), shown):
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

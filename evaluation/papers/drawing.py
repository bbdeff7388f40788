"""Curves with their intervals, in the same colours everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evaluation.papers.summary import Band, bands
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line
from noregret.errors import require_extra

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


def canvas(rows: int, columns: int, *, width: float = 3.6, height: float = 2.9) -> Figure:
    """Return an empty figure for so many panels."""
    require_extra("matplotlib", extra="plot", what="python -m evaluation.papers")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def panel(
    axes: Axes,
    lines: Sequence[Line],
    store: Store,
    quantity: str,
    *,
    against: str = "t",
    until: int | None = None,
    scale: str = "linear",
) -> None:
    """Draw one quantity of every method against the steps, or against another quantity."""
    curves = bands(lines, store, quantity)
    points = {} if against == "t" else bands(lines, store, against)
    for label, curve in curves.items():
        keep = curve.steps <= (until or curve.steps[-1])
        x = points[label].mean if points else curve.steps
        _curve(axes, label, x[keep], curve, keep)
    axes.set_yscale(scale, **({"linthresh": NEARLY_NONE} if scale == "symlog" else {}))
    positive = [curve.mean[curve.mean > 0] for curve in curves.values()]
    if scale == "log" and any(part.size for part in positive):
        # Intervals may reach below 0, where there is nothing to see.
        axes.set_ylim(bottom=0.6 * min(part.min() for part in positive if part.size))
    if scale == "symlog":
        axes.set_ylim(bottom=0)
    axes.set_xlabel(against)
    axes.set_ylabel(quantity)
    axes.grid(visible=True, alpha=0.25)


def _curve(axes: Axes, label: str, x: np.ndarray, curve: Band, keep: np.ndarray) -> None:
    mean, half = curve.mean[keep], np.nan_to_num(curve.half[keep])
    colour = COLOURS[label]
    axes.plot(x, mean, color=colour, linewidth=1.4, label=f"{label} ({curve.repetitions})")
    axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)


def legend(figure: Figure) -> None:
    """Put one legend under all panels: methods, and how often each was run (at least)."""
    named: dict[str, tuple[Artist, int]] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            method, _, count = label.rpartition(" (")
            times = int(count.removesuffix(")"))
            named[method] = (handle, min(times, named.get(method, (handle, times))[1]))
    handles = [handle for handle, _ in named.values()]
    labels = [f"{method} ({times})" for method, (_, times) in named.items()]
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8, frameon=False)

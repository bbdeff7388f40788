"""The figures of MINI (Calandriello et al., ICML 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.papers.drawing import canvas, legend, panel
from evaluation.papers.mini import claims
from evaluation.papers.plates import Plate
from evaluation.papers.settings import Sweep
from evaluation.papers.summary import bands
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _nas(sweep: Sweep, store: Store) -> Figure:
    """Panels (a) to (e), a row for every problem that stands in."""
    names = sweep.problems
    figure = canvas(len(names), 5, width=3.1)
    grid = figure.subplots(len(names), 5, squeeze=False)
    for row, name in zip(grid, names, strict=True):
        lines = sweep.of(name)
        panel(row[0], lines, store, "regret ratio", scale="log")
        panel(row[1], lines, store, "unique candidates", scale="log")
        panel(row[2], lines, store, "regret ratio", against="seconds", scale="log")
        row[2].set_xscale("log")
        for axes, label in zip(row[3:], claims.OURS, strict=True):
            _few(axes, [line for line in lines if line.label == label], store)
        row[0].set_title(problem(name).title, fontsize=7)
        for axes, letter in zip(row, "abcde", strict=True):
            axes.set_title(f"({letter})", loc="left", fontsize=8, x=-0.15)
    legend(figure)
    return figure


def _few(axes: Axes, lines: list[Line], store: Store) -> None:
    """Draw unique candidates and batches of one method."""
    for quantity in ("unique candidates", "batches"):
        panel(axes, lines, store, quantity)
        (curve,) = bands(lines, store, quantity).values()
        end = (curve.steps[-1], curve.mean[-1])
        axes.annotate(quantity, end, ha="right", va="bottom", fontsize=7)
    axes.set_ylabel("")
    axes.set_title(lines[0].label, fontsize=8)


def _functions(sweep: Sweep, store: Store, against: str) -> Figure:
    figure = canvas(1, len(sweep.problems))
    for axes, name in zip(figure.subplots(1, len(sweep.problems)), sweep.problems, strict=True):
        panel(axes, sweep.of(name), store, "average regret", against=against, scale="log")
        axes.set_title(problem(name).title, fontsize=8)
        axes.set_xscale("linear" if against == "t" else "log")
    legend(figure)
    return figure


def _steps(sweep: Sweep, store: Store) -> Figure:
    return _functions(sweep, store, "t")


def _time(sweep: Sweep, store: Store) -> Figure:
    return _functions(sweep, store, "seconds")


PLATES = (
    Plate(
        "mini-nas",
        "mini-nas",
        "Figures (a) to (e): regret, unique candidates, time and switches on architectures",
        ("regret ratio", "unique candidates", "batches", "switches", "seconds"),
        _nas,
        claims.architectures,
    ),
    Plate(
        "mini-fig3",
        "mini-fig3",
        "Figure 3: average regret against steps on four functions",
        ("average regret", "unique candidates"),
        _steps,
        claims.functions,
    ),
    Plate(
        "mini-fig4",
        "mini-fig3",
        "Figure 4: average regret against time on four functions",
        ("seconds", "average regret"),
        _time,
        claims.times,
    ),
)

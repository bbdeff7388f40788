"""The figures of BBKB (Calandriello et al., ICML 2020) that are made of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.papers.bbkb import claims
from evaluation.papers.drawing import canvas, legend, panel
from evaluation.papers.plates import Plate
from evaluation.papers.settings import Sweep
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _pair(sweep: Sweep, store: Store, quantity: str, until: int | None = None) -> Figure:
    figure = canvas(1, 2)
    for axes, name in zip(figure.subplots(1, 2), sweep.problems, strict=True):
        panel(axes, sweep.of(name), store, quantity, until=until, scale="log")
        axes.set_title(problem(name).title, fontsize=9)
    legend(figure)
    return figure


def _regret(sweep: Sweep, store: Store) -> Figure:
    return _pair(sweep, store, "regret ratio")


def _time(sweep: Sweep, store: Store) -> Figure:
    return _pair(sweep, store, "seconds", until=claims.FIRST)


def _bandwidths(sweep: Sweep, store: Store) -> Figure:
    figure = canvas(2, 3)
    (name,) = sweep.problems
    for axes, width in zip(figure.subplots(2, 3).flat, sweep.panels, strict=True):
        panel(axes, sweep.of(name, panel=width), store, "regret ratio", scale="log")
        axes.set_title(f"{problem(name).title}, {width}", fontsize=9)
    legend(figure)
    return figure


def _unstated(sweep: Sweep, store: Store) -> Figure:
    figure = canvas(len(sweep.panels), len(sweep.problems), width=2.6, height=2.3)
    grid = figure.subplots(len(sweep.panels), len(sweep.problems), sharex=True)
    for row, limit in zip(grid, sweep.panels, strict=True):
        for axes, name in zip(row, sweep.problems, strict=True):
            panel(axes, sweep.of(name, panel=limit), store, "regret ratio", scale="log")
            axes.set_title(f"{problem(name).title}, {limit}", fontsize=8)
    legend(figure)
    return figure


def _rows(
    sweep: Sweep, store: Store, panels: tuple[tuple[str, int, str], ...], columns: int
) -> Figure:
    """Draw a row for every problem that stands in; a panel is a quantity, a history and a scale."""
    rows = len(panels) // columns
    figure = canvas(rows * len(sweep.problems), columns)
    grid = figure.subplots(rows * len(sweep.problems), columns, squeeze=False)
    for i, name in enumerate(sweep.problems):
        block = grid[i * rows : (i + 1) * rows].flat
        for axes, (quantity, history, scale) in zip(block, panels, strict=True):
            panel(axes, sweep.of(name, history=history), store, quantity, scale=scale)
            after = f"after {history} evaluations" if history else "from nothing"
            axes.set_title(f"{problem(name).title},\n{after}", fontsize=7)
    legend(figure)
    return figure


def _fig3(sweep: Sweep, store: Store) -> Figure:
    panels = (
        ("seconds", claims.INIT, "log"),
        ("batch size", claims.INIT, "linear"),
        (claims.WORKERS, claims.INIT, "log"),
    )
    return _rows(sweep, store, panels, 3)


def _fig4(sweep: Sweep, store: Store) -> Figure:
    panels = (
        ("regret ratio", claims.INIT, "log"),
        ("simple regret", claims.INIT, "symlog"),
        ("simple regret", 0, "symlog"),
    )
    return _rows(sweep, store, panels, 3)


def _fig7(sweep: Sweep, store: Store) -> Figure:
    panels = (
        ("regret ratio", 0, "log"),
        ("batch size", 0, "linear"),
        ("seconds", 0, "log"),
        (claims.WORKERS, 0, "log"),
    )
    return _rows(sweep, store, panels, 2)


PLATES = (
    Plate(
        "bbkb-fig1",
        "bbkb-fig1",
        "Figure 1: regret over uniform's on Abalone and Cadata",
        ("regret ratio", "unique candidates"),
        _regret,
        claims.smallest_regret,
    ),
    Plate(
        "bbkb-fig2",
        "bbkb-fig1",
        "Figure 2: time of the first 2000 steps on Abalone and Cadata",
        ("seconds", "batch size"),
        _time,
        claims.fraction_of_the_time,
        step=claims.FIRST,
    ),
    Plate(
        "bbkb-fig3",
        "bbkb-nas",
        "Figure 3: time, batch size and total time on architectures, after 2000 evaluations",
        (
            "seconds",
            "batch size",
            "hours on 1 worker",
            "hours on 16 workers",
            "hours on 128 workers",
        ),
        _fig3,
        claims.with_history,
        histories=(claims.INIT,),
    ),
    Plate(
        "bbkb-fig4",
        "bbkb-nas",
        "Figure 4: regret over uniform's and simple regret on architectures",
        ("regret ratio", "simple regret"),
        _fig4,
        claims.evolution,
        histories=(claims.INIT, 0),
    ),
    Plate(
        "bbkb-fig5",
        "bbkb-fig5",
        "Figure 5: one bandwidth for all methods, Abalone",
        ("regret ratio",),
        _bandwidths,
        claims.robust,
    ),
    Plate(
        "bbkb-fig6",
        "bbkb-fig6",
        "Figure 6: one bandwidth for all methods, Cadata",
        ("regret ratio",),
        _bandwidths,
        claims.robust,
    ),
    Plate(
        "bbkb-unstated",
        "bbkb-unstated",
        "What the paper does not state: scaling of the features, and C̃",
        ("regret ratio", "batch size", "seconds"),
        _unstated,
        claims.whatever_was_taken,
    ),
    Plate(
        "bbkb-fig7",
        "bbkb-nas",
        "Figure 7: architectures from nothing",
        ("regret ratio", "batch size", "seconds", "hours on 128 workers"),
        _fig7,
        claims.from_nothing,
    ),
)

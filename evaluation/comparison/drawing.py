"""Ranks, regrets and times, in the same colours everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.comparison.summary import MEASURES, Standings, title
from evaluation.methods.contestants import AUTO, CONTESTANTS
from evaluation.reports.drawing import canvas, labelled, legend
from evaluation.reports.intervals import Figure
from evaluation.reports.markdown import spaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Picture

COLOURS = {
    "auto": "#d55e00",
    "tpe": "#0060ad",
    "gp-sampler": "#56b4e9",
    "log-ei": "#009e73",
    "evolution": "#222222",
    "mini-gp-ucb": "#e69f00",
    "mini-gp-ei": "#a6761d",
    "bbkb": "#cc79a7",
    "uniform": "#888888",
}
FLOOR = 1e-4  # of the axis of regrets
SMALL = 8  # points, of what stands beside an axis
NARROW = 2.0  # decades; a longer axis has room for powers of ten only
BAND = 0.7  # of a row, over which its contestants lie


def ranks(standings: Standings) -> Picture:
    """Average ranks against budgets, for both regrets."""
    drawn = canvas(1, 2)
    for axes, (measure, word) in zip(drawn.subplots(1, 2), MEASURES.items(), strict=True):
        by_budget = {at.T: at.ranks(measure) for at in standings.budgets}
        most = max(map(len, by_budget.values()))
        if not most:
            nothing = "not all have been run on any problem yet"
            axes.text(0.5, 0.5, nothing, transform=axes.transAxes, ha="center", fontsize=SMALL)
        axes.set_ylim(max(most, 1) + 0.5, 0.5)
        axes.set_yticks(range(1, most + 1))
        axes.set_title(f"average rank in {word}", fontsize=9)
        _against_budgets(axes, by_budget)
    _legend(drawn)
    return drawn


def pools(standings: Standings, measure: str) -> Picture:
    """Regret over uniform's of every contestant on every pool: a panel per budget."""
    budgets = standings.budgets
    names = list(dict.fromkeys(name for name, _, _ in standings.samples))
    drawn = canvas(1, len(budgets), width=3.2, height=1.0 + 0.25 * len(names))
    grid = drawn.subplots(1, len(budgets), sharex=True, sharey=True, squeeze=False)[0]
    for axes, at in zip(grid, budgets, strict=True):
        for who in reversed(at.contestants):
            _dots(axes, who, names, {name: at.on(measure, who, name) for name in at.pools(who)})
        for row in range(0, len(names), 2):
            axes.axhspan(row - 0.5, row + 0.5, color="#f2f2f2", zorder=0)
        axes.set_xscale("log")
        axes.axvline(1.0, color=COLOURS["uniform"], linewidth=0.6)
        axes.set_title(f"T = {spaced(at.T)}", fontsize=9)
        axes.set_xlabel(f"{MEASURES[measure]} over uniform's", fontsize=SMALL)
        axes.grid(visible=True, axis="x", alpha=0.25)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=SMALL)
    _decimals(grid[0].xaxis, floor=FLOOR)
    grid[0].set_yticks(range(len(names)), names, fontsize=SMALL)
    grid[0].set_ylim(len(names) - 0.5, -0.5)
    _legend(drawn)
    return drawn


def times(standings: Standings) -> Picture:
    """Processor time against budgets, the median over pools of medians over seeds."""
    drawn = canvas(1, 1, width=5.0)
    axes = drawn.subplots(1, 1)
    by_budget = {
        at.T: {who: at.across("seconds", who, at.pools(who)) for who in at.contestants}
        for at in standings.budgets
    }
    _against_budgets(axes, by_budget)
    axes.set_yscale("log")
    axes.set_ylabel("seconds of the method", fontsize=9)
    _decimals(axes.yaxis)
    _legend(drawn)
    return drawn


def _against_budgets(axes: Axes, by_budget: dict[int, dict[str, Figure]]) -> None:
    """Draw everybody's figures over an axis that names the budgets, and nothing between them."""
    for who in CONTESTANTS:
        found = {T: figures[who] for T, figures in by_budget.items() if who in figures}
        if found:
            axes.errorbar(
                1.3 ** _beside(who) * np.array([*found]),  # beside each other, to be seen
                [one.value for one in found.values()],
                yerr=np.array([one.reach for one in found.values()]).T,
                marker="o",
                markersize=3,
                capsize=2,
                color=COLOURS[who],
                label=title(who),
            )
    budgets = [*by_budget]
    axes.set_xscale("log")
    axes.set_xlim(budgets[0] / 1.5, budgets[-1] * 1.5)
    axes.set_xticks(budgets, [spaced(T) for T in budgets], fontsize=SMALL)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("T", fontsize=9)
    axes.tick_params(axis="y", labelsize=SMALL)
    axes.grid(visible=True, alpha=0.25)


def _decimals(axis: Axis, floor: float = 0.0) -> None:
    """Write plain numbers along a logarithmic axis: 1, 2 and 5 of a decade where there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    narrow = np.log10(high / low) <= NARROW
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,)))
    written = FuncFormatter(lambda at, _: f"{'≤ ' if at < 1.01 * floor else ''}{at:g}")
    axis.set_major_formatter(written)
    axis.set_minor_formatter(NullFormatter())


def _dots(axes: Axes, who: str, names: list[str], held: dict[str, Figure]) -> None:
    """Draw a contestant's mean on every pool where there is one, none below the floor.

    In a row everybody has a height of its own, so that equal means are all seen.
    """
    value = np.maximum([one.value for one in held.values()], FLOOR)
    below, above = np.array([one.reach for one in held.values()]).T
    axes.errorbar(
        value,
        [names.index(name) + _beside(who) * BAND for name in held],
        xerr=[np.minimum(below, value - FLOOR), above],
        fmt="o" if who == AUTO else ".",
        markersize=5 if who == AUTO else 4,
        linewidth=0.7,
        color=COLOURS[who],
        label=title(who),
    )


def _beside(who: str) -> float:
    """Return a contestant's place among all, −½ to ½."""
    return list(COLOURS).index(who) / (len(COLOURS) - 1) - 0.5


def _legend(drawn: Picture) -> None:
    named = dict(labelled(drawn))
    titles = [title(who) for who in CONTESTANTS if title(who) in named]
    legend(drawn, {one: named[one] for one in titles}, 2 if len(drawn.axes) == 1 else 4)

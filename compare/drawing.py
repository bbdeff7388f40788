"""Ranks, regrets and times, in the same colours everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.contestants import AUTO, CONTESTANTS
from compare.goals import title
from compare.summary import Figure, Standings, across, average_ranks, figure
from experiments.drawing import canvas

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

COLOURS = {
    "auto": "#d55e00",
    "tpe": "#0060ad",
    "gp-sampler": "#56b4e9",
    "log-ei": "#009e73",
    "evolution": "#222222",
    "mini-gp-ucb": "#e69f00",
    "bbkb": "#cc79a7",
    "uniform": "#888888",
}
FLOOR = 1e-4  # of the axis of regrets


def ranks(standings: Standings) -> Picture:
    """Average ranks against budgets, for both regrets."""
    drawn = canvas(1, 2)
    words = {"regret": "cumulative regret", "simple": "simple regret"}
    for axes, (measure, word) in zip(drawn.subplots(1, 2), words.items(), strict=True):
        by_budget = {T: average_ranks(standings, measure, T) for T in standings.budgets}
        for who in CONTESTANTS:
            T = [budget for budget, found in by_budget.items() if who in found]
            found = [by_budget[budget][who] for budget in T]
            if not found:
                continue
            _points(axes, who, T, found)
        axes.set_xscale("log")
        axes.invert_yaxis()
        axes.set_title(f"average rank in {word}", fontsize=9)
        axes.set_xlabel("T")
        axes.grid(visible=True, alpha=0.25)
    _legend(drawn)
    return drawn


def pools(standings: Standings, measure: str) -> Picture:
    """Regret over uniform's of every contestant on every pool: a panel a budget."""
    budgets = standings.budgets
    names = list(dict.fromkeys(name for name, _, _ in standings.samples))
    drawn = canvas(1, len(budgets), width=3.2, height=1.0 + 0.2 * len(names))
    grid = drawn.subplots(1, len(budgets), sharey=True, squeeze=False)[0]
    for axes, T in zip(grid, budgets, strict=True):
        for who in reversed(standings.contestants(T)):
            _dots(axes, who, names, {n: _on(standings, measure, T, who, n) for n in names})
        axes.set_xscale("log")
        axes.axvline(1.0, color=COLOURS["uniform"], linewidth=0.6)
        axes.set_title(f"T = {T}", fontsize=9)
        axes.grid(visible=True, axis="x", alpha=0.25)
    grid[0].set_yticks(range(len(names)), names, fontsize=7)
    grid[0].invert_yaxis()
    _legend(drawn)
    return drawn


def times(standings: Standings) -> Picture:
    """Processor time against budgets, the median over pools of medians over seeds."""
    drawn = canvas(1, 1, width=5.0)
    axes = drawn.subplots(1, 1)
    for who in CONTESTANTS:
        T = [budget for budget in standings.budgets if who in standings.contestants(budget)]
        if not T:
            continue
        found = [
            across(standings, "seconds", budget, who, standings.pools(budget, [who]))
            for budget in T
        ]
        _points(axes, who, T, found)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("T")
    axes.set_ylabel("seconds of the method")
    axes.grid(visible=True, alpha=0.25)
    _legend(drawn)
    return drawn


def _on(standings: Standings, measure: str, T: int, who: str, name: str) -> Figure | None:
    """Return a contestant's mean on one pool, if it has been run there."""
    if (name, who, T) not in standings.samples:
        return None
    return figure(standings.means(measure, T, who, [name])[:, 0])


def _points(axes: Axes, who: str, T: list[int], found: list[Figure]) -> None:
    beside = 1.05 ** (list(COLOURS).index(who) - len(COLOURS) / 2)  # so that intervals are seen
    axes.errorbar(
        beside * np.array(T),
        [one.value for one in found],
        yerr=np.array([one.reach for one in found]).T,
        marker="o",
        markersize=3,
        capsize=2,
        color=COLOURS[who],
        label=title(who),
    )


def _dots(axes: Axes, who: str, names: list[str], found: dict[str, Figure | None]) -> None:
    """Draw a contestant's mean on every pool where there is one, none below the floor."""
    held = {name: one for name, one in found.items() if one is not None}
    value = np.maximum([one.value for one in held.values()], FLOOR)
    below, above = np.array([one.reach for one in held.values()]).T
    axes.errorbar(
        value,
        [names.index(name) for name in held],
        xerr=[np.minimum(below, value - FLOOR), above],
        fmt="o" if who == AUTO else ".",
        markersize=5 if who == AUTO else 4,
        linewidth=0.7,
        color=COLOURS[who],
        label=title(who),
    )


def _legend(drawn: Picture) -> None:
    named: dict[str, Artist] = {}
    for axes in drawn.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    handles, labels = list(named.values()), list(named)
    ncols = 2 if len(drawn.axes) == 1 else 4
    drawn.legend(
        handles, labels, loc="outside lower center", ncols=ncols, fontsize=8, frameon=False
    )

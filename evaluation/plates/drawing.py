"""Ranks against the size of plates, regret plate by plate, and rates of clicks batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from evaluation.methods.by_plate import FILLERS
from evaluation.plates.summary import MEASURES, Shown, Standings, title
from evaluation.reports.drawing import canvas, labelled, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

COLOURS = {
    "auto": "#d55e00",
    "forest": "#009e73",
    "tpe": "#0060ad",
    "q-log-nei": "#56b4e9",
    "baybe": "#a6761d",
    "evolution": "#222222",
    "gp-bucb": "#e69f00",
    "thompson": "#cc79a7",
    "uniform": "#888888",
    "exploring-forest": "#66a61e",
    "boosting": "#7570b3",
}
SMALL = 8  # points, of what stands beside an axis


def pictures(standings: Standings, shown: Shown) -> Iterator[tuple[str, Picture]]:
    """Yield every picture that there are runs for, with its name."""
    if standings.sizes:
        yield "ranks", ranks(standings)
        yield "plates", plates(standings)
    if shown.rates:
        yield "clicks", clicks(shown)


def ranks(standings: Standings) -> Picture:
    """Average ranks against the size of plates, of those that are run on all pools."""
    drawn = canvas(1, 3)
    for axes, (measure, word) in zip(drawn.subplots(1, 3), MEASURES.items(), strict=True):
        most, sizes = 1, standings.sizes
        found: dict[str, dict[int, float]] = {}
        for size in sizes:
            at = standings.at(size)
            who = [one for one in at.contestants if not FILLERS[one].limited]
            held = at.ranks(measure, *who)
            most = max(most, len(held))
            for one, rank in held.items():
                found.setdefault(one, {})[size] = rank.value
        for one in FILLERS:
            if one in found:
                at_sizes = [sizes.index(size) for size in found[one]]
                values = [*found[one].values()]
                axes.plot(at_sizes, values, "o-", ms=3, color=COLOURS[one], label=title(one))
        axes.set_ylim(most + 0.5, 0.5)
        axes.set_xlim(-0.5, len(sizes) - 0.5)
        axes.set_xticks(range(len(sizes)), [str(size) for size in sizes], fontsize=SMALL)
        axes.set_xlabel("size of a plate", fontsize=9)
        axes.set_title(f"average rank in {word}", fontsize=9)
        axes.tick_params(axis="y", labelsize=SMALL)
        axes.grid(visible=True, alpha=0.25)
    _legend(drawn)
    return drawn


def plates(standings: Standings) -> Picture:
    """Regret of each plate over uniform's, the median over the pools of everybody's means."""
    sizes = standings.sizes
    drawn = canvas(1, len(sizes))
    grid = drawn.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for axes, size in zip(grid, sizes, strict=True):
        steps = range(1, standings.plates + 1)
        for one in FILLERS:
            held = [standings.at(size, plate) for plate in steps]
            curve = [
                np.median([at.values("last", one, name).mean() for name in at.pools(one)])
                if at.pools(one)
                else np.nan
                for at in held
            ]
            if np.isfinite(curve).any():
                axes.plot(steps, curve, "o-", ms=3, color=COLOURS[one], label=title(one))
        axes.set_xlabel(f"plate of {size}", fontsize=9)
        axes.tick_params(labelsize=SMALL)
        axes.grid(visible=True, alpha=0.25)
    grid[0].set_ylabel("regret of the plate over uniform's", fontsize=9)
    _legend(drawn)
    return drawn


def clicks(shown: Shown) -> Picture:
    """Average rates shown over the best one, batch by batch: a panel per world."""
    worlds = shown.worlds
    drawn = canvas(1, len(worlds))
    grid = drawn.subplots(1, len(worlds), sharey=True, squeeze=False)[0]
    for axes, name in zip(grid, worlds, strict=True):
        for one in FILLERS:
            if (name, one) in shown.rates:
                curve = shown.rates[name, one].mean(axis=0)
                steps = range(1, len(curve) + 1)
                axes.plot(steps, curve, color=COLOURS[one], label=title(one))
        axes.set_xscale("log")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("batch", fontsize=9)
        axes.tick_params(labelsize=SMALL)
        axes.grid(visible=True, alpha=0.25)
    grid[0].set_ylabel("average rate over the best", fontsize=9)
    _legend(drawn)
    return drawn


def _legend(drawn: Picture) -> None:
    named = dict(labelled(drawn))
    titles = [title(who) for who in FILLERS if title(who) in named]
    legend(drawn, {one: named[one] for one in titles}, 4 if len(drawn.axes) > 2 else 2)

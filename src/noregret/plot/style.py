"""How every figure looks: a few calm colours, told apart by colour-blind eyes too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.errors import (
    ArgumentError,
    AskError,
    CertificateError,
    NothingToldError,
    require_extra,
)
from noregret.optimizer import Batch, Optimizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from noregret.optimizer import Best, PosteriorView


COLOURS = ("#0b6141", "#d8566c", "#4a46a8", "#d3a93f", "#6cade0")
GREY = "#a0a0a0"  # of what is to be beaten
INK = "#333333"
BEST = "#d62828"
SAND = ("#f6efdf", "#ecd9ac", "#e0a458", "#b4622a", "#6e3216")  # from bad to good
LINES = ("-", "--", "-.", ":")  # a second cue, where colours come round again


def axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.2) -> Axes:
    """Return the axes given, or those of a new figure."""
    pyplot = require_extra("matplotlib.pyplot", extra="plot", what="noregret.plot")
    if ax is None:
        return cast("Axes", pyplot.subplots(figsize=(width, height), layout="constrained")[1])
    kind = require_extra("matplotlib.axes", extra="plot", what="noregret.plot").Axes
    if not isinstance(ax, kind):
        raise ArgumentError(f"ax must be Matplotlib axes, such as plt.subplots()[1], got {ax!r}.")
    return cast("Axes", ax)


def require_optimizer(name: str, given: object) -> Optimizer:
    """Return an optimizer, which may come in a result."""
    found = getattr(given, "optimizer", given)
    if not isinstance(found, Optimizer):
        raise ArgumentError(f"{name} draws an Optimizer or a Result, got {given!r:.80}.")
    return found


def finish(ax: Axes, *, columns: int = 4) -> None:
    """Put the legend above the data, the frame out of the way, and plain numbers on log axes."""
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            _plain(axis)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, which="major", lw=0.5)
    ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(
            frameon=False,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
            borderaxespad=0.2,
            handletextpad=0.5,
            columnspacing=1.4,
            fontsize="small",
        )


def _plain(axis: Axis) -> None:
    """Write 1,000 rather than 10³; name 2 and 5 too where there are few powers of ten."""
    ticker: Any = require_extra("matplotlib.ticker", extra="plot", what="noregret.plot")
    low, high = sorted(axis.get_view_interval())
    few = high < 100 * low
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(ticker.LogLocator(subs=(2.0, 5.0) if few else "auto"))
    axis.set_minor_formatter(
        ticker.FuncFormatter(lambda value, _: f"{value:,g}") if few else ticker.NullFormatter()
    )


def short(number: float) -> str:
    """Write a number for a legend."""
    return f"{number:,.0f}" if 1000 <= abs(number) < 10**6 else f"{number:.3g}"


def looks(names: list[str]) -> list[tuple[str, str]]:
    """Return a colour and a line style for each name; uniform sampling is grey."""
    found, place = [], 0
    for name in names:
        if name == "uniform":
            found.append((GREY, "-"))
            continue
        again, colour = divmod(place, len(COLOURS))
        found.append((COLOURS[colour], LINES[again % len(LINES)]))
        place += 1
    return found


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def shades(goal: str) -> Colormap:
    """Return a colour map that is darker where values are better."""
    colours: Any = require_extra("matplotlib.colors", extra="plot", what="noregret.plot")
    order = SAND if goal == "max" else SAND[::-1]
    return cast("Colormap", colours.LinearSegmentedColormap.from_list("sand", order))


def sizes(evaluations: Indices) -> Vector:
    """Return areas of dots: they grow with the root of the count, and shrink in a crowd."""
    crowd = min(1.0, (150 / max(len(evaluations), 1)) ** 0.5)
    return np.asarray(crowd * np.minimum(14.0 + 9.0 * np.sqrt(evaluations), 600.0))


def outlined(width: float) -> list[Any]:
    """Return the effect that lifts a mark off whatever lies below it."""
    effects: Any = require_extra("matplotlib.patheffects", extra="plot", what="noregret.plot")
    return [effects.withStroke(linewidth=width, foreground="white")]


def span(ax: Axes, low: float, high: float) -> None:
    """Let the horizontal axis go from one number to another, with a little room."""
    if ax.get_xscale() == "log":
        room = (high / low) ** 0.02
        ax.set_xlim(low / room, high * room)
    else:
        room = 0.02 * (high - low) or 0.5
        ax.set_xlim(low - room, high + room)


def model_of(optimizer: Optimizer) -> PosteriorView | None:
    """Return the posterior, None for baselines."""
    try:
        return optimizer.posterior
    except CertificateError:
        return None


def best_of(optimizer: Optimizer) -> Best | None:
    """Return what is recommended, None where nothing can be."""
    try:
        return optimizer.best()
    except NothingToldError:
        return None


def next_of(optimizer: Optimizer) -> Batch | None:
    """Return the next evaluation, None where nothing is left to ask for."""
    try:
        return optimizer.peek(at_most=1)
    except AskError:
        return None


def with_unit(words: str, unit: str) -> str:
    """Return an axis label."""
    return f"{words} ({unit})" if unit else words

"""How every figure looks: a few calm colours, told apart by colour-blind eyes too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.errors import (
    ArgumentError,
    AskError,
    CertificateError,
    NothingToldError,
    require_extra,
)
from noregret.optimizer import Optimizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap

COLOURS = ("#0b6141", "#d8566c", "#4a46a8", "#d3a93f", "#6cade0")
GREY = "#a0a0a0"  # of what is to be beaten
INK = "#333333"
BEST = "#d62828"
SAND = ("#f6efdf", "#ecd9ac", "#e0a458", "#b4622a", "#6e3216")  # from bad to good
LINES = ("-", "--", "-.", ":")  # a second cue, where colours come round again
Shown = TypeVar("Shown")


def matplotlib(part: str) -> Any:
    """Return a module of Matplotlib, which is loaded by drawing alone."""
    return require_extra(f"matplotlib.{part}", extra="plot", what="noregret.plot")


def axes(ax: Axes | None, *, width: float = 6.4, height: float = 4.2) -> Axes:
    """Return the axes given, or those of a new figure."""
    pyplot = matplotlib("pyplot")
    if ax is None:
        return cast("Axes", pyplot.subplots(figsize=(width, height), layout="constrained")[1])
    if not isinstance(ax, matplotlib("axes").Axes):
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
    ticker = matplotlib("ticker")
    low, high = sorted(axis.get_view_interval())
    few = high < 100 * low
    plain = ticker.FuncFormatter(lambda value, _: f"{value:,g}")
    axis.set_major_formatter(plain)
    axis.set_minor_locator(ticker.LogLocator(subs=(2.0, 5.0) if few else "auto"))
    axis.set_minor_formatter(plain if few else ticker.NullFormatter())


def short(number: float) -> str:
    """Write a number for a legend."""
    return f"{number:,.0f}" if 1000 <= abs(number) < 10**6 else f"{number:.3g}"


def looks(names: list[str]) -> list[tuple[str, str]]:
    """Return a colour and a line style for each name; uniform sampling is grey."""
    others = ((colour, line) for line in cycle(LINES) for colour in COLOURS)
    return [(GREY, "-") if name == "uniform" else next(others) for name in names]


def shades(goal: str) -> Colormap:
    """Return a colour map that is darker where values are better."""
    order = SAND if goal == "max" else SAND[::-1]
    kind = matplotlib("colors").LinearSegmentedColormap
    return cast("Colormap", kind.from_list("sand", order))


def sizes(evaluations: Indices) -> Vector:
    """Return areas of dots: they grow with the root of the count, and shrink in a crowd."""
    crowd = min(1.0, (150 / max(len(evaluations), 1)) ** 0.5)
    return np.asarray(crowd * np.minimum(14.0 + 9.0 * np.sqrt(evaluations), 600.0))


def outlined(width: float) -> list[Any]:
    """Return the effect that lifts a mark off whatever lies below it."""
    return [matplotlib("patheffects").withStroke(linewidth=width, foreground="white")]


def span(ax: Axes, low: float, high: float) -> None:
    """Let the horizontal axis go from one number to another, with a little room."""
    if ax.get_xscale() == "log":
        room = (high / low) ** 0.02
        ax.set_xlim(low / room, high * room)
    else:
        room = 0.02 * (high - low) or 0.5
        ax.set_xlim(low - room, high + room)


def if_any(look: Callable[[], Shown]) -> Shown | None:
    """Return what an optimizer shows; None where it has no model, no value or no next choice."""
    try:
        return look()
    except (AskError, CertificateError, NothingToldError):
        return None


def evenly(first: int, last: int, most: int) -> Indices:
    """Return at most so many places from one to before another, even on a logarithmic axis."""
    if last <= most:
        return np.arange(first, last)
    return np.unique(np.geomspace(first + 1, last, most).round().astype(np.int64)) - 1


def with_unit(words: str, unit: str) -> str:
    """Return an axis label."""
    return f"{words} ({unit})" if unit else words

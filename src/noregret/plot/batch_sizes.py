"""How a run went along: batches, candidates, switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DOTS = 5000


def batches(run: object, *, ax: Axes | None = None) -> Axes:
    """Draw how large batches were, and how many candidates and switches it took.

    Both axes are logarithmic. A dot is a batch, at the evaluation with which it ended; the lines
    count different candidates evaluated and changes of candidate, beside the evaluations
    themselves. Of more than 5000 batches, dots are those at evenly spaced places on the axis.

    >>> opt = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=3)
    >>> opt.tell(opt.ask(), [0.0, 1.0, 1.0])
    >>> ax = nr.plot.batches(opt)
    >>> ax.get_xlabel()
    'evaluations'
    """
    optimizer = style.require_optimizer("batches()", run)
    trace = optimizer.trace
    ax = style.axes(ax)
    size, switches = np.asarray(trace["size"]), np.asarray(trace["switches"])
    ends = np.cumsum(size)
    told = np.append(trace["told"], optimizer.evaluations)
    unique = np.append(trace["unique"], optimizer.unique)
    dots, marks = (style.evenly(0, len(column), MOST_DOTS) for column in (size, told))
    green, rose, indigo = style.COLOURS[:3]
    ax.set(xscale="log", yscale="log")
    last = max(int(told[-1]), int(ends[-1]) if len(ends) else 1, 2)
    ax.plot([1, last], [1, last], color=style.GREY, lw=1, ls=":", label="evaluations")
    ax.scatter(ends[dots], size[dots], s=9, color=indigo, alpha=0.45, lw=0, label="batch size")
    ax.plot(ends[dots], _seen(switches[dots]), color=rose, lw=2, label="switches")
    ax.plot(told[marks], _seen(unique[marks]), color=green, lw=2, label="candidates")
    ax.set(xlim=(1, last * 1.1), ylim=(0.8, last * 1.1), xlabel="evaluations", ylabel="count")
    style.finish(ax)
    return ax


def _seen(counts: Indices) -> Vector:
    """Return counts with gaps where there is nothing to draw on a logarithmic axis."""
    return np.where(counts > 0, counts, np.nan)

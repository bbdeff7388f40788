"""A pool seen on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.arrays import Matrix, Vector
from noregret.optimizer import Evaluated, Optimizer
from noregret.plot import style
from noregret.plot.projections import SIDE, Plane, Projection, Sample, plane_of
from noregret.pools import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DOTS = 4000  # candidates drawn one by one; more are averaged in hexagons
CELLS = 60  # hexagons across


def pool2d(
    run: object,
    *,
    projection: Projection | None = None,
    features: Sequence[str] | None = None,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw candidates on a plane, darker where they are believed better, and what was evaluated.

    The plane is that of two features, by number, or of the first two principal components of all
    of them, each scaled to unit variance (`projection="components"`, the default for more than two
    features). A ring is an evaluated candidate, larger with more evaluations; a cross is `best()`,
    a diamond the next choice. More than 4000 candidates are averaged in hexagons; of more than
    200 000, an even choice of as many is looked at, which the label says. On a box of two
    dimensions a fine grid stands for the candidates. Baselines have no beliefs: their rings are
    coloured by averages.

    >>> pool = nr.Pool([[0.0, 0.0], [0.5, 1.0], [1.0, 0.2]])
    >>> opt = nr.gp_ucb(pool, kernel=nr.RBF(0.4), noise_std=0.1)
    >>> opt.tell([0, 2], [0.3, 0.8])
    >>> ax = nr.plot.pool2d(opt, features=["acid", "base"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('acid', 'base')
    """
    optimizer = style.require_optimizer("pool2d()", run)
    sample, box = Sample.of(optimizer.pool), isinstance(optimizer.pool, Box)
    plane = plane_of(sample, projection, features)
    ax = style.axes(ax, width=6.8, height=4.8)
    posterior, evaluated = style.if_any(lambda: optimizer.posterior), optimizer.evaluated
    spots, means = [], []
    for X in sample.blocks():
        spots.append(plane.of(X))
        means.append(np.zeros(len(X)) if posterior is None else posterior.mean(X))
    if posterior is None:
        x, y = np.concatenate(spots).T
        ax.scatter(x, y, s=6, color=style.GREY, alpha=0.4, lw=0, rasterized=True)
        painted = _rings(ax, evaluated, evaluated.averages, plane, optimizer.goal)
    else:
        painted = _paint(ax, np.concatenate(spots), np.concatenate(means), optimizer.goal, box)
        rings = _rings(ax, evaluated, posterior.mean(evaluated.x), plane, optimizer.goal)
        rings.set_norm(painted.norm)
    if posterior is not None or len(evaluated):
        bar = ax.figure.colorbar(painted, ax=ax, shrink=0.85, pad=0.02)
        bar.set_label(style.with_unit("average" if posterior is None else "posterior mean", unit))
        bar.outline.set_visible(False)
    _marks(ax, optimizer, plane)
    if isinstance(optimizer.pool, Box):
        _log_axes(ax, optimizer.pool, plane)
    first, second = plane.labels
    ax.set(xlabel=f"{first}\n{sample.note}".strip(), ylabel=second)
    style.finish(ax)
    ax.grid(False)
    return ax


def _paint(ax: Axes, spots: Matrix, means: Vector, goal: str, box: bool) -> Any:
    cmap = style.shades(goal)
    if box:
        x, y, z = (part.reshape(SIDE, SIDE) for part in (*spots.T, means))
        ax.use_sticky_edges = False  # marks on the edge stay whole
        ax.margins(0.03)
        return ax.pcolormesh(x, y, z, cmap=cmap, shading="gouraud", rasterized=True)
    if len(spots) <= MOST_DOTS:
        better = np.argsort(means if goal == "max" else -means, kind="stable")  # on top
        x, y = spots[better].T
        return ax.scatter(x, y, c=means[better], cmap=cmap, s=12, lw=0, rasterized=True)
    x, y = spots.T
    return ax.hexbin(x, y, C=means, gridsize=CELLS, cmap=cmap, lw=0.2, rasterized=True)


def _rings(ax: Axes, evaluated: Evaluated, values: Vector, plane: Plane, goal: str) -> Any:
    """Draw evaluated candidates, filled by a value each."""
    x, y = plane.of(evaluated.x).T
    return ax.scatter(
        x,
        y,
        s=style.sizes(evaluated.evaluations),
        c=values,
        cmap=style.shades(goal),
        ec=style.COLOURS[0],
        lw=1.0,
        path_effects=style.outlined(2.0),
        label="evaluated" if len(evaluated) else None,
    )


def _log_axes(ax: Axes, box: Box, plane: Plane) -> None:
    """Draw a dimension that is searched on a logarithmic scale on one, where it is an axis."""
    for set_scale, along in ((ax.set_xscale, plane.P[:, 0]), (ax.set_yscale, plane.P[:, 1])):
        if np.count_nonzero(along) == 1 and box.log[int(np.argmax(along))]:
            set_scale("log")


def _marks(ax: Axes, optimizer: Optimizer, plane: Plane) -> None:
    """Mark what is recommended and what comes next."""
    lifted = style.outlined(4.5)
    best, following = style.if_any(optimizer.best), style.if_any(lambda: optimizer.peek(at_most=1))
    if best is not None:
        (cross,) = ax.plot(*plane.of(best.x[None]).T, "+", color=style.BEST, ms=14, mew=2.5)
        cross.set(label="recommended", path_effects=lifted)
    if following is not None:
        (diamond,) = ax.plot(*plane.of(following.x[:1]).T, "D", ms=7, mfc="none", mew=2)
        diamond.set(mec=style.COLOURS[2], label="next choice", path_effects=lifted)

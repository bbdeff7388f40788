"""What is believed along a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from noregret.arrays import Vector
from noregret.errors import ArgumentError
from noregret.optimizer import Evaluated, Goal, Optimizer
from noregret.plot import style
from noregret.pools import Box, Candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 400  # places at which the posterior is drawn, beside evaluated ones


def posterior1d(
    run: object, *, feature: str | None = None, unit: str = "", ax: Axes | None = None
) -> Axes:
    """Draw what is believed of f along its only feature, and where it was evaluated.

    The line is the posterior mean; the bands reach one and beta standard deviations to either
    side, beta being that of the next choice. A dot is the average of a candidate, larger with more
    evaluations, and hollow where the model takes it for a floor (`PosteriorView.floor`); a dashed
    line is the next choice. Baselines have averages only.

    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
    >>> opt.tell([0, 2], [0.3, 0.8])
    >>> ax = nr.plot.posterior1d(opt, feature="temperature")
    >>> ax.get_xlabel()
    'temperature'
    """
    optimizer = style.require_optimizer("posterior1d()", run)
    if optimizer.pool.dim != 1:
        raise ArgumentError(
            f"posterior1d() draws one feature, this domain has {optimizer.pool.dim}. "
            "noregret.plot.pool2d() draws more."
        )
    ax = style.axes(ax)
    evaluated, following = optimizer.evaluated, style.if_any(lambda: optimizer.peek(at_most=1))
    green, rose = style.COLOURS[:2]
    posterior = style.if_any(lambda: optimizer.posterior)
    x = _points(optimizer, evaluated.x[:, 0])
    if posterior is not None:
        mean, std = posterior.mean(x[:, None]), posterior.std(x[:, None])
        wide = ((posterior.beta, 0.12),) if posterior.beta != 1.0 else ()
        for times, alpha in (*wide, (1.0, 0.25)):
            low, high = mean - times * std, mean + times * std
            label = "± 1 deviation" if times == 1.0 else f"± {times:.2g} (beta)"
            ax.fill_between(x, low, high, color=green, alpha=alpha, lw=0, label=label)
        ax.plot(x, mean, color=green, lw=2, label="mean")
    _dots(ax, evaluated, math.nan if posterior is None else posterior.floor, optimizer.goal)
    if following is not None:
        ax.axvline(following.x[0, 0], color=rose, lw=1.5, ls="--", label="next choice")
    if isinstance(optimizer.pool, Box) and optimizer.pool.log[0]:
        ax.set_xscale("log")
    style.span(ax, float(x[0]), float(x[-1]))
    known = getattr(optimizer.pool, "columns", ()) or ("feature",)
    name = known[0] if feature is None else feature
    ax.set(xlabel=name, ylabel=style.with_unit("value", unit))
    style.finish(ax, columns=5)
    return ax


def _dots(ax: Axes, evaluated: Evaluated, floor: float, goal: Goal) -> None:
    """Draw averages, hollow where they count as the floor."""
    sizes, averages = style.sizes(evaluated.evaluations), evaluated.averages
    worse = averages < floor if goal == "max" else averages > floor
    looks = (
        (~worse, style.INK, "white", "averages"),
        (worse, "white", style.INK, f"taken for {floor:.4g}"),
    )
    for some, face, edge, label in looks:
        if some.any():
            at = evaluated.x[some, 0], averages[some]
            ax.scatter(*at, s=sizes[some], color=face, ec=edge, lw=0.6, zorder=3, label=label)


def _points(optimizer: Optimizer, evaluated: Vector) -> Vector:
    """Return where to draw: evenly over the domain, and at every evaluated point."""
    domain = optimizer.pool
    if isinstance(domain, Box):
        even = domain.shown(domain.snapped(np.linspace(0.0, 1.0, GRID)[:, None]))[:, 0]
    else:
        assert isinstance(domain, Candidates)
        low, high = np.array([(X.min(), X.max()) for _, X in domain.chunks(1 << 16)]).T
        even = np.linspace(low.min(), high.max(), GRID)
    return np.unique(np.concatenate([even, evaluated]))

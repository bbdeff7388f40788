"""Regret: how far evaluations fell short of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from noregret.arrays import Vector, as_floats
from noregret.errors import ArgumentError, require_choice, require_number
from noregret.optimizer import Goal, Optimizer
from noregret.plot import style
from noregret.run import Result
from noregret.run.regret import regrets, true_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind: TypeAlias = Literal["average", "cumulative", "simple"]
POINTS = 1000  # of a drawn curve, at most
DECADES = 4  # of evaluations that are drawn: what came before is noise
LABELS = {
    "average": "average regret",
    "cumulative": "cumulative regret",
    "simple": "regret of the best so far",
}


def regret(
    runs: object,
    *,
    best: float | None = None,
    truth: object = None,
    kind: Kind = "average",
    goal: Goal | None = None,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how far evaluations fell short of the best, against their number.

    `runs` is a run, or a dictionary of runs by name. A run is a `Result`, an `Optimizer`, or its
    values in order; a list of such runs (or a matrix, one run a row) is averaged, with a band from
    the lowest to the highest, up to the end of the shortest. `best` is the best value there is.

    With r_s = best − f(x_s) (its negative, minimising), `kind` is "average", Σ r_s/t, "cumulative",
    Σ r_s, or "simple", min r_s so far. f is `truth`, one true value a candidate of the pool, where
    that is given (plain values are taken as they are). Else values stand in for it, noise and all;
    of an `Optimizer`, which keeps no single values, the average of each candidate. Failed
    evaluations are left out.

    In a `Result` with contexts, each evaluation is held against the best candidate of its own
    context: `truth` is then a function, as in `Result.regret`, and `best` is left out.

    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> result = nr.maximize(lambda x: x[0], pool, algorithm=nr.uniform, budget=4, seed=1)
    >>> ax = nr.plot.regret({"uniform": result}, best=1.0, kind="cumulative")
    >>> ax.get_lines()[0].get_ydata().tolist() == (1 - result.values).cumsum().tolist()
    True
    """
    require_choice("regret(kind=...)", kind, tuple(LABELS))
    by_name = runs if isinstance(runs, Mapping) else {"": runs}
    if not by_name:
        raise ArgumentError("regret(runs=...) holds no run.")
    named = {str(name): _several(run) for name, run in by_name.items()}
    goal = _goal([run for several in named.values() for run in several], goal)
    best = _best(best, truth, goal)
    curves = [
        [_curve(run, truth, best, goal, kind) for run in several] for several in named.values()
    ]
    ax = style.axes(ax)
    families = zip(named, curves, style.looks(list(named)), strict=True)
    ends = [_draw(ax, name, family, look, kind) for name, family, look in families]
    _scale(ax, lowest=min(low for low, _ in ends), longest=max(long for _, long in ends))
    ax.set(xlabel="evaluations", ylabel=style.with_unit(LABELS[kind], unit))
    style.finish(ax)
    return ax


def _draw(
    ax: Axes, name: str, curves: list[Vector], look: tuple[str, str], kind: Kind
) -> tuple[float, int]:
    """Draw the average of some curves, and their range; return the lowest point and the length."""
    T = min(len(curve) for curve in curves)
    rows = np.stack([curve[:T] for curve in curves])
    at = style.evenly(max(0, T // 10**DECADES - 1), T, POINTS)
    low, mean, high = rows.min(axis=0)[at], rows.mean(axis=0)[at], rows.max(axis=0)[at]
    colour, line = look
    label = f"{name}  {style.short(mean[-1])}" if name else None
    step: Literal["post"] | None = "post" if kind == "simple" else None
    if len(rows) > 1:
        ax.fill_between(at + 1, low, high, color=colour, alpha=0.18, lw=0, step=step)
    stairs = "steps-post" if step else "default"
    ax.plot(at + 1, mean, color=colour, ls=line, lw=2, label=label, drawstyle=stairs)
    return float(low.min()), T


def _scale(ax: Axes, *, lowest: float, longest: int) -> None:
    """Take logarithmic axes where there is something to see on them."""
    if longest >= 50:
        ax.set_xscale("log")
        if lowest > 0:
            ax.set_yscale("log")
    ax.margins(x=0.0)
    if ax.get_yscale() == "linear":
        ax.axhline(0.0, color=style.INK, lw=0.8)


def _curve(run: object, truth: object, best: float | None, goal: Goal, kind: Kind) -> Vector:
    """Return the regret of a run after every evaluation."""
    short = _shortfall(run, truth, best, goal)
    if not len(short):
        raise ArgumentError("regret(runs=...): a run has no evaluation yet, nothing to draw.")
    if kind == "simple":
        return np.minimum.accumulate(short)
    total = np.cumsum(short)
    return total / np.arange(1, len(short) + 1) if kind == "average" else total


def _shortfall(run: object, truth: object, best: float | None, goal: Goal) -> Vector:
    """Return how far every evaluation fell short, in order."""
    optimizer = run.optimizer if isinstance(run, Result) else run
    if isinstance(optimizer, Optimizer) and optimizer.takes_contexts:
        if not isinstance(run, Result):
            raise ArgumentError(
                "regret(runs=...): an Optimizer does not keep the context of every evaluation; "
                "give the Result of maximize or minimize, or regrets that you know, as values "
                "below best=0."
            )
        if best is not None or truth is None:
            raise ArgumentError(
                "regret() of a run with contexts needs truth=, a function that returns the true "
                "value of each candidate under a context, and no best=: each context has its own."
            )
        known = ~np.isnan(run.values)
        assert run.contexts is not None
        here = run.contexts[known]
        return regrets("regret(truth=...)", truth, run.optimizer, run.ids[known], here)
    if best is None:
        raise ArgumentError(
            "regret(truth=...) is a function of the context, and a run here has no contexts."
        )
    values = _values(run, truth)
    return best - values if goal == "max" else values - best


def _values(run: object, truth: object) -> Vector:
    """Return the value of every evaluation, in order."""
    if isinstance(run, Result):
        known = ~np.isnan(run.values)
        if truth is None:
            return run.values[known]
        return true_values("regret(truth=...)", truth, run.optimizer, run.ids[known])
    if not isinstance(run, Optimizer):
        return as_floats("regret(runs=...)", run)
    if truth is not None:
        return true_values("regret(truth=...)", truth, run, run.sequence)
    evaluated, sequence = run.evaluated, run.sequence
    average = dict(zip(evaluated.ids, evaluated.averages.tolist(), strict=True))
    ids, place = np.unique(sequence, return_inverse=True)
    values = np.array([average.get(id, np.nan) for id in ids.tolist()])[place]
    return np.asarray(values[~np.isnan(values)])


def _several(run: object) -> list[object]:
    """Return runs that belong together: one, or as many as a list or matrix holds."""
    if isinstance(run, Result | Optimizer):
        return [run]
    if isinstance(run, np.ndarray):
        return list(run) if run.ndim == 2 else [run]
    if isinstance(run, Sequence) and not isinstance(run, str):
        flat = all(isinstance(entry, Real) for entry in run)
        return [run] if flat else [entry for part in run for entry in _several(part)]
    raise ArgumentError(
        f"regret(runs=...) takes a Result, an Optimizer, values in order, lists of these, or a "
        f"dictionary of these by name, got {run!r:.80}."
    )


def _goal(runs: list[object], given: Goal | None) -> Goal:
    """Return the goal that all runs have; values have the one given, else "max"."""
    optimizers = [run.optimizer if isinstance(run, Result) else run for run in runs]
    goals = {run.goal for run in optimizers if isinstance(run, Optimizer)}
    if given is not None:
        require_choice("regret(goal=...)", given, ("max", "min"))
        goals.add(given)
    if len(goals) > 1:
        raise ArgumentError("regret(runs=...): some runs maximise and others minimise.")
    return goals.pop() if goals else "max"


def _best(best: float | None, truth: object, goal: Goal) -> float | None:
    """Return the best value there is; None where it is another under each context."""
    if best is not None:
        return require_number("regret(best=...)", best)
    if truth is None:
        raise ArgumentError(
            "regret() needs best=, the best value there is, or truth=, the true value of each."
        )
    if callable(truth):
        return None
    true = as_floats("regret(truth=...)", truth)
    return float(true.max() if goal == "max" else true.min())

"""Which cells there are: every contestant on every problem, at the largest budget it runs."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.methods.contestants import CONTESTANTS
from evaluation.problems.comparison import PROBLEMS, problem
from evaluation.runs.cells import Setting
from evaluation.runs.lines import Line

QUICK = ("crossed-barrel", "direct-arylation", "branin")
QUICK_BUDGET, QUICK_SEEDS = 50, 2


def lineup(
    *,
    quick: bool = False,
    only: Iterable[str] = tuple(CONTESTANTS),
    problems: Iterable[str] = tuple(PROBLEMS),
) -> list[Line]:
    """Return a line for every contestant and problem that are named.

    One run at the largest budget serves the smaller ones, since no method here looks ahead (the
    papers' δ = 1/T is that of the largest).
    """
    lines = []
    for place in [name for name in problems if not quick or name in QUICK]:
        held = problem(place)
        for one in (CONTESTANTS[name] for name in only):
            horizon, seeds = one.budgets(held)[-1], one.seeds
            if quick:
                horizon, seeds = QUICK_BUDGET, QUICK_SEEDS
            setting: Setting = {"algorithm": one.name}
            lines.append(Line(place, one.name, (setting,), horizon, seeds))
    return lines

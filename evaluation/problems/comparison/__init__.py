"""The problems by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from evaluation.data.originals import TASKS
from evaluation.problems.comparison import boxes, molecules, regression
from evaluation.problems.comparison.architectures import NAS_TITLES, fcnet, macro, nasbench201
from evaluation.problems.comparison.base import Problem
from evaluation.problems.comparison.items import open_bandit
from evaluation.problems.comparison.materials import crossed_barrel, oer

# One value a candidate: as recorded, and again with noise.
RECORDED: dict[str, Callable[..., Problem]] = {
    "gb1": molecules.gb1,
    **{name: partial(molecules.reaction, name) for name in molecules.REACTIONS},
    "oer": oer,
    "enamine": molecules.enamine,
    "abalone": regression.abalone,
    "cadata": regression.cadata,
}

PROBLEMS: dict[str, Callable[[], Problem]] = {
    **{f"nasbench201-{data.split('16')[0]}": partial(nasbench201, data) for data in NAS_TITLES},
    **{f"fcnet-{task.split('_')[0]}": partial(fcnet, task) for task in TASKS},
    "nasbench-macro": macro,
    "crossed-barrel": crossed_barrel,
    "open-bandit": open_bandit,
    **RECORDED,
    **{f"{name}-noisy": partial(make, noisy=True) for name, make in RECORDED.items()},
    "branin": boxes.branin,
    "hartmann6": boxes.hartmann,
    "ackley10": boxes.ackley,
}


@cache
def problem(name: str) -> Problem:
    """Return a problem, its data loaded once."""
    return PROBLEMS[name]()

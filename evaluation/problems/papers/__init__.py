"""The problems by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from evaluation.data.files import find
from evaluation.problems.papers import bbob, nasbench101
from evaluation.problems.papers.base import Problem
from evaluation.problems.papers.regression import abalone, cadata
from evaluation.problems.papers.tables import fcnet, nasbench201

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "abalone": abalone,
    "abalone-unit": partial(abalone, "unit"),
    "cadata": cadata,
    "cadata-unit": partial(cadata, "unit"),
    "fcnet": fcnet,
    "nasbench101": nasbench101.nasbench101,
    "nasbench201": nasbench201,
    **{name: partial(bbob.bbob, name) for name in bbob.NAMES},
}


@cache
def problem(name: str) -> Problem:
    """Return a problem, its data loaded once."""
    return PROBLEMS[name]()


def architectures() -> tuple[str, ...]:
    """Return the problems of the NAS figures: NAS-Bench-101 if it is at hand, or stand-ins."""
    held = any(find(file) for file in (nasbench101.OUTCOMES, nasbench101.ALL_OUTCOMES))
    return ("nasbench101",) if held else ("nasbench201", "fcnet")

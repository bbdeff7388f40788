"""The problems by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from experiments.problems.base import Problem
from experiments.problems.regression import abalone, cadata
from experiments.problems.tables import fcnet, nasbench201

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "abalone": abalone,
    "abalone-unit": partial(abalone, "unit"),
    "cadata": cadata,
    "cadata-unit": partial(cadata, "unit"),
    "fcnet": fcnet,
    "nasbench201": nasbench201,
}


def problem(name: str) -> Problem:
    """Return a problem, its data loaded once."""
    return PROBLEMS[name]()

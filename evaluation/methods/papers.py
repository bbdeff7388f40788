"""Methods by name: from a setting, which is data, to an optimizer of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import noregret as nr
from evaluation.problems.base import Problem
from evaluation.runs.cells import Cell
from noregret.widths import Width

WITHOUT_MODEL = ("uniform", "epsilon_greedy", "regularized_evolution")


def optimizer(problem: Problem, cell: Cell) -> nr.Optimizer:
    """Return the optimizer of a cell, its seed the repetition.

    A setting holds the algorithm's name, arguments of its own, and for those with a model the
    `bandwidth` σ of the kernel exp(−‖x − x'‖²/2σ²), or `bandwidth_squared` where the paper prints
    σ². λ is ξ², the square of the problem's noise level; but the level itself, as MINI prints it,
    where `noise_variance = "noise level"`.
    """
    setting: dict[str, Any] = cell.method
    algorithm, seed = setting.pop("algorithm"), cell.repetition
    make: Callable[..., nr.Optimizer] = getattr(nr, algorithm)
    if algorithm == "regularized_evolution":
        setting["groups"] = problem.groups
    if algorithm in WITHOUT_MODEL:
        return make(problem.domain, seed=seed, **setting)
    if "bandwidth_squared" in setting:
        setting["bandwidth"] = float(setting.pop("bandwidth_squared")) ** 0.5
    model: dict[str, Any] = {
        "kernel": nr.RBF(setting.pop("bandwidth")),
        "noise_std": problem.noise_std,
        "horizon": cell.horizon,
        "seed": seed,
    }
    # BBKB 2020, D.1: "ASYNC-TS struggled to converge", so its width was divided by ten.
    if (divisor := setting.pop("width_divided_by", None)) is not None:
        delta, limit = 1 / cell.horizon, setting.get("limit", 1.0)
        own: Width = nr.RKHSWidth(delta)
        if algorithm == "bbkb":
            own = nr.BBKBExperimentsWidth(delta, limit)
        elif algorithm == "gp_bucb":
            own = limit**0.5 * nr.RKHSWidth(delta)
        model["width"] = (1 / divisor) * own
    if setting.pop("noise_variance", None) == "noise level":
        model["noise_std"] = problem.noise_std**0.5
    return make(problem.domain, **model, **setting)

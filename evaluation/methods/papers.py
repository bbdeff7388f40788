"""Methods by name: from a setting, which is data, to an optimizer of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import noregret as nr
from evaluation.problems.papers.base import Problem
from evaluation.runs.cells import Cell


def optimizer(problem: Problem, cell: Cell) -> nr.Optimizer:
    """Return the optimizer of a cell, its seed the repetition.

    A setting holds the algorithm's name, arguments of its own, and for those with a model the
    `bandwidth` σ of the kernel exp(−‖x − x'‖²/2σ²), or `bandwidth_squared` where the paper prints
    σ². `noise_variance = "noise level"` takes MINI's λ = ξ², the level itself (not its square).
    """
    setting: dict[str, Any] = cell.method
    algorithm = setting.pop("algorithm")
    seed = cell.repetition
    if algorithm in BASELINES:
        return BASELINES[algorithm](problem.pool, seed=seed, **setting)
    if algorithm == "regularized_evolution":
        groups = problem.groups
        return nr.regularized_evolution(problem.pool, seed=seed, groups=groups, **setting)
    model: dict[str, Any] = {
        "kernel": _kernel(setting),
        "noise_std": problem.noise_std,
        "horizon": cell.horizon,
        "seed": seed,
    }
    if algorithm == "batch_thompson":
        # BBKB 2020, D.1: "ASYNC-TS struggled to converge", so its width was divided by ten.
        divisor = setting.pop("width_divided_by")
        model["width"] = (1 / divisor) * nr.RKHSWidth(1 / cell.horizon)
    if setting.pop("noise_variance", None) == "noise level":
        model["noise_std"] = problem.noise_std**0.5
    return MODELS[algorithm](problem.pool, **model, **setting)


def _kernel(setting: dict[str, Any]) -> nr.Kernel:
    if "bandwidth_squared" in setting:
        return nr.RBF(float(setting.pop("bandwidth_squared")) ** 0.5)
    return nr.RBF(setting.pop("bandwidth"))


BASELINES: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": nr.uniform,
    "epsilon_greedy": nr.epsilon_greedy,
}

MODELS: dict[str, Callable[..., nr.Optimizer]] = {
    "batch_thompson": nr.batch_thompson,
    "bbkb": nr.bbkb,
    "bkb": nr.bkb,
    "gp_bucb": nr.gp_bucb,
    "gp_ucb": nr.gp_ucb,
    "mini_gp_ei": nr.mini_gp_ei,
    "mini_gp_ucb": nr.mini_gp_ucb,
}

"""The library's algorithms by name, as the benchmark runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import noregret as nr
from evaluation.problems.speed import NOISE_STD, Problem

BBKB = {"limit": 2.0, "oversample": 2.0}
ALGORITHMS: dict[str, tuple[Callable[..., nr.Optimizer], dict[str, Any]]] = {
    "auto": (nr.auto, {}),
    "gp_ucb": (nr.gp_ucb, {}),
    "gp_ei": (nr.gp_ei, {}),
    "gp_bucb": (nr.gp_bucb, {"limit": 2.0}),
    "bkb": (nr.bkb, {}),
    "bbkb global": (nr.bbkb, BBKB),
    "bbkb global sticky": (nr.bbkb, {**BBKB, "dictionary": "sticky"}),
    "bbkb local": (nr.bbkb, {**BBKB, "rule": "local"}),
    "mini_gp_ucb": (nr.mini_gp_ucb, {"limit": 2.0}),
    "mini_gp_ucb bayesian": (nr.mini_gp_ucb, {"limit": 2.0, "width": nr.BayesianWidth()}),
    "mini thompson": (nr.mini, {"acquisition": nr.Thompson()}),
    "mini_gp_ei": (nr.mini_gp_ei, {"limit": 2.0}),
    "uniform": (nr.uniform, {}),
    "uniform by 100": (nr.uniform, {"batch_size": 100}),
    "epsilon_greedy": (nr.epsilon_greedy, {}),
    "epsilon_greedy by 100": (nr.epsilon_greedy, {"batch_size": 100}),
}


def make_optimizer(name: str, problem: Problem) -> nr.Optimizer:
    """Return a fresh optimiser of that name for the problem, at its seed."""
    algorithm, options = ALGORITHMS[name]
    if algorithm not in (nr.auto, nr.uniform, nr.epsilon_greedy):  # to whom nothing is told
        options = {"kernel": problem.kernel, "noise_std": NOISE_STD, **options}
    return algorithm(problem.pool(), **options, seed=problem.seed)


def work_of(optimizer: nr.Optimizer) -> dict[str, int] | None:
    """Return the library's count of its work; None where it keeps none, as baselines do."""
    counter = getattr(getattr(optimizer.policy, "search", None), "work", None)
    counted = {} if counter is None else asdict(counter)
    return {name: int(value) for name, value in counted.items()} or None

"""Runs that end by themselves, and a notebook of what they saw."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from noregret.arrays import Vector

X = np.linspace(0, 1, 25)[:, None]
POOL = nr.Pool(X)
MODEL: dict[str, Any] = {"kernel": nr.RBF(0.25), "noise_std": 0.3}
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": partial(nr.gp_ucb, **MODEL),
    "gp_ei": partial(nr.gp_ei, **MODEL),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=6.0, **MODEL),
    "mini-switch": partial(nr.mini_gp_ucb, limit=6.0, switch_cost=3.0, **MODEL),
    "bbkb": partial(nr.bbkb, limit=6.0, **MODEL),
    "thompson": partial(nr.batch_thompson, batch_size=3, **MODEL),
    "ts_qff": partial(nr.ts_qff, batch_size=4, **MODEL),
    "uniform": partial(nr.uniform, batch_size=3),
    "random_search": nr.random_search,
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=2),
    "evolution": partial(nr.regularized_evolution, population=6, sample=3),
}


class Noisy:
    """sin(4x), whose highest value is 1, with noise that is the same in every run."""

    def __init__(self, seed: int = 0, sign: float = 1.0, fails: int = 0) -> None:
        self.rng, self.sign, self.fails, self.calls = np.random.default_rng(seed), sign, fails, 0

    def __call__(self, x: Vector) -> Any:
        self.calls += 1
        value = self.sign * (math.sin(4 * x[0]) + 0.3 * self.rng.standard_normal())
        return nr.FAILED if self.fails and self.calls % self.fails == 0 else value


def stopped(
    name: str,
    budget: int,
    stop_when: Any,
    f: Callable[[Vector], Any] | None = None,
    run: Callable[..., nr.Result] = nr.maximize,
    **noise: Any,
) -> nr.Result:
    return run(
        f or Noisy(**noise), POOL, algorithm=ALGORITHMS[name], budget=budget, stop_when=stop_when
    )

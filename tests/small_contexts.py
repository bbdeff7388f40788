"""Small runs under contexts, and the slow one over all pairs of a candidate and a context."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from noregret.arrays import Vector
from noregret.optimizer import Batch

N = 25
X = np.random.default_rng(4).random((N, 2))
CONTEXTS = np.array([[0.1], [0.5], [0.6], [0.95]])
KX, KC = nr.RBF(0.3), nr.Matern(nu=2.5, lengthscale=0.4)
NAMES = [f"c{i}" for i in range(N)]
EXACT: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb-product": partial(nr.gp_bucb, limit=6.0),
    "gp_bucb-local": partial(nr.gp_bucb, rule="local", limit=3.0),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=6.0),
    "mini": partial(nr.mini, acquisition=nr.UCB(), limit=6.0),
    "mini_gp_ei": nr.mini_gp_ei,
    "bkb": nr.bkb,
    "bbkb-global": partial(nr.bbkb, limit=6.0),
    "bbkb-local": partial(nr.bbkb, rule="local", limit=4.0),
    "bbkb-sticky": partial(nr.bbkb, dictionary="sticky", limit=4.0),
    "bbkb-incremental": partial(nr.bbkb, dictionary="incremental", limit=4.0),
}
DRAWING: dict[str, Callable[..., nr.Optimizer]] = {
    "batch_thompson": partial(nr.batch_thompson, batch_size=2),
    "bbkb-thompson": partial(nr.bbkb, acquisition=nr.Thompson()),
}


def f(x: Vector, c: Vector) -> float:
    return float(np.sin(6 * x[0] + 4 * c[0]) + x[1] * c[0])


def made(name: str, pool: Any = None, **settings: Any) -> nr.Optimizer:
    how = {**EXACT, **DRAWING}[name]
    asked = {"kernel": KX, "noise_std": 1.0, "context_kernel": KC, **settings}
    return how(nr.Pool(X, names=NAMES) if pool is None else pool, **asked)


def values(batch: Batch, key: int, context: Vector) -> list[float]:
    noise = np.random.default_rng(key).standard_normal(len(batch))
    return [f(x, context) + 0.5 * float(e) for x, e in zip(batch, noise, strict=True)]

"""Runs in rounds, one per visitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from noregret.arrays import Vector

N, T = 20, 30
X = np.random.default_rng(6).random((N, 2))
POOL = nr.Pool(X)
VISITORS = np.random.default_rng(7).integers(0, 4, (T, 2)) / 4  # some come again
MODEL: dict[str, Any] = {
    "kernel": nr.RBF(0.3),
    "noise_std": 0.4,
    "context_kernel": nr.Matern(lengthscale=0.5),
}
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": partial(nr.gp_ucb, **MODEL),
    "mini_gp_ei": partial(nr.mini_gp_ei, limit=6.0, **MODEL),
    "bbkb": partial(nr.bbkb, rule="local", **MODEL),
    "batch_thompson": partial(nr.batch_thompson, batch_size=3, **MODEL),
}


def f(x: Vector, c: Vector) -> float:
    return float(np.sin(6 * x[0] + 3 * c[0]) + x[1] * c[1])


def run(name: str = "gp_ucb", contexts: Any = VISITORS, **settings: Any) -> nr.Result:
    how: dict[str, Any] = {"f": f, "pool": POOL, "budget": T, "progress": False, **settings}
    how = {"algorithm": ALGORITHMS[name], **how}
    return nr.maximize(how.pop("f"), how.pop("pool"), contexts=contexts, **how)


def truth(c: Any) -> Vector:
    return np.array([f(x, c) for x in X])

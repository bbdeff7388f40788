"""Runs to which candidates are added."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr
from small_optimizers import (
    BASELINES,
    DRAWING,
    KERNEL,
    MODELS,
)

FIRST, LAST = 30, 48  # candidates at first and in the end; the corners of all lie in the first
X = np.concatenate([[[0.0, 0.0], [1.0, 1.0]], np.random.default_rng(9).random((LAST - 2, 2))])
GROWING: dict[str, Callable[..., nr.Optimizer]] = {
    "mini-grow": partial(nr.mini_gp_ucb, norm_bound="grow", limit=8.0),
    "bbkb-grow": partial(nr.bbkb, norm_bound="grow", limit=8.0),
    "bbkb-incremental": partial(nr.bbkb, dictionary="incremental", limit=8.0),
    "mini-incremental": partial(
        nr.mini, acquisition=nr.UCB(), posterior="nystrom", dictionary="incremental"
    ),
}
ALL: dict[str, Callable[..., nr.Optimizer]] = {
    **MODELS,
    **DRAWING,
    **BASELINES,
    **GROWING,
    "auto": nr.auto,
}


def made(name: str, pool: nr.Pool, **settings: Any) -> nr.Optimizer:
    if name in BASELINES or name == "auto":
        optimizer: nr.Optimizer = ALL[name](pool, **settings)
    else:
        optimizer = ALL[name](pool, kernel=KERNEL, noise_std=1.0, **settings)
    return optimizer

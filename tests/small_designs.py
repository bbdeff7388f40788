"""Designs of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algorithms.settings import Initial
from noregret.arrays import Matrix

KERNEL = nr.RBF(0.4)
POOL = nr.Pool(np.random.default_rng(4).random((90, 3)) * [1.0, 100.0, 0.01])
SCALED = nr.RBF((0.4, 40.0, 0.004))
DESIGNS: dict[str, Callable[[int], Initial]] = {
    "uniform": nr.UniformDesign,
    "sobol": nr.SobolDesign,
    "farthest": nr.FarthestDesign,
    "uncertainty": nr.UncertaintyDesign,
}
every_design = pytest.mark.parametrize("name", DESIGNS)


def build(
    name: str, size: int, pool: nr.Pool | nr.Box = POOL, *, seed: int = 0, **settings: Any
) -> nr.Optimizer:
    kernel = SCALED if pool is POOL else KERNEL
    return nr.gp_ucb(
        pool,
        kernel=kernel,
        noise_std=0.3,
        start=DESIGNS[name](size),
        seed=seed,
        **settings,
    )


def whole(name: str, size: int, *, seed: int = 0) -> list[int]:
    ids: list[int] = build(name, size, seed=seed).ask().sequence.tolist()
    return ids


def farthest(X: Matrix, known: list[int], taken: set[int], size: int) -> list[int]:
    """k-centre, greedily, from the matrix of all distances."""
    Z = X / X.std(axis=0)
    distances = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    chosen: list[int] = []
    while len(chosen) < size:
        gap = distances[:, known + chosen].min(axis=1)
        free = [row for row in range(len(X)) if row not in taken and row not in known + chosen]
        chosen.append(max(free, key=lambda row: (gap[row], -row)))
    return chosen

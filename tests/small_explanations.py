"""Runs to explain."""

from __future__ import annotations

from typing import Literal

import numpy as np

import noregret as nr
from noregret.arrays import Indices, Vector
from small_optimizers import F, X, build

NAMES = [f"s{i}" for i in range(40)]
NAMED = nr.Pool(X, names=NAMES)
KERNEL = 1.5 * nr.RBF(0.3)
NOISE = 0.4


def warm(
    name: str, *, goal: Literal["max", "min"] = "max", offset: float = 0.0, turns: int = 8
) -> tuple[nr.Optimizer, Indices, Vector]:
    """An optimizer after some turns, with every row evaluated and every value, in order."""
    optimizer = build(name, NAMED, goal=goal, offset=offset, seed=3, noise_std=NOISE, kernel=KERNEL)
    rows, values = np.empty(0, dtype=np.int64), np.empty(0)
    for turn in range(turns):
        batch = optimizer.ask(at_most=5)
        at = np.array([NAMES.index(id) for id in batch.sequence.tolist()])
        told = F[at] + 0.05 * turn
        optimizer.tell(batch, told)
        rows, values = np.append(rows, at), np.append(values, told)
    return optimizer, rows, values

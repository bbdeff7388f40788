"""Runs whose values come from several instruments, and a diary of every evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from noregret.arrays import Vector
from slow_references import DenseGP
from small_optimizers import (
    KERNEL,
    X,
    build,
    value,
)

NOISE, OFFSET = 0.5, 0.25


def make(name: str, **settings: Any) -> nr.Optimizer:
    return build(name, **{"noise_std": NOISE, "offset": OFFSET, **settings})


def noise_of(time: int, size: int) -> Vector:
    """An instrument for each value: the usual one, a fine one, or one of its own."""
    rng = np.random.default_rng([time, 4])
    return rng.choice([NOISE, 0.1, 2.0, float(rng.uniform(0.2, 1.5))], size)


class Diary:
    """Every value told, with its row and its noise."""

    def __init__(self) -> None:
        self.rows, self.values, self.noise = list[int](), list[float](), list[float]()

    def note(self, rows: Any, values: Any, noise: Any) -> None:
        self.rows += [int(row) for row in rows]
        self.values += [float(v) for v in values]
        self.noise += np.broadcast_to(noise, len(rows)).tolist()

    def dense(self) -> DenseGP:
        noise = (np.array(self.noise) / NOISE) ** 2
        return DenseGP(KERNEL, NOISE**2, X[self.rows], np.array(self.values) - OFFSET, noise)


def live_through(optimizer: nr.Optimizer, diary: Diary, i: int) -> list[int]:
    """Ask, and tell by some instruments; by and by in every way there is."""
    batch = optimizer.ask(at_most=4)
    rows = [int(row) for row in batch.sequence]
    told = [value(row, i + j) for j, row in enumerate(rows)]
    noise = noise_of(i, len(rows))
    if i % 4 == 0:
        optimizer.tell(batch, told, noise_std=noise)
        diary.note(rows, told, noise)
    elif i % 4 == 1:  # by id, more than were asked for
        more, values = [*rows, 3, rows[0]], [*told, 0.3, 0.4]
        optimizer.tell(more, values, noise_std=noise_of(i, len(more)).tolist())
        diary.note(more, values, noise_of(i, len(more)))
    elif i % 4 == 2:  # one number for all, and an average of three by another
        optimizer.tell(batch, told, noise_std=0.2)
        optimizer.tell([5, rows[0]], means=[0.5, 0.6], counts=[3, 1], noise_std=[0.9, 0.3])
        diary.note([*rows, 5, 5, 5, rows[0]], [*told, 0.5, 0.5, 0.5, 0.6], NOISE)
        diary.noise[-len(rows) - 4 :] = [*[0.2] * len(rows), 0.9, 0.9, 0.9, 0.3]
    else:  # the usual one, of which nothing is said
        optimizer.tell(batch, told)
        diary.note(rows, told, NOISE)
    return rows

"""Small optimizers of every kind, and values for what they ask."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector

X = np.random.default_rng(5).random((40, 2))
POOL = nr.Pool(X)
KERNEL = nr.RBF(0.3)
F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])

MODELS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb-product": partial(nr.gp_bucb, rule="product", limit=8.0),
    "gp_bucb-local": partial(nr.gp_bucb, rule="local", limit=2.5),
    "bkb": nr.bkb,
    "bbkb-global": partial(nr.bbkb, rule="global", limit=8.0),
    "bbkb-local": partial(nr.bbkb, rule="local", limit=4.0),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=8.0),
    "mini_gp_ei": partial(nr.mini_gp_ei, limit=8.0),
}
DRAWING: dict[str, Callable[..., nr.Optimizer]] = {
    "batch_thompson": partial(nr.batch_thompson, batch_size=4),
    "ts_qff": partial(nr.ts_qff, batch_size=4),
}
BASELINES: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": partial(nr.uniform, batch_size=6),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=6),
    "random_search": partial(nr.random_search, batch_size=6),
    "evolution": partial(nr.regularized_evolution, population=4, sample=2, batch_size=6),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_algorithm = pytest.mark.parametrize("name", [*MODELS, *BASELINES, "auto"])


def build(
    name: str,
    pool: nr.Pool = POOL,
    *,
    goal: Literal["max", "min"] = "max",
    offset: float = 0.0,
    seed: int = 1,
    noise_std: float = 1.0,
    kernel: nr.Kernel = KERNEL,
) -> nr.Optimizer:
    if name == "auto":
        return nr.auto(pool, goal=goal, seed=seed)
    if name in BASELINES:
        return BASELINES[name](pool, goal=goal, offset=offset, seed=seed)
    return {**MODELS, **DRAWING}[name](
        pool, kernel=kernel, noise_std=noise_std, goal=goal, offset=offset, seed=seed
    )


def value(row: int, time: int) -> float:
    """A noisy value of a row, the same in every run; a multiple of 2⁻²⁰, so that sums are exact."""
    noise = np.random.default_rng([row, time]).standard_normal()
    return round(2**20 * float(F[row] + 0.3 * noise)) / 2**20


def values(batch: nr.Batch, time: int) -> list[float]:
    return [value(int(row), time + i) for i, row in enumerate(batch.sequence)]


def step(optimizer: nr.Optimizer, at_most: int = 7) -> list[int]:
    """One turn of the loop; returns the rows evaluated."""
    batch = optimizer.ask(at_most=at_most)
    optimizer.tell(batch, values(batch, optimizer.spent))
    return [int(row) for row in batch.sequence]


def warm(name: str, turns: int = 4, **settings: Any) -> nr.Optimizer:
    optimizer = build(name, **settings)
    for _ in range(turns):
        step(optimizer)
    return optimizer


def rows_of(batch: nr.Batch) -> list[int]:
    return [int(row) for row in batch.sequence]


def everything(optimizer: nr.Optimizer, folder: Path) -> dict[str, bytes]:
    """All that a saved run holds."""
    optimizer.save(folder / "run")
    with zipfile.ZipFile(folder / "run") as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


@contextmanager
def refused(match: str) -> Iterator[None]:
    with pytest.raises(nr.NoRegretError, match=match) as caught:
        yield
    assert isinstance(caught.value, ValueError)


@contextmanager
def refused_by(optimizer: nr.Optimizer, folder: Path, match: str) -> Iterator[None]:
    before = everything(optimizer, folder)
    with refused(match):
        yield
    assert everything(optimizer, folder) == before


class Kernelish:
    """Looks like a kernel; what it computes is up to the function given."""

    def __init__(self, gram: Callable[[Matrix, Matrix], Matrix], diagonal: float) -> None:
        self.gram, self.constant = gram, diagonal

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        return self.gram(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return np.full(len(X), self.constant)

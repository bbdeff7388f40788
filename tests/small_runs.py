"""A small problem, and cells on it, for the tests of the experiments."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from evaluation.problems.base import GaussianNoise, Problem, of_values
from evaluation.problems.candidates import blocks, in_order
from evaluation.runs.cells import Cell, Setting


def small(N: int = 60) -> Problem:
    X = np.random.default_rng(0).random((N, 2))
    truth = np.sin(4 * X[:, 0]) * X[:, 1]
    noise = GaussianNoise(truth.__getitem__, 0.1)
    seconds = 1.0 + np.arange(N, dtype=np.float64) % 5
    listing = in_order(X, blocks(2))
    return of_values(
        "small", "Small", listing, truth, feedback=noise, noise_std=0.1, seconds=seconds
    )


def cell(setting: Setting, horizon: int = 90, history: int = 0, repetition: int = 3) -> Cell:
    return Cell.of("small", setting, horizon=horizon, history=history, repetition=repetition)


def stuck(cell: Cell) -> Mapping[str, object]:
    """Play a cell that takes minutes."""
    time.sleep(300)
    return {"cell": cell.key}

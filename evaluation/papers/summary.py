"""Means over repetitions, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import stdtrit

from evaluation.runs.cells import Store
from evaluation.runs.lines import Line
from evaluation.runs.trial import Record
from noregret.arrays import Indices, Matrix, Vector

CONFIDENCE = 0.95


@final
@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A curve's mean over repetitions and half the width of its interval."""

    steps: Indices
    mean: Vector
    half: Vector  # NaN for one repetition
    repetitions: int

    def at(self, step: int | None = None) -> tuple[float, float]:
        """Return mean and half-width at a step, between those stored on a line; or at the end."""
        where = self.steps[-1] if step is None else step
        return (
            float(np.interp(where, self.steps, self.mean)),
            float(np.interp(where, self.steps, self.half)),
        )


def band(runs: Sequence[Record], quantity: str) -> Band:
    """Return the mean curve of some runs with its interval by Student's t."""
    curves: Matrix = np.array([QUANTITIES[quantity](run) for run in runs], dtype=np.float64)
    n = len(curves)
    half = np.full(curves.shape[1], np.nan)
    if n > 1:
        quantile = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
        half = quantile * curves.std(axis=0, ddof=1) / math.sqrt(n)
    return Band(np.array(runs[0]["steps"]), curves.mean(axis=0), half, n)


def bands(lines: Sequence[Line], store: Store, quantity: str) -> dict[str, Band]:
    """Return the curves of a panel by method, those that have been run."""
    found = {line.label: line.runs(store) for line in lines}
    return {label: band(runs, quantity) for label, runs in found.items() if runs}


def _ratio(run: Record) -> Vector:
    ratio: Vector = np.array(run["regret"]) / (np.array(run["steps"]) * run["uniform"])
    return ratio


def _average(run: Record) -> Vector:
    average: Vector = np.array(run["regret"]) / np.array(run["steps"])
    return average


def _total(workers: int) -> Callable[[Record], Any]:
    return lambda run: np.array(run["total"][str(workers)]) / 3600


def _batch_size(run: Record) -> Vector:
    """The last batch is cut by the horizon: it counts as large as the one before."""
    size, batch = np.array(run["batch"], dtype=np.float64), np.array(run["batches"])
    cut = batch == batch[-1]
    if not cut.all():
        size[cut] = size[~cut][-1]
    return size


QUANTITIES: dict[str, Callable[[Record], Any]] = {
    "regret ratio": _ratio,
    "average regret": _average,
    "simple regret": lambda run: run["simple"],
    "unique candidates": lambda run: run["unique"],
    "switches": lambda run: run["switches"],
    "batches": lambda run: run["batches"],
    "batch size": _batch_size,
    "seconds": lambda run: run["seconds"],
    "hours on 1 worker": _total(1),
    "hours on 16 workers": _total(16),
    "hours on 128 workers": _total(128),
}

"""Means over repetitions, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import stdtrit

from experiments.lines import Line
from experiments.records import Record
from experiments.store import Store
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

    def at(self, step: int) -> tuple[float, float]:
        """Return mean and half-width at the last step stored up to this one."""
        i = int(np.searchsorted(self.steps, step, side="right")) - 1
        return float(self.mean[i]), float(self.half[i])

    @property
    def last(self) -> tuple[float, float]:
        return float(self.mean[-1]), float(self.half[-1])


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


QUANTITIES: dict[str, Callable[[Record], Any]] = {
    "regret ratio": _ratio,
    "average regret": _average,
    "simple regret": lambda run: run["simple"],
    "unique candidates": lambda run: run["unique"],
    "switches": lambda run: run["switches"],
    "batch size": lambda run: run["batch"],
    "seconds": lambda run: run["seconds"],
    "hours on 1 worker": _total(1),
    "hours on 16 workers": _total(16),
    "hours on 128 workers": _total(128),
}

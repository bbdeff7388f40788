"""Numbers with 95 % intervals: Student's over a few runs, or of means of runs drawn again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import stdtrit

from noregret.arrays import Matrix, Vector

CONFIDENCE = 0.95
DRAWS = 1000  # of the bootstrap


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Vector) -> Figure:
        """Return the first of some draws, which is as measured, with the others' interval."""
        low, high = np.percentile(draws[1:], (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)))
        return cls(float(draws[0]), float(low), float(high))

    def __str__(self) -> str:
        if self.low == self.high:  # of one run: nothing is known of others
            return f"{self.value:.3g}"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    @property
    def reach(self) -> tuple[float, float]:
        """How far the interval reaches below and above; an average of draws may lie off it."""
        return max(self.value - self.low, 0.0), max(self.high - self.value, 0.0)


def means_drawn_again(values: Vector, name: str) -> Vector:
    """Return the mean, and means of values drawn with replacement; equal names draw alike."""
    rng = np.random.default_rng(list(name.encode()))
    drawn = values[rng.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    return np.append(values.mean(), drawn)


def half_width(curves: Matrix) -> Vector:
    """Return half the width of the interval of a mean over rows; NaN for one row."""
    n = len(curves)
    if n == 1:
        return np.full(curves.shape[1], np.nan)
    quantile = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
    return np.asarray(quantile * curves.std(axis=0, ddof=1) / math.sqrt(n))

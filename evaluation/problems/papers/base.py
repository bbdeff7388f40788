"""What an experiment optimises: a table of candidates whose true values are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector


class Feedback(Protocol):
    """How an evaluation of some rows answers."""

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Candidates, what they are truly worth (more is better), and how they answer."""

    name: str
    title: str
    X: Matrix  # (N, d)
    truth: Vector  # (N,)
    feedback: Feedback
    noise_std: float  # what algorithms are told of the noise
    seconds: Vector | None = None  # (N,) how long one evaluation takes, where that is known
    groups: tuple[tuple[int, ...], ...] | None = None  # columns that mutate together

    @property
    def pool(self) -> nr.Pool:
        return nr.Pool(self.X)

    @property
    def gaps(self) -> Vector:
        """How much each candidate falls short of the best: (N,)."""
        gaps: Vector = self.truth.max() - self.truth
        return gaps

    def measure(self, rows: Indices, rng: np.random.Generator) -> Vector:
        """Evaluate some rows once each."""
        return self.feedback(rows, rng)


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianNoise:
    """The truth plus Gaussian noise, its size that of each row."""

    truth: Vector  # (N,)
    std: Vector  # (N,)

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector:
        values: Vector = self.truth[rows] + self.std[rows] * rng.standard_normal(len(rows))
        return values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """One of a candidate's recorded runs, drawn uniformly; NaN where there is no such run."""

    runs: Matrix  # (N, r), the recorded ones first

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector:
        held = np.isfinite(self.runs).sum(axis=1)
        values: Vector = self.runs[rows, rng.integers(held[rows])]
        return values


def noise_level(runs: Matrix) -> float:
    """Return the 90th percentile of a candidate's standard deviation (MINI 2022, section 5)."""
    return float(np.percentile(np.nanstd(runs, axis=1, ddof=1), 90))


def scaled_to_unit(values: Matrix) -> Matrix:
    """Shift and scale so that the least is 0 and the most is 1; NaN stays."""
    least, most = np.nanmin(values), np.nanmax(values)
    scaled: Matrix = (values - least) / (most - least)
    return scaled


def standardised(X: Matrix) -> Matrix:
    """Every column with mean 0 and standard deviation 1; a constant column is 0."""
    spread = X.std(axis=0)
    scaled: Matrix = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def at_most_unit_norm(X: Matrix) -> Matrix:
    """Scale all rows alike so that the longest has norm 1."""
    scaled: Matrix = X / np.linalg.norm(X, axis=1).max()
    return scaled

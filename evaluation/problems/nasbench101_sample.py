"""A sample of NAS-Bench-101: 20 001 of its 423 624 cells, drawn uniformly by their hashes.

The benchmark trained every cell three times; the sample holds one training of each. So a cell's
recorded accuracy is taken for the truth, and its noise is borrowed: a cell is as noisy as the cell
of NAS-Bench-201 of the same rank, a benchmark of the same kind on the same images, of which two or
three trainings are known. Good cells are then less noisy than bad ones, as they are there.

0.12 % of the cells failed to train. They are kept: a search of the benchmark meets them too.

Source: Ying et al., "NAS-Bench-101" (ICML 2019); noise: Dong and Yang, "NAS-Bench-201" (ICLR 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from evaluation.data.files import arrays
from evaluation.problems import nasbench101
from evaluation.problems.base import Problem, of_values
from evaluation.problems.candidates import Listing, at_most_unit_norm, in_order
from noregret.arrays import Indices, Matrix, Vector

FILE = "nasbench101_sample.npz"
NOISE_OF = "nasbench201.npz"
EDGES = 21  # adjacency bits of 7 vertices, the first of the columns; operations follow, one-hot


@final
@dataclass(frozen=True, slots=True, eq=False)
class NoiseByRow:
    """The truth plus Gaussian noise, of a standard deviation of its own for every candidate."""

    values: Vector  # (N,)
    std: Vector  # (N,)

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector:
        drawn: Vector = self.values[rows] + self.std[rows] * rng.standard_normal(len(rows))
        return drawn


def sample() -> Problem:
    """Return all cells of the sample, described as the papers describe theirs: (20 001, 36)."""
    X, _ = _cells()
    listing = in_order(features(X.astype(np.float64)))
    every = np.arange(len(X))
    return _of_rows("nasbench101-sample", "NAS-Bench-101, a sample", listing, every)


def subset() -> Problem:
    """Return the sample's part of the papers' 12 416 cells, with the papers' features: (608, 17).

    A cell's values, noise and features are those it has in the sample and among the 12 416.
    """
    _, theirs = _cells()
    rows = np.flatnonzero(theirs >= 0)
    bits, _ = nasbench101.all_cells()
    listing = in_order(nasbench101.features(bits)[theirs[rows]])
    return _of_rows("nasbench101-subset", "NAS-Bench-101, the papers' cells", listing, rows)


def features(X: Matrix) -> Matrix:
    """Return adjacency and operations, each scaled to at most unit norm, without constant columns.

    As `nasbench101.features`, for cells of up to seven vertices with three operations.
    """
    halves = (X[:, :EDGES], X[:, EDGES:])
    return np.hstack([at_most_unit_norm(half[:, np.ptp(half, axis=0) > 0]) for half in halves])


def borrowed_std(accuracies: Vector, runs: Matrix) -> Vector:
    """Return the noise of cells: that of the other benchmark's cell of the same rank.

    `runs` are that one's trainings, (M, r) with NaN where there is none. Rank i of N is taken to
    be rank ⌊(i + ½)·M/N⌋ of M.
    """
    std = np.nanstd(runs, axis=1, ddof=1)[np.nanmean(runs, axis=1).argsort(kind="stable")]
    share = (np.arange(len(accuracies)) + 0.5) / len(accuracies)
    noise = np.empty(len(accuracies))
    noise[accuracies.argsort(kind="stable")] = std[(share * len(std)).astype(np.int64)]
    return noise


def _cells() -> tuple[np.ndarray, Indices]:
    """Return the bits of the cells and their rows among the papers' 12 416, −1 for the others."""
    X, theirs = arrays(FILE, "X", "row_in_papers_subset")
    return X, theirs.astype(np.int64)


def _of_rows(name: str, title: str, listing: Listing, rows: Indices) -> Problem:
    """Return a problem of these rows of the sample, one for each candidate.

    `noise_std` is the 90th percentile over its candidates, as where trainings are known.
    """
    accuracies, took = arrays(FILE, "val_acc", "train_time")
    values = accuracies[:, -1].astype(np.float64)  # of the longest training
    (percent,) = arrays(NOISE_OF, "val_acc_cifar10")
    std = borrowed_std(values, percent.astype(np.float64) / 100)[rows]
    return of_values(
        name,
        title,
        listing,
        values[rows],
        feedback=NoiseByRow(values[rows], std),
        noise_std=float(np.percentile(std, 90)),
        seconds=took.astype(np.float64)[rows],
    )

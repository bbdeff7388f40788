"""The best candidate of a pool, exactly, streamed.

One door: `Search.rank` finds the best candidate under a fresh posterior; the `Ranking` it returns
then answers `best` again and again while variances shrink. Other ways to rank (on a device, over
shards) stand behind the same door and give the same rows.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.pools import NO_ROWS, Picks, Points
from noregret.posteriors import Posterior


class Ranking(Protocol):
    """An order of the pool that follows a posterior whose variances shrink."""

    def best(self) -> int:
        """Return the row of highest score, the lowest such row on ties."""

    def score(self, row: int) -> float:
        """Return the score of a row on the posterior that was ranked."""

    def stale(self, row: int) -> float:
        """Return the variance of a row on the posterior that was ranked."""

    def now(self, row: int) -> float:
        """Return the variance of a row after what was shrunk."""

    def repeats_while_best(self, row: int, most: int) -> int:
        """Return how often in a row `best` would be this one, if each time it is taken; ≤ most."""

    def picks(self, rows: Indices) -> Picks:
        """Return the points that were the best, given as rows."""

    def variances(self, rows: Indices) -> Vector:
        """Return the variances of rows on the posterior that was ranked."""

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """Return model covariance and covariance of rows with others, on that posterior."""

    def shrink(self, row: int, count: int) -> None:
        """Follow `count` hallucinated evaluations of a row: its mean stays, variances shrink."""

    def close(self, row: int) -> None:
        """Never return a row as the best again; others must be left."""


class Search(Protocol):
    """Finds the best candidates of a domain."""

    def rank(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        spent: Indices = NO_ROWS,
    ) -> Ranking:
        """Rank every candidate that is neither excluded nor among the rows that are spent.

        One that is spent may still have the best mean, which others are held against.
        """

    def rank_samples(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
        spent: Indices = NO_ROWS,
    ) -> Ranking:
        """Rank by functions drawn from the posterior, their deviations times beta."""

    def highest(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        taken: Indices,
        size: int,
        rng: np.random.Generator,
    ) -> Picks:
        """Return so many different points of high μ + βσ, highest first, or fewer where few are.

        None of them is taken.
        """

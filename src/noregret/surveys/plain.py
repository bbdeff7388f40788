"""A survey of any posterior: every row anew."""

from __future__ import annotations

from typing import final

import numpy as np

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.pools import Candidates
from noregret.posteriors import Posterior
from noregret.work import Work


@final
class PlainSurvey:
    """Computes every row anew for each posterior: O(N·width²)."""

    def __init__(self, pool: Candidates, work: Work) -> None:
        self._pool, self._work = pool, work
        self._last: Posterior | None = None
        self.mean: Vector = np.zeros(len(pool))
        self.variance: Vector = np.zeros(len(pool))
        self.prior: Vector = np.zeros(len(pool))
        self.slack = self.relative = 0.0

    def follow(self, posterior: Posterior) -> None:
        if posterior is self._last:
            return
        self._last = None  # broken off in the middle, the next one starts again
        for start, X in self._pool.chunks(chunk_rows(2 * posterior.width)):
            rows = slice(start, start + len(X))
            self.mean[rows], self.variance[rows] = posterior.marginals(X)
            self.prior[rows] = posterior.kernel.diagonal(X)
            self._work.product(len(X), posterior.width, posterior.width)
        self._work.refreshed += len(self._pool)
        self._last = posterior
        self.slack, self.relative = posterior.rounding

    def refresh(self, rows: Indices) -> None:
        """Nothing to do: `follow` has."""

    def ceilings(self, acquisition: Acquisition, beta: float, top: float, floor: float) -> Vector:
        variance = self.variance + self.relative * self.prior
        return acquisition.score(self.mean + self.slack, variance, beta, top)

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        assert self._last is not None
        X, Z = self._pool.rows(rows), self._pool.rows(others)
        return self._last.model_covariance(X, Z), self._last.covariance(X, Z)

    def widen(self, mean_error: float, relative_error: float) -> None:
        self.slack = max(self.slack, mean_error)
        self.relative = max(self.relative, relative_error)

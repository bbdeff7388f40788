"""What `search` asks of a survey.

A survey may be behind, and may be off by rounding. Choices never rest on it alone: it gives upper
bounds, and `search` decides between contenders from the posterior itself.

A survey of any posterior: every row anew.

What a run has cost so far, in counts that do not depend on the machine.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posteriors import Posterior
from noregret.threads import parallel_map

log = logging.getLogger(__name__)


class PosteriorCache(Protocol):
    """Follows posteriors of one run over one pool."""

    mean: Vector  # (N,) right at rows that were refreshed
    variance: Vector  # (N,) likewise
    prior: Vector  # (N,) k(x, x)
    slack: float  # how far rounding may have moved a mean
    relative: float  # how far it may have moved a variance, over the prior one

    def follow(self, posterior: Posterior) -> None:
        """Take in that this is the posterior now."""
        ...

    def refresh(self, rows: Indices) -> None:
        """Bring mean and variance of these rows to the posterior."""
        ...

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        """Return an upper bound on today's score of every row, not sharp below `floor`."""
        ...

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """Return model covariance and covariance between the given rows and other rows."""
        ...

    def widen(self, mean_error: float, relative_error: float) -> None:
        """Allow for more rounding than was thought, and start again."""
        ...


def bring(how: Callable[[Indices], Work], rows: Indices, step: int, work: Work) -> None:
    """Bring rows up to date, so many at a time, and count the work."""
    for done in parallel_map(
        how, [rows[start : start + step] for start in range(0, len(rows), step)]
    ):
        work.add(done)


def priors(kernel: Kernel, pool: Candidates, out: Vector) -> None:
    """Write k(x, x) of every row."""
    for start, X in pool.chunks(chunk_rows(pool.dim)):
        out[start : start + len(X)] = kernel.diagonal(X)


def log_restart(mean_error: float, relative_error: float, candidates: int) -> None:
    """Say that rounding was found where it was not allowed for."""
    log.info(
        "rounding of %.1e in a mean or %.1e of a variance: %d candidates start again",
        *(mean_error, relative_error, candidates),
    )


@final
class PlainCache:
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
        for start, X in self._pool.chunks(chunk_rows(2 * posterior.basis_size)):
            rows = slice(start, start + len(X))
            self.mean[rows], self.variance[rows] = posterior.marginals(X)
            self.prior[rows] = posterior.kernel.diagonal(X)
            self._work.product(len(X), posterior.basis_size, posterior.basis_size)
        self._work.refreshed += len(self._pool)
        self._last = posterior
        self.slack, self.relative = posterior.rounding

    def refresh(self, rows: Indices) -> None:
        """Nothing to do: `follow` has."""

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        variance = self.variance + self.relative * self.prior
        return acquisition.score(self.mean + self.slack, variance, beta, best_mean)

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        assert self._last is not None
        X, Z = self._pool.rows(rows), self._pool.rows(others)
        return self._last.model_covariance(X, Z), self._last.covariance(X, Z)

    def widen(self, mean_error: float, relative_error: float) -> None:
        self.slack = max(self.slack, mean_error)
        self.relative = max(self.relative, relative_error)


@final
@dataclass(slots=True)
class Work:
    """Counts of one search: what benchmarks hold against the machine's own limits."""

    rankings: int = 0  # times the best candidate was sought on new feedback
    refreshed: int = 0  # rows whose mean and variance were computed, in all
    scanned: int = 0  # rows whose old bound was looked at, in all
    bytes: int = 0  # read or written in passes over rows
    flops: int = 0  # in passes over rows

    def product(self, rows: int, inner: int, columns: int) -> None:
        """Count a product of (rows × inner) by (inner × columns), its left side read once."""
        self.flops += 2 * rows * inner * columns
        self.bytes += 8 * rows * (inner + columns)

    def add(self, other: Work) -> None:
        """Take in what was counted elsewhere: by another thread."""
        self.refreshed += other.refreshed
        self.bytes += other.bytes
        self.flops += other.flops

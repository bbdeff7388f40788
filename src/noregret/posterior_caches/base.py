"""What a search asks of a posterior cache, and what caches have in common.

A cache may be behind, and may be off by rounding. Choices never rest on it alone: it gives upper
bounds, and `search` decides between the candidates that can win from the posterior itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar, final

import numpy as np
import numpy.typing as npt

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.pools import Candidates, rows_from
from noregret.posteriors import Observations, Posterior
from noregret.threads import parallel_map

log = logging.getLogger(__name__)
Column = TypeVar("Column", Vector, npt.NDArray[np.int32])


class PosteriorCache(Protocol):
    """Follows posteriors of one run over one pool."""

    mean: Vector  # (N,) right at rows that were refreshed
    variance: Vector  # (N,) likewise
    prior: Vector  # (N,) k(x, x)
    slack: float  # how far rounding may have moved a mean
    relative: float  # how far it may have moved a variance, over the prior one

    def follow(self, posterior: Posterior) -> None:
        """Take in that this is the posterior now."""

    def refresh(self, rows: Indices) -> None:
        """Bring mean and variance of these rows to the posterior."""

    def ceilings(
        self, acquisition: Acquisition, beta: float, best_mean: float, floor: float
    ) -> Vector:
        """Return an upper bound on today's score of every row, not sharp below `floor`."""

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        """Return model covariance and covariance between the given rows and other rows."""

    def extend(self, pool: Candidates) -> None:
        """Follow a pool that has more rows behind these, and know of these what was known."""

    def widen(self, mean_error: float, relative_error: float) -> None:
        """Allow for more rounding than was thought, and start again."""


class Values(Protocol):
    """Where an exact cache has kernel values of rows and points from."""

    def follow(self, kernel: Kernel, points: Observations) -> None:
        """Take in what comes next."""

    def of(self, rows: Indices) -> Matrix:
        """Return k(x, xᵢ), a row of the pool each."""

    def extend(self, pool: Candidates) -> None:
        """Follow a pool that has more rows behind these."""


@final
@dataclass(slots=True)
class Work:
    """What a run has cost so far, in counts that do not depend on the machine."""

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


def bring(how: Callable[[Indices], Work], rows: Indices, step: int, work: Work) -> None:
    """Bring rows up to date, so many at a time, and count the work."""
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    for done in parallel_map(how, parts):
        work.add(done)


def priors(kernel: Kernel, pool: Candidates, out: Vector, first: int = 0) -> None:
    """Write k(x, x) of every row, from the first one wanted on."""
    for start, X in rows_from(pool, first):
        out[start : start + len(X)] = kernel.diagonal(X)


def padded(column: Column, N: int, value: float = 0.0) -> Column:
    """Return a column of N entries: those that there are, and a value for the others."""
    return np.concatenate([column, np.full(N - len(column), value, dtype=column.dtype)])


def log_restart(mean_error: float, relative_error: float, candidates: int) -> None:
    """Say that rounding was found where it was not allowed for."""
    message = "rounding of %.1e in a mean or %.1e of a variance: %d candidates start again"
    log.info(message, mean_error, relative_error, candidates)

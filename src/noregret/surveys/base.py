"""What `search` asks of a survey.

A survey may be behind, and may be off by rounding. Choices never rest on it alone: it gives upper
bounds, and `search` decides between contenders from the posterior itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.kernels import Kernel
from noregret.pools import Candidates
from noregret.posteriors import Posterior
from noregret.threads import spread
from noregret.work import Work

log = logging.getLogger(__name__)


class Survey(Protocol):
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

    def ceilings(self, acquisition: Acquisition, beta: float, top: float, floor: float) -> Vector:
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
    for done in spread(how, [rows[start : start + step] for start in range(0, len(rows), step)]):
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

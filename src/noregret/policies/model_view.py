"""What is thought of one point now, by those who have a model."""

from __future__ import annotations

import numpy as np

from noregret.acquisitions import Acquisition
from noregret.arrays import Rows, Vector, chunk_rows
from noregret.kernels import Kernel
from noregret.policies.base import Appraisal, Evidence, Leader
from noregret.pools import Picks
from noregret.posteriors import Posterior

RANKED = 10**9  # multiplications, a second or so, up to which a rank among all candidates is found
TIED = 1e-9  # of a score: closer ones are ties, as in search


def appraised(
    posterior: Posterior,
    beta: float,
    evidence: Evidence,
    row: int,
    *,
    score: str,
    first: Picks | None,
    rank: int | None = None,
) -> Appraisal:
    """Return what a posterior says of a row, beside the candidate that comes first."""
    X = evidence.points.rows(np.array([row]))
    mean, variance = posterior.marginals(X)
    leader = None
    if first is not None:
        top, spread = posterior.marginals(first.X)
        leader = Leader(int(first.rows[0]), first.X, float(top[0]), float(np.sqrt(spread[0])))
    return Appraisal(
        mean=float(mean[0]),
        std=float(np.sqrt(variance[0])),
        beta=beta,
        score=score,
        correlations=_correlations(posterior.kernel, X, evidence.told.X),
        rank=rank,
        leader=leader,
    )


def rank_of(
    posterior: Posterior, acquisition: Acquisition, beta: float, evidence: Evidence, row: int
) -> int | None:
    """Return 1 + the number of candidates of higher score, None where that is dear to know.

    O(N·m²), where that is at most 10⁹. Boxes and excluded candidates have no rank.
    """
    N, m, excluded = evidence.points.candidates, max(posterior.basis_size, 1), evidence.excluded
    if row >= N or excluded[row] or N * m**2 > RANKED:
        return None
    mean, variance = np.empty(N), np.empty(N)
    for start, X in evidence.points.chunks(chunk_rows(max(m, evidence.points.dim))):
        stop = start + len(X)
        mean[start:stop], variance[start:stop] = posterior.marginals(X)
    top = float(mean[~excluded].max())
    scores = acquisition.score(mean, variance, beta, top)[~excluded]
    own = acquisition.score(mean[[row]], variance[[row]], beta, top)[0]
    return 1 + int(np.count_nonzero(scores > own + TIED * abs(own)))


def _correlations(kernel: Kernel, X: Rows, told: Rows) -> Vector:
    """Return k(x, z)/√(k(x, x)·k(z, z)) of one point with each point told; 0 without variance."""
    if not len(told):
        return np.empty(0)
    k = np.asarray(kernel(X, told)[0])
    scale = np.sqrt(float(kernel.diagonal(X)[0]) * kernel.diagonal(told))
    correlations: Vector = np.divide(k, scale, out=np.zeros_like(k), where=scale > 0)
    return correlations

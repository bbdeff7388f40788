"""Leverage scores from coarse to fine: a dictionary for history of any length, and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector, chunk_rows
from noregret.errors import ArgumentError, PoolError, require_count, require_positive
from noregret.kernels import Kernel, as_kernel, probe
from noregret.pools import Candidates, Points
from noregret.posteriors.base import Observations
from noregret.posteriors.exact import ExactPosterior
from noregret.threads import parallel_map, single_threaded_blas

FINER = 4.0  # how much smaller the ridge is from one level to the next
MOST_MEMBERS = 8192  # of a level: its factor takes minutes beyond that
LEAST_OVERSAMPLE = 4.0  # scores are then 0.4 to 12 times the true ones: a guess of what is enough


@final
@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Points drawn by leverage scores at one ridge."""

    ridge: float
    members: Indices  # places of the points drawn …
    probabilities: Vector  # … with which probability each was …
    leverages: Vector  # … and by which score
    effective_dimension: float  # an estimate of Σ w σ²/ridge, on average too large (see `bless`)
    looked_at: int  # points whose score was estimated

    def weighted(self, points: Observations) -> Observations:
        """Return the members, each counted for those that it stands for."""
        return _weighted(points, self.members, points.w[self.members] / self.probabilities)


def bless(
    kernel: Kernel, points: Observations, ridge: float, oversample: float, rng: np.random.Generator
) -> list[Level]:
    """Draw points by ridge leverage scores, coarse to fine, and return every level.

    The leverage of a unique point of weight w at ridge λ is w·σ²(x)/λ, at most w·k(x, x)/λ. So at a
    large λ few points matter; a draw of these, weighted by the inverse of their probabilities,
    tells variances at the next smaller λ well enough to draw by them:

        u  ⊂ points  with probability  b = min(1, q·w·k(x, x)/λ)                            (1)
        J  ⊂ u       with probability  p/b,  p = min(1, q·w·σ²_J′(x)/λ)                     (2)

    σ²_J′ being the exact posterior variance on the last J, weights w/p. No matrix is larger than
    |u| × |J|: O(n·m²) in all, m a few times the effective dimension.

    Scores are too large on average: weights w/p make the inverse of a variance right on average,
    and an inverse is convex. A draw then holds more than it need, seldom less. On 600 points, seen,
    at q = 4, the least, 0.44 to 11 times the true scores and 5 to 32 % too large in sum; at q = 8,
    0.55 to 4.1 times and at most 13 %; at q = 40, 0.8 to 1.2 times and 0.4 %.

    Source: Rudi et al. 2018, BLESS-R. Differs: rows have weights, and levels start where
    the effective dimension is at most 1.
    """
    prior, w = kernel_diagonal(kernel, points), points.w
    q = max(oversample, LEAST_OVERSAMPLE)
    levels: list[Level] = []
    now, weight = max(float(w @ prior), ridge), np.zeros(0)
    members: Indices = np.empty(0, dtype=np.int64)
    while True:
        most = np.minimum(1.0, q * w * prior / now)
        u = np.flatnonzero(rng.random(len(w)) < most)  # (1)
        variance = _variances(kernel, _weighted(points, members, weight), now, points, u)
        leverage = w[u] * variance / now
        p = np.minimum(most[u], q * leverage)
        if float((p / most[u]).sum()) > MOST_MEMBERS:
            raise ArgumentError(
                f"{len(points)} points need a dictionary of more than {MOST_MEMBERS}: under this "
                "kernel they tell too little of each other. Take a longer lengthscale or a larger "
                "noise_std."
            )
        kept = rng.random(len(u)) * most[u] < p  # (2)
        members, weight = u[kept], w[u[kept]] / p[kept]
        size = float((leverage / most[u]).sum())
        levels.append(Level(now, members, p[kept], leverage[kept], size, len(u)))
        if now <= ridge:
            return levels
        now = max(now / FINER, ridge)


def estimated(
    kernel: Kernel, points: Observations, ridge: float, q: float, rng: np.random.Generator
) -> Vector:
    """Return inclusion probabilities where too much is new for today's variances to tell.

    A batch that a ratio rule closed adds at most about q̄·(limit − 1) members; history told at
    once may add any number, and is thinned from coarse to fine instead (`bless`).
    """
    last = bless(kernel, points, ridge, q, rng)[-1]
    p = np.zeros(len(points))  # given that the last level drew them
    p[last.members] = np.minimum(1.0, q * last.leverages) / last.probabilities
    return p


def kernel_diagonal(kernel: Kernel, points: Observations) -> Vector:
    step = chunk_rows(points.X.shape[1])
    parts = [kernel.diagonal(points.X[at : at + step]) for at in range(0, len(points), step)]
    return np.concatenate([np.empty(0), *parts])


def _weighted(points: Observations, members: Indices, weight: Vector) -> Observations:
    return Observations(points.rows[members], points.X[members], weight, np.zeros(len(members)))


def _variances(
    kernel: Kernel, known: Observations, ridge: float, points: Observations, places: Indices
) -> Vector:
    """Return the variance at some points, given evaluations of others; a few rows at a time."""
    dim = points.X.shape[1]
    prior = ExactPosterior.prior(kernel, noise_std=1.0, ridge=ridge, dim=dim)
    posterior = prior.condition(known, Observations.none(dim), np.random.default_rng(0))
    step = min(chunk_rows(2 * max(len(known), 1)), 1 << 11)
    parts = [places[at : at + step] for at in range(0, len(places), step)]
    return np.concatenate(
        [np.empty(0), *parallel_map(lambda some: posterior.variance(points.X[some]), parts)]
    )


OVERSAMPLE = 8.0  # members over the effective dimension: the estimate is then 0 to 13 % too large


def effective_dimension(
    pool: Candidates, *, kernel: Kernel, noise_std: float, evaluations: int = 1, seed: int = 0
) -> float:
    """Estimate how many parameters evaluations of a whole pool would in effect determine.

        d_eff = Σ_x w·σ²(x)/λ = trace(K (K + λ/w·I)⁻¹),        λ = noise_std²                (1)

    every candidate being evaluated w times (`evaluations`). It bounds how many members a
    dictionary needs and, up to a logarithm, how much can be learned at all: a kernel for which it
    is near the size of the pool says that candidates tell nothing of each other. Scores from
    coarse to fine (`bless`): O(N·m²) with m a few times d_eff, and no N × N matrix. On average the
    estimate is up to an eighth too large, never too small.

    Source: BKB 2019, §2, for d_eff; Rudi et al. 2018 for the estimate.

    >>> pool = nr.Pool([[x / 500] for x in range(500)])
    >>> smooth = nr.effective_dimension(pool, kernel=nr.RBF(0.5), noise_std=0.1)
    >>> rough = nr.effective_dimension(pool, kernel=nr.RBF(0.01), noise_std=0.1)
    >>> smooth < 10 < 50 < rough
    True
    """
    if not isinstance(pool, Candidates):
        raise PoolError(f"effective_dimension(pool) takes a finite pool, got {pool!r:.80}.")
    ridge = require_positive("noise_std", noise_std) ** 2
    w = np.full(len(pool), float(require_count("evaluations", evaluations)))
    kernel = as_kernel(kernel)
    probe(kernel, Points(pool).glance(64))
    rows = np.arange(len(pool))
    points = Observations(rows, pool.rows(rows), w, np.zeros(len(pool)))
    with single_threaded_blas():
        levels = bless(kernel, points, ridge, OVERSAMPLE, np.random.default_rng(seed))
    return levels[-1].effective_dimension

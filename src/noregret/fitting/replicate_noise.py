"""How noisy one evaluation is, by candidates that were evaluated more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import chdtrc, chdtri

from noregret.arrays import Vector
from noregret.fitting.constants import DEFAULTS, FitConstants
from noregret.storable import storable


@final
@storable("PureError")
@dataclass(frozen=True, slots=True, eq=False)
class PureError:
    """The variance of replicates about their own averages, pooled over candidates.

    A candidate evaluated w times gives s² with w − 1 degrees of freedom, s²·(w − 1)/ξ² being
    χ²-distributed. The pooled Σ(w − 1)s²/Σ(w − 1) is best for Gaussian noise, but one diverged run
    spoils it; the median of s² over the median of χ² is not spoiled. Candidates whose s² is beyond
    what χ² gives one in a thousand times, or five times the median estimate if that is more, count
    as if they were there.

    Cost O(n). Source: the median estimate is Fisher-consistent under Gaussian noise, by the
    definition of the median; cutting is Huber's way with outliers.
    """

    variance: float  # ξ², 0 where nothing was repeated
    freedom: float  # Σ(w − 1), of the candidates pooled
    typical: float  # the same by medians
    cut: int  # candidates whose scatter was cut

    @classmethod
    def of(cls, counts: Vector, variances: Vector, constants: FitConstants = DEFAULTS) -> PureError:
        """Pool the sample variances of candidates evaluated `counts` times; NaN where once."""
        known = (counts > 1) & np.isfinite(variances)
        v, s2 = counts[known] - 1.0, variances[known]
        if not len(v):
            return cls(0.0, 0.0, 0.0, 0)
        medians = s2 * v / chdtri(v, 0.5)
        order = np.argsort(medians)
        reached = np.cumsum(v[order])
        typical = float(medians[order][np.searchsorted(reached, 0.5 * reached[-1])])
        rare = chdtri(v, constants.rare_scatter) / v
        most = np.maximum(rare, constants.trusted_scatter) * typical
        cut = s2 > most if typical > 0 else np.zeros(len(v), dtype=np.bool_)
        pooled = float(v @ np.where(cut, most, s2) / v.sum())
        return cls(pooled, float(v.sum()), typical, int(cut.sum()))


def unevenness(counts: Vector, variances: Vector) -> float:
    """Return the probability that even noise would look as uneven as this, or more so.

    Bartlett's statistic Σ v_i log(pooled/s_i²)/C over candidates with at least three values that
    are not all equal, which is nearly χ² with as many degrees of freedom as candidates less one.
    Small: noise differs across the pool (or is far from Gaussian). 1 where there is too little to
    tell.

    Source: Bartlett 1937.
    """
    known = (counts > 2) & np.isfinite(variances) & (variances > 0)
    v, s2 = counts[known] - 1.0, variances[known]
    if len(v) < 2:
        return 1.0
    pooled = float(v @ s2 / v.sum())
    statistic = float(v @ np.log(pooled / s2))
    correction = 1.0 + (float(np.sum(1 / v)) - 1 / v.sum()) / (3.0 * (len(v) - 1))
    return float(chdtrc(len(v) - 1, statistic / correction))

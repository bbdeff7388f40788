"""beta schedules for a posterior through any dictionary; for the notation see `widths.base`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from noregret.posteriors import (
    NystromPosterior,
    ProjectionResidual,
    mean_shift,
    projection_residual,
)
from noregret.storable import storable
from noregret.widths.base import (
    Assumptions,
    WidthBase,
    WidthInputs,
    norm_is_bounded,
    prior_is_right,
)
from noregret.widths.theorems import BayesianWidth


@final
@storable("NystromWidth")
@dataclass(frozen=True, slots=True)
class NystromWidth(WidthBase):
    """For a fixed f of bounded norm, any dictionary and any λ: (ξ/√λ)·√(L + 2 log(1/δ)) + c·F.

    c = √(1 + ρ/4) + √ρ/2 ≥ 1, ρ the largest eigenvalue of what the dictionary leaves out,
    R = W^½(K − ZᵀZ)W^½/λ, and L ≤ log det(V/λ) + log det(I + R): both bounded from above at the
    cost of a block of 64 points. With every evaluated point in the dictionary it is `RKHSWidth`.

    It holds at the opening of a batch, as for certificates. To steer BBKB with it, multiply it by
    √limit, by which deviations may be too small inside a batch: `2**0.5 * NystromWidth()`.

    Source: BKB 2019, proof of Theorem 9, before Proposition 10 (docs/papers/bkb.md).
    Differs: c in place of 1 + √ρ, which is larger.

    >>> pool, width = nr.Pool.numbered(9), nr.NystromWidth(delta=0.05)
    >>> round(nr.bkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    3.45
    """

    delta: float = 0.1
    theorem = "BKB (2019), proof of Theorem 9 up to Proposition 10, for any dictionary"

    def beta(self, inputs: WidthInputs) -> float:
        left = _left_out(inputs)
        inside = inputs.posterior.log_det + left.log_det + 2 * math.log(1 / self.delta)
        noise = inputs.noise_ratio * math.sqrt(max(inside, 0.0))
        return noise + left.distortion * inputs.norm_bound

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return norm_is_bounded(inputs, self)


@final
@storable("NystromBayesianWidth")
@dataclass(frozen=True, slots=True)
class NystromBayesianWidth(WidthBase):
    """For f drawn from the prior over a finite pool, and any dictionary: c·(β_B + D).

    β_B is `BayesianWidth`, c that of `NystromWidth`, and D·σ(x) bounds how far the mean lies from
    that of the exact posterior, by the values told (`mean_shift`).

    Source: docs/papers/bkb.md, from MINI 2022, Theorem 4.5.

    >>> pool, width = nr.Pool.numbered(9), nr.NystromBayesianWidth(delta=0.05)
    >>> round(nr.bkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    3.37
    """

    delta: float = 0.1
    theorem = "MINI (2022) Theorem 4.5, after Srinivas et al. (2010), for any dictionary"

    def beta(self, inputs: WidthInputs) -> float:
        posterior, exact = inputs.posterior, BayesianWidth(self.delta).beta(inputs)
        if not isinstance(posterior, NystromPosterior):
            return exact
        return _left_out(inputs).distortion * (exact + mean_shift(posterior))

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return prior_is_right(inputs)


def _left_out(inputs: WidthInputs) -> ProjectionResidual:
    """Return what a dictionary leaves out of the points told; nothing, of an exact posterior."""
    posterior = inputs.posterior
    if isinstance(posterior, NystromPosterior):
        return projection_residual(posterior)
    return ProjectionResidual()

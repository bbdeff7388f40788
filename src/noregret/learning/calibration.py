"""Whether a model's own uncertainty is to be believed: every point predicted from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtri

from noregret.arrays import Vector
from noregret.learning.likelihood import Likelihood

COVERED = 0.9  # of the points are to lie where the model puts as many
FEW = 10  # points below which nothing is concluded
MOST_WIDENING = 4.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Each average as predicted from all other points.

    With A = s²K + ξ²W⁻¹ and α = A⁻¹(ȳ − m),

        ȳ_i − μ_{−i} = α_i/(A⁻¹)_ii,        σ²_{−i} = 1/(A⁻¹)_ii                              (1)

    the noise of ȳ_i counted in: O(n³) once, not n times.

    Source: Rasmussen & Williams (2006), Eqs. 5.10 to 5.12.
    """

    error: Vector  # (n,) ȳ_i − μ_{−i}
    std: Vector  # (n,)

    @classmethod
    def of(cls, likelihood: Likelihood, theta: Vector) -> LeftOut:
        alpha, precision = likelihood.left_out(theta)
        return cls(alpha / precision, 1 / np.sqrt(precision))

    def widening(self) -> float:
        """Return by how much deviations are to be multiplied so that nine in ten cover …

        … and so that the highest value lies no farther above its prediction than the highest of n
        normal numbers does, in the median Φ⁻¹(2^(−1/n)): where values have a long upper tail, what
        is best lies in it. Never less than 1: a model that seems too cautious may only have been
        lucky.
        """
        n = len(self.error)
        if n < FEW:
            return 1.0
        z = self.error / self.std
        covered = float(np.quantile(np.abs(z), COVERED)) / float(ndtri((1 + COVERED) / 2))
        highest = float(z.max()) / float(ndtri(0.5 ** (1 / n)))
        return min(max(covered, highest, 1.0), MOST_WIDENING)

"""Whether a model's uncertainty is right: every point is predicted from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtr, ndtri

from noregret.arrays import Vector
from noregret.fitting.constants import DEFAULTS, FitConstants
from noregret.fitting.marginal_likelihood import Likelihood

LEAST = 1e-9  # of a variance: what rounding leaves where all of it is noise


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

    def widening(self, constants: FitConstants = DEFAULTS) -> float:
        """Return by how much deviations are to be multiplied so that nine in ten cover …

        … and so that the highest value lies no farther above its prediction than the highest of n
        normal numbers does, in the median Φ⁻¹(2^(−1/n)): where values have a long upper tail, what
        is best lies in it. Never less than 1: a model that seems too cautious may only have been
        lucky.
        """
        n, part = len(self.error), constants.coverage
        if n < constants.calibrated:
            return 1.0
        z = self.error / self.std
        covered = float(np.quantile(np.abs(z), part)) / float(ndtri((1 + part) / 2))
        highest = float(z.max()) / float(ndtri(0.5 ** (1 / n)))
        return min(max(covered, highest, 1.0), constants.most_widening)

    def optimism(
        self, averages: Vector, noise: Vector, constants: FitConstants = DEFAULTS
    ) -> float:
        """Return by how much to multiply the gain expected beyond the best: c².

        So many candidates were expected above the best mean, each predicted from the others:

            S = Σ_i Φ((μ_{−i} − max μ)/s_i),    s_i² = σ²_{−i} − noise_i,    c = 2/(1 + S)      (2)

        noise_i being the variance of average i about f. About one is if the model is right, give
        or take one. Where values end at the top (yields near 100 %), a normal model goes on
        expecting more, and S is large; where they have a long upper tail, it expects too little.
        What is beyond the best is off twice: in how often it is met, and in how far it reaches.
        """
        if len(averages) < constants.calibrated:
            return 1.0
        precision = self.std**-2
        mean = averages - noise * precision * self.error  # of f, by all values
        spread = np.sqrt(np.maximum(self.std**2 - noise, LEAST * self.std**2))
        expected = float(ndtr((averages - self.error - mean.max()) / spread).sum())  # (2)
        return (2.0 / (1.0 + expected)) ** 2

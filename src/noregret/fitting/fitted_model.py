"""The kernel, mean and noise fitted to a run, and how far they are to be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import chdtri

from noregret.arrays import Rows, Vector
from noregret.fitting.constants import DEFAULTS, FitConstants
from noregret.fitting.kernel_families import Family
from noregret.fitting.leave_one_out import LeftOut
from noregret.fitting.map_estimate import MAPEstimate, fit, some
from noregret.fitting.marginal_likelihood import Likelihood, Sample, log_density_of_none
from noregret.fitting.replicate_noise import PureError, unevenness
from noregret.storable import storable


@final
@storable("FittedModel")
@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """A model, fitted to the values told up to some moment."""

    estimate: MAPEstimate
    floor: float  # averages below it count as this …
    floored: int  # … so many of them
    lost: float  # what an evaluation that failed counts as: the lower quartile
    tied: int  # candidates at a ceiling, which the highest value is taken for; 0 where it is not
    error: PureError
    unevenness: float  # probability of noise so uneven, were it even
    widening: float  # of deviations, by what was left out
    optimism_found: float  # of the gain expected beyond the best, likewise
    is_constant: bool  # all values told were the same: nothing is known of any scale
    structure: float  # log density, above that of noise about a constant
    points: int  # that it was fitted to
    searched: int  # points when parameters were last sought from several starts
    number: int  # of the fit, from 1
    constants: FitConstants = DEFAULTS

    @property
    def is_blank(self) -> bool:
        """Whether noise about a constant explains the values about as well."""
        return self.structure < self.constants.blank

    @property
    def is_tentative(self) -> bool:
        """Whether noise about a constant is not clearly less likely: 20 to 1, say."""
        return self.structure < self.constants.tentative

    @property
    def optimism(self) -> float:
        """By how much to multiply the gain that the model expects beyond the best.

        Where all may be noise the scale of f is a guess, and so is how many were expected there.
        """
        return 1.0 if self.is_tentative else self.optimism_found

    @property
    def is_calibrated(self) -> bool:
        """Whether there were points enough to compare the model's deviations with."""
        return self.points >= self.constants.calibrated

    @property
    def small_sample_factor(self) -> float:
        """By how much deviations that were fitted to so few points may be too small.

        Of n normal values, √((n − 1)/q) times their standard deviation is at least the true one 19
        times in 20, q being the 5 % quantile of χ² with n − 1 degrees of freedom.
        """
        freedom = max(self.points - 1, 1)
        return math.sqrt(freedom / float(chdtri(freedom, self.constants.safe_scale)))

    @property
    def is_uneven(self) -> bool:
        return self.unevenness < self.constants.uneven

    def seen(self, averages: Vector) -> Vector:
        """Return averages as the model sees them: from the floor up, about its mean."""
        return np.maximum(averages, self.floor) - self.estimate.mean


def learn(
    family: Family,
    X: Rows,
    counts: Vector,
    averages: Vector,
    entries: Vector,
    scatter: Vector,
    *,
    last: FittedModel | None,
    deterministic: bool,
    rng: np.random.Generator,
    constants: FitConstants = DEFAULTS,
) -> FittedModel:
    """Fit a model to averages and the scatter of replicates.

    What is wanted is the order among the best; a diverged run far below all others would spend the
    model's flexibility on the bottom. So averages count from a floor up,

        floor = median − 2·max(best − median, median − lower quartile)                          (1)

    Of more than two hundred points a subset is fitted. Parameters are sought from where the last
    fit found them, and from other starts too once there are 1.4 times the points. Deterministic
    values are replicates of themselves that agree, unless some are seen not to.
    """
    low, middle, best = (float(at) for at in np.quantile(averages, (0.25, 0.5, 1.0)))
    reach = max(best - middle, middle - low)
    floor = middle - constants.floor * reach if reach > 0 else -math.inf  # (1)
    seen = np.maximum(averages, floor)
    error = PureError.of(entries, scatter, constants)
    variance, freedom = error.variance, error.freedom
    if deterministic and not variance > 0:
        variance = constants.noiseless * float(np.var(seen))
        freedom = constants.noiseless_replicates
    sample = some(Sample(X, counts, seen, variance, freedom), constants.most_points, rng)
    starts = () if last is None else (last.estimate.theta,)
    widely = last is None or len(averages) >= constants.search_growth * last.searched
    estimate = fit(family, sample, starts, widely=widely, constants=constants)
    likelihood = Likelihood(family, sample)
    left_out, noise = LeftOut.of(likelihood, estimate.theta), estimate.noise_std**2 / sample.w
    return FittedModel(
        estimate=estimate,
        floor=floor,
        floored=int((averages < floor).sum()),
        lost=low,
        tied=_at_ceiling(averages, error, constants),
        error=error,
        unevenness=unevenness(entries, scatter),
        widening=left_out.widening(constants),
        optimism_found=left_out.optimism(sample.y, noise, constants),
        is_constant=float(np.ptp(averages)) == 0 and error.variance == 0,
        structure=likelihood.value(estimate.theta) - log_density_of_none(sample),
        points=len(sample.y),
        searched=len(averages) if last is None or widely else last.searched,
        number=1 if last is None else last.number + 1,
        constants=constants,
    )


def _at_ceiling(averages: Vector, error: PureError, constants: FitConstants) -> int:
    """Return how many candidates share the highest value, if that looks like a ceiling; else 0.

    Where values are cut off above (a yield of 100 %, the end of a scale), a model goes on expecting
    more than there is. Without a ceiling the highest value is rare; so it is taken for one if, with
    replicates that all agree, five candidates or more have it, and three times as many as any
    other value.
    """
    if not error.freedom or error.variance > 0:
        return 0
    counts = np.unique(averages, return_counts=True)[1]
    tied, others = int(counts[-1]), int(counts[:-1].max(initial=0))
    crowd = max(constants.ceiling, constants.ceiling_crowd * others)
    return tied if others and tied >= crowd else 0


def share(delta: float, number: int) -> float:
    """Return the part of δ that the k-th model may fail with: 6δ/(π²k²), which sum up to δ."""
    return 6.0 * delta / (math.pi**2 * number**2)

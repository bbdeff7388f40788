"""Choose the parameters that make the values likeliest, given what is known of such problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.fitting.constants import DEFAULTS, FitConstants
from noregret.fitting.kernel_families import Family, effect_share
from noregret.fitting.marginal_likelihood import Likelihood, Sample
from noregret.kernels import Kernel, Scaled, WithEffect
from noregret.storable import storable

STEPS = 60  # of the ascent, …
SLOPE = 0.03  # … which ends where no parameter's logarithm is worth more nats than this
FAILED = 1e25  # the loss where nothing has a factor
BOUNDS = {
    "scale": (-8.0, 8.0),  # log s² over the variance of the averages
    "noise": (math.log(1e-8), math.log(1e2)),  # log ξ² over the same
    "lengthscale": (math.log(5e-3), math.log(1e3)),  # log ℓ, in ranges
    "effect": (-12.0, 6.0),  # log ρ/(1 − ρ)
}  # beyond which a parameter changes nothing, or rounding decides


@final
@storable("MAPEstimate")
@dataclass(frozen=True, slots=True, eq=False)
class MAPEstimate:
    """A model of the values told."""

    kernel: Kernel  # the whole of it
    shared: Kernel  # s²(1 − ρ)·k, of what candidates share
    effect_variance: float  # s²ρ, the variance of the candidate effect
    mean: float
    scale: float  # s²
    noise_std: float
    theta: Vector  # parameters, in units of the values
    fitness: float  # log p plus the prior's


def fit(
    family: Family,
    sample: Sample,
    starts: Sequence[Vector] = (),
    *,
    widely: bool = True,
    constants: FitConstants = DEFAULTS,
) -> MAPEstimate:
    """Return the most probable parameters, the best of those reached from some starts.

    `widely` adds a smooth start and a rough one to those given, of which there must be one else.

    L-BFGS-B on log p + log prior, with analytic slopes.
    """
    from scipy.optimize import minimize

    unit = max(float(np.var(sample.y)), sample.error, np.finfo(float).tiny ** 0.5)
    likelihood = Likelihood(family, sample)
    mean, std = parameter_prior(family, unit, constants)
    low, high = _bounds(family, unit)
    smooth_and_rough = (mean, _rough(family, mean, unit, sample, constants.rough_start))

    def loss(theta: Vector) -> tuple[float, Vector]:
        try:
            value, slopes = likelihood.gradient(theta)
        except np.linalg.LinAlgError:
            return FAILED, np.zeros(len(theta))
        alike = constants.lengthscale_correlation
        held, gradient = unlikeliness(theta, mean, std, family.lengthscales, alike)
        return -value + held, -slopes + gradient

    best: tuple[float, Vector] | None = None
    for start in (*(smooth_and_rough if widely else ()), *starts):
        found = minimize(
            loss,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"maxiter": STEPS, "gtol": SLOPE},
        )
        if best is None or found.fun < best[0]:
            best = float(found.fun), np.asarray(found.x)
    assert best is not None, "a start is needed"
    theta = best[1]
    if best[0] >= FAILED:  # all is noise
        theta = np.clip(mean, low, high)
        theta[1] = math.log(unit)
    scale, share = math.exp(theta[0]), effect_share(family, theta[2:])
    shared, effect = Scaled(family.kernel(theta[2:]), scale * (1.0 - share)), scale * share
    return MAPEstimate(
        kernel=WithEffect(shared, effect) if effect else shared,
        shared=shared,
        effect_variance=effect,
        mean=likelihood.mean(theta),
        scale=scale,
        noise_std=math.exp(0.5 * theta[1]),
        theta=theta,
        fitness=-best[0],
    )


def parameter_prior(family: Family, unit: float, constants: FitConstants) -> tuple[Vector, Vector]:
    """Return mean and standard deviation of each parameter, a priori normal.

    Scale and noise are relative to the variance of the averages, so that units do not matter.
    Of d lengthscales log ℓ ~ N(√2 + ½ log d, 3), so that a point's neighbours stay neighbours as d
    grows.

    Source: Hvarfner, Hellsten & Nardi, ICML 2024, for the lengthscales.
    """
    d, effects = family.lengthscales, family.size - family.lengthscales
    shift, apart = math.log(unit), 0.5 * math.log(max(d, 1))
    (scale, scale_std), (noise, noise_std) = constants.scale_prior, constants.noise_prior
    (length, length_std), (effect, effect_std) = constants.lengthscale_prior, constants.effect_prior
    mean = [scale + shift, noise + shift, *[length + apart] * d, *[effect] * effects]
    std = [scale_std, noise_std, *[length_std] * d, *[effect_std] * effects]
    return np.array(mean), np.array(std)


def unlikeliness(
    theta: Vector, mean: Vector, std: Vector, d: int, r: float
) -> tuple[float, Vector]:
    """Return minus the log prior of θ, up to a constant, and its slopes.

    Features are taken to matter alike until many values tell them apart: were lengthscales
    independent, a dozen values would let one feature or another explain everything, a new one at
    every fit. With z = (θ − mean)/std it is zᵀC⁻¹z/2, where C is 1 on the diagonal and r between
    any two of the d lengthscales, which come third and following, on which

        C⁻¹ = (I − r/(1 − r + dr)·11ᵀ)/(1 − r)
    """
    z = (theta - mean) / std
    gradient, lengths = z.copy(), z[2 : 2 + d]
    gradient[2 : 2 + d] = lengths - r / (1.0 - r + d * r) * lengths.sum()
    gradient[2 : 2 + d] /= 1.0 - r
    return 0.5 * float(z @ gradient), gradient / std


def some(sample: Sample, most: int, rng: np.random.Generator) -> Sample:
    """Return at most so many points: half of them the highest, the others drawn at random."""
    n = len(sample.y)
    if n <= most:
        return sample
    ranked = np.argsort(-sample.y, kind="stable")
    others = rng.choice(ranked[most // 2 :], size=most - most // 2, replace=False)
    keep: Indices = np.sort(np.concatenate([ranked[: most // 2], others]))
    return Sample(sample.X[keep], sample.w[keep], sample.y[keep], sample.error, sample.freedom)


def _rough(family: Family, mean: Vector, unit: float, sample: Sample, shorter: float) -> Vector:
    """Return a start where f is rough and noise is what replicates say.

    Otherwise what is rough is taken for noise, which is another optimum.
    """
    start = mean.copy()
    start[1] = math.log(max(sample.error, 1e-4 * unit))
    start[2 : 2 + family.lengthscales] -= shorter
    return start


def _bounds(family: Family, unit: float) -> tuple[Vector, Vector]:
    """Return the lowest and the highest that parameters may be."""
    d, effects = family.lengthscales, family.size - family.lengthscales
    relative = [BOUNDS["scale"], BOUNDS["noise"]]
    bounds = [*relative, *[BOUNDS["lengthscale"]] * d, *[BOUNDS["effect"]] * effects]
    low, high = np.array(bounds).T
    low[:2] += math.log(unit)
    high[:2] += math.log(unit)
    return low, high

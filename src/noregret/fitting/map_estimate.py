"""Choose the parameters that make the values likeliest, given what is known of such problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector
from noregret.fitting.kernel_families import LONGEST, SHORTEST, Family
from noregret.fitting.marginal_likelihood import Likelihood, Sample
from noregret.kernels import Kernel, Scaled, WithEffect
from noregret.storable import storable

MOST_POINTS = 200  # n³ a step: some milliseconds
STEPS = 60  # of the ascent, …
SLOPE = 0.03  # … which ends where no parameter's logarithm is worth more nats than this
ALIKE = 0.9  # correlation of two lengthscales' logarithms, a priori
ROUGHER = 2.5  # how much shorter, in logarithms, lengthscales are at the second start
SCALE = (0.0, 1.0)  # mean and deviation of log s², relative to the spread of the averages
NOISE = (math.log(1e-2), 2.0)  # … of log ξ², likewise
MOST_OWN = 12.0  # of −log ρ/(1 − ρ), and half of it the other way
HOPELESS = 1e25  # of a loss: there is none
LEAST_NOISE, MOST_NOISE = math.log(1e-8), math.log(1e2)


@final
@storable("MAPEstimate")
@dataclass(frozen=True, slots=True, eq=False)
class MAPEstimate:
    """A model of the values told."""

    kernel: Kernel  # the whole of it
    shared: Kernel  # s²(1 − ρ)·k, of what candidates share
    effect_variance: float  # s²ρ, the variance that is each candidate's own
    mean: float
    scale: float  # s²
    noise_std: float
    theta: Vector  # parameters, in units of the values
    fitness: float  # log p plus the prior's


def fit(
    family: Family, sample: Sample, starts: Sequence[Vector] = (), *, widely: bool = True
) -> MAPEstimate:
    """Return the most probable parameters, the best of those reached from some starts.

    `widely` adds a smooth start and a rough one to those given, of which there must be one else.

    L-BFGS-B on log p + log prior, with analytic slopes. Priors on scale and noise are relative to
    the spread of the averages, so that units do not matter. Lengthscales are correlated a priori:
    features are taken to matter alike until many values tell them apart. Were they independent, a
    dozen values would let one feature or another explain everything, a new one at every fit.
    """
    from scipy.optimize import minimize

    unit = _spread(sample)
    likelihood = Likelihood(family, sample)
    mean, std = _prior(family, unit)
    low, high = _bounds(family, unit)

    def loss(theta: Vector) -> tuple[float, Vector]:
        try:
            value, slopes = likelihood.gradient(theta)
        except np.linalg.LinAlgError:
            return HOPELESS, np.zeros(len(theta))
        held, gradient = unlikeliness(theta, mean, std, family.lengthscales)
        return -value + held, -slopes + gradient

    best: tuple[float, Vector] | None = None
    for start in (*((mean, _rough(family, mean, unit, sample)) if widely else ()), *starts):
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
    if best[0] >= HOPELESS:  # nothing had a factor: all is noise
        theta = np.clip(mean, low, high)
        theta[1] = math.log(unit)
    scale, part = math.exp(theta[0]), family.own(theta[2:])
    shared, own = Scaled(family.kernel(theta[2:]), scale * (1.0 - part)), scale * part
    return MAPEstimate(
        kernel=WithEffect(shared, own) if own else shared,
        shared=shared,
        effect_variance=own,
        mean=likelihood.mean(theta),
        scale=scale,
        noise_std=math.exp(0.5 * theta[1]),
        theta=theta,
        fitness=-best[0],
    )


def unlikeliness(theta: Vector, mean: Vector, std: Vector, d: int) -> tuple[float, Vector]:
    """Return minus the log prior of θ, up to a constant, and its slopes.

    With z = (θ − mean)/std it is zᵀC⁻¹z/2, where C is 1 on the diagonal and r = `ALIKE` between any
    two of the d lengthscales, which come third and following, on which

        C⁻¹ = (I − r/(1 − r + dr)·11ᵀ)/(1 − r)
    """
    z = (theta - mean) / std
    gradient, lengths = z.copy(), z[2 : 2 + d]
    gradient[2 : 2 + d] = lengths - ALIKE / (1.0 - ALIKE + d * ALIKE) * lengths.sum()
    gradient[2 : 2 + d] /= 1.0 - ALIKE
    return 0.5 * float(z @ gradient), gradient / std


def some(sample: Sample, rng: np.random.Generator, most: int = MOST_POINTS) -> Sample:
    """Return at most so many points: half of them the highest, the others drawn at random."""
    n = len(sample.y)
    if n <= most:
        return sample
    ranked = np.argsort(-sample.y, kind="stable")
    others = rng.choice(ranked[most // 2 :], size=most - most // 2, replace=False)
    keep: Indices = np.sort(np.concatenate([ranked[: most // 2], others]))
    return Sample(sample.X[keep], sample.w[keep], sample.y[keep], sample.error, sample.freedom)


def _rough(family: Family, mean: Vector, unit: float, sample: Sample) -> Vector:
    """Return a start where f is rough and noise is what replicates say.

    What is rough passes for noise otherwise, which is an optimum of its own.
    """
    start = mean.copy()
    start[1] = math.log(max(sample.error, 1e-4 * unit))
    start[2 : 2 + family.lengthscales] -= ROUGHER
    return start


def _bounds(family: Family, unit: float) -> tuple[Vector, Vector]:
    """Return the lowest and the highest that parameters may be."""
    d, others = family.lengthscales, family.size - family.lengthscales
    shift, scale = math.log(unit), SCALE[0] + math.log(unit)
    low = [scale - 8.0, shift + LEAST_NOISE, *[SHORTEST] * d, *[-MOST_OWN] * others]
    high = [scale + 8.0, shift + MOST_NOISE, *[LONGEST] * d, *[0.5 * MOST_OWN] * others]
    return np.array(low), np.array(high)


def _spread(sample: Sample) -> float:
    """Return the variance of the averages, or something positive where they are all alike."""
    spread = float(np.var(sample.y))
    return max(spread, sample.error, np.finfo(float).tiny ** 0.5)


def _prior(family: Family, unit: float) -> tuple[Vector, Vector]:
    mean, std = family.prior
    shift = math.log(unit)
    return (
        np.concatenate([[SCALE[0] + shift, NOISE[0] + shift], mean]),
        np.concatenate([[SCALE[1], NOISE[1]], std]),
    )

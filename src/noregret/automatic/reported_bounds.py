"""What is said of evaluated points: as much as a learned model allows."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from noregret.arrays import Mask
from noregret.automatic.settings import AutoModel
from noregret.policies import Estimates, Evidence
from noregret.pools import hashed


def allowed(model: AutoModel, believed: Estimates, evidence: Evidence) -> Estimates:
    """Return what a model believes of the points told, as wide as it deserves.

    Deviations are as wide as calibration and the number of points ask for. Where a constant may
    explain the values as well, they and the bounds reach it too: all may be noise. Where all values
    told were the same, nothing is known of scale, and bounds are infinite.
    """
    fitted, m = model.fitted, model.mean
    at = _by_own_values(model, believed, evidence)
    std = at.std * fitted.widening * fitted.small_sample_factor
    mean, lower, upper = at.mean + m, at.lower + m, at.upper + m
    if fitted.is_constant:
        std, lower, upper = std + math.inf, lower - math.inf, upper + math.inf
    elif fitted.is_tentative:
        low, high = constant(evidence)
        std = np.hypot(std, mean - 0.5 * (low + high))
        lower, upper = np.minimum(lower, low), np.maximum(upper, high)
    lower = np.where(evidence.told.y < fitted.floor, -math.inf, lower)
    return Estimates(mean, std, lower, upper)


def constant(evidence: Evidence) -> tuple[float, float]:
    """Return between which numbers f lies if it is a constant, 19 times in 20 (Student's t)."""
    told, many = evidence.told, evidence.entries > 1
    mean = float(told.w @ told.y / told.w.sum())
    inside = float((evidence.entries[many] - 1.0) @ evidence.scatter[many])
    squares = float(told.w @ (told.y - mean) ** 2) + inside
    freedom = max(float(evidence.entries.sum()) - 1.0, 1.0)
    reach = float(stdtrit(freedom, 0.975)) * math.sqrt(squares / freedom / evidence.evaluations)
    return mean - reach, mean + reach


def _by_own_values(model: AutoModel, at: Estimates, evidence: Evidence) -> Estimates:
    """Give points their own part of the variance where the posterior has no room for it.

    With s² the variance of what a point shares with others, its mean μ, and ρ that of its own
    part, its average ȳ of w values with noise ξ² makes it

        μ + g·(ȳ − μ),    variance (s² + ρ)·(1 − g),    g = (s² + ρ)/(s² + ρ + ξ²/w)           (1)

    The values count twice, as μ has seen them: little, where others say much of μ.
    """
    estimate, told = model.fitted.estimate, evidence.told
    alone = np.full(len(told), True) if model.is_sparse else _twins(evidence)
    if not estimate.effect_variance or not alone.any():
        return at
    beta = np.divide(at.upper - at.mean, at.std, out=np.zeros(len(told)), where=at.std > 0)
    variance = at.std**2 + estimate.effect_variance
    gain = variance / (variance + estimate.noise_std**2 / told.w)  # (1)
    mean = at.mean + gain * (model.fitted.seen(told.y) - at.mean)
    std = np.sqrt(variance * (1.0 - gain))
    mean, std = np.where(alone, mean, at.mean), np.where(alone, std, at.std)
    return Estimates(mean, std, mean - beta * std, mean + beta * std)


def _twins(evidence: Evidence) -> Mask:
    """Tell which points have features that another one has too."""
    _, which, counts = np.unique(hashed(evidence.told.X), return_inverse=True, return_counts=True)
    twins: Mask = counts[which] > 1
    return twins

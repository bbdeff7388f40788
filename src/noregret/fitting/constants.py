"""The numbers that decide how a model is fitted, and how far it is trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, final

from noregret.storable import storable

Normal: TypeAlias = tuple[float, float]  # mean and standard deviation


@final
@storable("FitConstants")
@dataclass(frozen=True, slots=True)
class FitConstants:
    """Every number by which a fit decides, with its unit and the reason for its value.

    The reason is a source, a cost, or "a guess": a value that works and was compared with no other.
    """

    # Priors: normal, of logarithms
    lengthscale_prior: Normal = (math.sqrt(2.0), math.sqrt(3.0))  # ranges, for d = 1: Hvarfner 2024
    lengthscale_correlation: float = 0.9  # of any two: a guess; at 0, one feature explains all
    scale_prior: Normal = (0.0, 1.0)  # s² over the variance of the averages: a guess
    noise_prior: Normal = (math.log(1e-2), 2.0)  # ξ² over the same: a guess
    effect_prior: Normal = (-3.0, 2.0)  # ρ/(1 − ρ), ρ the candidate effect's share: a guess
    most_lengthscales: int = 64  # that a few hundred values can tell apart, at most: a guess
    # The search for parameters
    most_points: int = 200  # that are fitted: n³ per step is some milliseconds
    rough_start: float = 2.5  # logarithms: how much shorter lengthscales are there: a guess
    search_growth: float = 1.4  # times the points until several starts are tried again: its cost
    # Values
    floor: float = 2.0  # times the reach of the better values: a guess
    trusted_scatter: float = 5.0  # times the typical variance of replicates: a guess
    rare_scatter: float = 1e-3  # probability of a scatter that is cut: a guess
    ceiling: int = 5  # candidates that share the highest value: a guess …
    ceiling_crowd: float = 3.0  # … and how many times as many as any other value: a guess
    noiseless: float = 1e-6  # ξ² over the variance of the averages, if deterministic: rounding
    noiseless_replicates: float = 1e6  # that the user's word is worth: outweighs any run's values
    # Trust
    blank: float = 1.0  # nats more than a constant explains; less is nothing found: a guess
    tentative: float = 3.0  # nats; less is not 20 to 1 against a constant: as usual in tests
    coverage: float = 0.9  # of the points left out, within as large an interval: a guess
    calibrated: int = 10  # points from which on they are left out: a guess
    most_widening: float = 4.0  # times the standard deviation: a guess
    safe_scale: float = 0.95  # probability that few points do not make it too small: as usual
    uneven: float = 1e-3  # probability below which noise is said to differ: a guess


DEFAULTS = FitConstants()

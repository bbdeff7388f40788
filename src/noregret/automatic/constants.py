"""The numbers that decide what `auto` does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from noregret.fitting import FitConstants
from noregret.fitting.constants import DEFAULTS as FIT
from noregret.storable import storable


@final
@storable("AutoConstants")
@dataclass(frozen=True, slots=True)
class AutoConstants:
    """Every number by which `auto` decides, with its unit and the reason for its value.

    The reason is a source, a measurement, a cost, or "a guess": a value that works and was compared
    with no other.
    """

    fit: FitConstants = FIT
    # Start
    first: int = 5  # candidates by chance: a guess …
    first_per_lengthscale: float = 0.2  # … and so many more for each lengthscale: a guess …
    most_lengthscales: int = 20  # … that is counted: a guess
    # When a model is fitted again
    growth: float = 1.1  # times the points: fits follow their logarithm, at a share of all time …
    surprised_growth: float = 1.05  # … or, after a surprise, so many: a guess …
    surprise: float = 4.0  # … which is a value so many deviations too high: chance alone is rare …
    values_growth: float = 2.0  # … or times the values, where points are few: a guess
    # What a candidate is worth
    ahead: float = 3.0  # evaluations to come per evaluation so far, if balanced: worked on 14 pools
    greedy_ahead: float = 0.5  # the same, if greedy: a guess
    ahead_at_first: float = 50.0  # evaluations added to those so far: hardly a run ends before
    width: float = 0.45  # of √(2 log(1 + t)), in a box, if balanced: a guess
    greedy_width: float = 0.25  # the same, if greedy: a guess
    leeway: float = 0.05  # of a deviation, for a point of a box again: measured on Hartmann-6
    # Posterior
    exact_points: int = 2000  # unique points; beyond them a dictionary is faster: its cost
    oversample: float = 2.0  # q̄ of the dictionary: as in the experiments of the papers
    exact_ridge: float = 1e-6  # of the variance of f, at least: rounding
    sparse_ridge: float = 1e-3  # the same with a dictionary, whose size grows with 1/ridge: a guess
    # Batches
    limit: float = 2.0  # C̃ of a batch with a dictionary: the default of `bbkb`
    short: float = 1.25  # limit of a stay that costs nothing (`Settle`): a guess
    long: float = 4.0  # limit of a stay that saves a switch: a guess
    most_at_once: int = 64  # one in so many evaluations, where feedback matters little: a guess
    # Failures
    failed_weight: float = 0.5  # evaluations that a failure counts as: a guess
    failed_often: int = 2  # failures after which a candidate without a value is given up: a guess
    # When to explore
    known: float = 0.5  # variance over ridge: less, and another evaluation tells little: a guess
    pause: float = 2.0  # evaluations without news before the first exploration: a guess …
    pause_growth: float = 0.5  # … and per exploration: of T, at most 2√T explore, as √T regret
    greedy_pause: float = 2.0  # times as long, if greedy: a guess
    paid: int = 2  # by which their count is divided where they found a better leader: a guess
    clearly_better: float = 2.0  # deviations of a difference, for a new leader: as usual in tests
    together: int = 10_000  # values until two come at once, then three, …: measured, 25 × as fast
    # What to explore
    by_chance: int = 8  # every so many are drawn uniformly: a guess
    settled: int = 8  # explorations until every second is by a promising function: a guess …
    functions: int = 64  # … of so many sampled: measured, 1 run of 40 is stuck in place of 4
    candidates: int = 300  # on which functions are sampled, at O(n³): some milliseconds …
    candidates_per_function: int = 3  # … or so many, so that each finds another one: a guess …
    optimism: float = 3.0  # … those of highest mean plus so many deviations: a guess
    blank_by_chance: int = 2  # evaluations by chance to one by a model that found nothing: a guess


DEFAULTS = AutoConstants()

"""Made-up worlds of ads: 100 000 of them, shown a thousand at a time, each clicked or not.

In every world the logarithm of an ad's rate of clicks grows in proportion with a score, from 0.2 %
at the lowest to 27 % at the highest; the average rate is about a tenth of the best or less. The
score is

- *linear*: in twelve features, all standard normal, the j-th of weight 1/j;
- *crossed*: of five categories of ten levels each, every combination being an ad: a standard-normal
  effect per level, and another per pair of levels of two categories;
- *niches*: in six features, uniform on [0, 1]: the highest of twelve Gaussian hills of width 0.25,
  placed uniformly, whose heights are uniform between a half and one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from evaluation.problems.base import Problem, of_values
from evaluation.problems.candidates import Listing, blocks, coded, measured
from evaluation.problems.comparison import Clicks
from noregret.arrays import Vector

ADS = 100_000
LOW, HIGH = 0.002, 0.27  # rates
LEVELS, CATEGORIES = 10, 5
WIDTH, HILLS = 0.25, 12


def linear(ads: int = ADS) -> Problem:
    X = np.random.default_rng(1).standard_normal((ads, 12))
    score = X @ (1 / np.arange(1, 13))
    return world("linear", measured([f"x{at}" for at in range(12)], X, groups=blocks(12)), score)


def crossed(categories: int = CATEGORIES) -> Problem:
    rng = np.random.default_rng(2)
    codes = np.indices((LEVELS,) * categories).reshape(categories, -1).T.astype(np.uint8)
    score = rng.standard_normal((categories, LEVELS))[np.arange(categories), codes].sum(axis=1)
    for one, other in combinations(range(categories), 2):
        score += rng.standard_normal((LEVELS, LEVELS))[codes[:, one], codes[:, other]]
    names = [f"category {at}" for at in range(categories)]
    return world("crossed", coded(names, [f"level {at}" for at in range(LEVELS)], codes), score)


def niches(ads: int = ADS) -> Problem:
    rng = np.random.default_rng(3)
    X, hills = rng.random((ads, 6)), rng.random((HILLS, 6))
    heights = rng.uniform(0.5, 1.0, HILLS)
    score = np.zeros(ads)
    for hill, height in zip(hills, heights, strict=True):
        score = np.maximum(score, height * np.exp(-((X - hill) ** 2).sum(axis=1) / (2 * WIDTH**2)))
    return world("niches", measured([f"x{at}" for at in range(6)], X, groups=blocks(6)), score)


def world(name: str, listing: Listing, score: Vector) -> Problem:
    """Turn scores into rates; noise is that of most ads, as for Open Bandit."""
    share = (score - score.min()) / np.ptp(score)
    rates: Vector = LOW * (HIGH / LOW) ** share
    noise = float(np.percentile(np.sqrt(rates * (1 - rates)), 90))
    title = f"{len(rates):,} ads, {name}".replace(",", " ")
    clicks = Clicks(rates)
    return of_values(f"clicks-{name}", title, listing, rates, feedback=clicks, noise_std=noise)


WORLDS: dict[str, Callable[[], Problem]] = {
    f"clicks-{one.__name__}": one for one in (linear, crossed, niches)
}

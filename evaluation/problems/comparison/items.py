"""Eighty items of a shop, clicked or not: the Open Bandit data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from evaluation.problems.comparison.base import Observations, Problem, of_values
from evaluation.problems.comparison.listing import floats, framed, sheet
from noregret.arrays import Vector

ITEMS = 80


@final
@dataclass(frozen=True, slots=True, eq=False)
class Clicks:
    """1 with an item's probability, else 0."""

    rates: Vector  # (N,)

    def __call__(self, rows: Observations, rng: np.random.Generator) -> Vector:
        clicked: Vector = (rng.random(len(rows)) < self.rates[rows]).astype(np.float64)
        return clicked


def open_bandit() -> Problem:
    """Whether an item is clicked; its click rate in the log of uniformly random choices is true."""
    log = sheet("open_bandit_small_random_all.csv.gz")
    shown, clicks = np.array(log["item_id"], dtype=np.int64), floats(log["click"])
    rates = np.bincount(shown, clicks, minlength=ITEMS) / np.bincount(shown, minlength=ITEMS)
    context = sheet("open_bandit_small_item_context.csv.gz")
    assert [int(item) for item in context.pop("item_id")] == list(range(ITEMS))
    price = {"item_feature_0": floats(context.pop("item_feature_0"))}
    listing = framed({**price, **context}, mutable=False)
    noise = float(np.percentile(np.sqrt(rates * (1 - rates)), 90))
    feedback = Clicks(rates)
    return of_values(
        "open-bandit", "Open Bandit", listing, rates, feedback=feedback, noise_std=noise
    )

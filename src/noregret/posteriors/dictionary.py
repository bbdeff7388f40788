"""Which evaluated points carry the sparse posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector, positions
from noregret.errors import require_count, require_positive, require_probability
from noregret.storable import storable

OUTGROWN = 3.0  # times the expected size at which a sticky dictionary is drawn from scratch
MOST_NEW = 256  # members that points told since the last batch may add by today's variances


@final
@storable("Oversample")
@dataclass(frozen=True, slots=True)
class Oversample:
    """q̄, the factor on inclusion probabilities: larger is more accurate and costs more.

    A number holds up to the horizon; a run that goes on is re-planned for twice the horizon, again
    and again, and q̄ grows with log(4·horizon/δ) (BKB 2019, §3.2, "Tuning q̄"). Without a horizon a
    number stays as it is. With `per_log`, q̄ = per_log·log(4t/δ), t the horizon or, without one,
    today's count: 72·limit of BBKB 2020, Theorem 2; 6α/ε² of BKB 2019, Theorem 1.
    """

    value: float = 2.0
    per_log: bool = False
    horizon: int | None = None
    delta: float = 0.1

    def __post_init__(self) -> None:
        require_positive("oversample", self.value)
        require_probability("delta", self.delta)
        if self.horizon is not None:
            require_count("horizon", self.horizon)

    def at(self, t: int) -> float:
        """Return q̄ for a dictionary drawn after `t` evaluations."""
        planned = max(t, 1) if self.horizon is None else self.horizon
        reached = planned
        while reached < t:
            reached *= 2
        log = math.log(4 * reached / self.delta)
        if self.per_log:
            return self.value * log
        return self.value * log / math.log(4 * planned / self.delta)


def inclusion_probabilities(
    w: Vector, stale_variance: Vector, ridge: float, oversample: float
) -> Vector:
    """Return min(1, w·q̄·σ̃²_stale/ridge) for unique points of weights w.

    Differs: the papers draw once per evaluation. A point of weight w is one row of weight √w,
    whose ridge leverage is w·σ²/ridge; w separate draws would miss a much-repeated point with
    probability (1 − p)^w although its leverage is near 1.

    Source: BKB 2019, Algorithm 1; BBKB 2020, Algorithm 1, lines 12-16.
    """
    return np.minimum(1.0, w * oversample * stale_variance / ridge)


def sample_members(probabilities: Vector, rng: np.random.Generator) -> Indices:
    """Return the points drawn, each by itself; if none is, the most probable one."""
    drawn = np.flatnonzero(rng.random(len(probabilities)) < probabilities)
    if drawn.size or not len(probabilities):
        return drawn.astype(np.int64)
    return np.array([int(np.argmax(probabilities))])


def kept_beside(members: Indices, drawn: Indices, rows: Indices, expected: float) -> Indices:
    """Return a sticky dictionary's members and those drawn behind them; those alone if too many."""
    before = positions(members, rows)
    before = before[before >= 0]
    both = np.concatenate([before, np.setdiff1d(drawn, before)])
    return both if len(both) <= OUTGROWN * max(expected, 1.0) else drawn

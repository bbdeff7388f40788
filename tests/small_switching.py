"""Candidates between which switches cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import noregret as nr

RNG = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "heat": RNG.integers(2, 6, 40) * 10,
        "solvent": [("DMF", "THF", "DMSO")[i % 3] for i in range(40)],
        "grams": RNG.random(40),
    }
)
TABLE = nr.Pool.from_frame(FRAME, scale="unit")
X = TABLE.X
COSTS: dict[Any, float] = {"heat": 60.0, "solvent": 5.0}
MODEL: dict[str, Any] = {"kernel": nr.RBF(1.0), "noise_std": 1.0}


def of_rows(one: int, other: int) -> float:
    """By hand: an hour for another temperature, five minutes for another solvent."""
    differ = FRAME.iloc[one] != FRAME.iloc[other]
    return sum(cost for name, cost in COSTS.items() if differ[str(name)])


def value(row: int, time: int) -> float:
    noise = np.random.default_rng([row, time]).standard_normal()
    return float(np.sin(4 * X[row, 0]) + X[row, -1] + noise)

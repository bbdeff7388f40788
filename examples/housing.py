"""Go on from ten thousand past evaluations: the most expensive of 20 640 census blocks.

`python -m examples.housing`: history in the pool and off it, effective dimension, BBKB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from evaluation.data.files import path_of


def main(past: int = 10_000, budget: int = 300) -> dict[str, float]:
    """Return the average value of what was chosen after the history, and of the pool."""
    with np.load(path_of("cadata.npz"), allow_pickle=False) as held:
        X, value = held["X"], held["y"] / held["y"].max()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    off, inside = order[: past // 2], order[past // 2 :]  # half of the past is not for sale
    pool, f = nr.Pool(X[inside]), value[inside]
    model: dict[str, Any] = {
        "kernel": 0.25**2 * nr.Matern(lengthscale=3.0),
        "noise_std": 0.1,
        "offset": 0.4,
    }
    size = nr.effective_dimension(pool, kernel=model["kernel"], noise_std=model["noise_std"])
    print(f"{len(pool)} candidates, effective dimension {size:.0f}")
    optimizer = nr.bbkb(pool, width=nr.ConstantWidth(2.0), **model)
    known = np.arange(past - len(off))
    optimizer.tell(known, f[known] + 0.1 * rng.standard_normal(len(known)))
    optimizer.tell(X[off], value[off] + 0.1 * rng.standard_normal(len(off)))
    chosen: list[int] = []
    while len(chosen) < budget:
        batch = optimizer.ask(at_most=budget - len(chosen))
        rows = batch.sequence.astype(np.int64)
        optimizer.tell(batch, f[rows] + 0.1 * rng.standard_normal(len(rows)))
        chosen.extend(rows.tolist())
    found = {"chosen": float(f[chosen].mean()), "pool": float(f.mean())}
    print(f"{optimizer}; chosen {found['chosen']:.3f}, pool {found['pool']:.3f} on average")
    return found


if __name__ == "__main__":
    main()

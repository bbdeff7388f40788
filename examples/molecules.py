"""Dock twenty molecules at a time, chosen from ten thousand by their fingerprints.

`python -m examples.molecules`: packed bits, Tanimoto, Thompson sampling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from evaluation.data.files import path_of


def main(budget: int = 400) -> dict[str, int]:
    """Return how many of the hundred best molecules each way found."""
    with np.load(path_of("enamine10k_docking.npz"), allow_pickle=False) as held:
        pool = nr.BitPool(held["fp"], packed=True)
        score = held["y"].astype(np.float64)  # kcal/mol, lower is better
    hundred = set(np.argsort(score, kind="stable")[:100].tolist())
    model: dict[str, Any] = {
        "kernel": 0.7**2 * nr.Tanimoto(),
        "noise_std": 0.2,
        "offset": float(score.mean()),
    }
    ways = {
        "batch_thompson": nr.batch_thompson(pool, goal="min", batch_size=20, **model),
        "gp_bucb": nr.gp_bucb(pool, goal="min", rule=nr.FixedSize(20), limit=2.0, **model),
        "uniform": nr.uniform(pool, goal="min", batch_size=20),
    }
    found: dict[str, int] = {}
    for name, optimizer in ways.items():
        while optimizer.spent < budget:
            batch = optimizer.ask(at_most=budget - optimizer.spent)
            optimizer.tell(batch, score[batch.sequence.astype(np.int64)])
        found[name] = len(hundred & set(optimizer.evaluated.ids))
        print(f"{name}: {found[name]} of the hundred best; {optimizer.best()}")
    return found


if __name__ == "__main__":
    main()

"""Find the best conditions of a coupling among 1728, from a table of words and numbers.

`python -m examples.reactions`: a pool from a file, designs to start with, baselines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.csv

import noregret as nr
from evaluation.data.files import path_of

CONDITIONS = ["Base_SMILES", "Ligand_SMILES", "Solvent_SMILES", "Concentration", "Temp_C"]


def main(budget: int = 100, seeds: int = 3) -> dict[str, float]:
    """Return the highest yield that each way measured, the median over seeds."""
    path = path_of("direct_arylation.csv.gz")
    pool = nr.read_pool(path, features=CONDITIONS, scale="unit")
    assert isinstance(pool, nr.Pool)
    yields = pyarrow.csv.read_csv(path)["yield"].to_numpy()
    print(pool)
    model: dict[str, Any] = {
        "kernel": 25**2 * nr.Matern(lengthscale=1.2),
        "noise_std": 3.0,
        "offset": 30.0,
    }
    greedy: dict[str, Any] = {**model, "width": nr.ConstantWidth(2.0)}
    best: dict[str, list[float]] = {}
    for seed in range(seeds):
        start = nr.SobolDesign(10)
        ways = {
            "batch_thompson": nr.batch_thompson(pool, start=start, seed=seed, **model),
            "gp_ucb, beta 2": nr.gp_ucb(pool, start=start, seed=seed, **greedy),
            "evolution": nr.regularized_evolution(pool, population=20, sample=5, seed=seed),
            "uniform": nr.uniform(pool, seed=seed),
        }
        for name, optimizer in ways.items():
            while optimizer.spent < budget:
                batch = optimizer.ask(at_most=budget - optimizer.spent)
                optimizer.tell(batch, yields[batch.sequence.astype(np.int64)])
            rows = np.array(optimizer.evaluated.ids, dtype=np.int64)
            best.setdefault(name, []).append(float(yields[rows].max()))
    medians = {name: float(np.median(found)) for name, found in best.items()}
    for name, found in best.items():
        print(f"{name}: {', '.join(f'{value:.1f}' for value in found)} % (best {yields.max():.1f})")
    return medians


if __name__ == "__main__":
    main()

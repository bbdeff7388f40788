"""Train few of 15 625 network cells, some of them with several seeds.

`python -m examples.architectures`: categories as codes, regularised evolution, MINI by Thompson.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import noregret as nr
from evaluation.data.files import path_of


def main(budget: int = 200, seeds: int = 3) -> dict[str, float]:
    """Return the average regret of each way in points of accuracy, the median over seeds."""
    with np.load(path_of("nasbench201.npz"), allow_pickle=False) as held:
        codes, runs = held["op_index"].astype(np.float64), held["val_acc_cifar100"]
    truth = np.nanmean(runs, axis=1)
    pool = nr.Pool(codes)
    kernel = 10**2 * nr.Categorical(weights=0.15)
    model: dict[str, Any] = {"kernel": kernel, "noise_std": 1.0, "offset": 60.0}
    regrets: dict[str, list[float]] = {}
    for seed in range(seeds):
        ways = {
            "mini(Thompson)": nr.mini(pool, acquisition=nr.Thompson(), seed=seed, **model),
            "batch_thompson": nr.batch_thompson(pool, seed=seed, **model),
            "evolution": nr.regularized_evolution(pool, groups=range(6), population=30, seed=seed),
            "uniform": nr.uniform(pool, seed=seed),
        }
        for name, optimizer in ways.items():
            rng, spent = np.random.default_rng(seed), list[int]()
            while optimizer.spent < budget:
                batch = optimizer.ask(at_most=budget - optimizer.spent)
                rows = batch.sequence.astype(np.int64)
                values = [rng.choice(runs[row][~np.isnan(runs[row])]) for row in rows]
                optimizer.tell(batch, values)
                spent.extend(rows.tolist())
            regrets.setdefault(name, []).append(float(truth.max() - truth[spent].mean()))
    for name, found in regrets.items():
        print(f"{name}: average regret {', '.join(f'{value:.2f}' for value in found)} points")
    return {name: float(np.median(found)) for name, found in regrets.items()}


if __name__ == "__main__":
    main()

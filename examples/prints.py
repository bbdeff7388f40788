"""Print the toughest of 600 structures, whose prints scatter: look into a run.

`python -m examples.prints`: replicates, explanations, a trace, pictures (examples/out/prints.png).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv

import noregret as nr
from evaluation.data.files import path_of

OUT = Path(__file__).parent / "out"


def main(budget: int = 200) -> float:
    """Return how far below the toughest the recommendation is."""
    path = path_of("materials_crossed_barrel.csv.gz")
    table = pyarrow.csv.read_csv(path)
    features = np.column_stack([table[name].to_numpy() for name in ("n", "theta", "r", "t")])
    designs, which = np.unique(features, axis=0, return_inverse=True)
    prints = [table["toughness"].to_numpy()[which.ravel() == at] for at in range(len(designs))]
    truth = np.array([values.mean() for values in prints])
    low, high = designs.min(axis=0), designs.max(axis=0)
    pool, rng = nr.Pool((designs - low) / (high - low)), np.random.default_rng(0)
    result = nr.maximize(
        lambda row: float(rng.choice(prints[row])),
        pool,
        algorithm=nr.batch_thompson,
        budget=budget,
        by_id=True,
        progress=False,
        kernel=10**2 * nr.Matern(lengthscale=0.5),
        noise_std=2.0,
        offset=15.0,
    )
    optimizer, best = result.optimizer, int(result.best().id)
    print(result)
    print(optimizer.explain(best))
    print(optimizer.trace)
    _draw(result, float(truth.max()))
    return float(truth.max() - truth[best])


def _draw(result: nr.Result, best: float) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4.5))
    nr.plot.regret({"batch_thompson": result}, best=best, ax=axes[0])
    nr.plot.batches(result.optimizer, ax=axes[1])
    nr.plot.pool2d(result.optimizer, projection=(1, 2), ax=axes[2])
    figure.tight_layout()
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "prints.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()

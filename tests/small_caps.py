"""Every algorithm on a small pool, whose candidates may be evaluated a few times each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import noregret as nr

MODEL: dict[str, Any] = {"kernel": nr.RBF(0.4), "noise_std": 1.0}
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": partial(nr.gp_ucb, **MODEL),
    "gp_ei": partial(nr.gp_ei, **MODEL),
    "plate": partial(nr.gp_bucb, rule=nr.FixedSize(7), **MODEL),
    "gp_bucb": partial(nr.gp_bucb, limit=6.0, **MODEL),
    "gp_bucb-global": partial(nr.gp_bucb, limit=6.0, rule="global", **MODEL),
    "min_batch": partial(nr.gp_bucb, limit=6.0, min_batch=3, **MODEL),
    "bkb": partial(nr.bkb, **MODEL),
    "bbkb": partial(nr.bbkb, limit=6.0, **MODEL),
    "bbkb-local": partial(nr.bbkb, limit=4.0, rule="local", dictionary="sticky", **MODEL),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=9.0, **MODEL),
    "mini_gp_ei": partial(nr.mini_gp_ei, limit=9.0, switch_cost=4.0, **MODEL),
    "mini-gradient": partial(
        nr.mini,
        acquisition=nr.KnowledgeGradient(9.0, noise=1.0),
        width=nr.ConstantWidth(1.0),
        limit=9.0,
        **MODEL,
    ),
    "mini-thompson": partial(nr.mini, acquisition=nr.Thompson(), limit=9.0, **MODEL),
    "rarely": partial(nr.gp_bucb, rule=nr.RarelySwitching(9.0), **MODEL),
    "batch_thompson": partial(nr.batch_thompson, batch_size=6, **MODEL),
    "start": partial(nr.gp_ucb, start=nr.UniformDesign(4), **MODEL),
    "uniform": partial(nr.uniform, batch_size=6),
    "random_search": partial(nr.random_search, batch_size=6),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=6, a=2.0),
    "evolution": partial(nr.regularized_evolution, population=4, sample=2, batch_size=6),
    "auto": nr.auto,
    "auto-greedy": partial(nr.auto, attitude="greedy", switch_cost=4.0),
    "auto-workers": partial(nr.auto, workers=4),
    "auto-safe": partial(nr.auto, attitude="safe"),
}
ON_POOLS: dict[str, Callable[..., nr.Optimizer]] = {
    **ALGORITHMS,
    "ts_qff": partial(nr.ts_qff, batch_size=6, **MODEL),
    "lin_ucb": partial(nr.lin_ucb, noise_std=1.0, bias=1.0),
    "farthest": partial(nr.gp_ucb, start=nr.FarthestDesign(4), **MODEL),
}
X = np.random.default_rng(4).random((9, 2)).round(1)
POOL = nr.Pool(np.concatenate([X, X[:3]]))  # three of them twice


def measured(batch: nr.Batch, seed: int = 0) -> list[float]:
    noise = np.random.default_rng([seed, batch.ticket]).standard_normal(len(batch))
    return [float(np.sin(4 * x[0]) + e) for x, e in zip(batch, noise, strict=True)]


def counts(optimizer: nr.Optimizer) -> Counter[int]:
    """Evaluations of each row that have a value or are under way."""
    found: Counter[int] = Counter()
    for points in (optimizer.evidence.told, optimizer.evidence.open_):
        for row, count in zip(points.rows.tolist(), points.counts.tolist(), strict=True):
            found[row] += int(count)
    return found

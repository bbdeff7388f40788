"""min_batch: after the uncertainty-sampling start, every batch fills the machines."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import noregret as nr
from strategies import MODELS, RKHSProblem, rkhs_problem, rounds

P = 12


def sizes(optimizer: nr.Optimizer, problem: RKHSProblem, batches: int) -> tuple[int, list[int]]:
    """Return the evaluations of the start and the size of each of the batches after it."""
    told = [batch for batch, _ in islice(rounds(optimizer, problem, 10**6, 47), batches + 1)]
    first = [batch.reason.startswith("start:") for batch in told]
    assert first == [True] + batches * [False]
    return len(told[0]), [len(batch) for batch in told[1:]]


@pytest.mark.parametrize("name", ["gp_bucb-global", "mini_gp_ucb", "bbkb-global"])
@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_every_batch_holds_the_minimum_after_the_start(name: str, limit: float) -> None:
    """A plate with empty wells costs as much as a full one.

    BBKB 2020, A.5, with its threshold corrected: a batch holds P once max σ²/λ ≤ (limit − 1)/P; for
    Nyström once it is a third of that, as its variances may be off by 3 (Lemma 2).
    """
    problem = rkhs_problem(1, candidates=120, lengthscale=0.5, noise_std=0.5)
    common = {"kernel": problem.kernel, "noise_std": 0.5, "limit": limit, "seed": 1}
    start, with_minimum = sizes(MODELS[name](problem.pool, min_batch=P, **common), problem, 12)
    _, without = sizes(MODELS[name](problem.pool, **common), problem, 12)
    assert min(with_minimum) >= P
    assert min(without[:3]) < P
    assert 1 < start < 1000


def test_the_start_stops_as_soon_as_the_minimum_is_certain() -> None:
    """Every evaluation of the start is spent before the search begins."""
    problem = rkhs_problem(0, candidates=120, lengthscale=0.5, noise_std=0.5)
    X, limit = problem.pool.rows(np.arange(120)), 1.5
    settings = {"kernel": problem.kernel, "noise_std": 0.5, "limit": limit, "min_batch": P}
    optimizer = MODELS["gp_bucb-global"](problem.pool, **settings)
    batch = optimizer.ask()
    threshold = 0.25 * (limit - 1) / P
    values = problem.measure(np.asarray(batch.sequence, np.int64), np.random.default_rng(0))
    optimizer.tell(batch[:-1], values[:-1])
    assert optimizer.posterior.variance(X).max() > threshold
    optimizer.tell(batch[-1:], values[-1:])
    assert optimizer.posterior.variance(X).max() <= threshold

"""min_batch: after the uncertainty-sampling start, every batch fills the machines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import noregret as nr
from strategies import RKHSProblem, rkhs_problem

P = 12


def sizes(optimizer: nr.Optimizer, problem: RKHSProblem, batches: int) -> tuple[int, list[int]]:
    """Return the evaluations of the start and the size of each of the batches after it."""
    rng = np.random.default_rng(47)
    start = 0
    after: list[int] = []
    while len(after) < batches:
        batch = optimizer.ask()
        optimizer.tell(batch, problem.measure(np.asarray(batch.sequence, np.int64), rng))
        if batch.reason.startswith("start:"):
            assert not after
            start += len(batch)
        else:
            after.append(len(batch))
    return start, after


ALGORITHMS: list[Callable[..., nr.Optimizer]] = [
    partial(nr.gp_bucb, rule="global"),
    nr.mini_gp_ucb,
    nr.bbkb,
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["gp_bucb", "mini_gp_ucb", "bbkb"])
@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_every_batch_holds_the_minimum_after_the_start(
    algorithm: Callable[..., nr.Optimizer], limit: float
) -> None:
    """A plate with empty wells costs as much as a full one.

    BBKB 2020, A.5, with its threshold mended: a batch holds P once max σ²/λ ≤ (limit − 1)/P; on a
    Nyström posterior once it is a third of that, as its variances may be off by 3 (Lemma 2).
    """
    problem = rkhs_problem(1, candidates=120, lengthscale=0.5, noise_std=0.5)
    common = {"kernel": problem.kernel, "noise_std": 0.5, "limit": limit, "seed": 1}
    start, with_minimum = sizes(algorithm(problem.pool, min_batch=P, **common), problem, 12)
    _, without = sizes(algorithm(problem.pool, **common), problem, 12)
    assert min(with_minimum) >= P
    assert min(without[:3]) < P
    assert 1 < start < 1000


def test_the_start_stops_as_soon_as_the_minimum_is_certain() -> None:
    """Every evaluation of the start is spent before the search begins."""
    problem = rkhs_problem(0, candidates=120, lengthscale=0.5, noise_std=0.5)
    X, limit = problem.pool.rows(np.arange(120)), 1.5
    optimizer = nr.gp_bucb(
        problem.pool,
        kernel=problem.kernel,
        noise_std=0.5,
        limit=limit,
        rule="global",
        min_batch=P,
        seed=0,
    )
    batch = optimizer.ask()
    threshold = 0.25 * (limit - 1) / P
    rng = np.random.default_rng(0)
    optimizer.tell(batch[:-1], problem.measure(np.asarray(batch.sequence, np.int64)[:-1], rng))
    assert optimizer.posterior.variance(X).max() > threshold
    optimizer.tell(batch[-1:], problem.measure(np.asarray(batch.sequence, np.int64)[-1:], rng))
    assert optimizer.posterior.variance(X).max() <= threshold

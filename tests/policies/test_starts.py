"""What is evaluated before a model chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from slow_references import DenseGP
from strategies import drive, rkhs_problem

PROBLEM = rkhs_problem(3, candidates=60, lengthscale=0.5, noise_std=0.5)
GIVEN: dict[str, Any] = {"kernel": PROBLEM.kernel, "noise_std": 0.5}


def largest_variance(rows: list[int]) -> float:
    """max σ² over the pool after evaluating `rows`, from scratch."""
    X = PROBLEM.pool.X
    return float(DenseGP(PROBLEM.kernel, 0.25, X[rows], np.zeros(len(rows))).variance(X).max())


def test_the_first_candidate_is_drawn_uniformly() -> None:
    """BBKB Algorithm 1, line 1: every candidate must be possible, none preferred."""
    rows = [int(nr.bbkb(PROBLEM.pool, seed=seed, **GIVEN).ask().ids[0]) for seed in range(600)]
    counts = np.bincount(rows, minlength=60)
    chi2 = float(((counts - 10.0) ** 2 / 10.0).sum())
    assert chi2 < 59 + 4 * np.sqrt(2 * 59)  # four deviations of χ² with 59 degrees


def test_history_told_before_the_first_ask_is_the_start() -> None:
    """Nothing is drawn when something is known."""
    optimizer = nr.gp_ucb(PROBLEM.pool, **GIVEN)
    optimizer.tell([0, 1], [0.3, 0.1])
    assert optimizer.ask().reason == "fixed size 1 reached"


@pytest.mark.parametrize(
    ("make", "factor"), [(nr.gp_bucb, 1), (nr.bbkb, 3)], ids=["exact", "nystrom"]
)
@pytest.mark.parametrize("limit", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("P", [4, 12])
def test_uncertainty_sampling_ends_when_batches_hold_enough(
    make: Callable[..., nr.Optimizer], factor: int, limit: float, P: int
) -> None:
    """max σ²/λ ≤ (limit − 1)/P, and not one evaluation more than it takes.

    Variances of Nyström may be three times the exact ones, so that it needs a third of that.
    """
    optimizer = make(PROBLEM.pool, limit=limit, rule="global", min_batch=P, **GIVEN)
    batch = optimizer.ask()
    assert batch.reason == "start: uncertainty sampling for a minimum batch"
    rows = [int(row) for row in batch.sequence]
    threshold = 0.25 * (limit - 1) / (factor * P)
    assert largest_variance(rows) <= threshold * (1 + 1e-9)
    assert largest_variance(rows[:-1]) > threshold
    optimizer.tell(batch, np.zeros(len(batch)))
    rng = np.random.default_rng(0)
    for _ in range(4):
        batch = optimizer.ask()
        assert len(batch) >= P
        optimizer.tell(batch, PROBLEM.measure(np.asarray(batch.sequence, dtype=np.int64), rng))


def test_the_start_can_be_had_in_parts_and_with_others() -> None:
    """`at_most` cuts it, a given start comes first, and a failed one is asked for again."""
    optimizer = nr.gp_bucb(PROBLEM.pool, rule="global", min_batch=6, start=[5, 8], **GIVEN)
    first = optimizer.ask()
    assert first.ids.tolist() == [5, 8]
    optimizer.tell(first[:1], [0.1])
    optimizer.fail(first[1:])
    again = optimizer.ask(at_most=3)
    assert again.ids.tolist() == [8]
    optimizer.tell(again, [0.2])
    rows = [5, 8]
    while True:
        batch = optimizer.ask(at_most=3)
        if not batch.reason.startswith("start"):
            break
        assert len(batch) <= 3
        rows += [int(row) for row in batch.sequence]
        optimizer.tell(batch, np.zeros(len(batch)))
    assert largest_variance(rows) <= 0.25 / 6 * (1 + 1e-9)


def test_a_run_with_every_candidate_given_goes_on() -> None:
    """A start longer than the pool's interest is no trap."""
    optimizer = nr.mini_gp_ei(PROBLEM.pool, start=list(range(60)), **GIVEN)
    assert len(drive(optimizer, PROBLEM, 80, 0)) == 80


def test_the_product_rule_holds_its_minimum_too() -> None:
    """Π(1 + v) outgrows 1 + Σ v: unrelated candidates, GP-BUCB's own rule."""
    pool = nr.Pool(np.arange(300.0)[:, None])
    optimizer = nr.gp_bucb(pool, kernel=nr.RBF(0.1), noise_std=1.0, min_batch=10, rule="product")
    while optimizer.ask().reason.startswith("start"):
        optimizer.tell(optimizer.ask(), np.zeros(len(optimizer.ask())))
    for _ in range(5):
        batch = optimizer.ask()
        assert len(batch) >= 10
        optimizer.tell(batch, np.zeros(len(batch)))


def test_a_fixed_size_needs_no_start_for_its_minimum() -> None:
    """Eight at a time from the first batch on."""
    optimizer = nr.gp_bucb(PROBLEM.pool, rule=nr.FixedSize(8), min_batch=8, start=[1], **GIVEN)
    optimizer.tell(optimizer.ask(), [0.0])
    batch = optimizer.ask()
    assert len(batch) == 8
    assert len(set(batch.sequence.tolist())) > 4  # variances shrink inside the batch


def test_repeats_count_what_is_open_elsewhere() -> None:
    """MINI's limit is on the ratio to the last feedback, whoever is evaluating."""
    pool = nr.Pool(np.array([[0.0], [100.0]]))
    optimizer = nr.mini_gp_ucb(pool, kernel=nr.RBF(1.0), noise_std=3.0, limit=3.0, start=[0])
    optimizer.tell(optimizer.ask(), [0.0])
    counts = [len(optimizer.ask(worker=str(i))) for i in range(4)]
    alone = int(2 * 9.0 / 1.0)  # (limit − 1)·ridge/σ²
    assert counts[0] == alone
    assert counts[1:] == [1, 1, 1]  # the limit is used up; one is always given


@pytest.mark.parametrize("given", [{}, {"at_most_each": 1}, {"deterministic": True}])
def test_a_start_goes_on_without_what_fails_twice(given: dict[str, Any]) -> None:
    """A candidate that cannot be made is no reason never to begin."""
    optimizer = nr.gp_ucb(
        nr.Pool.numbered(6), kernel=nr.RBF(1.0), noise_std=0.1, start=[4, 2, 5], **given
    )
    tried: list[int] = []
    for _ in range(4):
        batch = optimizer.ask()
        tried += batch.sequence.tolist()
        optimizer.tell(batch, [nr.FAILED if row == 2 else 0.1 * row for row in batch.ids])
    assert tried[:3] == [4, 2, 5]
    assert tried.count(2) == (1 if given else 2)
    assert optimizer.evaluations == len(tried) - tried.count(2)

"""Runs under many contexts: beliefs by the textbook, regret, and kernel values that stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from small_contexts import CONTEXTS, DRAWING, KC, KX, NAMES, N, X, f, made, values


def dense(told: list[tuple[int, Vector, float]], c: Vector) -> Any:
    """Mean, variance and beta of GP-UCB on all pairs, by textbook algebra."""
    rows, C = np.array([row for row, _, _ in told]), np.array([c for _, c, _ in told])
    y = np.array([value for *_, value in told])
    K = KX(X[rows], X[rows]) * KC(C, C)
    A, k = K + np.eye(len(y)), KX(X, X[rows]) * KC(c[None], C)
    mean = k @ np.linalg.solve(A, y)
    variance = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(A, k.T))
    L = np.linalg.slogdet(np.eye(len(y)) + K)[1]
    return mean, variance, 1 + np.sqrt(L + 2 * np.log(10))


def test_contexts_that_never_come_again_are_believed_as_the_textbook_says() -> None:
    """With a product kernel, and answers that are about the context asked for."""
    rng, run = np.random.default_rng(0), made("gp_ucb")
    told: list[tuple[int, Vector, float]] = []
    for i in range(30):
        c = rng.random(1)
        batch = run.ask(context=c)
        row = NAMES.index(batch.ids[0])
        if told:
            mean, variance, beta = dense(told, c)
            assert row == int(np.argmax(mean + beta * np.sqrt(variance)))
        told.append((row, c, values(batch, i, c)[0]))
        run.tell(batch, [told[-1][2]])
    c = np.array([0.33])
    mean, variance, beta = dense(told, c)
    best, certificate = run.best(context=c), run.certificate(context=c)
    evaluated = list(dict.fromkeys(row for row, *_ in told))
    at = max(evaluated, key=lambda row: mean[row])
    reach = beta * np.sqrt(variance)
    assert best.id == certificate.id == NAMES[at]
    assert best.mean == pytest.approx(mean[at])
    assert best.std == pytest.approx(np.sqrt(variance[at]))
    assert best.upper == pytest.approx(mean[at] + reach[at])
    assert certificate.guaranteed == pytest.approx(mean[at] - reach[at])
    assert certificate.reachable == pytest.approx((mean + reach).max())
    why = run.explain(NAMES[at], context=c)
    assert why.mean == pytest.approx(mean[at])
    assert "under another context" in str(why)
    assert why.rank == 1 + int((mean + reach > (mean + reach)[at]).sum())
    assert "unique points" in run.account()
    np.testing.assert_allclose(
        run.posterior.mean(X[:3]), dense(told, told[-1][1])[0][:3], atol=1e-9
    )


@pytest.mark.parametrize("name", DRAWING)
def test_drawn_functions_are_of_the_context(name: str, tmp_path: Path) -> None:
    """Where much is known of both contexts, each gets its own best."""
    run = made(name, width=None)
    best = {}
    for j in (0, 3):
        truth = np.array([f(x, CONTEXTS[j]) for x in X])
        best[j] = NAMES[int(truth.argmax())]
        run.tell(NAMES, means=truth, counts=np.full(N, 10**6), context=CONTEXTS[j])
    assert best[0] != best[3]
    run.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=nr.Pool(X, names=NAMES))
    for one in (run, again):
        for j in (0, 3):
            assert set(one.ask(context=CONTEXTS[j], at_most=20).ids.tolist()) == {best[j]}


def test_a_change_of_context_begins_a_batch_and_repeats_end_with_theirs() -> None:
    """MINI stays on a candidate under one context; under another its variance is another."""
    run = nr.mini_gp_ucb(
        nr.Pool(X), kernel=KX, noise_std=3.0, context_kernel=nr.RBF(0.05), start=[]
    )
    first = run.ask(context=[0.0], at_most=50)
    assert len(first) == 9  # (limit − 1)·ridge/σ², and nothing is known of σ² = 1
    run.tell(first, [0.0] * 9)
    second = run.ask(context=[1.0], at_most=50)
    assert len(second) == 9  # nothing is known there either
    run.tell(second[:1], [0.0])
    assert run.switches in (0, 1)
    assert run.unique == 2


class Counting(nr.kernels.KernelBase):
    """A kernel that counts the values that it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        self.asked += len(X) * len(Z)
        return KX(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


def test_values_of_candidates_are_not_computed_again_under_another_context() -> None:
    """An ask costs O(N) per unique point, of which the kernel of candidates is the costly part."""
    pool, kernel = nr.Pool(np.random.default_rng(2).random((3000, 2))), Counting()
    run = nr.gp_ucb(pool, kernel=kernel, noise_std=1.0, context_kernel=KC)
    run.tell(range(40), np.sin(np.arange(40.0)), context=[0.1])
    run.tell(range(40), np.cos(np.arange(40.0)), context=[0.2])
    run.ask(context=[0.3])
    kernel.asked = 0
    run.ask(context=[0.7])
    assert kernel.asked < 3000 * 10  # of 240 000 pairs; what is left are checks and few rows


def regret(contextual: bool, seed: int, steps: int) -> Vector:
    """Regret of each step against the best candidate of its context."""
    rng = np.random.default_rng(seed)
    truth = np.array([[f(x, c) for x in X] for c in CONTEXTS])
    run = made(
        "gp_ucb",
        context_kernel=KC if contextual else None,
        noise_std=0.3,
        width=nr.ConstantWidth(1.5),
        seed=seed,
    )
    lost = []
    for _ in range(steps):
        j = int(rng.integers(len(CONTEXTS)))
        batch = run.ask(context=CONTEXTS[j]) if contextual else run.ask()
        value = truth[j, NAMES.index(batch.ids[0])]
        lost.append(truth[j].max() - value)
        run.tell(batch, [value + 0.3 * float(rng.standard_normal())])
    return np.array(lost)


def test_regret_against_the_best_of_each_context_grows_slowly() -> None:
    """A run that does not see contexts can at best find what is good on average, and goes on to
    lose as much every time."""
    steps, seeds = 200, range(3)
    seeing = np.mean([regret(True, seed, steps) for seed in seeds], axis=0)
    blind = np.mean([regret(False, seed, steps) for seed in seeds], axis=0)
    assert seeing[100:].sum() < 0.3 * seeing[:100].sum(), (seeing, blind)
    assert seeing[100:].sum() < 0.2 * blind[100:].sum(), (seeing, blind)

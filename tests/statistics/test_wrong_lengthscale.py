"""A lengthscale guessed five times too long: a fixed kernel settles wrongly, a growing one not."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import noregret as nr

SCALE, T = 0.05, 100_000
X = np.linspace(0, 1, 101)[:, None]
CENTRES, WEIGHTS = np.array([[0.2], [0.33], [0.75], [0.83]]), np.array([0.6, -0.5, 1.0, -0.9])
F = nr.RBF(SCALE)(X, CENTRES) @ WEIGHTS  # a hill at 0.2 and a higher one at 0.73


def told(
    norm_bound: float | Literal["double", "grow"], seed: int
) -> tuple[nr.Optimizer, list[tuple[int, float]]]:
    """Run MINI-GP-UCB on a kernel five times too long; also regret an evaluation, over time."""
    rng, regret = np.random.default_rng(seed), 0.0
    means = list[tuple[int, float]]()
    optimizer = nr.mini_gp_ucb(
        nr.Pool(X), kernel=nr.RBF(5 * SCALE), noise_std=0.1, norm_bound=norm_bound, seed=seed
    )
    while optimizer.spent < T:
        batch = optimizer.ask(at_most=T - optimizer.spent)
        (row,), (count,) = batch.ids, batch.repeats
        mean = F[row] + 0.1 * rng.standard_normal() / np.sqrt(count)
        optimizer.tell([row], means=[mean], counts=[count])
        regret += count * (F.max() - F[row])
        means.append((optimizer.spent, regret / optimizer.spent))
    return optimizer, means


def violations(optimizer: nr.Optimizer) -> int:
    """At how many candidates f lies outside the bounds that are reported."""
    mean, variance = optimizer.look().posterior.marginals(X)
    beta = optimizer.certificate().beta
    return int((np.abs(F - mean) > beta * np.sqrt(variance)).sum())


@pytest.mark.parametrize("norm_bound", [1.0, "double"])
def test_a_kernel_that_is_too_long_settles_wrongly(norm_bound: float | Literal["double"]) -> None:
    """It stays on the lower hill, and its certificate, which nothing refutes, says otherwise."""
    optimizer, means = told(norm_bound, seed=2)
    gap = float(F.max() - F[optimizer.best().id])
    certificate = optimizer.certificate()
    assert gap > 0.2 > 20 * certificate.gap
    assert certificate.is_sound
    assert violations(optimizer) > 30
    assert means[-1][1] > 0.9 * next(mean for t, mean in means if t > 10_000)


@pytest.mark.parametrize("seed", range(3))
def test_a_growing_bound_covers_and_its_regret_goes_on_falling(seed: int) -> None:
    """From t = 128 on the lengthscales given have been divided by five, and the norm is passed."""
    optimizer, means = told("grow", seed)
    at = {step: next(mean for t, mean in means if t >= step) for step in (1000, 10_000, T)}
    print(at)
    assert at[10_000] < 0.6 * at[1000]
    assert at[T] < 0.4 * at[10_000]
    assert violations(optimizer) == 0
    assert F.max() - F[optimizer.best().id] <= optimizer.certificate().gap
    assert optimizer.batches < 500
    assert optimizer.state.stage == 13

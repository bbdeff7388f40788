"""Guess-and-double: the norm bound grows when refuted, and never beyond twice the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import noregret as nr
from strategies import RKHSProblem, rkhs_problem, rounds

# The sparse bands carry the theorems' constants, so that only a larger norm can refute a guess.
EXACT: list[Callable[..., nr.Optimizer]] = [nr.gp_ucb, nr.mini_gp_ucb]
SPARSE: list[Callable[..., nr.Optimizer]] = [nr.bkb, nr.bbkb]


def bounds(optimizer: nr.Optimizer, problem: RKHSProblem, budget: int) -> list[float]:
    """Run, and return F as it stood at every batch."""
    return [optimizer.state.norm_bound for _ in rounds(optimizer, problem, budget, 41)]


@pytest.mark.parametrize(
    ("algorithm", "norm"), [*((a, 20.0) for a in EXACT), *((a, 200.0) for a in SPARSE)]
)
@pytest.mark.parametrize("seed", range(2))
def test_a_guess_that_is_too_small_is_doubled_but_not_past_twice_the_truth(
    algorithm: Callable[..., nr.Optimizer], norm: float, seed: int
) -> None:
    """Too small a bound makes certificates worthless, too large a one makes choices timid."""
    problem = rkhs_problem(seed, candidates=150, norm=norm)
    optimizer = algorithm(
        problem.pool, kernel=problem.kernel, noise_std=0.1, norm_bound="double", seed=seed
    )
    F = bounds(optimizer, problem, 100)
    assert F[0] == 1.0
    assert F[-1] > 1.0
    assert max(F) <= 2 * norm
    assert sorted(F) == F
    assert all(math.log2(bound).is_integer() for bound in F)


@pytest.mark.parametrize("algorithm", EXACT + SPARSE)
@pytest.mark.parametrize("seed", range(2))
def test_a_guess_that_is_large_enough_stays(
    algorithm: Callable[..., nr.Optimizer], seed: int
) -> None:
    """Noise alone must not inflate the bound."""
    problem = rkhs_problem(seed, candidates=150, norm=0.5)
    optimizer = algorithm(
        problem.pool, kernel=problem.kernel, noise_std=0.1, norm_bound="double", seed=seed
    )
    assert set(bounds(optimizer, problem, 100)) == {1.0}

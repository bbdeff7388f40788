"""Guess-and-double: the norm bound grows when refuted, and never beyond twice the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import noregret as nr
from strategies import rkhs_problem, rounds

# The sparse bands carry the theorems' constants, so that only a larger norm can refute a guess.
EXACT: list[Callable[..., nr.Optimizer]] = [nr.gp_ucb, nr.mini_gp_ucb]
SPARSE: list[Callable[..., nr.Optimizer]] = [nr.bkb, nr.bbkb]


def bounds(algorithm: Callable[..., nr.Optimizer], norm: float, seed: int) -> list[float]:
    """Run, and return F as it stood at every batch."""
    p = rkhs_problem(seed, candidates=150, norm=norm)
    optimizer = algorithm(p.pool, kernel=p.kernel, noise_std=0.1, norm_bound="double", seed=seed)
    return [optimizer.state.norm_bound for _ in rounds(optimizer, p, 100, 41)]


@pytest.mark.parametrize(
    ("algorithm", "norm"), [*((a, 20.0) for a in EXACT), *((a, 200.0) for a in SPARSE)]
)
@pytest.mark.parametrize("seed", range(2))
def test_a_guess_that_is_too_small_is_doubled_but_not_past_twice_the_truth(
    algorithm: Callable[..., nr.Optimizer], norm: float, seed: int
) -> None:
    """Too small a bound makes certificates worthless, too large a one makes choices timid."""
    F = bounds(algorithm, norm, seed)
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
    assert set(bounds(algorithm, 0.5, seed)) == {1.0}

"""A lengthscale guessed five times too long: a fixed kernel settles wrongly, a growing one not."""

from __future__ import annotations

import pytest

from evaluation.coverage.lengthscale import F, NormBound, at, outside, played

T = 100_000


@pytest.mark.parametrize("norm_bound", [1.0, "double"])
def test_a_kernel_that_is_too_long_settles_wrongly(norm_bound: NormBound) -> None:
    """It stays on the lower hill, and its certificate, which nothing refutes, says otherwise."""
    optimizer, means = played(norm_bound, 2, T)
    gap = float(F.max() - F[optimizer.best().id])
    certificate = optimizer.certificate()
    assert gap > 0.2 > 20 * certificate.gap
    assert certificate.is_sound
    assert outside(optimizer) > 30
    assert means[-1][1] > 0.9 * at(means, 10_001)


@pytest.mark.parametrize("seed", range(3))
def test_a_growing_bound_covers_and_its_regret_goes_on_falling(seed: int) -> None:
    """From t = 128 on the lengthscales given have been divided by five, and the norm is passed."""
    optimizer, means = played("grow", seed, T)
    early, later, last = (at(means, step) for step in (1000, 10_000, T))
    assert later < 0.6 * early
    assert last < 0.4 * later
    assert outside(optimizer) == 0
    assert F.max() - F[optimizer.best().id] <= optimizer.certificate().gap
    assert optimizer.batches < 500
    assert optimizer.state.stage == 13

"""q̄ is planned for a horizon, and raised when a run goes past it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.policies import Purpose, stream
from noregret.posteriors import Oversample
from noregret.posteriors.dictionary import inclusion_probabilities, sample_members
from strategies import rkhs_problem


def test_a_number_holds_up_to_the_horizon_and_then_grows_with_its_logarithm() -> None:
    """A user who goes on after the planned end would otherwise lose the guarantee silently.

    BKB 2019, Theorem 1 asks for q̄ ≥ 6α·log(4T/δ)/ε²; §3.2, "Tuning q̄": past T, raise q̄ to suit
    the new horizon. Re-planned for 2T, 4T …, the ratio to log(4t/δ) never falls below the planned.
    """
    T, delta = 100, 0.1
    q = Oversample(3.0, horizon=T, delta=delta)
    assert [q.at(t) for t in (0, 1, T // 2, T)] == [3.0] * 4
    planned = math.log(4 * T / delta)
    for t, reached in [(T + 1, 2 * T), (2 * T, 2 * T), (2 * T + 1, 4 * T), (4 * T + 1, 8 * T)]:
        assert q.at(t) == pytest.approx(3.0 * math.log(4 * reached / delta) / planned)
    grown = np.array([q.at(t) for t in range(1, 20 * T)])
    assert np.all(np.diff(grown) >= 0)
    needed = 3.0 * np.log(4 * np.arange(T, 20 * T) / delta) / planned
    assert np.all(grown[T - 1 :] >= needed * (1 - 1e-12))


def test_a_number_without_a_horizon_stays() -> None:
    """The papers' experiments fix q̄ = 2."""
    assert {Oversample(2.0).at(t) for t in (0, 1, 10, 10**7)} == {2.0}


@pytest.mark.parametrize("horizon", [None, 64])
def test_the_theory_preset_asks_for_its_logarithm_at_every_count(horizon: int | None) -> None:
    """72·log(4t/δ): with a horizon for all of it at once, without one for what has been told."""
    q = Oversample(72.0, per_log=True, horizon=horizon, delta=0.05)
    for t in (1, 10, 64, 65, 1000):
        assert q.at(t) >= 72 * math.log(4 * t / 0.05) * (1 - 1e-12)
    assert q.at(64) == pytest.approx(72 * math.log(4 * 64 / 0.05))
    assert q.at(65) > q.at(64)
    assert (q.at(1) == q.at(64)) is (horizon is not None)


def test_a_run_past_its_horizon_draws_its_dictionaries_with_the_raised_factor() -> None:
    """Raised on paper only, the dictionary would be as thin as before."""
    horizon, problem = 20, rkhs_problem(0, candidates=200, noise_std=1.0)
    settings = {"kernel": problem.kernel, "noise_std": 1.0, "oversample": 0.7}
    optimizer = nr.bkb(problem.pool, horizon=horizon, seed=6, **settings)  # type: ignore[arg-type]  # settings as a dict
    raised = Oversample(0.7, horizon=horizon, delta=1 / horizon)
    rng = np.random.default_rng(43)
    differ = 0
    for step in range(6 * horizon):
        state = optimizer.state
        batch = optimizer.ask()
        fresh = optimizer.state
        told = fresh.posterior.observed
        assert int(told.w.sum()) == step
        variance = state.posterior.variance(told.X)
        members = {}
        for q in (0.7, raised.at(step)):
            p = inclusion_probabilities(told.w, variance, 1.0, q)
            drawn = sample_members(p, stream(6, Purpose.DICTIONARY, step))
            members[q] = set(told.rows[drawn].tolist())
        assert set(fresh.posterior.members.rows.tolist()) == members[raised.at(step)]
        differ += members[0.7] != members[raised.at(step)]
        optimizer.tell(batch, problem.measure(np.asarray(batch.sequence, np.int64), rng))
    assert raised.at(6 * horizon) > 1.25 * 0.7
    assert differ > 0

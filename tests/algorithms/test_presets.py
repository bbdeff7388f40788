"""What an algorithm is made of, by name and by preset."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import noregret as nr
from noregret.algorithms.settings import DEFAULTS
from noregret.posteriors import NystromPosterior
from noregret.widths import (
    BBKBExperimentsWidth,
    BBKBWidth,
    BKBExperimentsWidth,
    BKBWidth,
    EIWidth,
    RKHSWidth,
    ScaledWidth,
)
from strategies import rkhs_problem

PROBLEM = rkhs_problem(0, candidates=50)
GIVEN = {"kernel": PROBLEM.kernel, "noise_std": 0.5}


def policy_of(optimizer: nr.Optimizer) -> nr.Bandit:
    assert isinstance(optimizer.policy, nr.Bandit)
    return optimizer.policy


def oversample_at(optimizer: nr.Optimizer, t: int) -> float:
    prior = policy_of(optimizer).prior
    assert isinstance(prior, NystromPosterior)
    return prior.oversample.at(t)


def test_experiments_are_the_papers_figures() -> None:
    """Defaults: q̄ = 2, F = 1, λ = ξ², δ = 0.1 or 1/horizon."""
    bbkb, bkb = nr.bbkb(PROBLEM.pool, **GIVEN), nr.bkb(PROBLEM.pool, **GIVEN)  # type: ignore[arg-type]  # settings as a dict
    assert policy_of(bbkb).width == BBKBExperimentsWidth(0.1, 2.0)
    assert policy_of(bkb).width == BKBExperimentsWidth(0.1)
    for optimizer in (bbkb, bkb):
        policy = policy_of(optimizer)
        assert policy.prior.ridge == 0.25
        assert policy.prior.noise_std == 0.5
        assert policy.norm.start == 1.0
        assert oversample_at(optimizer, 10**5) == 2.0
    planned = nr.bbkb(PROBLEM.pool, **GIVEN, horizon=400, limit=3.0)  # type: ignore[arg-type]  # settings as a dict
    assert policy_of(planned).width == BBKBExperimentsWidth(1 / 400, 3.0)


def test_theory_takes_the_theorems_constants() -> None:
    """q̄ ≥ 72·C̃·log(4t/δ) for BBKB, 6α/ε²·log(4T/δ) for BKB; BBKB wants λ ≥ 1."""
    settings = {**GIVEN, "preset": "theory", "delta": 0.05}
    bbkb = nr.bbkb(PROBLEM.pool, limit=1.5, **settings)  # type: ignore[arg-type]  # settings as a dict
    bkb = nr.bkb(PROBLEM.pool, **settings)  # type: ignore[arg-type]  # settings as a dict
    assert policy_of(bbkb).width == BBKBWidth(0.05, 1.5)
    assert policy_of(bkb).width == BKBWidth(0.05, 1.0)
    assert oversample_at(bbkb, 30) == pytest.approx(72 * 1.5 * math.log(4 * 30 / 0.05))
    assert oversample_at(bkb, 30) == pytest.approx(6 * 3 / 0.25 * math.log(4 * 30 / 0.05))
    assert policy_of(bbkb).prior.ridge == 1.0
    assert policy_of(bkb).prior.ridge == 0.25


def test_widths_carry_the_limit_only_inside_batches() -> None:
    """MINI chooses on a fresh posterior; GP-BUCB and BBKB on stale ones. Bands never do."""
    mini = policy_of(nr.mini_gp_ucb(PROBLEM.pool, limit=4.0, **GIVEN))  # type: ignore[arg-type]  # settings as a dict
    bucb = policy_of(nr.gp_bucb(PROBLEM.pool, limit=4.0, **GIVEN))  # type: ignore[arg-type]  # settings as a dict
    bbkb = policy_of(nr.bbkb(PROBLEM.pool, limit=4.0, **GIVEN))  # type: ignore[arg-type]  # settings as a dict
    ei = policy_of(nr.mini_gp_ei(PROBLEM.pool, limit=4.0, **GIVEN))  # type: ignore[arg-type]  # settings as a dict
    assert mini.width == mini.band == RKHSWidth(0.1)
    assert bucb.width == ScaledWidth(RKHSWidth(0.1), 2.0)
    assert bucb.band == RKHSWidth(0.1)
    assert bbkb.width == BBKBExperimentsWidth(0.1, 4.0)
    assert bbkb.band == BBKBWidth(0.1, 4.0, fresh=True)
    assert ei.width == EIWidth(0.1)
    assert ei.band == RKHSWidth(0.1)


def test_a_width_given_steers_and_a_bayesian_one_certifies() -> None:
    """The user's assumption, once stated, is what the certificate rests on."""
    steered = policy_of(nr.gp_ucb(PROBLEM.pool, **GIVEN, width=0.2 * nr.RKHSWidth(0.3)))  # type: ignore[arg-type]  # settings as a dict
    assert steered.width == ScaledWidth(RKHSWidth(0.3), 0.2)
    assert steered.band == RKHSWidth(0.1)
    bayes = nr.mini_gp_ucb(PROBLEM.pool, **GIVEN, width=nr.BayesianWidth(0.2))  # type: ignore[arg-type]  # settings as a dict
    bayes.tell([3], [1.0])
    certificate = bayes.certificate()
    assert "Srinivas" in certificate.theorem
    assert certificate.delta == 0.2


def test_history_adds_what_its_repeats_can_teach() -> None:
    """Values told without an ask add log(1 + 3Bσ̃²/λ): B evaluations of one candidate."""
    optimizer = nr.bbkb(PROBLEM.pool, **GIVEN)  # type: ignore[arg-type]  # settings as a dict
    optimizer.tell([4] * 7 + [9], np.zeros(8))
    optimizer.ask()
    information = optimizer.state.information
    assert information.tripled == pytest.approx(math.log(1 + 3 * 7 / 0.25) + math.log(1 + 3 / 0.25))
    assert information.plain == pytest.approx(math.log(1 + 7 / 0.25) + math.log(1 + 1 / 0.25))


def test_asked_evaluations_add_their_stale_variance() -> None:
    """σ̃²_stale(x_s) is the variance at the start of the batch that chose x_s."""
    optimizer = nr.bbkb(PROBLEM.pool, **GIVEN, limit=6.0)  # type: ignore[arg-type]  # settings as a dict
    expected = 0.0
    for _ in range(6):
        batch = optimizer.ask()
        stale = optimizer.state.posterior.variance(batch.x)
        if optimizer.evaluations == 0:
            stale = np.ones(1)
        expected += float(batch.repeats @ np.log1p(3 * stale / 0.25))
        optimizer.tell(batch, np.zeros(len(batch)))
    optimizer.ask()
    assert optimizer.state.information.tripled == pytest.approx(expected, rel=1e-9)


def test_every_setting_is_listed_by_help() -> None:
    """`**settings` in the source must not hide what can be set."""
    for make in (nr.gp_ucb, nr.gp_ei, nr.gp_bucb, nr.bkb, nr.bbkb, nr.mini, nr.mini_gp_ucb):
        names = inspect.signature(make).parameters
        assert set(DEFAULTS) <= set(names)
        assert names["seed"].default == 0

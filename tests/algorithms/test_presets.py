"""What an algorithm is made of, by name and by preset."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ArgumentError
from noregret.posteriors import NystromPosterior
from noregret.widths import (
    BBKBExperimentsWidth,
    BBKBWidth,
    BKBExperimentsWidth,
    BKBWidth,
    EIWidth,
    NystromWidth,
    RKHSWidth,
    ScaledWidth,
)
from strategies import rkhs_problem

PROBLEM = rkhs_problem(0, candidates=50)
GIVEN: dict[str, Any] = {"kernel": PROBLEM.kernel, "noise_std": 0.5}


def policy_of(optimizer: nr.Optimizer) -> nr.Bandit:
    assert isinstance(optimizer.policy, nr.Bandit)
    return optimizer.policy


def oversample_at(optimizer: nr.Optimizer, t: int) -> float:
    prior = policy_of(optimizer).prior
    assert isinstance(prior, NystromPosterior)
    return prior.oversample.at(t)


def test_experiments_are_the_papers_figures() -> None:
    """Defaults: q̄ = 2, F = 1, λ = ξ², δ = 0.1 or 1/horizon."""
    bbkb, bkb = nr.bbkb(PROBLEM.pool, **GIVEN), nr.bkb(PROBLEM.pool, **GIVEN)
    assert policy_of(bbkb).width == BBKBExperimentsWidth(0.1, 2.0)
    assert policy_of(bkb).width == BKBExperimentsWidth(0.1)
    for optimizer in (bbkb, bkb):
        policy = policy_of(optimizer)
        assert policy.prior.ridge == 0.25
        assert policy.prior.noise_std == 0.5
        assert policy.norm.start == 1.0
        assert oversample_at(optimizer, 10**5) == 2.0
    planned = nr.bbkb(PROBLEM.pool, **GIVEN, horizon=400, limit=3.0)
    assert policy_of(planned).width == BBKBExperimentsWidth(1 / 400, 3.0)


def test_theory_takes_the_theorems_constants() -> None:
    """q̄ ≥ 72·C̃·log(4t/δ) for BBKB, 6α/ε²·log(4T/δ) for BKB; BBKB wants λ ≥ 1."""
    settings: dict[str, Any] = {**GIVEN, "preset": "theory", "delta": 0.05}
    bbkb = nr.bbkb(PROBLEM.pool, limit=1.5, **settings)
    bkb = nr.bkb(PROBLEM.pool, **settings)
    assert policy_of(bbkb).width == BBKBWidth(0.05, 1.5)
    assert policy_of(bkb).width == BKBWidth(0.05, 1.0)
    assert oversample_at(bbkb, 30) == pytest.approx(72 * 1.5 * math.log(4 * 30 / 0.05))
    assert oversample_at(bkb, 30) == pytest.approx(6 * 3 / 0.25 * math.log(4 * 30 / 0.05))
    assert policy_of(bbkb).prior.ridge == 1.0
    assert policy_of(bkb).prior.ridge == 0.25


def test_widths_carry_the_limit_only_inside_batches() -> None:
    """MINI chooses on a fresh posterior; GP-BUCB and BBKB on stale ones. Bands never do."""
    mini = policy_of(nr.mini_gp_ucb(PROBLEM.pool, limit=4.0, **GIVEN))
    bucb = policy_of(nr.gp_bucb(PROBLEM.pool, limit=4.0, **GIVEN))
    bbkb = policy_of(nr.bbkb(PROBLEM.pool, limit=4.0, **GIVEN))
    ei = policy_of(nr.mini_gp_ei(PROBLEM.pool, limit=4.0, **GIVEN))
    meta = policy_of(nr.mini(PROBLEM.pool, acquisition=nr.UCB(), limit=4.0, **GIVEN))
    assert mini.width == mini.band == RKHSWidth(0.1)
    assert meta.width == meta.band == RKHSWidth(0.1)
    assert bucb.width == ScaledWidth(RKHSWidth(0.1), 2.0)
    assert bucb.band == RKHSWidth(0.1)
    assert bbkb.width == BBKBExperimentsWidth(0.1, 4.0)
    assert bbkb.band == NystromWidth(0.1)
    assert ei.width == EIWidth(0.1)
    assert ei.band == RKHSWidth(0.1)


def test_another_acquisition_changes_neither_band_nor_width() -> None:
    """What the certificate rests on must not hang on what chose; Thompson draws by beta 1."""
    for preset, width in (("experiments", BBKBExperimentsWidth), ("theory", BBKBWidth)):
        settings: dict[str, Any] = {**GIVEN, "preset": preset, "limit": 3.0}
        plain = policy_of(nr.bbkb(PROBLEM.pool, **settings))
        assert plain.acquisition == nr.UCB()
        one, theorem = nr.ConstantWidth(1.0), width(0.1, 3.0)
        gradient = nr.KnowledgeGradient(2.0, noise=0.25)
        for how, own in ((nr.ExpectedImprovement(), None), (gradient, one)):
            policy = policy_of(nr.bbkb(PROBLEM.pool, acquisition=how, width=own, **settings))
            assert policy.acquisition == how
            assert policy.width == (own or theorem)
            assert plain.width == theorem
            assert policy.band == NystromWidth(0.1)
            assert policy.batching == plain.batching
        thompson = nr.bbkb(PROBLEM.pool, acquisition=nr.Thompson(), **settings)
        assert policy_of(thompson).width == nr.ConstantWidth(1.0, 0.1)
        assert policy_of(thompson).band == NystromWidth(0.1)


def test_mini_through_a_dictionary_has_the_band_of_bbkb() -> None:
    """MINI's theorems are for exact posteriors: no certificate may rest on them here."""
    theorem = BBKBWidth(0.1, 3.0, fresh=True)
    for preset, width in (("experiments", BBKBExperimentsWidth(0.1)), ("theory", theorem)):
        settings: dict[str, Any] = {**GIVEN, "preset": preset, "limit": 3.0, "posterior": "nystrom"}
        made = nr.mini(PROBLEM.pool, acquisition=nr.ExpectedImprovement(), **settings)
        policy = policy_of(made)
        assert policy.band == NystromWidth(0.1)
        assert policy.width == width
        assert policy.batching == nr.Repeat(3.0)
        prior = policy.prior
        assert isinstance(prior, NystromPosterior)
        assert prior.oversample.value == (72 * 3.0 if preset == "theory" else 2.0)
        assert prior.ridge == (1.0 if preset == "theory" else GIVEN["noise_std"] ** 2)
        made.tell([0, 1], [0.1, 0.2])
        assert "MINI" not in made.certificate().theorem
        assert made.certificate().is_sound


@pytest.mark.parametrize("make", [partial(nr.mini, acquisition=nr.UCB()), nr.batch_thompson])
def test_a_dictionary_of_an_exact_posterior_is_refused(make: Callable[..., nr.Optimizer]) -> None:
    """Else a user would wait for a size of the dictionary that never comes into being."""
    with pytest.raises(ArgumentError, match=r'oversample=4\.0 .* give posterior="nystrom" too'):
        make(PROBLEM.pool, oversample=4.0, **GIVEN)
    if make is not nr.batch_thompson:
        with pytest.raises(ArgumentError, match="dictionary='sticky' is about a dictionary"):
            make(PROBLEM.pool, dictionary="sticky", **GIVEN)
        with pytest.raises(ArgumentError, match="dictionary must be one of"):
            make(PROBLEM.pool, dictionary="stikcy", **GIVEN)
        with pytest.raises(ArgumentError, match="oversample=0 is about a dictionary"):
            make(PROBLEM.pool, oversample=0, **GIVEN)


def test_an_acquisition_that_is_none_is_refused_by_name() -> None:
    """The class in place of an instance is the usual slip."""
    wrong: Any
    for wrong in (nr.ExpectedImprovement, "ei", 0):
        with pytest.raises(ArgumentError, match="acquisition must be one such as"):
            nr.bbkb(PROBLEM.pool, acquisition=wrong, **GIVEN)


def test_a_width_given_steers_and_a_bayesian_one_certifies() -> None:
    """The user's assumption, once stated, is what the certificate rests on."""
    steered = policy_of(nr.gp_ucb(PROBLEM.pool, **GIVEN, width=0.2 * nr.RKHSWidth(0.3)))
    assert steered.width == ScaledWidth(RKHSWidth(0.3), 0.2)
    assert steered.band == RKHSWidth(0.1)
    bayes = nr.mini_gp_ucb(PROBLEM.pool, **GIVEN, width=nr.BayesianWidth(0.2))
    bayes.tell([3], [1.0])
    certificate = bayes.certificate()
    assert "Srinivas" in certificate.theorem
    assert certificate.delta == 0.2
    for algorithm in (nr.bkb, nr.bbkb, partial(nr.batch_thompson, posterior="nystrom")):
        for width in (nr.BayesianWidth(0.2), nr.NystromBayesianWidth(0.2)):
            sparse = policy_of(algorithm(PROBLEM.pool, **GIVEN, width=width))
            assert sparse.width == width
            assert sparse.band == nr.NystromBayesianWidth(0.2)
    exact = policy_of(nr.gp_ucb(PROBLEM.pool, **GIVEN, width=nr.NystromBayesianWidth(0.2)))
    assert exact.band == nr.BayesianWidth(0.2)


def test_history_adds_what_its_repeats_can_teach() -> None:
    """Values told without an ask add log(1 + 3Bσ̃²/λ): B evaluations of one candidate."""
    optimizer = nr.bbkb(PROBLEM.pool, **GIVEN)
    optimizer.tell([4] * 7 + [9], np.zeros(8))
    optimizer.ask()
    information = optimizer.state.information
    assert information.tripled == pytest.approx(math.log(1 + 3 * 7 / 0.25) + math.log(1 + 3 / 0.25))
    assert information.plain == pytest.approx(math.log(1 + 7 / 0.25) + math.log(1 + 1 / 0.25))


def test_asked_evaluations_add_their_stale_variance() -> None:
    """σ̃²_stale(x_s) is the variance at the start of the batch that chose x_s."""
    optimizer = nr.bbkb(PROBLEM.pool, **GIVEN, limit=6.0)
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


OWN: dict[str, dict[str, object]] = {
    "gp_ucb": {},
    "gp_ei": {},
    "gp_bucb": {"limit": 2.0, "rule": "product"},
    "bkb": {"oversample": None, "dictionary": "fresh"},
    "bbkb": {
        **{"limit": 2.0, "rule": "global", "acquisition": None},
        **{"oversample": None, "dictionary": "fresh"},
    },
    "mini": {
        **{"acquisition": inspect.Parameter.empty, "limit": 2.0},
        **{"posterior": "exact", "oversample": None, "dictionary": "fresh"},
    },
    "mini_gp_ucb": {"limit": 2.0},
    "mini_gp_ei": {"limit": 2.0},
    "batch_thompson": {
        **{"batch_size": None, "rule": None, "limit": None},
        **{"posterior": "exact", "oversample": None},
    },
    "lin_ucb": {"bias": 0.0},
}
SHARED: dict[str, object] = {
    **{"ridge": None, "norm_bound": 1.0, "delta": None, "horizon": None, "preset": "experiments"},
    **{"width": None, "start": None, "min_batch": None, "goal": "max", "offset": 0.0, "seed": 0},
    **{"at_most_each": None, "deterministic": False, "switch_cost": None},
    "context_kernel": None,
}


@pytest.mark.parametrize("name", OWN)
def test_every_setting_is_listed_by_help(name: str) -> None:
    """`**settings` in the source must not hide what can be set; scripts rely on each default."""
    pool, *others = inspect.signature(getattr(nr, name)).parameters.values()
    assert (pool.name, pool.kind) == ("pool", pool.POSITIONAL_OR_KEYWORD)
    assert all(other.kind == other.KEYWORD_ONLY for other in others)
    needed = dict.fromkeys(("noise_std",) if name == "lin_ucb" else GIVEN, pool.default)
    assert {other.name: other.default for other in others} == {**needed, **OWN[name], **SHARED}
    described = re.findall(r"^    (\w+)   *\S", getattr(nr, name).__doc__, flags=re.M)
    assert {*needed, *SHARED} <= set(described)
    assert ("kernel" in described) == (name != "lin_ucb")
    assert all(other.annotation is not other.empty for other in others)


@pytest.mark.parametrize("make", [nr.uniform, nr.random_search, nr.epsilon_greedy, nr.ts_qff])
def test_baselines_take_the_settings_of_a_run(make: Callable[..., nr.Optimizer]) -> None:
    """Listed, and refused where they are none."""
    assert {"goal", "offset", "seed"} <= set(inspect.signature(make).parameters)
    assert "the same seed makes the same choices" in str(make.__doc__)
    needed = GIVEN if make is nr.ts_qff else {}
    with pytest.raises(nr.NoRegretError, match="unknown argument 'horizon'"):
        make(PROBLEM.pool, horizon=3, **needed)


@pytest.mark.parametrize("setting", sorted(SHARED))
def test_settings_are_checked_before_anything_is_done(setting: str) -> None:
    """Wrong of every kind, named as the user wrote it; None only where it says "not given"."""
    wrong: list[object] = [object, *([None] if SHARED[setting] is not None else [])]
    for value in wrong:
        with pytest.raises(nr.NoRegretError, match=setting):
            nr.gp_ucb(PROBLEM.pool, **{**GIVEN, setting: value})

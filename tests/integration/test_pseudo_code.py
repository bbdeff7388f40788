"""Algorithms that must be one another, and BBKB against its pseudo-code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.policies import Purpose, stream
from noregret.posteriors.incremental import point_numbers
from slow_references import StepByStepBBKB, improvement, upper
from slow_search import swapped
from strategies import RKHSProblem, drive, rkhs_problem, rounds, whole_runs

seeds = st.integers(0, 2**20)


def small(seed: int) -> RKHSProblem:
    return rkhs_problem(seed, candidates=40, lengthscale=0.4, noise_std=0.2)


def assert_same_choices(
    seed: int,
    one: Callable[..., nr.Optimizer],
    other: Callable[..., nr.Optimizer],
    budget: int,
    **settings: Any,
) -> None:
    """Two algorithms on one small problem."""
    p = small(seed)
    a, b = (
        make(p.pool, kernel=p.kernel, noise_std=0.2, seed=seed, **settings) for make in (one, other)
    )
    np.testing.assert_array_equal(drive(a, p, budget, seed), drive(b, p, budget, seed))


def sparse_settings(noise_std: float, limit: float, oversample: float) -> dict[str, Any]:
    """What an algorithm through a dictionary and its pseudo-code are both given."""
    return {"noise_std": noise_std, "limit": limit, "oversample": oversample, "delta": 0.05}


@given(seeds)
def test_bbkb_with_limit_1_is_bkb(seed: int) -> None:
    """Given the same width and the same stream of dictionaries."""
    width = nr.BBKBExperimentsWidth(0.1, 1.0)
    assert_same_choices(seed, partial(nr.bbkb, limit=1.0), nr.bkb, 25, width=width)


@given(seeds, st.sampled_from(["global", "local"]))
def test_gp_bucb_by_ratio_is_bbkb_on_the_exact_posterior(
    seed: int, rule: Literal["global", "local"]
) -> None:
    """BBKB is GP-BUCB with a better rule and a cheaper posterior; nothing else."""
    p = small(seed)
    kernel, noise = p.kernel, p.noise_std
    bucb = nr.gp_bucb(p.pool, kernel=kernel, noise_std=noise, rule=rule, limit=1.7, seed=seed)
    bbkb = nr.bbkb(p.pool, kernel=kernel, noise_std=noise, rule=rule, limit=1.7, seed=seed)
    exact = bucb.policy
    assert isinstance(exact, nr.Bandit)
    twin = swapped(bbkb, prior=exact.prior, width=exact.width)
    np.testing.assert_array_equal(drive(bucb, p, 40, seed), drive(twin, p, 40, seed))


@whole_runs
@given(seeds, st.sampled_from(["ucb", "ei"]))
def test_mini_with_count_1_is_the_plain_algorithm(seed: int, kind: str) -> None:
    """MINI changes how often, never what."""
    p = small(seed)
    plain, mini = {"ucb": (nr.gp_ucb, nr.mini_gp_ucb), "ei": (nr.gp_ei, nr.mini_gp_ei)}[kind]
    one = plain(p.pool, kernel=p.kernel, noise_std=p.noise_std, seed=seed)
    other = mini(p.pool, kernel=p.kernel, noise_std=p.noise_std, seed=seed)
    np.testing.assert_array_equal(drive(one, p, 30, seed), drive(other, p, 30, seed, at_most=1))


@whole_runs
@given(seeds)
def test_mini_takes_any_acquisition(seed: int) -> None:
    """`mini_gp_ucb` is `mini` with UCB."""
    mini = partial(nr.mini, acquisition=nr.UCB())
    assert_same_choices(seed, nr.mini_gp_ucb, mini, 40, limit=1.5)


SCORES = {nr.UCB: upper, nr.ExpectedImprovement: improvement}


@given(
    seeds,
    st.sampled_from([1.0, 1.2, 2.0, 4.0]),
    st.sampled_from([0.5, 2.0, 8.0]),
    st.sampled_from(list(SCORES)),
)
def test_bbkb_is_its_pseudo_code_step_by_step(
    seed: int, limit: float, q: float, how: type[nr.UCB | nr.ExpectedImprovement]
) -> None:
    """Algorithm 1 with its slips corrected, dense, an evaluation at a time, by the same draws.

    Also where expected improvement, as printed in MINI, stands in place of the bound (§6).
    """
    p = rkhs_problem(seed, candidates=30, lengthscale=0.4, noise_std=0.5)
    shared = sparse_settings(p.noise_std, limit, q)
    optimizer = nr.bbkb(p.pool, kernel=p.kernel, seed=seed, acquisition=how(), **shared)
    assert_step_by_step(optimizer, p, seed, score=SCORES[how], **shared)


@given(
    seeds,
    st.sampled_from([1.2, 2.0, 9.0]),
    st.sampled_from([0.5, 2.0, 8.0]),
    st.sampled_from(list(SCORES)),
)
def test_mini_through_a_dictionary_is_its_pseudo_code_step_by_step(
    seed: int, limit: float, q: float, how: type[nr.UCB | nr.ExpectedImprovement]
) -> None:
    """MINI's Algorithm 2 with BBKB's posterior, dictionary and width; stays by line 4."""
    p = rkhs_problem(seed, candidates=30, lengthscale=0.4, noise_std=0.5)
    shared = sparse_settings(p.noise_std, limit, q)
    optimizer = nr.mini(
        p.pool,
        kernel=p.kernel,
        seed=seed,
        acquisition=how(),
        posterior="nystrom",
        **shared,
    )
    assert_step_by_step(optimizer, p, seed, score=SCORES[how], stays=True, **shared)


@given(
    seeds,
    st.sampled_from([1.0, 2.0, 4.0]),
    st.sampled_from([0.5, 1.0, 4.0]),
    st.sampled_from(["bbkb", "mini"]),
)
def test_an_incremental_dictionary_is_thinned_step_by_step(
    seed: int, limit: float, q: float, name: str
) -> None:
    """BKB 2019, §3.2: one number a point for the whole run, members and what is new looked at."""
    limit = max(limit, 1.2) if name == "mini" else limit
    p = rkhs_problem(seed, candidates=30, lengthscale=0.4, noise_std=0.5)
    shared: dict[str, Any] = {"noise_std": p.noise_std, "limit": limit, "oversample": q}
    shared |= {"delta": 0.05}
    mini = partial(nr.mini, acquisition=nr.UCB(), posterior="nystrom")
    make: Any = mini if name == "mini" else nr.bbkb
    optimizer = make(p.pool, kernel=p.kernel, seed=seed, dictionary="incremental", **shared)
    key = int(stream(seed, Purpose.DICTIONARY, 0).integers(1, 1 << 62))
    numbers = point_numbers(p.pool.X, key)
    stays = name == "mini"
    assert_step_by_step(optimizer, p, seed, stays=stays, number=numbers.__getitem__, **shared)


def assert_step_by_step(optimizer: nr.Optimizer, p: RKHSProblem, seed: int, **twin: Any) -> None:
    """Run both by the same noise and the same draws, and compare every batch."""
    batches = [ids.tolist() for _, ids in rounds(optimizer, p, 60, seed)]
    noise = iter(p.noise_std * np.random.default_rng(seed).standard_normal(60))
    slow = StepByStepBBKB(
        kernel=p.kernel,
        ridge=p.noise_std**2,
        norm_bound=1.0,
        pool=p.pool.X,
        draws=lambda step, n: stream(seed, Purpose.DICTIONARY, step).random(n),
        **twin,
    )
    expected = slow.run(batches[0][0], lambda row: float(p.values[row] + next(noise)), 60)
    assert batches[1:] == expected


@given(
    seeds, st.sampled_from([nr.UCB(), nr.ExpectedImprovement(), nr.KnowledgeGradient(9.0, 0.25)])
)
def test_mini_through_a_dictionary_of_all_is_mini(seed: int, how: nr.UCB) -> None:
    """A dictionary that holds everything sees what the exact posterior sees."""
    exact = partial(nr.mini, acquisition=how, width=nr.ConstantWidth(2.0))
    assert_same_choices(seed, exact, partial(exact, posterior="nystrom", oversample=1e9), 40)


@given(seeds, st.sampled_from(["global", "local"]))
def test_thompson_on_bbkb_is_batch_thompson_by_its_rule(
    seed: int, rule: Literal["global", "local"]
) -> None:
    """One thing under two names must be one thing."""
    bbkb = partial(nr.bbkb, acquisition=nr.Thompson())
    assert_same_choices(seed, bbkb, partial(nr.batch_thompson, posterior="nystrom"), 30, rule=rule)


@pytest.mark.parametrize(
    "make",
    [nr.gp_ucb, nr.gp_ei, nr.gp_bucb, nr.mini_gp_ucb, nr.mini_gp_ei, nr.bkb, nr.bbkb],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_permuting_the_pool_permutes_the_choices(make: object, seed: int) -> None:
    """Which row a candidate stands in must not matter: scores separated, start given."""
    assert callable(make)
    p = small(seed)
    order = np.random.default_rng(seed).permutation(len(p.pool))
    permuted = RKHSProblem(nr.Pool(p.pool.X[order]), p.kernel, p.values[order], p.noise_std)
    back = np.argsort(order)
    one = make(p.pool, kernel=p.kernel, noise_std=p.noise_std, start=[7, 3])
    other = make(permuted.pool, kernel=p.kernel, noise_std=p.noise_std, start=back[[7, 3]])
    there = order[drive(other, permuted, 40, seed, at_most=5)]
    np.testing.assert_array_equal(drive(one, p, 40, seed, at_most=5), there)


def test_workers_share_a_run_without_treading_on_each_other() -> None:
    """Two workers at the start of a sparse run must not be sent to the same point."""
    p = small(5)
    for make in (nr.bkb, nr.bbkb, nr.gp_ucb, nr.gp_bucb, nr.mini_gp_ucb):
        optimizer = make(p.pool, kernel=p.kernel, noise_std=p.noise_std, seed=3)
        first = optimizer.ask(at_most=1, worker="a")
        second = optimizer.ask(at_most=1, worker="b")
        third = optimizer.ask(at_most=1, worker="c")
        assert len({*first.ids.tolist(), *second.ids.tolist(), *third.ids.tolist()}) == 3

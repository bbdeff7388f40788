"""norm_bound="grow": beside the schedule by hand on dense algebra, saved, and asked by several."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.kernels import shortened
from noregret.policies import GrowingBandit
from noregret.posteriors import NystromPosterior, Observations
from slow_references import DenseGP, DenseNystrom, improvement, upper
from strategies import RKHSProblem, drive, rkhs_problem, rounds

DELTA = 0.1
GROWS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb": nr.gp_bucb,
    "mini": partial(nr.mini, acquisition=nr.UCB(leeway=0.1)),
    "mini_gp_ucb": nr.mini_gp_ucb,
    "mini_gp_ei": nr.mini_gp_ei,
    "bkb": nr.bkb,
    "bbkb": nr.bbkb,
    "bbkb-sticky": partial(nr.bbkb, dictionary="sticky"),
}
every = pytest.mark.parametrize("name", GROWS)


def problem(seed: int) -> RKHSProblem:
    return rkhs_problem(seed, candidates=60, lengthscale=0.3, noise_std=0.3)


def growing(name: str, p: RKHSProblem, **settings: Any) -> nr.Optimizer:
    given = {"kernel": p.kernel, "noise_std": p.noise_std, "norm_bound": "grow", **settings}
    return GROWS[name](p.pool, **given)


def by_hand(
    p: RKHSProblem, X: Matrix, noise: Vector, first: int, ei: bool, limit: float
) -> list[int]:
    """Rows evaluated: at each t the kernel, the norm and the band that the schedule says."""
    rows, ridge = [first], p.noise_std**2
    while len(rows) < len(noise):
        t, stage, end = len(rows), 0, 16
        while t >= end:
            stage, end = stage + 1, 2 * end
        g, d = stage + 1, X.shape[1]
        gp = DenseGP(shortened(p.kernel, g), ridge, X[rows], p.values[rows] + noise[:t])
        log = math.log(math.pi**2 * (stage + 1) ** 2 / (6 * DELTA))
        L = gp.log_det()
        if ei:
            te = log + math.log(t + 1)
            beta = math.sqrt(L + math.sqrt(L * te) + te)
        else:
            beta = g ** ((d + 1) / 2) + math.sqrt(L + 2 * log)
        score = improvement if ei else upper
        variance = np.maximum(gp.variance(X), 0.0)
        row = int(np.argmax(score(gp.mean(X), variance, beta)))
        stay = max(1, math.floor((limit - 1) * ridge / variance[row])) if limit > 1 else 1
        rows += [row] * min(stay, end - t, len(noise) - t)
    return rows


@pytest.mark.parametrize("name", ["gp_ucb", "mini_gp_ucb", "mini_gp_ei"])
@pytest.mark.parametrize("seed", range(3))
def test_choices_are_those_of_the_schedule_by_hand(name: str, seed: int) -> None:
    """Lengthscale, norm, share of delta and the ends of batches, over four steps."""
    p, T = problem(seed), 150
    noise = p.noise_std * np.random.default_rng([seed, 5]).standard_normal(T)
    optimizer = growing(name, p, start=[7])
    while optimizer.spent < T:
        batch, told = optimizer.ask(at_most=T - optimizer.spent), optimizer.spent
        optimizer.tell(batch, p.values[batch.sequence] + noise[told : told + len(batch)])
    limit = 1.0 if name == "gp_ucb" else 2.0
    expected = by_hand(p, p.pool.X, noise, 7, name.endswith("ei"), limit)
    assert optimizer.sequence.tolist() == expected
    assert optimizer.state.stage == 4


@every
def test_a_posterior_is_made_afresh_at_each_step_and_only_there(name: str) -> None:
    """Between steps its kernel is the very object it was, so that every cache goes on."""
    p = problem(1)
    optimizer = growing(name, p)
    stages, kernels = list[int](), dict[int, list[nr.Kernel]]()
    for _ in rounds(optimizer, p, 140, 3):
        state = optimizer.state
        stages.append(state.stage)
        kernels.setdefault(state.stage, []).append(state.belief.posterior.kernel)
        assert state.belief.norm_bound == pytest.approx((1 + state.stage) ** 1.5)
    assert sorted(stages) == stages
    assert set(stages) == set(range(5))
    for stage, several in kernels.items():
        assert all(one is several[0] for one in several)
        assert several[0] == shortened(p.kernel, 1.0 + stage)


@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb", "gp_bucb"])
def test_no_batch_goes_past_a_step(name: str) -> None:
    """A stay of a thousand evaluations on a kernel that is wrong would pass six of them."""
    p = rkhs_problem(2, candidates=30, lengthscale=2.0, noise_std=3.0)
    optimizer = growing(name, p, limit=50.0)
    drive(optimizer, p, 600, 4)
    ends = optimizer.trace["size"].cumsum().tolist()
    assert {16, 32, 64, 128, 256, 512} <= set(ends)
    reasons = dict(zip(ends, optimizer.trace["reason"].tolist(), strict=True))
    assert reasons[64] == "lengthscales shrink next"


@pytest.mark.parametrize("name", ["bkb", "bbkb", "bbkb-sticky"])
def test_a_sparse_posterior_at_a_step_is_drawn_from_the_new_prior(name: str) -> None:
    """By variances of the new kernel, which old ones say nothing of; then Eqs. 1-3 on its draw."""
    p = problem(3)
    optimizer = growing(name, p)
    drive(optimizer, p, 64, 5)
    optimizer.ask()
    now = optimizer.state.belief.posterior
    assert isinstance(now, NystromPosterior)
    told = now.observed
    assert (optimizer.state.stage, told.w.sum()) == (3, 64.0)
    policy = optimizer.policy
    assert isinstance(policy, GrowingBandit)
    kernel = shortened(p.kernel, 4.0)
    prior = NystromPosterior.prior(
        kernel, noise_std=p.noise_std, ridge=p.noise_std**2, dim=2, oversample=now.oversample
    )
    step = np.random.default_rng(
        np.random.SeedSequence(0, spawn_key=(1, optimizer.batches - 1))
    )  # of dictionaries
    afresh = prior.condition(told, Observations.none(2), step)
    np.testing.assert_array_equal(now.members.rows, afresh.members.rows)
    w = told.w.astype(np.int64)
    dense = DenseNystrom(
        kernel, now.ridge, now.members.X, np.repeat(told.X, w, axis=0), np.repeat(told.y, w)
    )
    np.testing.assert_allclose(now.mean(p.pool.X), dense.mean(p.pool.X), atol=1e-6)
    np.testing.assert_allclose(now.variance(p.pool.X), dense.variance(p.pool.X), atol=1e-6)


@pytest.mark.parametrize("name", ["bkb", "bbkb"])
def test_information_is_that_of_the_kernel_of_today(name: str) -> None:
    """Sums of variances under the longer lengthscales would be too small for its theorem."""
    p = problem(4)
    optimizer = growing(name, p)
    for _ in rounds(optimizer, p, 200, 6):
        belief = optimizer.state.belief
        told = belief.posterior.observed
        K = belief.posterior.kernel(told.X, told.X) * np.sqrt(told.w[:, None] * told.w)
        L = np.linalg.slogdet(np.eye(len(K)) + K / belief.posterior.ridge)[1]
        assert belief.information.plain == belief.information.tripled
        assert L * (1 - 1e-6) <= belief.information.plain <= 2 * L + 1


@every
def test_a_saved_run_goes_on_as_if_it_had_not_been(name: str, tmp_path: Path) -> None:
    """Saved within a stage, at its end, and with a batch under way."""
    p = problem(5)
    unbroken, saved = growing(name, p, seed=3), growing(name, p, seed=3)
    for T in (20, 32, 50, 64, 130):
        drive(unbroken, p, T, T)
        drive(saved, p, T, T)
        if T == 50:
            saved.ask()
            unbroken.ask()
        saved.save(tmp_path / "run")
        saved = nr.load(tmp_path / "run", pool=p.pool)
        assert saved.state.stage == unbroken.state.stage
        assert str(saved.certificate()) == str(unbroken.certificate())
    assert saved.sequence.tolist() == unbroken.sequence.tolist()


@pytest.mark.parametrize("name", ["gp_ucb", "mini_gp_ei", "bbkb"])
def test_looking_changes_nothing(name: str) -> None:
    """Between the last value of a stage and the next ask, too."""
    p = problem(6)
    quiet, watched = growing(name, p), growing(name, p)
    for at in (15, 16, 31, 32, 60):
        drive(quiet, p, at, at)
        drive(watched, p, at, at)
        watched.peek()
        watched.best()
        watched.explain(3)
        assert watched.account() == quiet.account()
    assert quiet.sequence.tolist() == watched.sequence.tolist()


def test_workers_share_what_is_left_of_a_stage() -> None:
    """What is under way counts, and one evaluation is always given."""
    p = rkhs_problem(2, candidates=30, lengthscale=2.0, noise_std=3.0)
    optimizer = growing("mini_gp_ucb", p, limit=50.0, start=[])
    first, second = optimizer.ask(worker="a", at_most=10), optimizer.ask(worker="b")
    third = optimizer.ask(worker="c")
    assert (len(first), len(second), len(third)) == (10, 6, 1)
    optimizer.tell(third, [0.0])
    optimizer.tell(first, np.zeros(10))
    assert optimizer.ask(worker="a").reason == "lengthscales shrink next"
    optimizer.tell(second, np.zeros(6))
    assert len(optimizer.ask(worker="b")) > 6
    assert optimizer.state.stage == 1


def test_a_long_history_begins_where_it_would_have_ended() -> None:
    """A million values told at once, on a few points: no step is walked through one by one."""
    p = problem(7)
    optimizer = growing("mini_gp_ucb", p)
    optimizer.tell(range(20), means=p.values[:20], counts=[50_000] * 20)
    optimizer.ask()
    assert optimizer.state.stage == (10**6 // 16).bit_length() == 16


def test_answers_say_which_norm_and_which_lengthscale() -> None:
    p = problem(8)
    optimizer = growing("mini_gp_ucb", p)
    now = (
        'By norm_bound="grow", lengthscales are now {} and norm_bound is {}; at {} evaluations '
        "lengthscales shrink and the bound grows again."
    )
    assert now.format("those given", "1", 16) in optimizer.account()
    drive(optimizer, p, 40, 1)
    text = now.format("1/3 of those given", "5.2", 64)
    assert text in optimizer.account()
    assert f"kernel {shortened(p.kernel, 3.0)!r}" in optimizer.account()
    assert str(optimizer.explain(5)).endswith(text)
    certificate = optimizer.certificate()
    said = [each.statement for each in certificate.assumptions]
    assert "f − offset has an RKHS norm of at most norm_bound = 5.19615" in said
    assert any("lengthscales of 1/3 of those given" in each and "64" in each for each in said)
    assert certificate.delta == DELTA
    assert 'at each stage of "grow"' in certificate.theorem
    plain = GROWS["gp_ucb"](p.pool, kernel=p.kernel, noise_std=0.3)
    assert "grow" not in plain.account() + str(plain.explain(5)) + str(plain.look().note)


@pytest.mark.parametrize(
    ("algorithm", "settings", "said"),
    [
        (nr.lin_ucb, {}, "not for Linear"),
        (nr.gp_ucb, {"kernel": nr.RBF() + nr.Linear()}, "norms follow for RBF and Matern"),
        (nr.batch_thompson, {"kernel": nr.RBF()}, "follow no bound"),
        (nr.bbkb, {"kernel": nr.RBF(), "acquisition": nr.Thompson()}, "follow no bound"),
        (nr.gp_ucb, {"kernel": nr.RBF(), "width": nr.BayesianWidth()}, "BayesianWidth holds for"),
        (nr.gp_ucb, {"kernel": nr.RBF(), "width": 2 * nr.BayesianWidth()}, "leave out"),
        (nr.gp_bucb, {"kernel": nr.RBF(), "min_batch": 2}, "min_batch=2 holds for"),
        (nr.ts_qff, {"kernel": nr.RBF()}, "unknown argument 'norm_bound'"),
        (nr.uniform, {}, "unknown argument"),
    ],
)
def test_what_cannot_grow_is_refused(
    algorithm: Callable[..., nr.Optimizer], settings: dict[str, object], said: str
) -> None:
    noise = {} if algorithm is nr.uniform else {"noise_std": 0.1}
    with pytest.raises(nr.NoRegretError, match=said):
        algorithm(nr.Pool([[0.0], [1.0]]), norm_bound="grow", **noise, **settings)


def test_many_features_are_refused_before_bounds_say_nothing() -> None:
    """With 539 of them the bound was no number any more after 64 evaluations."""
    for dim in (16, 17):
        pool = nr.Pool(np.eye(3, dim))
        with refused(dim > 16, "grow.* is for few features: .* d = 17 of this pool"):
            nr.gp_ucb(pool, kernel=nr.RBF(), noise_std=0.1, norm_bound="grow")


def refused(so: bool, match: str) -> AbstractContextManager[object]:
    return pytest.raises(nr.NoRegretError, match=match) if so else nullcontext()


def test_scikit_learns_kernels_are_refused_by_name() -> None:
    from sklearn.gaussian_process.kernels import RBF

    with pytest.raises(nr.NoRegretError, match=r"not for ScikitKernel\(RBF"):
        nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=RBF(), noise_std=0.1, norm_bound="grow")


def test_on_a_box_it_grows_too() -> None:
    box = nr.Box([(0.0, 1.0)])
    optimizer = nr.gp_ucb(box, kernel=nr.RBF(0.5), noise_std=0.1, norm_bound="grow")
    while optimizer.spent < 20:
        batch = optimizer.ask()
        optimizer.tell(batch, [-((x[0] - 0.7) ** 2) for x in batch])
    assert optimizer.state.stage == 1
    assert abs(optimizer.best().x[0] - 0.7) < 0.2

"""The rule of rarely switching OFUL: by determinants of all features, and beside MINI's."""

from __future__ import annotations

import math
from typing import Never

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.batching import Choice, Fill, Opening
from strategies import Scene, drive, one, rkhs_problem, scenes

RTOL = 1e-6


def choice(stale: float, now: float, room: int) -> Choice:
    """A choice that would soon be the best no more, which must not matter."""
    return Choice(0, stale, now, room, repeats_while_best=lambda most: min(most, 1))


def empty(ridge: float) -> Fill:
    nothing = np.empty(0, dtype=np.bool_)
    return nr.RarelySwitching().open(Opening(ridge, nothing, _never, _never))


def _never(*_: object) -> Never:
    raise AssertionError


def rarely_switching_oful(
    X: Matrix, f: Vector, noise: Vector, ridge: float, beta: float | None, limit: float
) -> list[int]:
    """Abbasi-Yadkori et al. 2011 as printed, on fixed arms, with determinants of d × d matrices.

    Without a beta the ellipsoid is that of its Theorem 2: ‖θ‖ and R at most 1, δ = 0.1.
    """
    V = ridge * np.eye(X.shape[1])
    b, last, arms = np.zeros(X.shape[1]), -math.inf, list[int]()
    for eta in noise:
        now = float(np.linalg.slogdet(V)[1])
        if now > math.log(limit) + last:  # det V_t > (1 + C) det V_τ
            theta, inverse = np.linalg.solve(V, b), np.linalg.inv(V)
            gain = now - X.shape[1] * math.log(ridge)  # log det V − log det λI
            radius = math.sqrt(2 * (gain / 2 + math.log(1 / 0.1))) + math.sqrt(ridge)
            radius = radius if beta is None else beta * math.sqrt(ridge)
            lengths = np.sqrt(np.einsum("ij,jk,ik->i", X, inverse, X))
            arm = int(np.argmax(X @ theta + radius * lengths))
            last = now
        arms.append(arm)
        V += np.outer(X[arm], X[arm])
        b += (f[arm] + eta) * X[arm]
    return arms


@pytest.mark.parametrize("beta", [1.5, None])
@pytest.mark.parametrize("limit", [1.1, 2.0, 5.5])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_rarely_switching_oful(seed: int, limit: float, beta: float | None) -> None:
    """The same arms for the same noise: the paper's determinants, the library's variances.

    By a width of its own the algorithm of the paper is `gp_bucb` with limit=1.
    """
    rng, noise_std = np.random.default_rng([seed, 3]), 1.0
    X = rng.standard_normal((40, 4))
    X *= (rng.uniform(0.8, 1.0, 40) / np.linalg.norm(X, axis=1))[:, None]  # none far the longest
    f, noise = X @ rng.standard_normal(4), noise_std * rng.standard_normal(300)
    arms = rarely_switching_oful(X, f, noise, noise_std**2, beta, limit)
    optimizer = nr.gp_bucb(
        nr.Pool(X),
        kernel=nr.Linear(),
        noise_std=noise_std,
        rule=nr.RarelySwitching(limit),
        limit=1.0,
        width=None if beta is None else nr.ConstantWidth(beta),
        start=[],
    )
    while optimizer.spent < 300:
        batch, told = optimizer.ask(at_most=300 - optimizer.spent), optimizer.spent
        optimizer.tell(batch, f[batch.sequence] + noise[told : told + len(batch)])
    assert optimizer.sequence.tolist() == arms
    assert len(set(arms)) > 3


@given(scenes(), st.floats(1.01, 20.0), st.integers(0, 12), st.integers(0, 12), st.integers(0, 3))
def test_a_stay_ends_once_the_determinant_has_grown(
    scene: Scene, limit: float, row: int, other: int, under_way: int
) -> None:
    """Dense determinants, evaluation by evaluation, those of other workers among them."""
    stale, rule, fill = scene.exact(), nr.RarelySwitching(limit), empty(scene.ridge)
    row, other = row % len(scene.pool), other % len(scene.pool)
    C = stale.covariance(scene.pool, scene.pool)
    now = stale
    if under_way:
        fill = rule.count_pending(fill, choice(C[other, other], C[other, other], 0), under_way)
        now = stale.hallucinate(*one(other, scene, under_way))
    variance = float(now.variance(scene.pool[[row]])[0])
    count, fill = rule.take(fill, choice(C[row, row], variance, 60))

    def growth(repeats: int) -> float:
        rows = [other] * under_way + [row] * repeats
        A = np.eye(len(rows)) + C[np.ix_(rows, rows)] / scene.ridge
        return float(np.exp(np.linalg.slogdet(A)[1]))

    if any(math.isclose(growth(r), limit, rel_tol=1e-9) for r in (count - 1, count)):
        return  # too close to call in floats
    assert 1 <= count <= 60
    assert fill.bound == pytest.approx(growth(count), rel=RTOL)
    assert count == 1 or growth(count - 1) <= limit
    assert rule.is_full(fill) == (growth(count) > limit)
    assert count == 60 or rule.is_full(fill)


@given(st.floats(1.05, 20.0), st.floats(1e-3, 5.0), st.integers(1, 500))
def test_it_stays_as_long_as_mini_and_one_evaluation_more(
    limit: float, variance: float, room: int
) -> None:
    """For one candidate det V grows as MINI's bound does: what crosses the limit differs."""
    asked = choice(variance, variance, room)
    rarely, _ = nr.RarelySwitching(limit).take(empty(1.0), asked)
    mini, _ = nr.Repeat(limit).take(empty(1.0), asked)
    left = (limit - 1) / variance
    if abs(left - round(left)) > 1e-9:
        assert rarely == min(room, math.floor(left) + 1)
        assert mini == min(room, max(1, math.floor(left)))
        assert mini <= rarely <= mini + 1


@pytest.mark.parametrize("limit", [1.2, 2.0, 8.0])
@pytest.mark.parametrize("norm", [1.0, 4.0])
def test_switches_are_as_few_as_the_determinant_allows(limit: float, norm: float) -> None:
    """Every batch but the last grows det V by more than the limit: h ≤ 1 + log det/log(limit)."""
    for seed in range(3):
        problem = rkhs_problem(seed, noise_std=0.3, norm=norm)
        rule = nr.RarelySwitching(limit)
        optimizer = nr.gp_bucb(
            problem.pool, kernel=problem.kernel, noise_std=0.3, rule=rule, start=[]
        )
        drive(optimizer, problem, 600, seed)
        most = 1 + optimizer.posterior.log_det / math.log(limit)
        assert 3 < optimizer.batches <= most
        assert optimizer.switches < optimizer.batches
        assert set(optimizer.trace["size"][:-1].tolist()) != {1}


def test_values_known_exactly_take_all_the_room() -> None:
    """Nothing is learned there, so that the determinant never grows."""
    count, fill = nr.RarelySwitching(2.0).take(empty(1.0), choice(0.0, 0.0, 9))
    assert count == 9
    assert not nr.RarelySwitching(2.0).is_full(fill)


@pytest.mark.parametrize("limit", [1.0, 0.5, math.nan, math.inf, "2", True])
def test_a_limit_that_never_or_always_switches_is_refused(limit: float) -> None:
    """By name, with the number given."""
    with pytest.raises(nr.NoRegretError, match=r"RarelySwitching\(limit=\.\.\.\)"):
        nr.RarelySwitching(limit)

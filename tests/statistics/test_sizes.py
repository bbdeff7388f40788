"""Dictionaries, batches and switches are as few as the proofs say, with their constants.

All sums are over evaluations in order, variances in units of λ. The runs are on rough kernels with
λ above κ² and little oversampling, so that the bounds stay below what is trivial. Batches are as
large as `min_batch` says, at last, after the uncertainty-sampling start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Indices, Vector
from noregret.kernels import Kernel
from noregret.posteriors.dictionary import inclusion_probabilities
from noregret.widths import ALPHA
from strategies import MODELS, RTOL, RKHSProblem, drive, rkhs_problem, rounds

RIDGE = 4.0
KAPPA = 1.0 / RIDGE  # κ²/λ: every kernel here has κ² = 1
LIMIT = 2.0


def problem(kernel: Kernel, candidates: int = 1000) -> RKHSProblem:
    rng = np.random.default_rng(5)
    X, C = rng.random((candidates, 1)), rng.random((10, 1))
    a = rng.standard_normal(10)
    a /= np.sqrt(a @ kernel(C, C) @ a)
    return RKHSProblem(nr.Pool(X), kernel, kernel(X, C) @ a, noise_std=RIDGE**0.5)


def run_on(
    p: RKHSProblem, algorithm: Callable[..., nr.Optimizer], **settings: object
) -> nr.Optimizer:
    return algorithm(p.pool, kernel=p.kernel, noise_std=p.noise_std, seed=4, **settings)


ROUGH = problem(nr.Matern(nu=0.5, lengthscale=1.0))
SMOOTHER = problem(nr.Matern(nu=1.5, lengthscale=0.5))


@dataclass(frozen=True)
class Chain:
    """The sums over one run, from K/λ of all evaluations in order, repeats and all.

    With I + K/λ = L Lᵀ:  1 + σ²_{s−1}(x_s)/λ = L_ss²  and  σ²_s = σ²_{s−1}/(1 + σ²_{s−1}/λ).
    """

    before: Vector  # σ²_{s−1}(x_s)/λ
    after: Vector  # σ²_s(x_s)/λ
    final: Vector  # σ²_T(x_s)/λ
    log_det: float
    largest: float  # ‖K‖/λ

    @classmethod
    def of(cls, problem: RKHSProblem, ids: Indices) -> Chain:
        X = problem.pool.rows(ids)
        K = problem.kernel(X, X) / RIDGE
        eye = np.eye(len(K))
        L = np.linalg.cholesky(eye + K)
        before = np.diag(L) ** 2 - 1
        final = 1 - (np.linalg.solve(L, eye) ** 2).sum(axis=0)
        log_det = 2 * float(np.log(np.diag(L)).sum())
        largest = float(np.linalg.eigvalsh(K)[-1])
        return cls(before, before / (1 + before), final, log_det, largest)

    @property
    def d_eff(self) -> float:
        return float(self.final.sum())


@dataclass(frozen=True)
class Drawn:
    """One dictionary: after how many evaluations, how many members, and how many expected."""

    evaluations: int
    members: int
    expected: float


def dictionaries(
    optimizer: nr.Optimizer, problem: RKHSProblem, budget: int, q: float
) -> tuple[list[Drawn], Indices]:
    """Run where each candidate can be made only once, and note every dictionary drawn.

    A repeat in a batch fails and what was evaluated is excluded: unique points abound.
    """
    rng = np.random.default_rng(17)
    drawn: list[Drawn] = []
    ids: list[Indices] = []
    while optimizer.evaluations < budget:
        stale = optimizer.state.posterior
        batch = optimizer.ask()
        fresh = optimizer.state.posterior
        told = fresh.observed
        p = inclusion_probabilities(told.w, stale.variance(told.X), RIDGE, q)
        drawn.append(Drawn(int(told.w.sum()), len(fresh.members), float(p.sum())))
        order = np.asarray(batch.sequence, dtype=np.int64)
        first = np.sort(np.unique(order, return_index=True)[1])
        values: list[object] = [nr.FAILED] * len(order)
        for place in first:
            values[place] = problem.measure(order[[place]], rng)[0]
        optimizer.tell(batch, values)
        optimizer.exclude(order)
        ids.append(order[first])
    return drawn, np.concatenate(ids)


def test_variances_dimension_and_information_stand_in_their_order() -> None:
    """Every bound on sizes and regret is read off this chain (BKB 2019, Proposition 5).

    d_eff = Σ σ²_T(x_s) ≤ Σ σ²_s(x_s) ≤ log det(I + K/λ) ≤ d_eff·(1 + log(‖K‖/λ + 1))
    """
    optimizer = run_on(ROUGH, nr.gp_ucb)
    chain = Chain.of(ROUGH, drive(optimizer, ROUGH, 400, seed=3))
    after, L = float(chain.after.sum()), chain.log_det
    assert chain.d_eff < after < L < chain.d_eff * (1 + np.log(chain.largest + 1))
    assert np.all(chain.final <= chain.after * (1 + RTOL))
    assert np.all(chain.before <= (1 + KAPPA) * chain.after * (1 + RTOL))  # Proposition 4
    assert chain.before.sum() >= L  # log(1 + x) ≤ x: the sum with s − 1 is no lower bound
    posterior = optimizer.posterior
    assert posterior.effective_dimension() == pytest.approx(chain.d_eff, rel=1e-6)
    assert posterior.log_det == pytest.approx(L, rel=1e-6)


def test_bkb_dictionaries_are_of_the_order_of_the_effective_dimension() -> None:
    """A dictionary that grows with t makes every step slower, until the run stops moving.

    BKB 2019, Theorem 1 at ε = 1/2, α = 3: |S_t| ≤ 3(1 + κ²/λ)·α·q̄·d_eff. By its proof (C.4) the
    expected size is at most (1 + κ²/λ)·α·q̄·d_eff, and three times that is hardly ever reached.
    """
    q, T = 4.0, 600
    drawn, ids = dictionaries(run_on(ROUGH, nr.bkb, oversample=q), ROUGH, T, q)
    assert len(np.unique(ids)) == T
    for d in drawn[40::40]:
        d_eff = Chain.of(ROUGH, ids[: d.evaluations]).d_eff
        assert d.expected <= (1 + KAPPA) * ALPHA * q * d_eff, d
        assert d.members <= 3 * d.expected, d
        assert d.members <= 3 * (1 + KAPPA) * ALPHA * q * d_eff, d
    bound = 3 * (1 + KAPPA) * ALPHA * q * d_eff
    assert bound < 0.75 * T  # keeping every unique point breaks the bound
    assert drawn[-1].members > d_eff  # and the dictionary is no trifle


@pytest.mark.parametrize("rule", ["global", "local"])
def test_bbkb_dictionaries_are_of_the_order_of_the_effective_dimension(rule: str) -> None:
    """As for BKB; probabilities are stale by a batch, so the constant carries the limit.

    BBKB 2020, Theorem 1: |S_t| ≤ 9C̃(1 + κ²/λ)·q̄·d_eff; Eq. 9 gives the same bound on the expected
    size. (The end of the proof prints 81C̃(1 + κ²/λ)².)
    """
    q, T = 1.0, 400
    optimizer = run_on(ROUGH, nr.bbkb, oversample=q, limit=LIMIT, rule=rule)
    drawn, ids = dictionaries(optimizer, ROUGH, T, q)
    assert len(drawn) < 0.7 * T  # batches, not steps
    bound = 0.0
    for d in drawn[1::20]:
        bound = 9 * LIMIT * (1 + KAPPA) * q * Chain.of(ROUGH, ids[: d.evaluations]).d_eff
        assert d.expected <= bound, d
        assert d.members <= bound, d
        assert d.members <= 3 * d.expected or d.expected < 5, d  # Proposition 8 of BKB 2019
    assert bound < 0.75 * T
    assert drawn[-1].members > bound / (9 * LIMIT * (1 + KAPPA) * q)


def ended(optimizer: nr.Optimizer, problem: RKHSProblem, budget: int) -> tuple[Indices, list[str]]:
    """Run, and return the ids with the reason why each batch ended."""
    told = list(rounds(optimizer, problem, budget, 23))
    return np.concatenate([ids for _, ids in told]), [batch.reason for batch, _ in told]


@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_bbkb_opens_no_more_batches_than_there_is_to_learn(limit: float) -> None:
    """Each batch costs a round in the lab and a pass over the pool.

    BBKB 2020, C.1: B ≤ C̃/(C̃ − 1)·9(1 + κ²/λ)·Σ σ²_t(x_t), and the sum is at most log det.
    """
    T = 1000
    ids, reasons = ended(run_on(SMOOTHER, nr.bbkb, limit=limit), SMOOTHER, T)
    chain = Chain.of(SMOOTHER, ids)
    closed = sum(reason.startswith("limit reached") for reason in reasons)
    constant = limit / (limit - 1) * 9 * (1 + KAPPA)
    assert 5 <= closed <= constant * chain.after.sum() <= constant * chain.log_det
    assert constant * chain.after.sum() < T  # one batch an evaluation breaks it


@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_exact_batches_meet_the_same_bound_without_the_price_of_sparsity(limit: float) -> None:
    """GP-BUCB with the global rule: the same proof, the factor 9 = 3·3 of the dictionary gone.

    B(C̃ − 1) < Σ σ²_fb(x_s) ≤ C̃·Σ σ²_{s−1}(x_s) ≤ C̃(1 + κ²/λ)·Σ σ²_s(x_s), with certainty.
    """
    T = 600
    optimizer = run_on(SMOOTHER, nr.gp_bucb, limit=limit, rule="global")
    ids, reasons = ended(optimizer, SMOOTHER, T)
    chain = Chain.of(SMOOTHER, ids)
    closed = sum(reason.startswith("limit reached") for reason in reasons)
    bound = limit / (limit - 1) * chain.before.sum()
    assert 5 <= closed <= bound <= limit / (limit - 1) * (1 + KAPPA) * chain.after.sum()
    assert bound < T / 3


@pytest.mark.parametrize("algorithm", [nr.mini_gp_ucb, nr.mini_gp_ei])
@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_mini_switches_no_more_often_than_there_is_to_learn(
    algorithm: Callable[..., nr.Optimizer], limit: float
) -> None:
    """MINI is exact and yet fast only because unique points stay few.

    MINI 2022, Lemma 4.3 (A.2), C² = limit: h ≤ 2C²/(C² − 1)·Σ σ²_{s−1}(x_s)
    ≤ 2C²/(C² − 1)(1 + κ²/λ)·Σ σ²_s(x_s), and the last sum is at most log det ≤ 2γ_T. One more
    for the uniform start, which is no repeat rule's, and one for the batch cut off at T.
    """
    T = 1000
    optimizer = run_on(SMOOTHER, algorithm, limit=limit)
    ids, reasons = ended(optimizer, SMOOTHER, T)
    chain = Chain.of(SMOOTHER, ids)
    constant = 2 * limit / (limit - 1)
    bound = constant * chain.before.sum()
    assert 5 <= len(reasons) - 2 <= bound
    assert bound <= constant * (1 + KAPPA) * chain.after.sum() * (1 + RTOL)
    assert bound <= constant * (1 + KAPPA) * chain.log_det
    assert optimizer.unique <= len(reasons) < bound + 2 < T / 4


@pytest.mark.parametrize("cost", [12.0, 60.0])
def test_stays_cut_short_by_the_bound_are_no_more_than_there_is_to_learn(cost: float) -> None:
    """A switch that was not worth its cost must be one that the theorem asked for.

    Lemma 4.3 as above, over the stays shorter than the cost: each of them is as long as its bound,
    and their part of Σ σ²_{s−1}(x_s) is at most the whole.
    """
    T, limit = 1000, 3.0
    optimizer = run_on(SMOOTHER, nr.mini_gp_ucb, limit=limit, switch_cost=cost)
    ids, reasons = ended(optimizer, SMOOTHER, T)
    sizes = optimizer.trace["size"]
    short = int((sizes < cost).sum())
    bound = 2 * limit / (limit - 1) * Chain.of(SMOOTHER, ids).before.sum()
    assert 2 <= short - 2 <= bound
    assert len(reasons) <= T / cost + bound + 2
    assert optimizer.switches <= len(reasons) - 1


P = 12


def sizes(optimizer: nr.Optimizer, problem: RKHSProblem, batches: int) -> tuple[int, list[int]]:
    """Return the evaluations of the start and the size of each of the batches after it."""
    told = [batch for batch, _ in islice(rounds(optimizer, problem, 10**6, 47), batches + 1)]
    first = [batch.reason.startswith("start:") for batch in told]
    assert first == [True] + batches * [False]
    return len(told[0]), [len(batch) for batch in told[1:]]


@pytest.mark.parametrize("name", ["gp_bucb-global", "mini_gp_ucb", "bbkb-global"])
@pytest.mark.parametrize("limit", [1.5, 3.0])
def test_every_batch_holds_the_minimum_after_the_start(name: str, limit: float) -> None:
    """A plate with empty wells costs as much as a full one.

    BBKB 2020, A.5, with its threshold corrected: a batch holds P once max σ²/λ ≤ (limit − 1)/P; for
    Nyström once it is a third of that, as its variances may be off by 3 (Lemma 2).
    """
    problem = rkhs_problem(1, candidates=120, lengthscale=0.5, noise_std=0.5)
    common = {"kernel": problem.kernel, "noise_std": 0.5, "limit": limit, "seed": 1}
    start, with_minimum = sizes(MODELS[name](problem.pool, min_batch=P, **common), problem, 12)
    _, without = sizes(MODELS[name](problem.pool, **common), problem, 12)
    assert min(with_minimum) >= P
    assert min(without[:3]) < P
    assert 1 < start < 1000


def test_the_start_stops_as_soon_as_the_minimum_is_certain() -> None:
    """Every evaluation of the start is spent before the search begins."""
    problem = rkhs_problem(0, candidates=120, lengthscale=0.5, noise_std=0.5)
    X, limit = problem.pool.rows(np.arange(120)), 1.5
    settings = {"kernel": problem.kernel, "noise_std": 0.5, "limit": limit, "min_batch": P}
    optimizer = MODELS["gp_bucb-global"](problem.pool, **settings)
    batch = optimizer.ask()
    threshold = 0.25 * (limit - 1) / P
    values = problem.measure(np.asarray(batch.sequence, np.int64), np.random.default_rng(0))
    optimizer.tell(batch[:-1], values[:-1])
    assert optimizer.posterior.variance(X).max() > threshold
    optimizer.tell(batch[-1:], values[-1:])
    assert optimizer.posterior.variance(X).max() <= threshold

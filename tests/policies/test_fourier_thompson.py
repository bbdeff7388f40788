"""Quadrature Fourier features and Thompson sampling on them, against dense algebra."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.kernels import Kernel, QuadratureFeatures, quadrature
from noregret.kernels.fourier_features import error_bound
from noregret.policies import ThompsonQFF
from noregret.policies.base import Purpose
from noregret.policies.fourier_thompson import Weights, sampled
from noregret.pools import Points
from noregret.posteriors import Observations, cholesky
from strategies import close

RNG = np.random.default_rng(0)


def worst_error(features: QuadratureFeatures, kernel: Kernel, X: Matrix) -> float:
    return float(np.abs(features(X, X) - kernel(X, X)).max())


def test_the_kernel_is_the_average_of_its_cosines() -> None:
    """(1) by brute integration: frequencies of deviation 1/lengthscale, not lengthscale."""
    for gap, lengthscale in [(0.3, 0.5), (1.0, 0.7), (2.0, 3.0)]:

        def wave(omega: float, gap: float = gap, lengthscale: float = lengthscale) -> float:
            density = math.exp(-0.5 * (omega * lengthscale) ** 2) * lengthscale
            return math.cos(omega * gap) * density / math.sqrt(2 * math.pi)

        exact = nr.RBF(lengthscale)(np.array([[0.0]]), np.array([[gap]]))[0, 0]
        assert quad(wave, -60, 60, limit=400)[0] == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_error_falls_faster_than_exponentially(d: int) -> None:
    """Below its bound everywhere, by ever larger factors, down to rounding."""
    scales = (0.6, 0.9, 1.5)[:d]
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * d)).reshape(d, -1).T  # furthest apart
    kernel, X = nr.RBF(scales), np.concatenate([corners, RNG.random((200, d))])
    bounds, errors = [], []
    for m in range(2, 17, 2):
        features = QuadratureFeatures(scales, 1.0, (m,) * d, (0.5,) * d)
        errors.append(worst_error(features, kernel, X))
        bounds.append(sum(error_bound(m, 1 / scale) for scale in scales))
        assert errors[-1] <= bounds[-1] * (1 + 1e-9) + 1e-13
    assert errors[-1] < 1e-10
    falls = np.log(np.array(errors[:-1]) / errors[1:])[np.array(errors[1:]) > 1e-12]
    assert (np.diff(falls) > 0).all(), falls  # every two nodes more are worth more


@pytest.mark.parametrize("nodes", [(1,), (2,), (7,), (3, 4), (5, 3), (2, 3, 4), (3, 5, 1)])
def test_features_are_cosines_and_sines_of_every_node(nodes: tuple[int, ...]) -> None:
    """The sum (1) over all nodes, one by one; half of them carry the other half."""
    from scipy.special import roots_hermite

    d = len(nodes)
    scales, X = (0.4, 1.1, 0.8)[:d], RNG.standard_normal((9, d))
    gaps = X[:, None, :] - X[None, :, :]
    expected = np.zeros((9, 9))
    for at in np.ndindex(*nodes):
        weight, phase = 2.5, np.zeros((9, 9))
        for j, i in enumerate(at):
            s, v = roots_hermite(nodes[j])
            weight *= v[i] / math.sqrt(math.pi)
            phase += math.sqrt(2) * s[i] / scales[j] * gaps[:, :, j]
        expected += weight * np.cos(phase)
    features = QuadratureFeatures(scales, 2.5, nodes, (10.0, -3.0, 0.0)[:d])
    assert features.embed(X).shape == (9, math.prod(nodes))
    close(features(X, X), expected, 1e-11)
    close(features.diagonal(X), np.diag(expected), 1e-11)
    thetas = RNG.standard_normal((3, features.size))
    close(features.values(X, thetas), thetas @ features.embed(X).T, 1e-11)


def test_the_nodes_chosen_keep_their_promise() -> None:
    """Within 10⁻⁴ of the kernel on this pool, and not with far more than it takes."""
    for X, kernel in [
        (RNG.random((300, 1)), nr.RBF(0.1)),
        (RNG.random((300, 2)) * [1.0, 50.0] + [5.0, 1e4], 4.0 * nr.RBF((0.3, 20.0))),
        (RNG.random((300, 3)), nr.RBF(0.5)),
        (np.array([[1.0, 2.0]]), nr.RBF(0.5)),
    ]:
        features = quadrature(kernel, Points(nr.Pool(X)), None)
        variance = float(kernel.diagonal(X)[0])
        assert worst_error(features, kernel, X) <= 1e-4 * variance
    fewer = quadrature(nr.RBF(0.1), Points(nr.Pool([[0.0], [1.0]])), None).nodes[0] // 2
    coarse = quadrature(nr.RBF(0.1), Points(nr.Pool([[0.0], [1.0]])), fewer)
    assert worst_error(coarse, nr.RBF(0.1), np.linspace(0, 1, 100)[:, None]) > 1e-4


def test_many_nodes_do_not_overflow() -> None:
    """A pool that reaches over twenty lengthscales needs hundreds."""
    X = np.linspace(0, 1, 400)[:, None]
    features = quadrature(nr.RBF(0.05), Points(nr.Pool(X)), None)
    assert 200 < features.size < 1000
    assert worst_error(features, nr.RBF(0.05), X) < 1e-4


def weights_by_dense_algebra(Z: Matrix, y: Vector, ridge: float) -> tuple[Vector, Matrix]:
    """Mean and covariance of θ from every single evaluation."""
    covariance: Matrix = np.asarray(np.linalg.inv(np.eye(Z.shape[1]) + Z.T @ Z / ridge), float)
    return covariance @ Z.T @ y / ridge, covariance


FEATURES = QuadratureFeatures((0.5, 0.8), 1.5, (4, 3), (0.0, 0.0))


def told_in_parts() -> tuple[Weights, Vector, Matrix]:
    """Weights told three times, some points again; and the same by dense algebra."""
    X, y = RNG.standard_normal((6, 2)), RNG.standard_normal((6, 5))
    policy = ThompsonQFF(FEATURES, 0.3, 0.2)
    state = policy.begin()
    rows, values = list[int](), list[float]()
    for counts in ([1, 2], [1, 5, 0, 0], [3, 5, 1, 2, 0, 4]):
        counts = [max(count, 1) for count in counts]
        w = np.array(counts, dtype=np.float64)
        averages = np.array([y[i, :count].mean() for i, count in enumerate(counts)])
        state = state.told(
            Observations(np.arange(len(w)), X[: len(w)], w, averages), FEATURES, policy.ridge
        )
        rows = [i for i, count in enumerate(counts) for _ in range(count)]
        values = [y[i, j] for i, count in enumerate(counts) for j in range(count)]
    return state, *weights_by_dense_algebra(FEATURES.embed(X[rows]), np.array(values), 0.2)


def test_weights_told_in_parts_are_those_of_all_evaluations() -> None:
    """Counts and averages of unique points, in any portions, are repeated rows."""
    state, mean, covariance = told_in_parts()
    close(state.V @ covariance, np.eye(FEATURES.size), 1e-10)
    close(state.precision_mean, state.V @ mean, 1e-10)


def test_draws_have_the_posteriors_mean_and_covariance() -> None:
    """20 000 draws; each entry within five deviations of its own sampling error."""
    state, mean, covariance = told_in_parts()
    n = 20_000
    luck = np.random.default_rng(1).standard_normal((n, FEATURES.size))
    draws = sampled(cholesky.factor(state.V), state.precision_mean, luck)
    spread = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * spread / math.sqrt(n)).all()
    seen = np.cov(draws.T)
    allowed = 5 * np.sqrt((covariance**2 + np.outer(spread, spread) ** 2) / n)
    assert (np.abs(seen - covariance) < allowed).all()


POOL = nr.Pool(RNG.random((150, 2)))
TRUTH = np.sin(4 * POOL.X[:, 0]) + POOL.X[:, 1]


def test_choices_are_the_best_of_each_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the whole pool at once, by dense algebra, with the same normal numbers."""
    from noregret import arrays
    from noregret.policies import Purpose

    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1)  # 64 rows a chunk
    optimizer = nr.ts_qff(POOL, kernel=nr.RBF(0.4), noise_std=0.2, batch_size=6, seed=3)
    optimizer.exclude([5, 100, 149])
    assert isinstance(optimizer.policy, ThompsonQFF)
    features = optimizer.policy.features
    Phi = features.embed(POOL.X)
    rows, values = list[int](), list[float]()
    rng = np.random.default_rng(2)
    for _ in range(8):
        mean, covariance = weights_by_dense_algebra(Phi[rows], np.array(values), 0.04)
        luck = optimizer.evidence.rng(Purpose.POLICY).standard_normal((6, features.size))
        root = np.linalg.inv(np.linalg.cholesky(np.linalg.inv(covariance))).T
        drawn = Phi @ (mean[:, None] + root @ luck.T)
        drawn[[5, 100, 149]] = -np.inf
        batch = optimizer.ask()
        chosen = batch.sequence.astype(np.int64).tolist()
        assert chosen == drawn.argmax(axis=0).tolist()
        told = TRUTH[chosen] + 0.2 * rng.standard_normal(6)
        rows += chosen
        values += told.tolist()
        optimizer.tell(batch, told)


def test_the_posterior_is_that_of_the_kernel_and_of_the_weights() -> None:
    """Three roads: weights, the finite kernel's exact posterior, and the true kernel's."""
    kernel = 2.0 * nr.RBF((0.5, 0.7))
    optimizer = nr.ts_qff(POOL, kernel=kernel, noise_std=0.3, nodes=14, offset=1.0)
    exact = nr.gp_ucb(POOL, kernel=kernel, noise_std=0.3, offset=1.0)
    ids = [3, 3, 8, 50, 51, 140, 3]
    for run in (optimizer, exact):
        run.tell(ids, TRUTH[ids] + 0.1 * np.arange(7))
    close(optimizer.posterior.mean(POOL.X), exact.posterior.mean(POOL.X), 1e-6)
    close(optimizer.posterior.variance(POOL.X), exact.posterior.variance(POOL.X), 1e-6)
    best = optimizer.best()
    x = POOL.X[[int(best.id)]]
    assert best.mean == pytest.approx(float(optimizer.posterior.mean(x)[0]), abs=1e-9)
    assert best.std == pytest.approx(float(optimizer.posterior.std(x)[0]), rel=1e-6)
    assert math.isnan(best.lower)
    assert "between" not in str(best)
    assert "±" in str(best)


def test_it_finds_the_best_and_regrets_less_than_uniform() -> None:

    def lost(optimizer: nr.Optimizer, seed: int) -> float:
        rng, total = np.random.default_rng([seed, 1]), 0.0
        while optimizer.spent < 120:
            batch = optimizer.ask()
            ids = batch.sequence.astype(np.int64)
            total += float((TRUTH.max() - TRUTH[ids]).sum())
            optimizer.tell(batch, TRUTH[ids] + 0.2 * rng.standard_normal(len(ids)))
        return total

    make: dict[str, Any] = {"kernel": nr.RBF(0.5), "noise_std": 0.2, "batch_size": 4}
    thompson = [lost(nr.ts_qff(POOL, seed=s, **make), s) for s in range(5)]
    drawn = [lost(nr.uniform(POOL, batch_size=4, seed=s), s) for s in range(5)]
    assert max(thompson) < 0.5 * min(drawn), (thompson, drawn)


def test_goal_offset_and_room() -> None:
    """Minimising is a sign, an offset a shift, `at_most` a cut."""
    make: dict[str, Any] = {"kernel": nr.RBF(0.4), "noise_std": 0.2, "batch_size": 5, "seed": 1}
    plain = nr.ts_qff(POOL, **make)
    turned = nr.ts_qff(POOL, **make, goal="min", offset=7.0)
    ids = [1, 2, 3]
    plain.tell(ids, TRUTH[ids])
    turned.tell(ids, 7.0 - TRUTH[ids])
    whole = plain.ask().sequence.tolist()
    assert turned.ask(at_most=3).sequence.tolist() == whole[:3]


def test_odd_pools() -> None:
    for X in ([[0.3]], [[1.0, 2.0]] * 4, [[0.0, 5.0], [1.0, 5.0]]):
        optimizer = nr.ts_qff(nr.Pool(X), kernel=nr.RBF(0.5), noise_std=0.1, batch_size=2)
        for _ in range(3):
            optimizer.tell(optimizer.ask(), [1.0, 1.0])
        assert optimizer.best().mean == pytest.approx(1.0, abs=0.05)
    optimizer = nr.ts_qff(POOL, kernel=nr.RBF(0.5), noise_std=0.1)
    optimizer.tell([4], means=[0.5], counts=[10**6])
    optimizer.tell([[0.1, 1.4]], [0.3])
    optimizer.tell(optimizer.ask(), [0.0])
    assert optimizer.posterior.mean(POOL.X[[4]])[0] == pytest.approx(0.5, abs=1e-3)


def test_where_it_cannot_go() -> None:
    optimizer = nr.ts_qff(POOL, kernel=nr.RBF(0.5), noise_std=0.1)
    with pytest.raises(nr.NoRegretError, match="no value was told"):
        optimizer.best()
    close(optimizer.posterior.variance(POOL.X[:3]), np.ones(3))
    optimizer.tell([0], [1.0])
    with pytest.raises(nr.NoRegretError, match="no theorem here bounds"):
        optimizer.certificate()
    assert "1 unique point through" in optimizer.account()
    assert "standard deviation was" not in str(optimizer.explain(int(optimizer.ask().ids[0])))


@pytest.mark.parametrize("cap", [1, 2])
def test_under_a_cap_the_best_of_each_draw_is_that_of_what_the_others_leave(
    cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass over the pool, a few rows at a time, chooses as one after every choice would."""
    monkeypatch.setattr("noregret.policies.fourier_thompson.chunk_rows", lambda _: 7)
    X = np.random.default_rng(3).integers(0, 5, (40, 2)) / 4.0  # many of them the same
    optimizer = nr.ts_qff(
        nr.Pool(X), kernel=nr.RBF(0.4), noise_std=0.5, batch_size=12, at_most_each=cap
    )
    optimizer.tell([0, 5, 9], [0.1, 0.9, 0.4])
    optimizer.exclude([1, 2])
    state, policy = optimizer.state, optimizer.policy
    assert isinstance(policy, ThompsonQFF)
    evidence = optimizer.evidence
    weights = state.told(evidence.told, policy.features, policy.ridge)
    luck = evidence.rng(Purpose.POLICY).standard_normal((12, policy.features.size))
    thetas = sampled(cholesky.factor(weights.V), weights.precision_mean, luck)
    values, left = policy.features.values(X, thetas), np.full(40, cap)
    left[[1, 2]] = 0
    left[[0, 5, 9]] -= 1
    chosen = list[int]()
    for found in values:
        allowed = np.where(left > 0, found, -np.inf)
        chosen.append(int(np.flatnonzero(allowed >= allowed.max() - 1e-12)[0]))
        left[chosen[-1]] -= 1
    assert optimizer.ask().sequence.tolist() == chosen

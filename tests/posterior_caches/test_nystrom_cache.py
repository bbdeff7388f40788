"""A cache of sparse posteriors bounds every row, and is the posterior where it was refreshed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Mean, Uncertainty
from noregret.arrays import Indices, Matrix, Vector
from noregret.posterior_caches import NystromCache, Work
from noregret.posteriors import NystromPosterior, Observations, subset
from strategies import Scene, nystrom_prior, scenes

# Both roads to a variance lose as many digits as the dictionary's Gram matrix has too many.
LOOSE = 1e-7
KERNEL = nr.Matern(nu=0.5, lengthscale=0.5)
columns = st.sampled_from([0, 3, 6, 100])

KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)


def cache_of(X: Matrix, room: int) -> NystromCache:
    """A cache with room for the kernel values of so many points."""
    return NystromCache(nr.Pool(X), Work(), 8 * room * len(X))


def is_the_posterior_at(cache: NystromCache, p: NystromPosterior, X: Matrix, rows: Indices) -> None:
    cache.refresh(rows)
    mean, variance = p.marginals(X[rows])
    np.testing.assert_allclose(cache.mean[rows], mean, rtol=LOOSE, atol=LOOSE)
    np.testing.assert_allclose(cache.variance[rows], variance, rtol=LOOSE, atol=LOOSE)


def believed(scene: Scene, members: Indices) -> NystromPosterior:
    return scene.nystrom(1).rebuilt(scene.points, subset(scene.points, members))


@given(scenes(least=3), st.integers(0, 2**20), columns)
def test_bounds_hold_and_refreshed_rows_are_the_posterior(
    scene: Scene, seed: int, room: int
) -> None:
    """Dictionaries come and go; kept kernel values must be those of today's members."""
    assume(np.linalg.cond(scene.kernel(scene.points.X, scene.points.X)) < 1e8)
    rng = np.random.default_rng(seed)
    X, cache = scene.pool, cache_of(scene.pool, room)
    for _ in range(8):
        members = rng.permutation(len(scene.points))[: rng.integers(1, len(scene.points) + 1)]
        posterior = believed(scene, members)
        cache.follow(posterior)
        np.testing.assert_allclose(cache.prior, scene.kernel.diagonal(X))
        is_the_posterior_at(cache, posterior, X, rng.permutation(len(X))[: rng.integers(1, 9)])
        mean, variance = posterior.marginals(X)
        best_mean = float(mean.max())
        for how in (nr.UCB(), nr.ExpectedImprovement(), KG, Mean(), Uncertainty()):
            true = how.score(mean, variance, 2.0, best_mean)
            for floor in (-np.inf, float(np.median(true)), float(true.max())):
                bound = cache.ceilings(how, 2.0, best_mean, floor)
                assert np.all(true <= bound + LOOSE * (1 + np.abs(true)))
                sharp = true >= floor + LOOSE * (1 + abs(floor))
                np.testing.assert_allclose(bound[sharp], true[sharp], rtol=1e-5, atol=1e-5)
        is_the_posterior_at(cache, posterior, X, rng.permutation(len(X)))


@pytest.mark.parametrize("room", [0, 100])
def test_a_fresh_dictionary_that_grows_is_carried_on(room: int) -> None:
    """Members that stay need no pass; those that leave, other counts and another ridge do."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    points = Observations(np.arange(40), X[:40], np.ones(40), rng.standard_normal(40))
    work = Work()
    cache = NystromCache(nr.Pool(X), work, 8 * room * len(X))

    def passes(m: int, n: int, w: Vector, ridge: float = 0.1) -> bool:
        """Follow the first n points, with counts w, through the first m; tell if it scanned."""
        told = Observations(points.rows[:n], points.X[:n], w[:n], points.y[:n])
        posterior = (
            Scene(KERNEL, ridge, told, X).nystrom(1).rebuilt(told, subset(told, np.arange(m)))
        )
        before = work.scanned
        cache.follow(posterior)
        mean, variance = posterior.marginals(X)
        bound = cache.ceilings(nr.UCB(), 2.0, 0.0, 1e9)
        assert np.all(mean + 2 * np.sqrt(variance) <= bound + 1e-6)
        scanned = work.scanned > before
        is_the_posterior_at(cache, posterior, X, np.arange(300))
        return scanned

    w = points.w
    assert [passes(20, 20, w), passes(21, 21, w)] == [True, True]  # it is seen to grow
    assert not any(passes(n, n, w) for n in range(22, 36))
    twice = np.where(np.arange(40) == 3, 2.0, 1.0)
    assert not passes(35, 36, twice)
    assert passes(35, 36, w)  # a count fell
    assert passes(35, 36, w, ridge=0.2)
    assert passes(30, 36, w, ridge=0.2)  # members left, and the next may leave as well
    assert passes(31, 37, w, ridge=0.2)


@pytest.mark.parametrize("room", [0, 100])
def test_an_incremental_dictionary_is_carried_on_where_members_go_and_come(room: int) -> None:
    """A pass over the pool for each would cost O(N·m²), and one slip would stay for ever."""
    rng = np.random.default_rng(1)
    X = rng.random((300, 2))
    prior = replace(nystrom_prior(KERNEL, 0.5, q=0.7), incremental=True)
    w = np.where(np.arange(300) < 40, 1.0, 0.0)
    order, work = np.arange(40), Work()
    posterior, left, came, passed = prior, 0, 0, 0
    cache = NystromCache(nr.Pool(X), work, 8 * room * len(X))
    for step in range(60):
        points = Observations(order, X[order], w[order], np.sin(9 * X[order, 0]))
        before = set(posterior.members.rows.tolist())
        posterior = posterior.condition(points, Observations.none(2), np.random.default_rng(step))
        now = set(posterior.members.rows.tolist())
        scanned = work.scanned
        cache.follow(posterior)
        cache.ceilings(nr.UCB(), 2.0, 0.0, 1e9)
        if step > 1:  # many leave at first, and a pass is as fast
            left, came = left + bool(before - now), came + bool(now - before)
            passed += work.scanned > scanned
        is_the_posterior_at(cache, posterior, X, np.arange(300))
        row = int(rng.integers(0, 300))
        w[row] += 1.0
        order = order if row in order else np.append(order, row)
    assert (left > 5, came > 5, passed) == (True, True, 0)


@pytest.mark.parametrize("room", [0, 100])
def test_rows_come_in_any_order(room: int) -> None:
    """Rows that begin and end like a stretch of the pool, and are none."""
    scene = Scene.drawn(0, 60, 5)
    X, posterior = scene.pool, scene.nystrom(4)
    for rows in ([10, 57, 12], [10, 12, 11, 13], [3, 3], [9], [12, 11, 10], [4, 5, 6]):
        cache = cache_of(X, room)
        cache.follow(posterior)
        is_the_posterior_at(cache, posterior, X, np.array(rows))


@given(scenes(least=3), st.integers(0, 2**20), columns)
def test_covariances_are_those_of_the_posterior(scene: Scene, seed: int, room: int) -> None:
    """The local rule ends batches by them."""
    assume(np.linalg.cond(scene.kernel(scene.points.X, scene.points.X)) < 1e8)
    rng = np.random.default_rng(seed)
    X, cache = scene.pool, cache_of(scene.pool, room)
    posterior = believed(scene, np.arange(len(scene.points))[::2])
    cache.follow(posterior)
    rows, others = rng.permutation(len(X))[:9], rng.integers(0, len(X), size=5)
    model, whole = cache.covariances(rows, others)
    close_to = np.testing.assert_allclose
    close_to(model, posterior.model_covariance(X[rows], X[others]), rtol=LOOSE, atol=LOOSE)
    close_to(whole, posterior.covariance(X[rows], X[others]), rtol=LOOSE, atol=LOOSE)


def test_an_empty_dictionary() -> None:
    """A linear kernel at the origin has no variance, so that no point can be a member."""
    X = np.zeros((4, 2))
    optimizer = nr.bbkb(nr.Pool(X), kernel=nr.Linear(), noise_std=0.1)
    for _ in range(3):
        batch = optimizer.ask(at_most=4)
        optimizer.tell(batch, [0.2] * len(batch))
    assert optimizer.posterior.variance(X).tolist() == [0.0] * 4


def test_another_kernel_is_another_cache() -> None:
    """A policy with its prior exchanged shares its search; kept values are of the other kernel."""
    X = Scene.drawn(1, 40, 5).pool
    cache = cache_of(X, 100)
    for kernel in (nr.RBF(0.3), nr.RBF(0.5), nr.Matern(0.5, 1.0)):
        posterior = Scene.drawn(1, 40, 5, kernel).nystrom(4)
        cache.follow(posterior)
        is_the_posterior_at(cache, posterior, X, np.arange(40))

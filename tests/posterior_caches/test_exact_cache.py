"""A lazy cache bounds every row at every moment, and is the posterior where it was refreshed."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Mean, Uncertainty
from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posterior_caches import ExactCache, Work
from noregret.posteriors import ExactPosterior, Observations
from strategies import Diary, Scene, close, rounding, scenes

BETAS = (0.0, 0.3, 3.0)
KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)


def cache_of(X: Matrix, memory: int = 1 << 20) -> ExactCache:
    return ExactCache(nr.Pool(X), Work(), memory)


def everything(cache: ExactCache) -> tuple[Vector, Vector]:
    """Refresh all rows."""
    cache.refresh(np.arange(len(cache.mean)))
    return cache.mean, cache.variance


def bounds_hold(cache: ExactCache, posterior: ExactPosterior, X: Matrix) -> None:
    """Assert that no true score passes its bound, rounding of the posterior itself aside."""
    mean, variance = posterior.marginals(X)
    best_mean = float(mean.max())
    off = rounding(posterior) if len(posterior.observed) else 0.0
    for beta in BETAS:
        for how in (nr.UCB(), KG, Mean(), Uncertainty()):
            true = how.score(mean, variance, beta, best_mean)
            ceilings = cache.ceilings(how, beta, best_mean, -np.inf)
            assert np.all(true <= ceilings + off * (1 + np.abs(true)))
    for beta in BETAS[1:]:
        how_ei = nr.ExpectedImprovement()
        true = how_ei.score(mean, variance, beta, best_mean)
        ceilings = cache.ceilings(how_ei, beta, best_mean, -np.inf)
        # A variance that is rounding alone has no digits to compare improvements by.
        certain = variance > 1e3 * off * float(posterior.kernel.diagonal(X).max())
        room = 1e-9 + off * np.abs(true) * 1e3
        assert np.all(true[certain] <= (ceilings + room)[certain])


@given(
    scenes(least=2, most=20),
    st.integers(0, 2**20),
    st.sampled_from([1, 30, 10**6]),
    st.floats(0.0, 0.5),
    st.sampled_from([0, 10_000, 1 << 20]),
)
def test_bounds_hold_for_all_rows_at_every_moment(
    scene: Scene, seed: int, most: int, share: float, memory: int
) -> None:
    """A row whose bound fell below its score would never be looked at, though it were best."""
    rng = np.random.default_rng(seed)
    X = scene.pool
    diary, posterior, cache = Diary(X), scene.prior(), cache_of(X, memory)
    for step in range(25):
        for row in rng.integers(0, len(X), size=int(rng.integers(1, 4))).tolist():
            diary.add(row, int(rng.integers(1, most + 1)), float(2 * rng.standard_normal()))
        posterior = diary.believed(posterior)
        if step and rng.random() < 0.3:
            continue  # not every posterior is followed
        cache.follow(posterior)
        bounds_hold(cache, posterior, X)
        rows = np.flatnonzero(rng.random(len(X)) < share)
        cache.refresh(rng.permutation(rows))
        is_the_posterior_at(cache, posterior, X, rows)
        bounds_hold(cache, posterior, X)


def is_the_posterior_at(
    cache: ExactCache, posterior: ExactPosterior, X: Matrix, rows: Indices
) -> None:
    mean, variance = posterior.marginals(X[rows])
    off, kappa = rounding(posterior), float(posterior.kernel.diagonal(X).max())
    scale = float(np.abs(posterior.observed.y).max())
    np.testing.assert_allclose(cache.mean[rows], mean, rtol=0, atol=off * scale)
    np.testing.assert_allclose(cache.variance[rows], variance, rtol=0, atol=off * kappa)


@pytest.mark.parametrize("kernel", [nr.RBF((0.2, 0.5)), nr.Matern(0.5, 0.3)])
def test_bounds_hold_where_what_is_kept_ends_in_the_middle(kernel: Kernel) -> None:
    rng = np.random.default_rng(4)
    X = rng.random((150, 2))
    diary, cache = Diary(X), cache_of(X)
    posterior = ExactPosterior.prior(kernel, noise_std=0.1, ridge=0.01, dim=2)
    for step in range(300):
        row = int(rng.integers(min(step + 1, 100)))
        diary.add(row, int(rng.integers(1, 5)), float(np.sin(9 * X[row, 0])))
        posterior = diary.believed(posterior)
        cache.follow(posterior)
        rows = rng.integers(0, 150, size=int(rng.integers(0, 12)))
        cache.refresh(rows)
        if step % 5 == 0:
            is_the_posterior_at(cache, posterior, X, rows)
            bounds_hold(cache, posterior, X)
    everything(cache)
    is_the_posterior_at(cache, posterior, X, np.arange(150))


def test_only_rows_asked_for_are_computed() -> None:
    """Laziness is the point: to follow must cost nothing of the size of the pool."""
    rng = np.random.default_rng(5)
    X, work = rng.random((80, 2)), Work()
    diary, cache = Diary(X), ExactCache(nr.Pool(X), work)
    posterior = ExactPosterior.prior(nr.RBF(0.3), noise_std=0.1, ridge=0.01, dim=2)
    for row in range(10):
        diary.add(row, 1, 0.3)
        posterior = diary.believed(posterior)
        cache.follow(posterior)
    assert (work.refreshed, work.flops) == (0, 0)
    cache.refresh(np.array([3, 9]))
    cache.refresh(np.array([9, 3, 4]))
    assert work.refreshed == 3


@given(scenes(least=2, most=20), st.integers(0, 2**20))
def test_a_cache_that_follows_equals_one_made_afresh(scene: Scene, seed: int) -> None:
    rng = np.random.default_rng(seed)
    diary, posterior, cache = Diary(scene.pool), scene.prior(), cache_of(scene.pool)
    for _ in range(25):
        for row in rng.integers(0, len(scene.points), size=int(rng.integers(1, 4))).tolist():
            diary.add(row, int(rng.integers(1, 30)), float(rng.standard_normal()))
        posterior = diary.believed(posterior)
        if rng.random() < 0.7:
            cache.follow(posterior)
            mean, variance = everything(cache)
            close(mean, posterior.mean(scene.pool), 1e-7)
            close(variance, posterior.variance(scene.pool))
            np.testing.assert_allclose(cache.prior, scene.kernel.diagonal(scene.pool))


def test_a_cache_starts_again_when_the_run_is_another() -> None:
    """A cache that trusts a posterior it does not continue would answer for the wrong run.

    Runs that share a search ask for other rows, or the same and are told other values; they count
    evaluations from one again, or have another ridge or kernel.
    """
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    cache = cache_of(X)
    for rows in ([0, 1, 2], [5, 6], [0, 1, 2, 3], [3, 2, 1, 0], [3, 2, 1, 0]):
        index, n = np.array(rows), len(rows)
        points = Observations(index, X[index], np.full(n, 2.0), rng.standard_normal(n))
        agrees(cache, Scene(nr.RBF(0.8), 0.2, points, X).exact(), X)
    fewer = Observations(index, X[index], np.ones(4), np.ones(4))
    kernels = nr.RBF(0.8), nr.RBF(0.8), nr.RBF(0.5), nr.Matern(0.5, 2.0)
    for kernel, ridge in zip(kernels, (0.2, 0.3, 0.3, 0.3), strict=True):
        agrees(cache, Scene(kernel, ridge, fewer, X).exact(), X)


def agrees(cache: ExactCache, posterior: ExactPosterior, X: Matrix) -> None:
    cache.follow(posterior)
    bounds_hold(cache, posterior, X)
    mean, variance = everything(cache)
    close(mean, posterior.mean(X))
    close(variance, posterior.variance(X))


def test_speculation_is_forgotten() -> None:
    """A look ahead at half a batch, then the whole of it: two continuations of one posterior."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 2))
    diary, cache = Diary(X), cache_of(X)
    posterior = ExactPosterior.prior(nr.Matern(2.5, 0.8), noise_std=0.3, ridge=0.09, dim=2)
    for step in range(60):
        row, other = rng.integers(0, 12, size=2).tolist()
        look = Diary(X, dict(diary.rows))
        value = float(rng.standard_normal())
        look.add(row, 1, value)
        ahead = look.believed(posterior)
        cache.follow(ahead)
        cache.refresh(rng.integers(0, 40, size=10))
        bounds_hold(cache, ahead, X)
        diary.add(row, 1, value)
        if step % 2:
            diary.add(row, 1, float(rng.standard_normal()))
        diary.add(other, 1, float(rng.standard_normal()))
        posterior = diary.believed(posterior)
        cache.follow(posterior)
        bounds_hold(cache, posterior, X)
        rows = rng.integers(0, 40, size=10)
        cache.refresh(rows)
        is_the_posterior_at(cache, posterior, X, rows)


def test_a_cache_broken_off_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a refresh must not leave rows updated twice."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 2))
    diary, cache = Diary(X), cache_of(X)
    posterior = ExactPosterior.prior(nr.RBF(0.8), noise_std=0.4, ridge=0.2, dim=2)
    for row in range(6):
        diary.add(row, 1, float(rng.standard_normal()))
        posterior = diary.believed(posterior)
        cache.follow(posterior)
    everything(cache)
    diary.add(5, 8, 0.3)
    posterior = diary.believed(posterior)
    cache.follow(posterior)
    monkeypatch.setattr("noregret.posterior_caches.exact.chunk_rows", lambda _: 100)
    with monkeypatch.context() as patch:  # counted in the middle of a group of rows
        patch.setattr(Work, "product", Mock(side_effect=[None, None, KeyboardInterrupt]))
        with pytest.raises(KeyboardInterrupt):
            everything(cache)
    bounds_hold(cache, posterior, X)
    mean, variance = everything(cache)
    close(variance, posterior.variance(X))
    close(mean, posterior.mean(X))


def test_a_cache_broken_off_while_starting_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before a new run was taken in: the rows of the old one must not pass for it."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 2))
    cache, kernel = cache_of(X), nr.RBF(0.8)
    points = Observations(np.arange(4), X[:4], np.ones(4), rng.standard_normal(4))
    agrees(cache, Scene(kernel, 0.2, points, X).exact(), X)
    other = Observations(np.arange(5, 9), X[5:9], np.ones(4), rng.standard_normal(4))
    posterior = Scene(kernel, 0.2, other, X).exact()
    with monkeypatch.context() as patch:
        patch.setattr(ExactCache, "restart", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cache.follow(posterior)
    agrees(cache, posterior, X)


def test_widening_starts_all_rows_again() -> None:
    """After more rounding than was thought, nothing that was carried is trusted."""
    scene = Scene.drawn(9, 60, 4, nr.RBF(0.8), 0.2)
    X, posterior = scene.pool, scene.exact()
    cache = cache_of(X)
    agrees(cache, posterior, X)
    cache.variance *= 1.1
    cache.widen(1e-3, 1e-4)
    assert cache.slack >= 1e-3
    assert cache.relative >= 1e-4
    agrees(cache, posterior, X)
    later = posterior.hallucinate(np.array([7]), X[[7]], np.array([2.0]))
    cache.follow(later)
    assert cache.slack >= 1e-3, "what was found is remembered"
    agrees(cache, later, X)

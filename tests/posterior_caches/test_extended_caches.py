"""Caches of a pool that grows: what was known of old rows stays, and new ones are like any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Mean, Uncertainty
from noregret.arrays import Indices, Matrix, Vector
from noregret.posterior_caches import ExactCache, NystromCache, PosteriorCache, StickyCache, Work
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample, Posterior, subset
from strategies import Diary

LOOSE = 1e-7
KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)
FIRST = 20


class Counting(nr.kernels.KernelBase):
    """A kernel that counts how often it is asked for values with a row."""

    def __init__(self) -> None:
        self.inner = nr.RBF(0.3)
        self.asked = 0

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        self.asked += len(X) * len(Z)
        return self.inner(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        self.asked += len(X)
        return self.inner.diagonal(X)


def exact(diary: Diary, kernel: nr.Kernel, before: Posterior | None) -> ExactPosterior:
    if not isinstance(before, ExactPosterior):
        before = ExactPosterior.prior(kernel, noise_std=0.1, ridge=0.01, dim=2)
    return diary.believed(before)


def sparse(diary: Diary, kernel: nr.Kernel, before: Posterior | None) -> NystromPosterior:
    del before
    p = diary.points()
    prior = NystromPosterior.prior(
        kernel, noise_std=0.1, ridge=0.01, dim=2, oversample=Oversample(), sticky=True
    )
    return prior.rebuilt(p, subset(p, np.arange(0, len(p), 2)))


Believe = Callable[[Diary, nr.Kernel, "Posterior | None"], Posterior]
Make = Callable[[nr.Pool, int], PosteriorCache]
KINDS: dict[str, tuple[Believe, Make]] = {
    "exact": (exact, lambda pool, memory: ExactCache(pool, Work(), memory)),
    "nystrom": (sparse, lambda pool, memory: NystromCache(pool, Work(), memory)),
    "sticky": (sparse, lambda pool, _: StickyCache(pool, Work())),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def is_the_posterior(cache: PosteriorCache, p: Posterior, X: Matrix, rows: Indices) -> None:
    mean, variance = p.marginals(X)
    for how in (nr.UCB(), nr.ExpectedImprovement(), KG, Mean(), Uncertainty()):
        true = how.score(mean, variance, 2.0, float(mean.max()))
        bound = cache.ceilings(how, 2.0, float(mean.max()), -np.inf)
        assert np.all(true <= bound + LOOSE * (1 + np.abs(true)))
    others = rows[:3]
    cache.refresh(rows)
    for found, expected in (
        (cache.mean[rows], mean[rows]),
        (cache.variance[rows], variance[rows]),
        (cache.prior, p.kernel.diagonal(X)),
        (cache.covariances(rows, others)[0], p.model_covariance(X[rows], X[others])),
        (cache.covariances(rows, others)[1], p.covariance(X[rows], X[others])),
    ):
        np.testing.assert_allclose(found, expected, rtol=LOOSE, atol=LOOSE)


@every_kind
@given(seed=st.integers(0, 2**20), memory=st.sampled_from([0, 3000, 6000, 1 << 20]))
def test_bounds_hold_for_all_rows_while_the_pool_grows(kind: str, seed: int, memory: int) -> None:
    """New rows have missed every update; a bound that forgot one would hide the best of them."""
    believe, make = KINDS[kind]
    rng, kernel = np.random.default_rng(seed), nr.Matern(nu=0.5, lengthscale=0.5)
    X, N = rng.random((60, 2)), FIRST
    diary, cache, p = Diary(X), make(nr.Pool(X[:N]), memory), None
    if rng.random() < 0.3:  # before anything was believed
        N += 3
        cache.extend(nr.Pool(X[:N]))
    for _ in range(10):
        for row in rng.integers(0, N, size=int(rng.integers(1, 4))).tolist():
            diary.add(row, int(rng.integers(1, 5)), float(rng.standard_normal()))
        p = believe(diary, kernel, p)
        cache.follow(p)
        is_the_posterior(cache, p, X[:N], rng.permutation(N)[: rng.integers(1, N)])
        if rng.random() < 0.5:
            N = min(N + int(rng.integers(1, 12)), 60)
            cache.extend(nr.Pool(X[:N]))
            is_the_posterior(cache, p, X[:N], rng.permutation(N)[: rng.integers(1, N)])


@pytest.mark.parametrize("kind", ["exact", "nystrom"])
def test_kernel_values_of_old_rows_are_not_computed_again(kind: str) -> None:
    """Of a million candidates and ten new ones, the ten are looked at."""
    believe, make = KINDS[kind]
    X, kernel = np.random.default_rng(3).random((5000, 2)), Counting()
    diary, cache = Diary(X), make(nr.Pool(X[:4990]), 1 << 26)
    for row in range(40):
        diary.add(row, 1, float(np.sin(row)))
    p = believe(diary, kernel, None)
    cache.follow(p)
    cache.refresh(np.arange(4990))
    kernel.asked = 0
    cache.extend(nr.Pool(X))
    cache.refresh(np.arange(5000))
    assert 0 < kernel.asked <= 10 * (len(p.basis) + 1)
    mean, variance = p.marginals(X)
    np.testing.assert_allclose(cache.mean, mean, atol=LOOSE)
    np.testing.assert_allclose(cache.variance, variance, atol=LOOSE)

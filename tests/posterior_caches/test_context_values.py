"""Kernel values under contexts are products, and a glance bounds every row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Mean, Uncertainty
from noregret.kernels import InContext
from noregret.pools import ContextView, joined
from noregret.posterior_caches import ContextValues, ExactCache, Work, glance
from noregret.posteriors import ExactPosterior, Observations

KERNEL = InContext(2.0 * nr.Matern(nu=0.5, lengthscale=0.6), nr.RBF(0.4), 2)


def told(rng: np.random.Generator, X: np.ndarray, contexts: np.ndarray, n: int) -> Observations:
    rows, which = rng.integers(0, len(X), n), rng.integers(0, len(contexts), n)
    pairs = joined(X[rows], contexts[which])
    _, first = np.unique(pairs, axis=0, return_index=True)
    pairs = pairs[np.sort(first)]
    w = rng.integers(1, 5, len(pairs)).astype(np.float64)
    return Observations(len(X) + np.arange(len(pairs)), pairs, w, rng.standard_normal(len(pairs)))


@given(st.integers(0, 2**20), st.sampled_from([0, 1 << 20]))
def test_values_are_those_of_the_product(seed: int, memory: int) -> None:
    """Under one context after the other, while points come in."""
    rng = np.random.default_rng(seed)
    X, contexts = rng.random((30, 2)), rng.random((4, 1))
    pool, whole = nr.Pool(X), told(rng, X, contexts, 40)
    values = ContextValues(pool, memory)
    for n in (5, 5, 17, len(whole)):
        view = ContextView(pool, contexts[rng.integers(4)])
        part = Observations(whole.rows[:n], whole.X[:n], whole.w[:n], whole.y[:n])
        values.under(view).follow(KERNEL, part)
        rows = rng.integers(0, 30, 12)
        np.testing.assert_allclose(values.of(rows), KERNEL(view.rows(rows), part.X), rtol=1e-12)


@given(st.integers(0, 2**20), st.integers(1, 60))
def test_a_glance_bounds_all_rows(seed: int, n: int) -> None:
    """A row whose bound fell below its score would never be looked at, though it were best."""
    rng = np.random.default_rng(seed)
    X, contexts = rng.random((40, 2)), rng.random((5, 1))
    pool, points = nr.Pool(X), told(rng, X, contexts, n)
    prior = ExactPosterior.prior(KERNEL, noise_std=0.3, ridge=0.09, dim=3)
    posterior = prior.condition(points, Observations.none(3), rng)
    view, values = ContextView(pool, contexts[0]), ContextValues(pool, 1 << 20)
    cache = ExactCache(view, Work(), kept=values.under(view))
    cache.follow(posterior)
    glance(cache, values, posterior)
    mean, variance = posterior.marginals(view.rows(np.arange(40)))
    for how in (nr.UCB(), nr.ExpectedImprovement(), Mean(), Uncertainty()):
        true = how.score(mean, variance, 2.0, float(mean.max()))
        bound = cache.ceilings(how, 2.0, float(mean.max()), -np.inf)
        assert np.all(true <= bound + 1e-7 * (1 + np.abs(true)))
    rows = rng.permutation(40)[:9]
    cache.refresh(rows)
    np.testing.assert_allclose(cache.variance[rows], variance[rows], atol=1e-8)

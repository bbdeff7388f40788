"""Sparse posteriors whose members stay, followed by the exact one on the members."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Mean, Uncertainty
from noregret.arrays import Indices
from noregret.posterior_caches import StickyCache, Work
from noregret.posteriors import NystromPosterior, Oversample, subset
from strategies import Diary

LOOSE = 1e-7

KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)


def believed(diary: Diary, members: Indices) -> NystromPosterior:
    p = diary.points()
    prior = NystromPosterior.prior(
        nr.RBF(0.3), noise_std=0.1, ridge=0.01, dim=2, oversample=Oversample(), sticky=True
    )
    return prior.rebuilt(p, subset(p, members))


@given(st.integers(0, 2**20), st.floats(0.0, 1.0))
def test_bounds_hold_and_refreshed_rows_are_the_posterior(seed: int, share: float) -> None:
    """Members join, others only project, counts grow; now and then all is drawn again."""
    rng = np.random.default_rng(seed)
    X = rng.random((40, 2))
    diary, cache = Diary(X), StickyCache(nr.Pool(X), Work())
    members: list[int] = []
    for step in range(12):
        for row in rng.integers(0, len(X), size=rng.integers(1, 5)).tolist():
            diary.add(row, int(rng.integers(1, 4)), float(np.sin(5 * X[row, 0])))
        n = len(diary.points())
        if step == 8:
            members = []
        new = [at for at in range(n) if at not in members and (not members or rng.random() < share)]
        members += new[: max(1, n // 2)]
        posterior = believed(diary, np.array(members))
        cache.follow(posterior)
        mean, variance = posterior.marginals(X)
        best_mean = float(mean.max())
        for how in (nr.UCB(), nr.ExpectedImprovement(), KG, Mean(), Uncertainty()):
            true = how.score(mean, variance, 2.0, best_mean)
            bound = cache.ceilings(how, 2.0, best_mean, -np.inf)
            assert np.all(true <= bound + LOOSE * (1 + np.abs(true)))
        rows = rng.permutation(len(X))[: rng.integers(1, 20)]
        cache.refresh(rows)
        others = rng.permutation(len(X))[:3]
        model, whole = cache.covariances(rows, others)
        for found, expected in (
            (cache.mean[rows], mean[rows]),
            (cache.variance[rows], variance[rows]),
            (model, posterior.model_covariance(X[rows], X[others])),
            (whole, posterior.covariance(X[rows], X[others])),
        ):
            np.testing.assert_allclose(found, expected, rtol=LOOSE, atol=LOOSE)


def test_a_sticky_run_that_does_not_fit_makes_the_same_choices() -> None:
    """A dictionary that outgrows the memory in the middle of a run changes how, not what."""
    rng = np.random.default_rng(2)
    X = rng.random((3000, 2))
    f = np.sin(6 * X[:, 0]) * np.cos(5 * X[:, 1])
    chosen = []
    for columns in (1000, 10, 0):
        opt = nr.bbkb(nr.Pool(X), kernel=nr.RBF(0.2), noise_std=0.05, dictionary="sticky", seed=3)
        policy: Any = opt.policy
        policy.search.memory = 8 * columns * len(X)
        noise = np.random.default_rng(5)
        ids: list[object] = []
        while opt.spent < 120:
            batch = opt.ask(at_most=120 - opt.spent)
            rows = np.repeat(batch.ids, batch.repeats)
            opt.tell(batch, f[rows] + 0.05 * noise.standard_normal(len(rows)))
            ids += rows.tolist()
        chosen.append(ids)
    assert chosen[0] == chosen[1] == chosen[2]
    assert isinstance(policy.search.cache, StickyCache)

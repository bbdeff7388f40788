"""The best candidate of a pool: lazy search is full search, one posterior at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Acquisition, Mean, Uncertainty
from noregret.arrays import Mask
from noregret.errors import ArgumentError, AskError
from noregret.pools import Points
from noregret.posterior_caches import ExactCache
from noregret.posteriors import ExactPosterior, Observations, Posterior
from noregret.search import Enumeration
from slow_search import ranked
from strategies import Diary, Scene, scenes

KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)
acquisitions = st.sampled_from([nr.UCB(), nr.ExpectedImprovement(), KG, Uncertainty(), Mean()])


def nobody(N: int) -> Mask:
    return np.zeros(N, dtype=np.bool_)


@given(scenes(), acquisitions, st.floats(0.1, 20), st.integers(0, 2**20), st.booleans())
def test_lazy_search_is_full_search(
    scene: Scene, how: Acquisition, beta: float, seed: int, sparse: bool
) -> None:
    """A choice that differs from the true best of the pool voids every guarantee."""
    rng = np.random.default_rng(seed)
    X = np.vstack([scene.pool, rng.standard_normal((130, scene.pool.shape[1]))])
    stale: Posterior = scene.nystrom(4) if sparse else scene.exact()
    excluded = rng.random(len(X)) < 0.3
    excluded[0] = False
    ranking, full = ranked(X, stale, how, beta, excluded)
    for _ in range(12):
        row = full.best()
        assert ranking.best() == row
        assert not excluded[row]
        assert ranking.score(row) == pytest.approx(full.score(row), rel=1e-9, abs=1e-12)
        assert ranking.stale(row) == full.stale(row)
        assert ranking.now(row) == pytest.approx(full.now(row), rel=1e-7, abs=1e-12)
        count = int(rng.integers(1, 4))
        ranking.shrink(row, count)
        full.shrink(row, count)
        other = int(rng.choice(np.flatnonzero(~excluded)))
        assert ranking.now(other) == pytest.approx(full.now(other), rel=1e-7, abs=1e-12)


def test_excluded_rows_can_be_shrunk_and_looked_at_but_not_chosen() -> None:
    """An evaluation under way when its candidate is excluded still shrinks the others."""
    scene = Scene.drawn(2, 40, 6)
    X, stale = scene.pool, scene.exact()
    best = ranked(X, stale, nr.UCB(), 2.0)[1].best()
    excluded = np.arange(40) == best
    ranking, full = ranked(X, stale, nr.UCB(), 2.0, excluded)
    far = int(np.argmax(((X - X[best]) ** 2).sum(axis=1)))
    ranking.shrink(far, 1)
    full.shrink(far, 1)
    assert ranking.now(best) == pytest.approx(full.now(best), rel=1e-9)
    assert ranking.best() == full.best() != best


def test_ties_go_to_the_lowest_row_however_rows_are_grouped() -> None:
    """Else runs would differ between pools, shards and resumed runs."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 3)), 5, axis=0)[rng.permutation(200)]
    points = Observations(np.arange(6), X[:6], np.ones(6), rng.standard_normal(6))
    stale = Scene(nr.RBF(1.0), 0.1, points, X).exact()
    for how in (nr.UCB(), nr.ExpectedImprovement(), KG):
        ranking, _ = ranked(X, stale, how, 2.0)
        for _ in range(25):
            row = ranking.best()
            assert row == np.flatnonzero((X[row] == X).all(axis=1))[0]
            ranking.shrink(row, 1)


def test_ties_do_not_hang_on_what_was_looked_at_first() -> None:
    """Scores 1e-10 apart: tied or not, but the same for a fresh search and one that has a past.

    Past and fresh searches look at other rows first; nothing may be measured by those.
    """
    rng = np.random.default_rng(1)
    for trial in range(40):
        X = np.concatenate([rng.random((300, 1)), 0.5 + 1e-10 * rng.permutation(40)[:, None]])
        X = X[rng.permutation(len(X))]
        diary, past, points = Diary(X), Enumeration(), Points(nr.Pool(X))
        posterior = ExactPosterior.prior(
            nr.Matern(0.5, 0.1 + 0.01 * trial), noise_std=0.1, ridge=0.01, dim=1
        )
        for _ in range(12):
            row = past.rank(points, posterior, nr.UCB(), 2.0, nobody(340)).best()
            fresh, full = ranked(X, posterior, nr.UCB(), 2.0)
            assert fresh.best() == full.best() == row
            diary.add(row, 1, float(rng.standard_normal()))
            posterior = diary.believed(posterior)


@pytest.mark.parametrize("tied", [5000, 16384, 20000])
def test_a_pool_of_equals_is_searched_at_any_size(tied: int) -> None:
    """Before any feedback thousands of candidates are as good as each other.

    Those that can be best are looked at in groups: sizes at which what is left is just one group
    must not break it.
    """
    N = 64 + 64 + 256 + 1024 + 4096 + tied
    X = np.random.default_rng(0).random((N, 2))
    prior = ExactPosterior.prior(nr.RBF(0.2), noise_std=0.1, ridge=0.01, dim=2)
    search, points = Enumeration(), Points(nr.Pool(X))
    assert search.rank(points, prior, nr.UCB(), 2.0, nobody(N)).best() == 0
    excluded = np.arange(N) < 7
    assert search.rank(points, prior, nr.UCB(), 2.0, excluded).best() == 7


def test_a_pool_wholly_excluded_has_no_best() -> None:
    scene = Scene(nr.RBF(1.0), 1.0, Observations.none(1), np.zeros((3, 1)))
    with pytest.raises(AskError, match="all 3 candidates are excluded"):
        ranked(scene.pool, scene.exact(), nr.UCB(), 1.0, np.ones(3, dtype=bool))


def test_the_top_is_that_of_candidates_that_may_be_asked_for() -> None:
    """Improvement over an excluded candidate would be improvement over nothing."""
    X = np.linspace(0, 1, 30)[:, None]
    points = Observations(np.array([3, 20]), X[[3, 20]], np.full(2, 50.0), np.array([5.0, 1.0]))
    posterior = Scene(nr.RBF(0.1), 0.1, points, X).exact()
    excluded = np.arange(30) < 10
    ranking, _ = ranked(X, posterior, nr.ExpectedImprovement(), 1.0, excluded)
    mean, variance = posterior.marginals(X)
    scores = nr.ExpectedImprovement().score(mean, variance, 1.0, float(mean[10:].max()))
    row = ranking.best()
    assert row == 10 + int(np.argmax(scores[10:]))
    assert ranking.score(row) == pytest.approx(float(scores[row]), rel=1e-6)


def test_memory_changes_no_choice() -> None:
    """Memory must not grow past what was set aside; choices stay the same."""
    scene = Scene.drawn(4, 60, 5, nr.RBF(0.8), 0.2)
    X, posterior = scene.pool, scene.nystrom(4)
    rows = {
        Enumeration(memory=memory)
        .rank(Points(nr.Pool(X)), posterior, nr.UCB(), 2.0, nobody(60))
        .best()
        for memory in (0, 100, 8 * 3 * 60, 8 * 4 * 60, 1 << 30)
    }
    assert len(rows) == 1


def test_each_posterior_has_its_cache() -> None:
    """A search may be shared by an exact and a sparse policy, in turns."""
    scene, search = Scene.drawn(4, 60, 5, nr.RBF(0.8), 0.2), Enumeration()
    X, pool = scene.pool, Points(nr.Pool(scene.pool))
    for posterior in (scene.exact(), scene.nystrom(3), scene.exact()):
        _, full = ranked(X, posterior, nr.UCB(), 2.0)
        assert search.rank(pool, posterior, nr.UCB(), 2.0, nobody(60)).best() == full.best()
        exact = isinstance(posterior, ExactPosterior)
        assert isinstance(search.cache, ExactCache) == exact


def test_a_posterior_of_another_kind_is_refused_by_name() -> None:
    """Its bounds across feedback are not known, so that no pool can be searched lazily by it."""
    foreign: Any = object()
    with pytest.raises(ArgumentError, match=r"ExactPosterior or a NystromPosterior, got <object"):
        Enumeration().rank(Points(nr.Pool([[0.0]])), foreign, nr.UCB(), 1.0, nobody(1))

"""Lazy search is full search; surveys are the posterior at every row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Acquisition
from noregret.arrays import Mask, Matrix, Vector
from noregret.errors import AskError
from noregret.posteriors import ExactPosterior, Points, Posterior, cholesky
from noregret.search import Enumeration
from noregret.surveys import ExactSurvey, PlainSurvey
from problems import RTOL, Scene, close, no_rng, scenes

acquisitions = st.sampled_from([nr.UCB(), nr.ExpectedImprovement()])


def full_search(
    stale: Posterior, now: Posterior, how: Acquisition, beta: float, X: Matrix, excluded: Mask
) -> tuple[int, Vector]:
    mean = stale.mean(X)
    scores = how.score(mean, now.variance(X), beta, float(mean[~excluded].max()))
    scores[excluded] = -np.inf
    return int(np.argmax(scores)), scores


@given(scenes(), acquisitions, st.floats(0.1, 20), st.integers(0, 2**20), st.booleans())
def test_lazy_search_is_full_search(
    scene: Scene, how: Acquisition, beta: float, seed: int, sparse: bool
) -> None:
    """A choice that differs from the true best of the pool voids every guarantee."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, scene.pool.shape[1]))
    stale: Posterior = scene.nystrom(4) if sparse else scene.exact()
    excluded = rng.random(len(X)) < 0.3
    excluded[0] = False
    ranking = Enumeration(nr.Pool(X)).rank(stale, how, beta, excluded)
    now = stale
    for _ in range(12):
        best, scores = full_search(stale, now, how, beta, X, excluded)
        row = ranking.best()
        assert not excluded[row]
        assert row == best or scores[row] == pytest.approx(scores[best], rel=1e-9)
        assert ranking.score(row) == pytest.approx(scores[best], rel=1e-7, abs=1e-7)
        now = now.hallucinate(1000 + row, X[row], int(rng.integers(1, 4)))
        ranking.shrink(now)


def test_ties_go_to_the_lowest_row_however_rows_are_grouped() -> None:
    """Else runs would differ between pools, shards and resumed runs."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 3)), 5, axis=0)[rng.permutation(200)]
    points = Points(np.arange(6), rng.standard_normal((6, 3)), np.ones(6), rng.standard_normal(6))
    stale = Scene(nr.RBF(1.0), 0.1, points, X).exact()
    none = np.zeros(200, dtype=bool)
    for how in (nr.UCB(), nr.ExpectedImprovement()):
        ranking, now = Enumeration(nr.Pool(X)).rank(stale, how, 2.0, none), stale
        for _ in range(25):
            row = ranking.best()
            assert row == np.flatnonzero((X[row] == X).all(axis=1))[0]
            now = now.hallucinate(500 + row, X[row], 1)
            ranking.shrink(now)


def test_a_pool_wholly_excluded_has_no_best() -> None:
    """There is nothing to ask for."""
    scene = Scene(nr.RBF(1.0), 1.0, Points.none(1), np.zeros((3, 1)))
    with pytest.raises(AskError, match="all 3 candidates are excluded"):
        Enumeration(nr.Pool(scene.pool)).rank(scene.exact(), nr.UCB(), 1.0, np.ones(3, dtype=bool))


@given(scenes(least=2, most=20), st.integers(0, 2**20))
def test_a_survey_that_follows_equals_one_made_afresh(scene: Scene, seed: int) -> None:
    """Rank-one updates of the whole pool against the posterior itself at every row."""
    rng = np.random.default_rng(seed)
    pool, p = nr.Pool(scene.pool), scene.points
    dim = scene.pool.shape[1]
    posterior = ExactPosterior.prior(scene.kernel, noise_std=1.0, ridge=scene.ridge, dim=dim)
    survey, n, w = ExactSurvey(pool), 0, np.empty(0)
    for _ in range(25):
        more = int(n < len(p) and rng.random() < 0.6)
        w = np.concatenate([w, np.ones(more)])
        n += more
        w[rng.integers(max(n, 1)) : n : 3] += rng.integers(0, 30)
        told = Points(p.rows[:n], p.X[:n], w.copy(), rng.standard_normal(n))
        posterior = posterior.condition(told, Points.none(dim), no_rng())
        if rng.random() < 0.7:
            survey.follow(posterior)
            mean, variance = posterior.marginals(scene.pool)
            close(survey.mean, mean, 1e-7)
            close(survey.variance, variance, RTOL)
            np.testing.assert_allclose(survey.prior, scene.kernel.diagonal(scene.pool))


def test_a_survey_starts_again_when_the_run_is_another() -> None:
    """A cache that trusts a posterior it does not continue would answer for the wrong run."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 2))
    survey = ExactSurvey(nr.Pool(X))
    for rows in ([0, 1, 2], [5, 6], [0, 1, 2, 3], [3, 2, 1, 0]):
        index = np.array(rows)
        points = Points(index, X[index], np.full(len(rows), 2.0), rng.standard_normal(len(rows)))
        posterior = Scene(nr.RBF(0.8), 0.2, points, X).exact()
        survey.follow(posterior)
        close(survey.variance, posterior.variance(X))
        close(survey.mean, posterior.mean(X))
    fewer = Points(index, X[index], np.ones(4), np.ones(4))
    posterior = Scene(nr.RBF(0.8), 0.2, fewer, X).exact()
    survey.follow(posterior)
    close(survey.variance, posterior.variance(X))


def test_too_large_a_pool_is_surveyed_without_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory must not grow past what was set aside; choices stay the same."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 2))
    points = Points(np.arange(5), X[:5], np.ones(5), rng.standard_normal(5))
    posterior = Scene(nr.RBF(0.8), 0.2, points, X).exact()
    none = np.zeros(60, dtype=bool)
    usual = Enumeration(nr.Pool(X))
    row = usual.rank(posterior, nr.UCB(), 2.0, none).best()
    monkeypatch.setattr("noregret.surveys.MOST_BYTES", 100)
    small = Enumeration(nr.Pool(X))
    assert small.rank(posterior, nr.UCB(), 2.0, none).best() == row
    assert isinstance(small._survey, PlainSurvey)
    assert isinstance(usual._survey, ExactSurvey)


def test_a_survey_broken_off_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a pass must not leave rows updated twice."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 2))
    points = Points(np.arange(6), X[:6], np.ones(6), rng.standard_normal(6))
    first = Scene(nr.RBF(0.8), 0.2, points, X).exact()
    more = Points(points.rows, points.X, np.array([1.0, 1, 1, 1, 1, 9]), points.y)
    second = first.condition(more, Points.none(2), no_rng())
    survey = ExactSurvey(nr.Pool(X))
    survey.follow(first)
    monkeypatch.setattr("noregret.surveys.chunk_rows", lambda _: 100)
    calls, usual = [0], cholesky.solve_lower

    def interrupted(L: Matrix, B: Matrix, *, overwrite: bool = False) -> Matrix:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return usual(L, B, overwrite=overwrite)

    with monkeypatch.context() as patch:
        patch.setattr(cholesky, "solve_lower", interrupted)
        with pytest.raises(KeyboardInterrupt):
            survey.follow(second)
    survey.follow(second)
    close(survey.variance, second.variance(X))

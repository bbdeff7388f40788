"""Runs of one choice taken at once, and rounding that is found and repaired."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Acquisition
from noregret.arrays import Matrix
from noregret.pools import Points
from noregret.posteriors import ExactPosterior, Observations, Posterior
from noregret.search import Enumeration, Ranking
from slow_search import ranked
from strategies import Diary, Scene, scenes

KG = nr.KnowledgeGradient(ahead=50.0, noise=0.1)
NOBODY = np.zeros(300, dtype=np.bool_)
acquisitions = st.sampled_from([nr.UCB(), nr.ExpectedImprovement(), KG])


def wins(ranking: Ranking, row: int, most: int) -> int:
    """Return how often in a row a candidate is best, found by taking it once at a time."""
    count = 0
    while count < most and ranking.best() == row:
        ranking.shrink(row, 1)
        count += 1
    return count


@given(scenes(), acquisitions, st.floats(0.3, 20), st.booleans(), st.floats(0.1, 500))
def test_a_candidate_stays_no_longer_than_it_wins(
    scene: Scene, how: Acquisition, beta: float, sparse: bool, noise: float
) -> None:
    """One too many would be a choice that the algorithm did not make.

    Others shrink too, so that a run may be found in several goes; together they are the run.
    """
    scene = Scene(scene.kernel, scene.ridge * noise, scene.points, scene.pool)
    stale: Posterior = scene.nystrom(4) if sparse else scene.exact()
    ranking, full = ranked(scene.pool, stale, how, beta)
    for most in (1, 2, 3, 7, 50, 50, 50, 50):
        row = ranking.best()
        assert full.best() == row
        count = ranking.repeats_while_best(row, most)
        assert 1 <= count <= most
        assert ranking.repeats_while_best(row, count) == count
        assert wins(full, row, count) == count
        ranking.shrink(row, count)


@given(st.integers(0, 2**20), acquisitions, st.floats(0.3, 5), st.integers(1, 200))
def test_runs_are_found_in_few_goes_where_others_do_not_move(
    seed: int, how: Acquisition, beta: float, most: int
) -> None:
    """Skipping ahead must skip: candidates too far apart to know of each other.

    The first go only knows of the candidates it began with; the next one finds the rest.
    """
    rng = np.random.default_rng(seed)
    X: Matrix = np.arange(0.0, 1200.0, 100.0)[:, None]
    w = rng.integers(1, 9, 12).astype(np.float64)
    points = Observations(np.arange(12), X, w, rng.standard_normal(12))
    stale = Scene(nr.RBF(1.0), 10.0 ** rng.uniform(-1, 3), points, X).exact()
    ranking, full = ranked(X, stale, how, beta)
    for _ in range(5):
        row, left = ranking.best(), wins(full, full.best(), most)
        for _ in range(2):
            count = ranking.repeats_while_best(row, left) if left else 0
            left -= count
            if count:
                ranking.shrink(row, count)
                assert left == 0 or ranking.best() == row
        assert left == 0


def test_a_candidate_alone_stays_for_all_there_is_room_for() -> None:
    """Nobody could ever be better."""
    scene = Scene(nr.RBF(1.0), 1.0, Observations.none(1), np.zeros((1, 1)))
    ranking, _ = ranked(scene.pool, scene.exact(), nr.UCB(), 1.0)
    ranking.shrink(0, 1)
    assert ranking.best() == 0
    for most in (1, 2, 3, 4, 5, 1000, 10**9):
        assert ranking.repeats_while_best(0, most) == most


def test_of_twins_neither_stays() -> None:
    """Equal candidates shrink alike, and the lowest row goes on being best: one at a time."""
    X = np.zeros((3, 1))
    scene = Scene(nr.RBF(1.0), 5.0, Observations.none(1), X)
    ranking, _ = ranked(X, scene.exact(), nr.UCB(), 1.0)
    for _ in range(5):
        assert ranking.best() == 0
        ranking.shrink(0, ranking.repeats_while_best(0, 100))


@pytest.mark.parametrize("name", ["variance", "mean"])
@pytest.mark.parametrize("error", [1e-3, 1e-6])
def test_rounding_is_found_repaired_and_logged(
    name: str, error: float, caplog: pytest.LogCaptureFixture
) -> None:
    """A cache gone wrong, whatever the reason, must not choose, nor be repaired in silence."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    diary, search, points = Diary(X), Enumeration(), Points(nr.Pool(X))
    posterior = ExactPosterior.prior(nr.RBF(0.2), noise_std=0.1, ridge=0.01, dim=2)
    for step in range(30):
        row = search.rank(points, posterior, nr.UCB(), 2.0, NOBODY).best()
        diary.add(row, 1, float(np.sin(9 * X[row, 0]) + 0.1 * rng.standard_normal()))
        posterior = diary.believed(posterior)
        if step % 10 == 5:
            search.rank(points, posterior, nr.UCB(), 2.0, NOBODY)
            cache = search.cache
            assert cache is not None
            cache.refresh(np.arange(300))
            getattr(cache, name)[:] *= 1 + error
            with caplog.at_level(logging.INFO, logger="noregret"):
                caplog.clear()
                ranking = search.rank(points, posterior, nr.UCB(), 2.0, NOBODY)
            # Once found, a little more than that is allowed for from then on.
            assert step > 5 or "300 candidates start again" in caplog.text
            assert ranking.best() == ranked(X, posterior, nr.UCB(), 2.0)[1].best()
        elif step > 5:
            ranking = search.rank(points, posterior, nr.UCB(), 2.0, NOBODY)
            assert ranking.best() == ranked(X, posterior, nr.UCB(), 2.0)[1].best()

"""GP-BUCB with a row for every evaluation, against dense algebra and against the library."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from evaluation.methods.every import GP_BUCB, GPBUCB, EveryEvaluation
from evaluation.runs.trial import run
from small_runs import cell, small

KERNEL, RIDGE = nr.RBF(0.4), 0.01


def test_the_posterior_is_that_of_dense_algebra() -> None:
    """Repeats included, and while values of the last evaluations are unknown."""
    rng = np.random.default_rng(0)
    X = rng.random((15, 2))
    rows, values = rng.integers(15, size=40), rng.standard_normal(40)
    post, told = EveryEvaluation(X, KERNEL, RIDGE, horizon=40), 0
    for t, row in enumerate(rows, start=1):
        grew = post.evaluate(int(row))
        K = KERNEL(X[rows[:t]], X[rows[:t]]) + RIDGE * np.eye(t)
        log_det = np.linalg.slogdet(K / RIDGE)[1]
        half = KERNEL(X[rows[:t]], X)
        variance = 1 - (half * np.linalg.solve(K, half)).sum(axis=0)
        np.testing.assert_allclose(post.variance, variance, atol=1e-9)
        assert post.log_det == pytest.approx(log_det)
        if t > 1:
            before = np.linalg.slogdet(K[:-1, :-1] / RIDGE)[1]
            assert np.log(grew) == pytest.approx(log_det - before)
        if t % 3 == 0:
            post.learn(values[told:t])
            told = t
            mean = half.T @ np.linalg.solve(K, values[:t])
            np.testing.assert_allclose(post.mean, mean, atol=1e-8)


@pytest.mark.parametrize("limit", [1.0, 2.0, 5.0])
def test_it_chooses_as_the_library_does(limit: float) -> None:
    """The same batches of GP-BUCB, and with limit 1 those of GP-UCB."""
    problem, horizon = small(), 120
    one = cell({"algorithm": GP_BUCB, "bandwidth": 0.4, "limit": limit}, horizon=horizon)
    player, rng = GPBUCB.of(problem, one), np.random.default_rng(1)
    sizes: list[int] = []
    opt = nr.gp_bucb(
        problem.domain, kernel=KERNEL, noise_std=0.1, horizon=horizon, limit=limit, start=[]
    )
    while (left := horizon - len(player.posterior.rows)) > 0:
        player.ask(left)
        rows = player.points()
        values = problem.feedback(rows, rng)
        player.tell(values)
        if sizes:  # the first is drawn
            batch = opt.ask(at_most=left)
            np.testing.assert_array_equal(problem.batch(batch), rows)
            opt.tell(batch, values)
        else:
            opt.tell(rows, values)
        sizes.append(len(rows))
    assert (max(sizes) > 3) == (limit > 1)


def test_a_cell_of_it_runs_like_any_other() -> None:
    one = cell({"algorithm": GP_BUCB, "bandwidth": 0.4, "limit": 2.0}, horizon=50)
    record = run(one, small())
    assert record["steps"][-1] == 50
    assert record["regret"][-1] < 0.8 * 50 * record["uniform"]
    with pytest.raises(AssertionError, match="takes no history"):
        run(cell(one.method, horizon=10, history=5), small())

"""Explanations against dense algebra and plain loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from noregret.policies import model_view
from slow_references import DenseGP
from small_explanations import KERNEL, NAMED, NAMES, NOISE, warm
from small_optimizers import BASELINES, DRAWING, F, X, build

EXACT = ["mini_gp_ucb", "mini_gp_ei", "gp_bucb-product"]
MODELS = [*EXACT, "bbkb-global"]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(("goal", "offset"), [("max", 0.0), ("min", 0.3)])
def test_belief_and_bounds_are_those_of_the_textbook(
    name: str, goal: Literal["max", "min"], offset: float
) -> None:
    """A chemist takes these numbers to the bench."""
    optimizer, rows, values = warm(name, goal=goal, offset=offset)
    dense = DenseGP(KERNEL, NOISE**2, X[rows], values - offset)
    for row in (0, 7, int(rows[0]), int(rows[-1])):
        why = optimizer.explain(NAMES[row])
        mean, std = offset + dense.mean(X[[row]])[0], math.sqrt(dense.variance(X[[row]])[0])
        assert why.id == NAMES[row]
        np.testing.assert_array_equal(why.x, X[row])
        assert why.mean == pytest.approx(mean, rel=1e-8)
        assert why.std == pytest.approx(std, rel=1e-6)
        assert why.beta == optimizer.posterior.beta > 0
        assert why.width == pytest.approx(why.beta * std, rel=1e-6)
        assert why.lower == pytest.approx(mean - why.beta * std, rel=1e-6)
        assert why.upper == pytest.approx(mean + why.beta * std, rel=1e-6)
        assert why.evaluations == (rows == row).sum()
        if why.evaluations:
            assert why.average == pytest.approx(values[rows == row].mean(), rel=1e-12)
        else:
            assert math.isnan(why.average)


@pytest.mark.parametrize("name", MODELS)
def test_the_belief_is_that_of_the_posterior(name: str) -> None:
    """Two answers about one candidate must not differ, sparse or not."""
    optimizer, _, _ = warm(name, goal="min", offset=0.2)
    for row in range(0, 40, 9):
        why = optimizer.explain(NAMES[row])
        assert why.mean == pytest.approx(optimizer.posterior.mean(X[[row]])[0], rel=1e-12)
        assert why.std == pytest.approx(optimizer.posterior.std(X[[row]])[0], rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_the_nearest_are_those_of_largest_prior_correlation(name: str) -> None:
    """They are the reason for the belief: the wrong ones would send someone to the wrong flask."""
    optimizer, rows, values = warm(name)
    for row in (1, 2, int(rows[0])):
        found = {}
        for other in set(rows.tolist()) - {row}:
            k = KERNEL(X[[row]], X[[other]])[0, 0]
            found[other] = k / math.sqrt(1.5 * 1.5)
        order = sorted(found, key=lambda other: (-found[other], other))[:5]
        nearest = optimizer.explain(NAMES[row]).nearest
        assert [near.id for near in nearest] == [NAMES[other] for other in order]
        for near, other in zip(nearest, order, strict=True):
            assert near.correlation == pytest.approx(found[other], rel=1e-9)
            assert near.average == pytest.approx(values[rows == other].mean(), rel=1e-12)
            assert near.evaluations == (rows == other).sum()
            np.testing.assert_array_equal(near.x, X[other])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("goal", ["max", "min"])
def test_the_rank_is_that_of_a_full_sort(name: str, goal: Literal["max", "min"]) -> None:
    """Number 12 of 40 means that eleven score higher, excluded ones not counted."""
    optimizer, _, _ = warm(name, goal=goal)
    optimizer.exclude(["s3", "s30"])
    sign = 1 if goal == "max" else -1
    posterior = optimizer.posterior
    mean, std = sign * posterior.mean(X), posterior.std(X)
    allowed = np.array([row for row in range(40) if row not in (3, 30)])
    if name == "mini_gp_ei":
        top = mean[allowed].max()
        score = nr.ExpectedImprovement().score(mean, std**2, posterior.beta, top)
    else:
        score = mean + posterior.beta * std
    for row in (0, 5, int(allowed[np.argmax(score[allowed])])):
        why = optimizer.explain(NAMES[row])
        assert why.rank == 1 + (score[allowed] > score[row] + 1e-9 * abs(score[row])).sum()
        assert why.candidates == 38
    assert optimizer.explain("s3").rank is None
    assert optimizer.explain("s3").excluded


@pytest.mark.parametrize("name", EXACT)
def test_the_leader_is_what_ask_would_choose(name: str) -> None:
    """ "That one comes first" is a promise that the next ask keeps."""
    optimizer, _, _ = warm(name)
    leader = optimizer.explain("s0").leader
    assert leader is not None
    assert leader.x.tolist() == X[NAMES.index(str(leader.id))].tolist()
    assert leader.mean == pytest.approx(optimizer.posterior.mean(leader.x)[0], rel=1e-12)
    assert leader.upper == pytest.approx(leader.mean + optimizer.posterior.beta * leader.std)
    assert optimizer.ask().ids[0] == leader.id
    first = optimizer.explain(leader.id)
    assert first.rank == 1
    assert first.under_way > 0
    assert "It is the next choice" in str(first)


@pytest.mark.parametrize("name", DRAWING)
def test_by_a_sampled_function_the_leader_is_the_best_of_the_next(name: str) -> None:
    """There is no rank by chance; but what comes next is fixed by the seed."""
    optimizer, _, _ = warm(name)
    why = optimizer.explain("s0")
    assert (why.rank, why.beta, why.score) == (None, 1.0, "Thompson")
    assert why.leader is not None
    assert why.mean == pytest.approx(optimizer.posterior.mean(X[[0]])[0], rel=1e-6)
    assert optimizer.peek().sequence[0] == why.leader.id
    assert f"The next choice, by value of the sampled function, is {why.leader.id}:" in str(why)
    optimizer.exclude(NAMES)
    assert optimizer.explain("s0").leader is None


@pytest.mark.parametrize("name", [*MODELS, *DRAWING, *BASELINES])
def test_when_it_was_asked_for_is_what_the_batches_say(name: str, tmp_path: Path) -> None:
    """ "Why did we make this one three times?" needs the right batches, also after a restart."""
    optimizer = build(name, nr.Pool(X[:6]), noise_std=NOISE, kernel=KERNEL)
    batches: list[nr.Batch] = []
    stds: list[Vector] = []
    for turn in range(9):
        if name in EXACT:
            stds.append(optimizer.posterior.std(X[:6]))
        batch = optimizer.ask(at_most=4, worker="ab"[turn % 2])
        batches.append(batch)
        if turn == 4:
            optimizer.fail(batch)
        else:
            optimizer.tell(batch, F[batch.sequence.astype(np.int64)])
        if turn == 5:
            optimizer.save(tmp_path / "run")
            optimizer = nr.load(tmp_path / "run", pool=nr.Pool(X[:6]))
    trace = optimizer.trace
    for row in range(6):
        asked = optimizer.explain(row).asked
        counts = {b.ticket: int((b.sequence == row).sum()) for b in batches}
        expected = {ticket: count for ticket, count in counts.items() if count}
        assert (
            dict(zip(asked.batches.tolist(), asked.evaluations.tolist(), strict=True)) == expected
        )
        assert asked.reasons.tolist() == [batches[ticket].reason for ticket in expected]
        np.testing.assert_array_equal(asked.beta, trace["beta"][list(expected)])
        if name in EXACT:
            then = [stds[ticket][row] for ticket in expected]
            np.testing.assert_allclose(asked.std, then, rtol=1e-6)
        elif name in BASELINES:
            assert np.isnan(asked.std).all()


def test_the_words_say_what_the_numbers_say() -> None:
    """The sentences are what most people will read."""
    optimizer = nr.gp_ucb(NAMED, kernel=nr.RBF(0.3), noise_std=0.1, start=["s0"], goal="min")
    text = str(optimizer.explain("s5"))
    assert "Never evaluated." in text
    assert "Nothing similar to it has been evaluated." in text
    assert "This run has never asked for it." in text
    optimizer.tell(optimizer.ask(), [2.0])
    why = optimizer.explain("s0")
    text = str(why)
    assert text.startswith(
        f"s0: estimated at {why.mean:.6g} ± {why.std:.2g}; choices look at {why.lower:.3g} to"
    )
    assert "Evaluated once, average 2." in text
    assert "Asked for once, in batch 0." in text
    assert "(start: candidates given)" in text
    assert why.leader is not None
    assert f"its lower bound, {why.lower:.3g}, is above" in text  # minimising, lower is better
    assert f"that of {why.leader.id}." in text
    optimizer.exclude(["s0"])
    assert "It is excluded" in str(optimizer.explain("s0"))


def test_a_rank_that_costs_too_much_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits a minute for a footnote; what comes first is said all the same."""
    optimizer, _, _ = warm("mini_gp_ucb")
    monkeypatch.setattr(model_view, "RANKED", 10)
    why = optimizer.explain("s0")
    assert why.rank is None
    assert why.leader is not None
    assert "ranks" not in str(why)
    assert "It is not the next choice: its upper bound" in str(why)


def test_what_was_evaluated_is_in_the_ledger() -> None:
    optimizer = nr.mini_gp_ucb(NAMED, kernel=KERNEL, noise_std=0.1, goal="min", offset=7.0)
    assert len(optimizer.evaluated) == 0
    optimizer.tell(["s2", "s9", "s2"], [1.0, 5.0, 4.0])
    optimizer.tell(["s9"], [nr.FAILED])
    evaluated = optimizer.evaluated
    assert evaluated.ids == ["s2", "s9"]
    np.testing.assert_array_equal(evaluated.x, X[[2, 9]])
    assert evaluated.evaluations.tolist() == [2, 1]
    np.testing.assert_allclose(evaluated.averages, [2.5, 5.0])
    np.testing.assert_allclose(evaluated.deviations, [math.sqrt(4.5), np.nan])

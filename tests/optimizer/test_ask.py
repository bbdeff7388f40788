"""What is asked for: of whom, how much, and why it ends there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from slow_references import DenseGP
from small_optimizers import (
    BASELINES,
    KERNEL,
    MODELS,
    POOL,
    X,
    build,
    every_algorithm,
    every_model,
    rows_of,
    step,
    value,
    values,
    warm,
)


@every_algorithm
def test_a_worker_is_given_its_batch_until_it_tells(name: str) -> None:
    """A worker that crashed and came back must go on with what it had."""
    optimizer = warm(name)
    first = optimizer.ask(at_most=5)
    for _ in range(3):
        again = optimizer.ask()
        assert (again.ticket, again.start) == (first.ticket, first.start)
        np.testing.assert_array_equal(again.sequence, first.sequence)
        np.testing.assert_array_equal(again.x, X[again.ids])
    np.testing.assert_array_equal(optimizer.ask(at_most=1).sequence, first.sequence[:1])
    opened = optimizer.batches
    optimizer.tell(first, values(first, 0))
    assert optimizer.ask().ticket == first.ticket + 1 == opened


@pytest.mark.parametrize("told", [0, 1, 6])
def test_another_worker_gets_work_as_if_open_evaluations_had_happened(told: int) -> None:
    """Ten robots on the same posterior must not all be sent to the same well."""
    optimizer = nr.gp_ucb(POOL, kernel=KERNEL, noise_std=0.3, start=[], seed=0)
    history = [3, 9, 14, 20, 27, 33][:told]
    y = np.array([value(row, 0) for row in history])
    if told:
        optimizer.tell(history, y)
    stale = DenseGP(KERNEL, 0.09, X[history], y)
    beta = 1 + math.sqrt(stale.log_det() + 2 * math.log(10))
    mean, under_way = stale.mean(X), list[int]()
    before = optimizer.posterior.mean(X)
    for worker in ["a", "b", "c", "d"]:
        rows = history + under_way
        now = DenseGP(KERNEL, 0.09, X[rows], np.zeros(len(rows)))
        expected = int(np.argmax(mean + beta * np.sqrt(now.variance(X))))
        batch = optimizer.ask(worker=worker)
        assert rows_of(batch) == [expected]
        under_way.append(expected)
    assert len(set(under_way)) == 4
    np.testing.assert_array_equal(optimizer.posterior.mean(X), before)
    np.testing.assert_allclose(before, mean, atol=1e-12)
    for worker, row in zip("abcd", under_way, strict=True):
        assert rows_of(optimizer.ask(worker=worker)) == [row]


@every_model
def test_open_evaluations_shorten_the_batches_of_others(name: str) -> None:
    """The bound on stale variances must count what colleagues have under way."""
    alone, together = warm(name, turns=8), warm(name, turns=8)
    mine = alone.ask(at_most=500)
    theirs = together.ask(worker="other", at_most=500)
    np.testing.assert_array_equal(mine.sequence, theirs.sequence)
    second = together.ask(at_most=500)
    assert len(second) >= 1
    if name.startswith(("gp_bucb", "bbkb")):
        assert "limit" in mine.reason  # so the bound is used up, and one evaluation is left
        assert len(second) == 1


@every_algorithm
def test_the_seed_decides(name: str) -> None:
    """A published curve must be had again from its seed, and error bars need different ones."""
    runs = []
    for seed in (0, 0, 1, 2, 3):
        optimizer = build(name, seed=seed)
        runs.append([step(optimizer) for _ in range(5)])
    assert runs[0] == runs[1]
    assert any(runs[0] != other for other in runs[2:])


@pytest.mark.parametrize("name", [*MODELS, *BASELINES])
@pytest.mark.parametrize("turns", [0, 1, 4, 9])
def test_at_most_cuts_a_prefix(name: str, turns: int) -> None:
    """A smaller oven must not change what comes first."""
    whole = rows_of(warm(name, turns).ask(at_most=60))
    for k in (1, 2, 4):
        part = warm(name, turns).ask(at_most=k)
        assert len(part) <= k
        assert rows_of(part) == whole[:k]


REASONS = {
    "gp_ucb": "fixed size 1 reached",
    "gp_ei": "fixed size 1 reached",
    "gp_bucb-product": "limit reached (product bound)",
    "gp_bucb-local": "limit reached (local ratio)",
    "bkb": "fixed size 1 reached",
    "bbkb-global": "limit reached (global ratio)",
    "bbkb-local": "limit reached (local ratio)",
    "mini_gp_ucb": "repeat rule",
    "mini_gp_ei": "repeat rule",
    **dict.fromkeys(BASELINES, "fixed size 6 reached"),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_batch_says_why_it_ended(name: str) -> None:
    """A user who waits for a full plate must see what keeps it small."""
    optimizer = build(name)
    first = optimizer.ask()
    if name in MODELS:
        assert first.reason == "start: one candidate drawn uniformly"
    optimizer.tell(first, values(first, 0))
    for _ in range(5):
        batch = optimizer.ask(at_most=500)
        assert batch.reason == REASONS[name]
        optimizer.tell(batch, values(batch, optimizer.spent))


@pytest.mark.parametrize("name", [n for n in REASONS if REASONS[n] != "fixed size 1 reached"])
def test_a_batch_cut_by_at_most_says_so(name: str) -> None:
    """Else the user would blame the rule for a plate that he cut himself."""
    optimizer = warm(name, turns=9)
    assert len(warm(name, turns=9).ask(at_most=500)) > 1
    batch = optimizer.ask(at_most=1)
    assert len(batch) == 1
    assert batch.reason == "at_most 1 reached"


def test_starts_are_given_once_and_first() -> None:
    """Controls on every plate: first, each once, and not those already measured."""
    optimizer = nr.mini_gp_ucb(POOL, kernel=KERNEL, noise_std=0.3, start=[5, 8, 13])
    optimizer.tell([8], [0.1])
    batch = optimizer.ask(at_most=1)
    assert (rows_of(batch), batch.reason) == ([5], "start: candidates given")
    optimizer.tell(batch, values(batch, 0))
    batch = optimizer.ask()
    assert rows_of(batch) == [13]
    optimizer.tell(batch, values(batch, 0))
    assert optimizer.ask().reason == "repeat rule"


def test_epsilon_greedy_stays_on_the_best_average_once_it_is_sure() -> None:
    """With a/t^b near 0 it must exploit, and never the excluded."""
    optimizer = nr.epsilon_greedy(POOL, a=1e-9, b=1.0, batch_size=5)
    optimizer.tell([3, 8, 5], [1.0, 2.0, 2.0])
    assert step(optimizer) == [5] * 5
    optimizer.exclude([5])
    assert step(optimizer) == [8] * 5
    eager = nr.epsilon_greedy(POOL, a=1e9, b=1.0, batch_size=40)
    eager.tell([3], [1.0])
    assert len(set(step(eager, at_most=40))) > 20


@every_algorithm
def test_peeking_shows_what_ask_will_give_and_opens_nothing(name: str) -> None:
    """Somebody looks over the shoulder; the run must not notice."""
    optimizer, twin = warm(name), warm(name)
    for turn in range(3):
        looked = optimizer.peek(at_most=5)
        again = optimizer.peek(at_most=5)
        assert optimizer.batches == twin.batches == len(optimizer.trace)
        batch = optimizer.ask(at_most=5)
        assert twin.ask(at_most=5).sequence.tolist() == rows_of(batch)
        for seen in (looked, again, optimizer.peek(at_most=5)):
            assert (seen.ticket, seen.reason) == (batch.ticket, batch.reason)
            np.testing.assert_array_equal(seen.sequence, batch.sequence)
            np.testing.assert_array_equal(seen.x, batch.x)
        for run in (optimizer, twin):
            run.tell(batch, values(batch, turn))


def test_peeking_numbers_new_points_of_a_box_as_ask_will() -> None:
    """A point shown as number 4 must be number 4 when it is told."""
    box = nr.Box([(0.0, 2.0), (0.0, 1.0)])
    optimizer = nr.gp_bucb(box, kernel=nr.RBF(0.3), noise_std=0.5, limit=6.0, seed=2)
    for _ in range(5):
        looked, batch = optimizer.peek(at_most=4), optimizer.ask(at_most=4)
        np.testing.assert_array_equal(looked.sequence, batch.sequence)
        np.testing.assert_allclose(looked.x, batch.x)
        optimizer.tell(looked, [float(x.sum()) for x in looked])
    assert optimizer.evaluations == optimizer.trace["size"].sum()


def test_what_was_only_peeked_at_cannot_be_told() -> None:
    """It was never asked for: the ticket does not exist."""
    optimizer = nr.uniform(POOL)
    with pytest.raises(nr.NoRegretError, match="was not given out"):
        optimizer.tell(optimizer.peek(), [0.0])
    with pytest.raises(nr.NoRegretError, match=r"peek\(at_most"):
        optimizer.peek(at_most=0)
    with pytest.raises(nr.NoRegretError, match=r"peek\(worker"):
        optimizer.peek(worker=3)  # type: ignore[arg-type]  # wrong on purpose

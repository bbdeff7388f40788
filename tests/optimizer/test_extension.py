"""Candidates that are added in mid-run: the run goes on as over a pool that had them all along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Vector
from noregret.automatic import AutoPolicy
from noregret.widths import BKBWidth
from restricted_policies import Restricted, RestrictedModel
from small_extensions import ALL, FIRST, LAST, X, made
from small_optimizers import (
    BASELINES,
    MODELS,
)
from strategies import whole_runs

F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])
OFF = np.array([X[40], [0.31, 0.62]])  # a later candidate, and a point that never is one
# The nearest candidates of evolution are measured in deviations of all that there are.
every = pytest.mark.parametrize("name", [name for name in ALL if name != "evolution"])


def both(name: str) -> tuple[nr.Optimizer, nr.Optimizer, Restricted]:
    """A run over the first candidates, and its twin over all of them."""
    small, whole = made(name, nr.Pool(X[:FIRST])), made(name, nr.Pool(X))
    policy: Any = whole.policy
    if name == "auto":  # which measures features in the ranges that they had at the start
        assert isinstance(small.policy, AutoPolicy)
        policy = replace(small.policy, search=policy.search)
    twin = (Restricted if name in BASELINES else RestrictedModel)(policy, slice(FIRST))
    return small, nr.Optimizer(nr.Pool(X), twin), twin


def values(batch: nr.Batch, key: int) -> list[float]:
    noise = np.random.default_rng(key).standard_normal(len(batch))
    return [float(F[row] + 0.3 * e) for row, e in zip(batch.sequence, noise, strict=True)]


@every
def test_choices_are_those_over_a_pool_that_had_them_all_along(name: str, tmp_path: Path) -> None:
    """Old rows are not looked at again: one that was lost, or a bound that is too low for the new
    ones, would change a choice for ever. Three workers, parts, failures, points off the pool, of
    which one is a candidate later, and a run that is saved and loaded."""
    run, slow, twin = both(name)
    chosen: list[list[list[int]]] = [[], []]
    for i in range(26):
        if i == 11:
            twin.shown = slice(40)
            run.extend(X[FIRST:40])
        if i == 14:
            twin.shown = slice(LAST)
            run.extend(nr.Pool(X[40:]))
            run.save(tmp_path / "run")
            run = nr.load(tmp_path / "run", pool=nr.Pool(X))
        for one, ids in zip((run, slow), chosen, strict=True):
            batch = one.ask(at_most=4, worker="abc"[i % 3])
            ids.append(batch.sequence.tolist())
            told = values(batch, i)
            if i == 6:
                one.tell(OFF, [1.1, 0.4])
                one.tell(OFF, [nr.FAILED, 0.6])
            if i % 4 == 1:  # the rest stays open, over the extension too
                one.tell(batch[:1], told[:1])
            elif i == 8:
                one.tell(batch, [nr.FAILED, *told[1:]])
            elif i == 18:
                one.exclude([3, 44])
                one.tell(batch[1:], told[1:])
            else:
                one.tell(batch, told)
    assert chosen[0] == chosen[1]
    assert max(row for ids in chosen[0] for row in ids) >= FIRST, "no new candidate was chosen"
    assert run.best().id == slow.best().id
    assert (run.evaluations, run.unique, run.switches) == (
        slow.evaluations,
        slow.unique,
        slow.switches,
    )
    assert run.evaluated.ids == slow.evaluated.ids
    if name in MODELS or name == "auto":
        a, b = run.certificate(), slow.certificate()
        assert a.id == b.id
        assert a.gap == pytest.approx(b.gap, rel=1e-9)
        assert str(run.explain(2)) == str(slow.explain(2))


@pytest.mark.parametrize("name", ["gp_ucb", "gp_ei", "gp_bucb-product", "mini_gp_ucb"])
def test_the_next_choice_is_that_of_a_fresh_run_told_the_same(name: str) -> None:
    """An exact posterior does not remember in which order it learned."""
    run = made(name, nr.Pool(X[:FIRST]))
    for i in range(12):
        batch = run.ask(at_most=5)
        run.tell(batch, values(batch, i))
    fresh = made(name, nr.Pool(X), start=[])
    known = run.evaluated
    fresh.tell(known.ids, means=known.averages, counts=known.evaluations)
    run.extend(X[FIRST:])
    assert run.peek().ids.tolist() == fresh.peek().ids.tolist()
    assert run.certificate().reachable == pytest.approx(fresh.certificate().reachable)


@whole_runs
@given(st.lists(st.sampled_from(["ask", "part", "off", "more", "exclude", "look"]), max_size=25))
def test_any_story_is_that_over_all_candidates(story: list[str]) -> None:
    """Whatever happens between two extensions, of one candidate each or of several."""
    for name in ("gp_bucb-local", "bbkb-local"):
        run, slow, twin = both(name)
        for i, event in enumerate([*story, "more", "ask", "ask"]):
            now = twin.shown.stop
            if event == "more" and now < LAST:
                twin.shown = slice(min(now + 1 + i % 3, LAST))
                run.extend(X[now:][: 1 + i % 3])
            for one in (run, slow):
                if event == "off":
                    one.tell(X[[LAST - 1 - i % 5]], [0.2 * i])
                elif event == "exclude":
                    one.exclude([i % FIRST])
                elif event == "look":
                    one.peek(worker="nobody")
            if event in ("ask", "part"):
                a, b = run.ask(at_most=6, worker=event), slow.ask(at_most=6, worker=event)
                assert a.sequence.tolist() == b.sequence.tolist()
                part = slice(1 if event == "part" else None)
                for one, batch in ((run, a), (slow, b)):
                    one.tell(batch[part], values(batch, i)[part])


def test_a_point_off_the_pool_becomes_the_candidate_that_it_equals() -> None:
    """Else it would be evaluated as if nothing were known of it, and could not be recommended."""
    run = made("mini_gp_ucb", nr.Pool(X[:FIRST]))
    run.tell(OFF, [5.0, 0.0])
    assert run.evaluated.ids == [None, None]
    run.extend(X[FIRST:])
    assert run.evaluated.ids == [40, None]
    run.tell([40], [5.2])
    assert run.best().id == 40
    assert run.best().evaluations == 2
    assert run.unique == 2


def test_evolution_has_children_among_new_candidates() -> None:
    """Whose kin is found again, though it was remembered."""
    line = nr.Pool([[0.0], [10.0], [20.0]])
    run = nr.regularized_evolution(line, population=2, sample=9, neighbours=1)
    for _ in range(8):
        batch = run.ask()
        run.tell(batch, [float(x[0]) for x in batch])
    run.extend([[20.5]])
    run.tell([2], [99.0])
    assert run.ask().ids.tolist() == [3]


def test_the_certificate_is_over_the_candidates_that_there_are_now() -> None:
    """A gap to the best of old candidates alone would promise too much."""
    run = nr.mini_gp_ucb(nr.Pool([[0.0], [0.1]]), kernel=nr.RBF(0.2), noise_std=0.1)
    run.tell([0, 1], means=[0.5, 0.4], counts=[500, 500])
    narrow = run.certificate()
    run.extend([[2.0]])
    wide = run.certificate()
    assert narrow.gap < 0.3
    assert wide.gap > 1.0
    assert wide.guaranteed == narrow.guaranteed
    run.tell([2], means=[0.45], counts=[500])
    assert run.certificate().gap < 0.3


def test_widths_cover_the_prior_variances_of_new_candidates() -> None:
    """BKB's width counts with κ², the largest of them: with the old one it would not hold."""
    run = nr.bkb(nr.Pool([[0.1], [0.2]]), kernel=nr.Linear(), noise_std=1.0, preset="theory")
    run.extend([[3.0], [0.3]])
    fresh = nr.bkb(nr.Pool([[3.0]]), kernel=nr.Linear(), noise_std=1.0, preset="theory")
    width, other = _policy(run).width, _policy(fresh).width
    assert isinstance(width, BKBWidth)
    assert width == other
    assert _policy(run).band == _policy(fresh).band


def _policy(run: nr.Optimizer) -> Any:
    return run.policy


def test_auto_measures_features_in_the_ranges_of_the_start() -> None:
    """A scale that moved would be another model under the same numbers."""
    run = nr.auto(nr.Pool(X[:FIRST]))
    family = _policy(run).family
    run.extend([[40.0, -3.0]])
    assert _policy(run).family is family
    for i in range(12):
        batch = run.ask()
        run.tell(batch, [float(np.sin(x[0])) + 0.01 * i for x in batch])
    assert run.best().id in range(FIRST + 1)


def test_ts_qff_makes_features_for_the_range_that_there_is_now() -> None:
    """Quadrature fits the kernel over a range alone: beyond it draws would be of anything."""
    line = np.linspace(0.0, 4.0, 41)[:, None]
    run = nr.ts_qff(nr.Pool(line[:10]), kernel=nr.RBF(0.3), noise_std=0.3)
    given = nr.ts_qff(nr.Pool(line[:10]), kernel=nr.RBF(0.3), noise_std=0.3, nodes=7)
    whole = nr.ts_qff(nr.Pool(line), kernel=nr.RBF(0.3), noise_std=0.3)
    for one in (run, given, whole):
        one.tell([2, 5, 9], [0.1, 0.4, 0.3])
    run.ask()  # what was told is in its weights by now
    run.extend(line[10:])
    given.extend(line[10:])
    assert _policy(run).features == _policy(whole).features
    assert _policy(given).features.nodes == (7,)
    assert run.best().mean == pytest.approx(whole.best().mean)
    before = run.state
    run.extend(line[5:6])
    assert run.state is before


def test_a_function_may_add_candidates_while_it_is_maximised() -> None:
    """As a stream of new molecules would."""
    first = nr.Pool(X[:FIRST])

    def more(optimizer: nr.Optimizer, *_: object) -> None:
        if optimizer.spent >= 10 and optimizer.pool is first:
            optimizer.extend([[3.0, 3.0]])

    def f(x: Vector) -> float:
        return float(x.sum())

    result = nr.maximize(f, first, budget=40, callback=more, progress=False)
    assert result.best().id == FIRST


def test_a_dictionary_does_not_mind_that_points_off_the_pool_are_renumbered() -> None:
    """By row numbers each extension would thin it again, and two members of ten would be left."""
    off = np.random.default_rng(2).random((60, 2))
    run, still = (made("bbkb-incremental", nr.Pool(X[:FIRST])) for _ in range(2))
    sizes = []
    for i in range(8):
        for one in (run, still):
            one.tell(off[7 * i : 7 * i + 7], np.sin(off[7 * i : 7 * i + 7, 0]))
            one.tell(one.ask(at_most=1), [0.3])
        run.extend([[9.0 + i, 9.0]])  # where nothing is known
        run.exclude([len(X[:FIRST]) + i])
        moved, own = (one.look().posterior.basis for one in (run, still))
        np.testing.assert_array_equal(moved, own)
        sizes.append(len(own))
    assert min(sizes[2:]) > 5, sizes

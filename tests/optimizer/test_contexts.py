"""Contexts: the choice is among all candidates under the context that is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.kernels import InContext
from restricted_policies import RestrictedBandit
from small_contexts import CONTEXTS, DRAWING, EXACT, KC, KX, NAMES, N, X, made, values
from small_optimizers import refused
from strategies import whole_runs


class StayingBandit(RestrictedBandit):
    """One that is told by hand what a switch to its choice costs."""

    cost: Callable[[int], float] | None = None

    def propose(self, state: Any, evidence: Any, room: int) -> Any:
        if self.cost is None:
            return super().propose(state, evidence, room)
        shown = replace(self._restricted(evidence), switch_costs=None)
        row = int(self.inner.propose(state, shown, room)[0].rows[0]) % N
        stay = nr.Stay(self.inner.batching.limit, self.cost(row))
        return replace(self.inner, batching=stay).propose(state, shown, room)


def of_context(j: int) -> slice:
    """The pairs of a context, as rows."""
    return slice(j * N, (j + 1) * N)


def twin_of(name: str, **settings: Any) -> tuple[nr.Optimizer, StayingBandit]:
    """A run over all pairs of a candidate and a context, context by context."""
    pairs = np.concatenate([np.hstack([X, np.tile(c, (N, 1))]) for c in CONTEXTS])
    keys = [f"{key}|{j}" for j in range(len(CONTEXTS)) for key in NAMES]
    pool = nr.Pool(pairs, names=keys)
    whole = made(name, pool, kernel=InContext(KX, KC, 2), context_kernel=None, **settings)
    policy = StayingBandit(whole.policy, of_context(0))
    return nr.Optimizer(pool, policy, switch_cost=settings.get("switch_cost")), policy


def both(name: str, story: list[tuple[int, str]], folder: Path | None = None) -> nr.Optimizer:
    """Let a run and its twin go through a story; every choice must be the same."""
    run, (slow, policy) = made(name), twin_of(name)
    for i, (j, event) in enumerate(story):
        c, policy.shown = CONTEXTS[j], of_context(j)
        if event == "save" and folder is not None:
            run.save(folder / "run")
            run = nr.load(folder / "run", pool=nr.Pool(X, names=NAMES))
        if event == "history":
            run.tell(["c3", "c7"], [0.4, 0.9], context=c)
            slow.tell([f"c3|{j}", f"c7|{j}"], [0.4, 0.9])
        elif event == "noise":
            how: dict[str, Any] = {"means": [0.4, 0.9], "counts": [1, 3], "noise_std": [0.5, 2.0]}
            run.tell(["c3", "c7"], **how, context=c)
            slow.tell([f"c3|{j}", f"c7|{j}"], **how)
            run.tell(["c5"], [0.2], noise_std=3.0, context=c)
            slow.tell([f"c5|{j}"], [0.2], noise_std=3.0)
        elif event == "off":
            run.tell([[0.3, 0.4]], [nr.FAILED if i % 2 else 0.7], context=c)
            slow.tell([[0.3, 0.4, *c]], [nr.FAILED if i % 2 else 0.7])
        elif event == "exclude":
            run.exclude([NAMES[i % N]])
            slow.exclude([f"{NAMES[i % N]}|{k}" for k in range(len(CONTEXTS))])
        peeked = run.peek(at_most=5, worker=event, context=c)
        a = run.ask(at_most=5, worker=event, context=c)
        b = slow.ask(at_most=5, worker=f"{event} {j}")  # a worker holds one batch per context
        assert a.sequence.tolist() == [key.partition("|")[0] for key in b.sequence.tolist()], i
        assert peeked.sequence.tolist() == a.sequence.tolist()
        assert a.context is not None
        np.testing.assert_array_equal(a.context, c)
        np.testing.assert_array_equal(a.x, X[[NAMES.index(key) for key in a.ids]])
        told: list[Any] = list(values(a, i, c))
        if event == "part":
            a, b, told = a[:1], b[:1], told[:1]
        if event == "fail":
            told[0] = nr.FAILED
        if event != "open":
            noise = 0.7 if event == "noise" else None
            run.tell(a, told, noise_std=noise)
            slow.tell(b, told, noise_std=noise)
            run.tell(a, told, noise_std=noise)  # again, which is harmless
    assert (run.evaluations, run.unique, run.spent) == (slow.evaluations, slow.unique, slow.spent)
    c = CONTEXTS[story[-1][0]]
    if name not in DRAWING:
        one, other = run.certificate(context=c), slow.look()
        assert one.reachable == pytest.approx(other.highest_bound(0), rel=1e-7)
        assert run.look(context=c).posterior.log_det == pytest.approx(other.posterior.log_det)
    assert run.evaluated.ids == [
        None if key is None else str(key).partition("|")[0] for key in slow.evaluated.ids
    ]
    return run


STORY = [
    *[(0, "a"), (1, "b"), (1, "a"), (0, "part"), (3, "open"), (2, "a"), (1, "save"), (0, "a")],
    *[(2, "history"), (3, "b"), (2, "fail"), (1, "off"), (1, "part"), (3, "exclude"), (0, "a")],
    *[(1, "a"), (1, "a"), (2, "save"), (3, "off"), (0, "open"), (2, "b"), (2, "a"), (0, "a")],
    *[(1, "noise"), (1, "a"), (3, "noise"), (0, "save"), (1, "b")],
]


@pytest.mark.parametrize("name", EXACT)
def test_choices_are_those_among_all_pairs_of_the_context(name: str, tmp_path: Path) -> None:
    """Caches are for one context and evaluations of others lie outside: none may be lost, and what
    is under way elsewhere counts, whoever has it."""
    both(name, STORY, tmp_path)


@whole_runs
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["a", "b", "part", "open", "history", "off", "noise"]),
        ),
        max_size=14,
    )
)
def test_any_order_of_contexts_is_that_among_all_pairs(story: list[tuple[int, str]]) -> None:
    for name in ("mini_gp_ucb", "bbkb-local"):
        both(name, [*story, (0, "a"), (1, "a"), (0, "a")])


def costly(x: Vector, z: Vector) -> float:
    """A cost that is more in one direction, and none for another context."""
    return float(max(9 * (x[0] - z[0]), 3 * (z[0] - x[0])))


COSTS: dict[str, tuple[object, object]] = {
    "flat": (2.5, None),  # a pair of another context would cost in the twin
    "columns": ({0: 2.0, 1: 0.5}, {0: 2.0, 1: 0.5}),
    "function": (costly, costly),
    "matrix": (
        np.array([[costly(x, z) for z in X] for x in X]),
        np.tile([[costly(x, z) for z in X] for x in X], (len(CONTEXTS), len(CONTEXTS))),
    ),
}


def led_to(costs: Matrix, way: list[int], row: int) -> float:
    """By hand: the cost of the switch to a candidate, made or to be made; the middle at first."""
    others = [at for at in way if at != row]
    return float(costs[others[-1], row] if others else np.median(np.delete(costs[:, row], row)))


@pytest.mark.parametrize("how", COSTS)
@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-local", "gp_bucb-product"])
def test_switches_cost_by_candidates_whatever_the_context(
    name: str, how: str, tmp_path: Path
) -> None:
    """What is set up stays so when the context changes: the order, stays and costs are those
    among all pairs, of which those of one candidate cost nothing."""
    mine, twins = COSTS[how]
    run, sequence = made(name, switch_cost=mine), list[tuple[str, list[str]]]()
    slow, policy = twin_of(name, switch_cost=twins)
    by_hand = np.full((N, N), 2.5) if how == "columns" else np.array(COSTS["matrix"][0])
    for i, (j, worker) in enumerate([(0, "a"), (1, "a"), (1, "b"), (3, "a"), (3, "b"), (0, "a")]):
        c, policy.shown = CONTEXTS[j], of_context(j)
        if i == 3:
            run.save(tmp_path / "run")
            again = mine if how in ("function", "matrix") else None
            run = nr.load(tmp_path / "run", pool=nr.Pool(X, names=NAMES), switch_cost=again)
        way = [NAMES.index(key) for own, keys in sequence if own == worker for key in keys]
        policy.cost = partial(led_to, by_hand, way) if name == "mini_gp_ucb" else None
        peeked = run.peek(at_most=7, worker=worker, context=c)
        a = run.ask(at_most=7, worker=worker, context=c)
        assert peeked.sequence.tolist() == a.sequence.tolist()
        np.testing.assert_array_equal(a.x, X[[NAMES.index(key) for key in a.ids]])
        sequence.append((worker, a.sequence.tolist()))
        if twins is not None:
            b = slow.ask(at_most=7, worker=worker)
            assert sequence[-1][1] == [key.partition("|")[0] for key in b.sequence.tolist()], i
            slow.tell(b, values(a, i, c))
        run.tell(a, values(a, i, c))
    if twins is not None:
        assert run.paid == pytest.approx(slow.paid)
    else:
        switches = 0
        for worker in "ab":
            keys = [key for own, part in sequence if own == worker for key in part]
            switches += sum(one != other for one, other in pairwise(keys))
        assert run.paid == 2.5 * switches
    assert run.sequence.tolist() == [key for _, keys in sequence for key in keys]
    assert f"so far cost {run.paid:g}" in run.account()
    assert run.paid > 0


def test_what_only_failed_or_is_under_way_is_not_recommended() -> None:
    """Nothing is known of it, which under a prior that others fall short of looks best."""
    run = made("mini_gp_ucb")
    run.tell(["c3", "c3"], [nr.FAILED, nr.FAILED], context=[0.2])
    for c in ([0.2], [0.9]):
        with refused("no value was told"):
            run.best(context=c)
    run.tell(["c1"], [-2.0], context=[0.2])
    run.ask(context=[0.2])
    for c in ([0.2], [0.9]):
        assert run.best(context=c).id == run.certificate(context=c).id == "c1"
    assert "Failed twice" in str(run.explain("c3", context=[0.2]))
    assert "Failed" not in str(run.explain("c3", context=[0.9]))
    assert (run.spent, run.evaluations, run.unique, run.evaluated.ids) == (3, 1, 1, ["c1"])


@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-local"])
def test_candidates_that_always_fail_are_as_in_a_run_over_all_pairs(
    name: str, tmp_path: Path
) -> None:
    """No value comes of them, whatever the context; the run goes on, saved or not."""
    (slow, policy), run, bad = twin_of(name), made(name), set(NAMES[:20])
    for i in range(24):
        j = i * i % 3
        c, policy.shown = CONTEXTS[j], of_context(j)
        if i == 12:
            run.save(tmp_path / "run")
            run = nr.load(tmp_path / "run", pool=nr.Pool(X, names=NAMES))
        a, b = run.ask(at_most=3, context=c), slow.ask(at_most=3)
        assert a.sequence.tolist() == [key.partition("|")[0] for key in b.sequence.tolist()]
        told = zip(a.sequence.tolist(), values(a, i, c), strict=True)
        outcome = [nr.FAILED if key in bad else value for key, value in told]
        run.tell(a, outcome)
        slow.tell(b, outcome)
    assert (run.spent, run.evaluations) == (slow.spent, slow.evaluations)
    assert run.spent > run.evaluations
    assert not bad & set(run.evaluated.ids)
    run.tell(["c23"], [0.1], context=[0.2])
    assert run.best(context=[0.5]).id not in bad

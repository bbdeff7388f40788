"""Contexts: the choice is among all candidates under the context that is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Rows, Vector
from noregret.kernels import InContext
from noregret.optimizer import Batch
from small_optimizers import refused, refused_by
from strategies import whole_runs

N = 25
X = np.random.default_rng(4).random((N, 2))
CONTEXTS = np.array([[0.1], [0.5], [0.6], [0.95]])
KX, KC = nr.RBF(0.3), nr.Matern(nu=2.5, lengthscale=0.4)
NAMES = [f"c{i}" for i in range(N)]

EXACT: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb-product": partial(nr.gp_bucb, limit=6.0),
    "gp_bucb-local": partial(nr.gp_bucb, rule="local", limit=3.0),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=6.0),
    "mini": partial(nr.mini, acquisition=nr.UCB(), limit=6.0),
    "mini_gp_ei": nr.mini_gp_ei,
    "bkb": nr.bkb,
    "bbkb-global": partial(nr.bbkb, limit=6.0),
    "bbkb-local": partial(nr.bbkb, rule="local", limit=4.0),
    "bbkb-sticky": partial(nr.bbkb, dictionary="sticky", limit=4.0),
    "bbkb-incremental": partial(nr.bbkb, dictionary="incremental", limit=4.0),
}
DRAWING: dict[str, Callable[..., nr.Optimizer]] = {
    "batch_thompson": partial(nr.batch_thompson, batch_size=2),
    "bbkb-thompson": partial(nr.bbkb, acquisition=nr.Thompson()),
}


def f(x: Vector, c: Vector) -> float:
    return float(np.sin(6 * x[0] + 4 * c[0]) + x[1] * c[0])


def made(name: str, pool: Any = None, **settings: Any) -> nr.Optimizer:
    how = {**EXACT, **DRAWING}[name]
    asked = {"kernel": KX, "noise_std": 1.0, "context_kernel": KC, **settings}
    return how(nr.Pool(X, names=NAMES) if pool is None else pool, **asked)


def values(batch: Batch, key: int, context: Vector) -> list[float]:
    noise = np.random.default_rng(key).standard_normal(len(batch))
    return [f(x, context) + 0.5 * float(e) for x, e in zip(batch, noise, strict=True)]


@dataclass(eq=False)
class Under:
    """The slow twin: a policy over all pairs, shown only those of one context as open."""

    inner: Any
    now: int = 0

    @property
    def noise_std(self) -> float:
        return float(self.inner.noise_std)

    def begin(self) -> Any:
        return self.inner.begin()

    def vet(self, X: Rows) -> None:
        self.inner.vet(X)

    def propose(self, state: Any, evidence: Any, room: int) -> Any:
        return self.inner.propose(state, self._hidden(evidence), room)

    def look(self, state: Any, evidence: Any) -> Any:
        return self.inner.look(state, self._hidden(evidence))

    def _hidden(self, evidence: Any) -> Any:
        hidden = np.arange(len(evidence.excluded)) // N != self.now
        return replace(evidence, excluded=evidence.excluded | hidden)


def twin_of(name: str, **settings: Any) -> tuple[nr.Optimizer, Under]:
    """A run over all pairs of a candidate and a context, context by context."""
    pairs = np.concatenate([np.hstack([X, np.tile(c, (N, 1))]) for c in CONTEXTS])
    keys = [f"{key}|{j}" for j in range(len(CONTEXTS)) for key in NAMES]
    pool = nr.Pool(pairs, names=keys)
    whole = made(name, pool, kernel=InContext(KX, KC, 2), context_kernel=None, **settings)
    policy = Under(whole.policy)
    return nr.Optimizer(pool, policy, switch_cost=settings.get("switch_cost")), policy


def both(name: str, story: list[tuple[int, str]], folder: Path | None = None) -> nr.Optimizer:
    """Let a run and its twin go through a story; every choice must be the same."""
    run, (slow, policy) = made(name), twin_of(name)
    for i, (j, event) in enumerate(story):
        c, policy.now = CONTEXTS[j], j
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
    j, c = policy.now, CONTEXTS[policy.now]
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


@pytest.mark.parametrize("how", COSTS)
@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-local", "gp_bucb-product"])
def test_switches_cost_by_candidates_whatever_the_context(
    name: str, how: str, tmp_path: Path
) -> None:
    """What is set up stays so when the context changes: the order, stays and costs are those
    among all pairs, of which those of one candidate cost nothing."""
    mine, twins = COSTS[how]
    run, sequence = made(name, switch_cost=mine), []
    slow, policy = twin_of(name, switch_cost=twins)
    for i, (j, worker) in enumerate([(0, "a"), (1, "a"), (1, "b"), (3, "a"), (3, "b"), (0, "a")]):
        c, policy.now = CONTEXTS[j], j
        if i == 3 and how != "function":
            run.save(tmp_path / "run")
            run = nr.load(tmp_path / "run", pool=nr.Pool(X, names=NAMES))
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
            way = [key for his, keys in sequence if his == worker for key in keys]
            switches += sum(one != other for one, other in pairwise(way))
        assert run.paid == 2.5 * switches
    assert run.sequence.tolist() == [key for _, keys in sequence for key in keys]
    assert f"so far cost {run.paid:g}" in run.account()
    assert run.paid > 0


def test_a_batch_of_a_run_without_contexts_is_refused(tmp_path: Path) -> None:
    """Nor is one of another context, though the candidates are the same."""
    run, plain = made("gp_ucb"), made("gp_ucb", context_kernel=None)
    stranger, mine = plain.ask(), run.ask(context=[0.3])
    wrong = [stranger, replace(mine, context=np.array([0.4])), replace(mine, context=None)]
    for one in wrong:
        with refused_by(run, tmp_path, "comes from another optimizer"):
            run.tell(one, [0.1])
        with refused_by(run, tmp_path, "comes from another optimizer"):
            run.fail(one)
    with refused_by(plain, tmp_path, "comes from another optimizer"):
        plain.tell(mine, [0.1])
    run.tell(mine, [0.1])
    assert run.evaluations == 1


def dense(told: list[tuple[int, Vector, float]], c: Vector) -> Any:
    """Mean, variance and beta of GP-UCB on all pairs, by textbook algebra."""
    rows, C = np.array([row for row, _, _ in told]), np.array([c for _, c, _ in told])
    y = np.array([value for *_, value in told])
    K = KX(X[rows], X[rows]) * KC(C, C)
    A, k = K + np.eye(len(y)), KX(X, X[rows]) * KC(c[None], C)
    mean = k @ np.linalg.solve(A, y)
    variance = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(A, k.T))
    L = np.linalg.slogdet(np.eye(len(y)) + K)[1]
    return mean, variance, 1 + np.sqrt(L + 2 * np.log(10))


def test_contexts_that_never_come_again_are_believed_as_the_textbook_says() -> None:
    """With a product kernel, and answers that are about the context asked for."""
    rng, run = np.random.default_rng(0), made("gp_ucb")
    told: list[tuple[int, Vector, float]] = []
    for i in range(30):
        c = rng.random(1)
        batch = run.ask(context=c)
        row = NAMES.index(batch.ids[0])
        if told:
            mean, variance, beta = dense(told, c)
            assert row == int(np.argmax(mean + beta * np.sqrt(variance)))
        told.append((row, c, values(batch, i, c)[0]))
        run.tell(batch, [told[-1][2]])
    c = np.array([0.33])
    mean, variance, beta = dense(told, c)
    best, certificate = run.best(context=c), run.certificate(context=c)
    evaluated = list(dict.fromkeys(row for row, *_ in told))
    at = max(evaluated, key=lambda row: mean[row])
    reach = beta * np.sqrt(variance)
    assert best.id == certificate.id == NAMES[at]
    assert best.mean == pytest.approx(mean[at])
    assert best.std == pytest.approx(np.sqrt(variance[at]))
    assert best.upper == pytest.approx(mean[at] + reach[at])
    assert certificate.guaranteed == pytest.approx(mean[at] - reach[at])
    assert certificate.reachable == pytest.approx((mean + reach).max())
    why = run.explain(NAMES[at], context=c)
    assert why.mean == pytest.approx(mean[at])
    assert "under another context" in str(why)
    assert why.rank == 1 + int((mean + reach > (mean + reach)[at]).sum())
    assert "unique points" in run.account()
    np.testing.assert_allclose(
        run.posterior.mean(X[:3]), dense(told, told[-1][1])[0][:3], atol=1e-9
    )


@pytest.mark.parametrize("name", DRAWING)
def test_drawn_functions_are_of_the_context(name: str, tmp_path: Path) -> None:
    """Where much is known of both contexts, each gets its own best."""
    run = made(name, width=None)
    best = {}
    for j in (0, 3):
        truth = np.array([f(x, CONTEXTS[j]) for x in X])
        best[j] = NAMES[int(truth.argmax())]
        run.tell(NAMES, means=truth, counts=np.full(N, 10**6), context=CONTEXTS[j])
    assert best[0] != best[3]
    run.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=nr.Pool(X, names=NAMES))
    for one in (run, again):
        for j in (0, 3):
            assert set(one.ask(context=CONTEXTS[j], at_most=20).ids.tolist()) == {best[j]}


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
        c, policy.now = CONTEXTS[j], j
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


def test_a_worker_holds_one_batch_per_context() -> None:
    """The visitor of before may be gone for good, and the next one must not wait."""
    run = made("mini_gp_ucb")
    one = run.ask(context=[0.2])
    other = run.ask(context=[0.7])
    assert one.ticket != other.ticket
    assert run.ask(context=[0.2]).ticket == one.ticket
    run.tell(other, [0.1] * len(other))
    run.fail(one)
    assert run.ask(context=[0.2]).ticket == 2


def test_a_change_of_context_begins_a_batch_and_repeats_end_with_theirs() -> None:
    """MINI stays on a candidate under one context; under another its variance is another."""
    run = nr.mini_gp_ucb(
        nr.Pool(X), kernel=KX, noise_std=3.0, context_kernel=nr.RBF(0.05), start=[]
    )
    first = run.ask(context=[0.0], at_most=50)
    assert len(first) == 9  # (limit − 1)·ridge/σ², and nothing is known of σ² = 1
    run.tell(first, [0.0] * 9)
    second = run.ask(context=[1.0], at_most=50)
    assert len(second) == 9  # nothing is known there either
    run.tell(second[:1], [0.0])
    assert run.switches in (0, 1)
    assert run.unique == 2


def test_contexts_by_name() -> None:
    run, plain = made("gp_ucb"), made("gp_ucb")
    with refused("must be finite|numbers only"):
        run.ask(context={"hour": "late", "age": 3.0})
    run.tell(run.ask(context={"hour": 0.5, "age": 0.2}), [0.3])
    plain.tell(plain.ask(context=[0.2, 0.5]), [0.3])  # sorted by name
    given = {"age": 0.1, "hour": 0.9}
    assert run.ask(context=given).ids == plain.ask(context=[0.1, 0.9]).ids
    with refused("as the first one was, by the names age, hour"):
        run.ask(context=[0.1, 0.9])
    with refused("as the first one was, by the names age, hour"):
        run.ask(context={"age": 0.1})
    with refused("as the first one was, without names"):
        plain.ask(context=given)


WRONG: dict[str, tuple[Callable[[nr.Optimizer], object], str]] = {
    "none": (lambda run: run.ask(), r"ask\(context=...\): this run has contexts"),
    "peek": (lambda run: run.peek(), r"peek\(context=...\): this run has contexts"),
    "tell": (lambda run: run.tell(["c1"], [0.3]), r"tell\(context=...\): this run has contexts"),
    "best": (lambda run: run.best(), r"best\(context=...\): this run has contexts"),
    "width": (lambda run: run.ask(context=[0.1, 0.2]), "must be one context, 1 numbers, got"),
    "rows": (lambda run: run.ask(context=[[0.1]]), "must be one context"),
    "empty": (lambda run: run.ask(context=[]), "must be one context"),
    "nan": (lambda run: run.ask(context=[np.nan]), "must be finite"),
    "word": (lambda run: run.ask(context=["late"]), "numbers only"),
    "again": (
        lambda run: run.tell(run.peek(context=[0.1]), [0.3], context=[0.1]),
        "a batch has its own",
    ),
    "off": (lambda run: run.tell([[0.1, 0.2, 0.3]], [0.3], context=[0.1]), "2 columns, got 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_context_is_refused_and_changes_nothing(case: str, tmp_path: Path) -> None:
    do, match = WRONG[case]
    run = made("mini_gp_ucb")
    run.tell(["c1", "c2"], [0.1, 0.3], context=[0.4])
    with refused_by(run, tmp_path, match):
        do(run)


def test_runs_without_contexts_say_who_takes_them() -> None:
    for run in (nr.auto(nr.Pool(X)), nr.uniform(nr.Pool(X)), made("gp_ucb", context_kernel=None)):
        with refused("this run has no contexts.*gp_ucb, mini_gp_ucb, bkb, bbkb"):
            run.ask(context=[0.3])
        with refused("this run has no contexts"):
            run.tell([0], [0.1], context=[0.3])
    with refused("needs a finite pool"):
        made("gp_ucb", nr.Box([(0, 1)]))
    with refused("are for runs without contexts"):
        made("gp_ucb", start=nr.UniformDesign(4))
    with refused("are for runs without contexts"):
        made("gp_bucb-product", min_batch=2)
    with refused('norm_bound="grow" is for runs without contexts'):
        made("mini_gp_ucb", norm_bound="grow")
    with refused("are for runs without contexts"):
        made("mini_gp_ucb", at_most_each=2)
    with refused("must have variance 1 everywhere"):
        made("gp_ucb", context_kernel=nr.Linear()).ask(context=[0.3])
    with refused("lengthscale.*entries"):
        made("gp_ucb", context_kernel=nr.RBF((0.1, 0.2))).ask(context=[0.3])


def test_candidates_may_be_added_under_contexts(tmp_path: Path) -> None:
    """Pairs keep their numbers; a point off the pool becomes the candidate that it equals."""
    run, whole = made("mini_gp_ucb", nr.Pool(X[:20])), made("mini_gp_ucb", nr.Pool(X))
    for one in (run, whole):
        one.tell([1, 2, 19], [0.1, 0.3, 0.2], context=[0.3])
        one.tell(X[[22]], [0.9], context=[0.4])
    run.extend(X[20:])
    assert run.evaluated.ids == whole.evaluated.ids == [1, 2, 19, 22]
    run.save(tmp_path / "run")
    for i in range(12):
        if i == 6:
            run = nr.load(tmp_path / "run", pool=nr.Pool(X)) if i > 20 else run
        c = np.array([0.1 * (i % 5)])
        a, b = run.ask(context=c), whole.ask(context=c)
        assert a.sequence.tolist() == b.sequence.tolist()
        run.tell(a, values(a, i, c))
        whole.tell(b, values(b, i, c))
    with refused_by(run, tmp_path, "must be finite"):
        run.extend([[np.nan, 0.3]])


def test_bits_have_contexts_too() -> None:
    bits = np.random.default_rng(3).random((30, 40)) < 0.3
    run = nr.gp_ucb(
        nr.BitPool(bits), kernel=nr.Tanimoto(), noise_std=0.5, context_kernel=nr.RBF(0.3)
    )
    K = nr.Precomputed(nr.Tanimoto()(nr.BitPool(bits).X, nr.BitPool(bits).X))
    slow = nr.gp_ucb(nr.Pool.numbered(30), kernel=K, noise_std=0.5, context_kernel=nr.RBF(0.3))
    for i in range(15):
        c = np.array([0.3 * (i % 3), 0.5])
        a, b = run.ask(context=c), slow.ask(context=c)
        assert a.ids == b.ids
        for one, batch in ((run, a), (slow, b)):
            one.tell(batch, [float(np.sin(3 * int(batch.ids[0]) + i % 3))])


class Counting(nr.kernels.KernelBase):
    """A kernel that counts the values that it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        self.asked += len(X) * len(Z)
        return KX(X, Z)

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


def test_values_of_candidates_are_not_computed_again_under_another_context() -> None:
    """An ask costs O(N) per unique point, of which the kernel of candidates is the costly part."""
    pool, kernel = nr.Pool(np.random.default_rng(2).random((3000, 2))), Counting()
    run = nr.gp_ucb(pool, kernel=kernel, noise_std=1.0, context_kernel=KC)
    run.tell(range(40), np.sin(np.arange(40.0)), context=[0.1])
    run.tell(range(40), np.cos(np.arange(40.0)), context=[0.2])
    run.ask(context=[0.3])
    kernel.asked = 0
    run.ask(context=[0.7])
    assert kernel.asked < 3000 * 10  # of 240 000 pairs; what is left are checks and few rows


def regret(contextual: bool, seed: int, steps: int) -> Vector:
    """Regret of each step against the best candidate of its context."""
    rng = np.random.default_rng(seed)
    truth = np.array([[f(x, c) for x in X] for c in CONTEXTS])
    run = made(
        "gp_ucb",
        context_kernel=KC if contextual else None,
        noise_std=0.3,
        width=nr.ConstantWidth(1.5),
        seed=seed,
    )
    lost = []
    for _ in range(steps):
        j = int(rng.integers(len(CONTEXTS)))
        batch = run.ask(context=CONTEXTS[j]) if contextual else run.ask()
        value = truth[j, NAMES.index(batch.ids[0])]
        lost.append(truth[j].max() - value)
        run.tell(batch, [value + 0.3 * float(rng.standard_normal())])
    return np.array(lost)


def test_regret_against_the_best_of_each_context_grows_slowly() -> None:
    """A run that does not see contexts can at best find what is good on average, and goes on to
    lose as much every time."""
    steps, seeds = 200, range(3)
    seeing = np.mean([regret(True, seed, steps) for seed in seeds], axis=0)
    blind = np.mean([regret(False, seed, steps) for seed in seeds], axis=0)
    assert seeing[100:].sum() < 0.3 * seeing[:100].sum(), (seeing, blind)
    assert seeing[100:].sum() < 0.2 * blind[100:].sum(), (seeing, blind)

"""maximize with contexts: one round per context, each against the best under its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.optimizer import Failed
from small_rounds import ALGORITHMS, MODEL, POOL, VISITORS, N, T, X, f, run, truth

every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


@every_algorithm
def test_it_is_the_loop_by_hand(name: str) -> None:
    """Each evaluation is of what was best to ask under the context that had come by then."""
    found, by_hand, ids = run(name, seed=3), ALGORITHMS[name](POOL, seed=3), list[int]()
    for c in VISITORS:
        batch = by_hand.ask(at_most=1, context=c)
        by_hand.tell(batch, [f(x, c) for x in batch])
        ids += batch.sequence.tolist()
    assert found.ids.tolist() == ids
    assert found.contexts is not None
    np.testing.assert_array_equal(found.contexts, VISITORS)
    np.testing.assert_array_equal(
        found.values, [f(X[i], c) for i, c in zip(ids, VISITORS, strict=True)]
    )
    c = np.array([0.3, 0.8])
    assert found.best(context=c).mean == by_hand.best(context=c).mean
    assert found.certificate(context=c).gap == by_hand.certificate(context=c).gap
    assert found.account() == by_hand.account()


@every_algorithm
def test_minimize_mirrors_maximize(name: str) -> None:
    up = run(name)
    down = nr.minimize(
        lambda x, c: -f(x, c),
        POOL,
        T,
        algorithm=ALGORITHMS[name],
        contexts=VISITORS,
        progress=False,
    )
    np.testing.assert_array_equal(up.ids, down.ids)
    best = np.array([f(x, VISITORS[0]) for x in X])
    assert best.max() == -(-best).min()
    np.testing.assert_allclose(up.regret(truth), down.regret(lambda c: -truth(c)))


def named(row: Vector) -> dict[str, float]:
    return {"hour": float(row[1]), "age": float(row[0])}


WAYS: dict[str, Any] = {
    "lists": VISITORS.tolist(),
    "more than enough": np.vstack([VISITORS, VISITORS]),
    "function": lambda i: VISITORS[i],
    "generator": lambda: (c for c in VISITORS),
    "tuples": [tuple(c) for c in VISITORS],
    "names": [named(c) for c in VISITORS],
}


@pytest.mark.parametrize("way", WAYS)
def test_contexts_may_be_given_in_any_of_these_ways(way: str) -> None:
    """f is given each as the user gave it."""
    seen = list[Any]()

    def g(x: Vector, c: Any) -> float:
        seen.append(c)
        return f(x, np.array([c["age"], c["hour"]]) if way == "names" else c)

    given_ = WAYS[way]() if way == "generator" else WAYS[way]
    found, plain = run(f=g, contexts=given_), run()
    assert found.ids.tolist() == plain.ids.tolist()
    assert found.contexts is not None
    np.testing.assert_array_equal(found.contexts, VISITORS)  # by name, age before hour
    if way == "names":
        assert seen == WAYS[way]
        assert found.optimizer.context_names == ("age", "hour")
        by_name = found.regret(lambda c: truth([c["age"], c["hour"]]))
        np.testing.assert_array_equal(by_name, plain.regret(truth))
        with pytest.raises(nr.NoRegretError, match="as the first one was, by the names age, hour"):
            found.best(context=[0.1, 0.2])
    else:
        assert found.optimizer.context_names is None


def test_numbers_alone_are_contexts_of_one() -> None:
    hours = VISITORS[:, 0]
    found = run(f=lambda x, c: f(x, np.array([float(c), 0.0])), contexts=hours)
    assert found.contexts is not None
    np.testing.assert_array_equal(found.contexts, hours[:, None])


def test_ids_may_be_given_in_place_of_features() -> None:
    pool = nr.Pool(X, names=[f"ad{i}" for i in range(N)])
    found = run(f=lambda key, c: f(X[int(key[2:])], c), pool=pool, by_id=True)
    assert [f"ad{i}" for i in run().ids] == found.ids.tolist()
    np.testing.assert_array_equal(found.regret(truth), run().regret(truth))


def test_a_stream_that_ends_ends_the_run() -> None:
    found = run(contexts=iter(VISITORS[:11]))
    assert (found.ended, len(found.values)) == ("no more contexts", 11)
    assert found.ids.tolist() == run().ids[:11].tolist()
    assert "11 evaluations (no more contexts)" in str(found)
    assert str(found).endswith("best depends on the context")
    none = run(contexts=iter(()))
    assert none.contexts is not None
    assert (len(none.ids), len(none.contexts), str(none)[-16:]) == (0, 0, "nothing measured")


def test_each_context_is_taken_when_its_round_has_come() -> None:
    """A visitor comes after the one before has been served, and may come because of that."""
    served = list[float]()

    def visitors() -> Iterator[Vector]:
        for i in range(T):
            assert len(served) == i
            yield VISITORS[i]

    def serve(x: Vector, c: Vector) -> float:
        served.append(f(x, c))
        return served[-1]

    assert run(f=serve, contexts=visitors()).ids.tolist() == run().ids.tolist()
    assert len(served) == T


@every_algorithm
def test_failures_take_their_rounds(name: str) -> None:
    """A context does not wait for the next evaluation because that of before failed."""
    calls = list[Vector]()

    def unlucky(x: Vector, c: Vector) -> float | Failed:
        calls.append(c)
        return nr.FAILED if len(calls) % 3 == 0 else f(x, c)

    found = run(name, f=unlucky)
    np.testing.assert_array_equal(calls, VISITORS)
    assert found.contexts is not None
    np.testing.assert_array_equal(found.contexts, VISITORS)
    lost = np.arange(2, T, 3)
    assert np.flatnonzero(np.isnan(found.values)).tolist() == lost.tolist()
    assert np.flatnonzero(np.isnan(found.regret(truth))).tolist() == lost.tolist()
    assert (found.optimizer.spent, found.optimizer.evaluations) == (T, T - len(lost))


def test_only_failures_come_to_an_end() -> None:
    found = run(f=lambda *_: nr.FAILED)
    assert (found.optimizer.spent, found.optimizer.evaluations) == (T, 0)
    assert np.isnan(found.regret(truth)).all()
    with pytest.raises(nr.NoRegretError, match="no value was told"):
        found.best(context=VISITORS[0])


def test_a_saved_run_goes_on(tmp_path: Path) -> None:
    """With what is left of the contexts."""

    def stop(optimizer: nr.Optimizer, batch: nr.Batch, values: object) -> bool:
        del batch, values
        optimizer.save(tmp_path / "run")
        return optimizer.spent == 17

    part, whole = run("bbkb", callback=stop), run("bbkb")
    assert (part.ended, len(part.ids)) == ("callback", 17)

    def again(pool: Any, goal: str) -> nr.Optimizer:
        del goal
        return nr.load(tmp_path / "run", pool=pool)

    rest = run(algorithm=again, contexts=VISITORS[17:])
    assert [*part.ids, *rest.ids] == whole.ids.tolist()
    assert rest.best(context=[0.1, 0.2]).mean == whole.best(context=[0.1, 0.2]).mean


def test_whatever_ends_it_what_was_measured_is_kept() -> None:
    def broken(how: BaseException) -> Callable[[Vector, Vector], float]:
        calls = iter(range(T))

        def g(x: Vector, c: Vector) -> float:
            if next(calls) == 9:
                raise how
            return f(x, c)

        return g

    interrupted = run(f=broken(KeyboardInterrupt()))
    assert (interrupted.ended, len(interrupted.values)) == ("interrupted", 9)
    assert interrupted.contexts is not None
    np.testing.assert_array_equal(interrupted.contexts, VISITORS[:9])
    for stream in (VISITORS, (c for c in VISITORS)):
        with pytest.raises(ZeroDivisionError) as caught:
            run(f=broken(ZeroDivisionError()), contexts=stream)
        assert caught.value.result.ids.tolist() == run().ids[:9].tolist()  # type: ignore[attr-defined]  # set by the loop
    wrong = VISITORS.copy()
    wrong[9, 1] = np.nan
    with pytest.raises(nr.NoRegretError, match="must be finite") as refused:
        run(contexts=iter(wrong))
    assert "of round 9:" in refused.value.__notes__[0]
    assert len(refused.value.result.values) == 9  # type: ignore[attr-defined]  # set by the loop


BLIND = partial(nr.gp_ucb, kernel=nr.RBF(), noise_std=1.0)
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "auto": ({"algorithm": nr.auto}, r"contexts=\.\.\.: this run has no contexts.*context_kernel"),
    "blind": ({"algorithm": BLIND}, r"contexts=\.\.\.: this run has no contexts"),
    "missing": ({"contexts": None}, r"this run has contexts \(context_kernel=\.\.\.\): contexts="),
    "few": ({"contexts": VISITORS[:29]}, "holds 29 contexts, and the budget leaves 30"),
    "few names": ({"contexts": [{"age": 1.0}] * 3}, "holds 3 contexts"),
    "nan": ({"contexts": [*VISITORS[1:], [0.1, np.nan]]}, r"must be finite.*\(29, 1\)"),
    "ragged": ({"contexts": [*VISITORS[1:], [0.1]]}, "in rows of equal length"),
    "words": ({"contexts": ["late"] * T}, "numbers only"),
    "deep": ({"contexts": np.zeros((T, 1, 1))}, "one context per row"),
    "empty": ({"contexts": np.zeros((T, 0))}, "one context per row"),
    "number": ({"contexts": 0.3}, "one context per evaluation, in order, or a function"),
    "word": ({"contexts": "late"}, "one context per evaluation"),
    "columns": ({"contexts": {"age": [0.1] * T}}, "one context per evaluation"),
    "none": ({"contexts": lambda _: None}, "this run has contexts, so say which one"),
    "target": ({"stop_when": nr.Target(0.9)}, r"stop_when=Target.*callback="),
    "gap": ({"stop_when": [nr.GapBelow(0.9)]}, "of which a run with contexts has one for each"),
    "kernel": (
        {"algorithm": partial(nr.gp_ucb, **{**MODEL, "context_kernel": nr.Linear()})},
        "must have variance 1 everywhere",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_said_before_anything_is_measured(case: str) -> None:
    settings, match = WRONG[case]
    calls = list[Matrix]()

    def measured(*given_: Any) -> float:
        calls.append(given_[0])
        return 0.0

    with pytest.raises(nr.NoRegretError, match=match):
        run(**{"f": measured, **settings})
    assert not calls


def test_data_frames_are_given_row_by_row() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(VISITORS, columns=["age", "hour"])
    with pytest.raises(nr.NoRegretError, match=r"frame\.to_dict\('records'\)"):
        run(contexts=frame)
    found = run(f=lambda x, c: f(x, [c["age"], c["hour"]]), contexts=frame.to_dict("records"))  # type: ignore[arg-type]  # a list does
    assert found.ids.tolist() == run().ids.tolist()


def test_a_history_leaves_rounds_for_the_rest() -> None:
    """The first context is that of the first round of this run, whatever was told before."""

    def told(pool: Any, goal: Any) -> nr.Optimizer:
        optimizer = nr.gp_ucb(pool, goal=goal, **MODEL)
        optimizer.tell([3, 4], [0.1, 0.3], context=[0.5, 0.5])
        return optimizer

    found = run(algorithm=told, contexts=VISITORS[: T - 2])
    assert (found.ended, len(found.ids)) == ("budget spent", T - 2)
    assert found.optimizer.evaluated.contexts is not None
    assert found.optimizer.evaluated.contexts[:2].tolist() == [[0.5, 0.5]] * 2
    assert len(found.optimizer.evaluated) == len(found.optimizer.evaluated.contexts)

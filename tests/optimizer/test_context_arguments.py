"""What is said of contexts: by name, in order, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ArgumentError
from small_contexts import X, made, values
from small_optimizers import refused, refused_by


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


@pytest.mark.parametrize("start", [[1, 2], [0], np.array([1, 2]), np.array([0]), nr.SobolDesign(2)])
def test_no_run_begins_again_under_each_context(start: object) -> None:
    with pytest.raises(ArgumentError, match=r"start= and min_batch= are for runs without"):
        made("gp_ucb", start=start)


@pytest.mark.parametrize("start", [[], np.array([], dtype=np.int64)])
def test_a_run_with_contexts_may_begin_with_nothing(start: object) -> None:
    assert made("gp_ucb", start=start).ask(context=[0.3]).x.shape == (1, X.shape[1])


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

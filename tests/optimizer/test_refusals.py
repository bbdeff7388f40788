"""What a run refuses, with a message that names it, and without a trace in what it holds."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
import small_optimizers
from small_optimizers import (
    BASELINES,
    DRAWING,
    MODELS,
    Kernelish,
    everything,
    refused,
    refused_by,
)

NAN, INF = float("nan"), float("inf")
POOL = nr.Pool(np.linspace(0, 1, 12)[:, None])
KERNEL = nr.RBF(0.3)
NAMES = ["mini_gp_ucb", "gp_bucb", "bbkb", "uniform"]


def build(name: str) -> nr.Optimizer:
    """An algorithm whose batches hold at least three evaluations."""
    if name == "uniform":
        return nr.uniform(POOL, batch_size=3, seed=1)
    algorithms: dict[str, Callable[..., nr.Optimizer]] = {
        "mini_gp_ucb": nr.mini_gp_ucb,
        "gp_bucb": nr.gp_bucb,
        "bbkb": nr.bbkb,
    }
    return algorithms[name](POOL, kernel=KERNEL, noise_std=0.5, limit=150.0, seed=1)


def midway(name: str) -> tuple[nr.Optimizer, nr.Batch]:
    """An optimizer that has been told a few batches and waits for one of three evaluations."""
    optimizer = build(name)
    for _ in range(3):
        batch = optimizer.ask(at_most=3)
        optimizer.tell(batch, [np.sin(5 * x[0]) for x in batch])
    batch = optimizer.ask(at_most=3)
    assert len(batch) == 3
    return optimizer, batch


Call = Callable[[Any, Any], object]  # wrong on purpose

BAD_CALLS: dict[str, tuple[Call, str]] = {
    "a NaN": (lambda o, b: o.tell(b, [0.0, NAN, 0.0]), r"batch 3: value 1 is nan"),
    "an infinity": (lambda o, b: o.tell(b, np.array([0.0, 0.0, -INF])), "value 2 is -inf"),
    "a NaN by id": (lambda o, _: o.tell([4], [NAN]), "value 0 is nan"),
    "a value out of range": (lambda o, b: o.tell(b, [0.0, 1e200, 0.0]), r"1e\+130.*got 1e\+200"),
    "too few values": (lambda o, b: o.tell(b, [0.0, 0.0]), "batch 3 holds 3 .*got 2 values"),
    "too many values": (lambda o, b: o.tell(b, [0.0] * 4), "batch 3 holds 3 .*got 4 values"),
    "no values": (lambda o, b: o.tell(b, []), "batch 3 holds 3 .*got 0 values"),
    "one number": (lambda o, b: o.tell(b, 0.5), "batch 3 holds 3 .*got 1 values"),
    "nothing": (lambda o, b: o.tell(b), "all of one of these"),
    "values of two axes": (lambda o, b: o.tell(b, np.zeros((3, 1))), r"shape \(3, 1\)"),
    "ragged values": (lambda o, b: o.tell(b, [[0.0], [0.0, 1.0], [0.0]]), "batch 3.*values"),
    "words": (lambda o, b: o.tell(b, ["good", "bad", "good"]), r"must be numbers.*'good'"),
    "a None": (lambda o, b: o.tell(b, [0.0, None, 0.0]), "batch 3"),
    "too few values by id": (lambda o, _: o.tell([1, 2], [0.0]), "2 evaluations, got 1 values"),
    "an unknown row": (lambda o, _: o.tell([12], [0.0]), "row 12 is outside this pool of 12"),
    "a negative row": (lambda o, _: o.tell([-1], [0.0]), "row -1 is outside"),
    "a name for a row": (lambda o, _: o.tell(["acid"], [0.0]), "row numbers, got .*acid"),
    "a fraction for a row": (lambda o, _: o.tell([1.5], [0.0]), r"row numbers, got .*1\.5"),
    "a truth for a row": (lambda o, _: o.tell([True], [0.0]), "row numbers, got .*True"),
    "nothing for a row": (lambda o, _: o.tell(None, [0.0]), "row numbers, got None"),
    "points of other features": (lambda o, _: o.tell([[1, 2, 3, 4]], [0.0]), "columns, got 4"),
    "a table of rows": (lambda o, _: o.exclude([[1, 2]]), r"shape \(1, 2\)"),
    "a point without a number": (lambda o, _: o.tell([[np.nan]], [0.0]), "must be finite"),
    "points and too few values": (lambda o, _: o.tell([[0.5], [0.1]], [0.0]), "holds 2"),
    "ragged rows": (lambda o, _: o.exclude([[1], [1, 2]]), "ids"),
    "excluding an unknown row": (lambda o, _: o.exclude([3, 99]), "row 99 is outside"),
    "means without counts": (lambda o, _: o.tell([1], means=[0.0]), "counts="),
    "counts without means": (lambda o, _: o.tell([1], counts=[2]), "means="),
    "values and means": (
        lambda o, _: o.tell([1], [0.0], means=[0.0], counts=[1]),
        "all of one of these",
    ),
    "values and counts": (lambda o, _: o.tell([1], [0.0], counts=[1]), "all of one of these"),
    "only ids": (lambda o, _: o.tell([1]), "all of one of these"),
    "means of a batch": (lambda o, b: o.tell(b, means=[0.0], counts=[1]), "all of one of these"),
    "half a count": (lambda o, _: o.tell([1], means=[0.0], counts=[1.5]), "counts=.*whole"),
    "a count of zero": (lambda o, _: o.tell([1], means=[0.0], counts=[0]), "counts=.*from 1 to"),
    "a negative count": (lambda o, _: o.tell([1], means=[0.0], counts=[-2]), "counts=.*from 1 to"),
    "a NaN count": (lambda o, _: o.tell([1], means=[0.0], counts=[NAN]), "counts=.*finite"),
    "an endless count": (lambda o, _: o.tell([1], means=[0.0], counts=[1e19]), "counts="),
    "a NaN mean": (lambda o, _: o.tell([1], means=[NAN], counts=[1]), "means=.*finite"),
    "too many counts": (
        lambda o, _: o.tell([1, 2], means=[0.0, 0.0], counts=[1, 1, 1]),
        "2 ids, 2 means and 3 counts",
    ),
    "at_most 0": (lambda o, _: o.ask(at_most=0), r"ask\(at_most=...\) must be at least 1, got 0"),
    "at_most -3": (lambda o, _: o.ask(at_most=-3), "at_most=.*got -3"),
    "at_most 2.5": (lambda o, _: o.ask(at_most=2.5), r"at_most=.*whole number, got 2\.5"),
    "worker 3": (lambda o, _: o.ask(worker=3), "worker=.*got 3"),
    "a batch cut with a step": (lambda o, b: o.fail(b[::2]), r"slice\(None, None, 2\)"),
    "a batch cut by a number": (lambda o, b: o.fail(b[0]), "got 0"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", BAD_CALLS)
def test_a_bad_call_changes_nothing(name: str, what: str, tmp_path: Path) -> None:
    """A slip at the keyboard at three in the morning must not spoil a run of weeks."""
    (optimizer, batch), (twin, same) = midway(name), midway(name)
    call, match = BAD_CALLS[what]
    with refused_by(optimizer, tmp_path, f"(?s){match}"):
        call(optimizer, batch)
    for run, own in ((optimizer, batch), (twin, same)):
        run.tell(own, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(optimizer.ask(at_most=5).sequence, twin.ask(at_most=5).sequence)


@pytest.mark.parametrize(("second", "told"), [(0.2, 3), (nr.FAILED, 2)], ids=["told", "failed"])
@pytest.mark.parametrize("name", NAMES)
def test_telling_again_is_harmless_with_the_same_values_only(
    name: str, second: Any, told: int, tmp_path: Path
) -> None:
    """A worker that retries after a timeout must not count its measurements twice.

    Nor does a late message rewrite the ledger of last month.
    """
    (optimizer, batch), (twin, same) = midway(name), midway(name)
    values = [0.1, second, 0.3]
    optimizer.tell(batch, values)
    twin.tell(same, values)
    told_before = "batch 3 was told before with other values"
    for counts in (f": {told} of these 3", ""):  # of a closed batch only a digest is kept
        before = everything(optimizer, tmp_path)
        optimizer.tell(batch, values)
        assert everything(optimizer, tmp_path) == before
        with refused_by(optimizer, tmp_path, told_before + counts):
            optimizer.tell(batch, [0.1, second, 0.4])
        if counts:
            with refused_by(optimizer, tmp_path, f"{told_before}: 1 of these 1"):
                optimizer.tell(batch[:1], [0.2])
            later, expected = optimizer.ask(at_most=5), twin.ask(at_most=5)
            np.testing.assert_array_equal(later.sequence, expected.sequence)
    if second is not nr.FAILED:  # which may still get a late value
        with refused_by(optimizer, tmp_path, "batch 3 .*closed"):
            optimizer.fail(batch)


def test_a_batch_closed_by_ids_takes_no_values(tmp_path: Path) -> None:
    """Otherwise one measurement reported on two roads would count twice."""
    optimizer, batch = midway("uniform")
    optimizer.tell(batch.sequence, [0.1, 0.2, 0.3])
    with refused_by(
        optimizer, tmp_path, "3 of these 3 evaluations of batch 3 were closed by values told by id"
    ):
        optimizer.tell(batch, [0.1, 0.2, 0.3])
    optimizer.ask()
    with refused_by(optimizer, tmp_path, "batch 3 was told before with other values"):
        optimizer.tell(batch, [0.1, 0.2, 0.3])


@pytest.mark.parametrize("values", [[0.7], [0.2]])
def test_a_batch_of_another_optimizer_is_refused(values: list[float], tmp_path: Path) -> None:
    """Two campaigns in one script; equal values (0 and 1, say) must not hide the mix-up."""
    ours, theirs = (nr.uniform(POOL, seed=seed) for seed in (0, 5))
    mine, other = ours.ask(), theirs.ask()
    assert mine.ticket == other.ticket
    assert mine.ids[0] != other.ids[0]
    with refused_by(ours, tmp_path, "batch 0 .*other candidates.*another optimizer"):
        ours.tell(other, values)
    with refused_by(ours, tmp_path, "batch 0 .*other candidates.*another optimizer"):
        ours.fail(other)
    ours.tell(mine, [0.2])
    with refused_by(ours, tmp_path, "batch 0"):
        ours.tell(other, values)
    theirs.tell(other, [0.2])
    later = theirs.ask()
    with refused_by(ours, tmp_path, "batch 1 .*was not given out.*opened 1 batches"):
        ours.tell(later, values)


@pytest.mark.parametrize("name", [*MODELS, *DRAWING, *BASELINES, "auto"])
def test_asking_with_everything_excluded_is_refused(name: str, tmp_path: Path) -> None:
    """Not an endless loop, and not an excluded candidate after all."""
    for optimizer in (small_optimizers.build(name), small_optimizers.warm(name)):
        optimizer.exclude(range(40))
        with refused_by(optimizer, tmp_path, "all 40 candidates are excluded"):
            optimizer.ask()
    with refused_by(optimizer, tmp_path, "no best candidate"):
        optimizer.best()


@pytest.mark.parametrize("name", NAMES)
def test_there_is_no_best_before_a_value(name: str, tmp_path: Path) -> None:
    """A recommendation out of nothing would be believed."""
    optimizer = build(name)
    batch = optimizer.ask(at_most=2)
    optimizer.fail(batch)
    with refused_by(optimizer, tmp_path, "no value was told"):
        optimizer.best()
    what = "is a baseline" if name == "uniform" else "no value was told"
    with refused_by(optimizer, tmp_path, what):
        optimizer.certificate()


@pytest.mark.parametrize(
    "algorithm", [nr.uniform, nr.epsilon_greedy, nr.random_search, nr.regularized_evolution]
)
def test_a_baseline_has_no_model(algorithm: Callable[..., nr.Optimizer], tmp_path: Path) -> None:
    """Bounds made up for a baseline would look like a guarantee."""
    optimizer = algorithm(POOL)
    optimizer.tell([1], [0.5])
    for what, look in (
        ("baseline.*no certificate", optimizer.certificate),
        ("baseline.*no posterior", lambda: optimizer.posterior),
        ("baseline", optimizer.look),
    ):
        for words in (what, "Use one of the Gaussian-process algorithms"):
            with refused_by(optimizer, tmp_path, words):
                look()
    assert np.isnan(optimizer.best().std)


@pytest.mark.parametrize(
    ("X", "match"),
    [
        ([[0.1, 0.2]], r"mean\(X\) must have 1 columns, got 2"),
        ([0.1, 0.2], r"mean\(X\) must have two dimensions.*\(2,\)"),
        ([[NAN]], r"mean\(X\) must be finite"),
        ([["high"]], r"mean\(X\) must hold numbers only.*high"),
    ],
)
def test_posterior_of_other_rows_is_refused(X: object, match: str) -> None:
    """Features of another table must not be read as ours."""
    optimizer, _ = midway("mini_gp_ucb")
    with refused(match):
        optimizer.posterior.mean(X)


def test_a_run_is_only_loaded_with_what_it_was_saved_with(tmp_path: Path) -> None:
    """Row 7 of another table is another molecule."""
    path = tmp_path / "run"
    optimizer, _ = midway("bbkb")
    optimizer.save(path)
    others = {
        "order": nr.Pool(POOL.X[::-1]),
        "a digit": nr.Pool(POOL.X + 1e-15),
        "fewer": nr.Pool(POOL.X[:-1]),
        "named": nr.Pool(POOL.X, names=[f"m{i}" for i in range(12)]),
    }
    for pool in others.values():
        with refused("saved with another pool"):
            nr.load(path, pool=pool)
    foreign = nr.gp_ucb(POOL, kernel=Kernelish(KERNEL, 1.0), noise_std=0.1)
    foreign.save(path)
    with refused(r"kernel that is not one of this library's.*kernel=your_kernel"):
        nr.load(path, pool=POOL)


def test_what_is_not_a_run_is_not_loaded(tmp_path: Path) -> None:
    """The wrong file, or half of one after a full disk."""
    path = tmp_path / "run"
    with refused(re.escape(str(path))):
        nr.load(path, pool=POOL)
    with refused(re.escape(str(tmp_path))):
        nr.load(tmp_path, pool=POOL)
    for content in (b"", b"id,value\n1,0.5\n"):
        path.write_bytes(content)
        with refused("not a run saved by noregret"):
            nr.load(path, pool=POOL)
    for entries in ({}, {"run.json": "[]"}, {"run.json": "{"}, {"run.json": "{}"}):
        with zipfile.ZipFile(path, "w") as archive:
            for entry, text in entries.items():
                archive.writestr(entry, text)
        with refused(re.escape(str(path))):
            nr.load(path, pool=POOL)


def test_a_run_without_one_of_its_arrays_is_not_loaded(tmp_path: Path) -> None:
    """Some archivers drop what they do not know."""
    optimizer, _ = midway("mini_gp_ucb")
    entries = everything(optimizer, tmp_path)
    for missing in entries:
        path = tmp_path / "less"
        with zipfile.ZipFile(path, "w") as archive:
            for entry, content in entries.items():
                if entry != missing:
                    archive.writestr(entry, content)
        with refused(re.escape(str(path))):
            nr.load(path, pool=POOL)


def test_a_damaged_run_is_refused_or_whole(tmp_path: Path) -> None:
    """A flipped bit may fall on a time stamp, never on a value unnoticed."""
    optimizer, batch = midway("mini_gp_ucb")
    whole = everything(optimizer, tmp_path)
    good = (tmp_path / "run").read_bytes()
    path = tmp_path / "bad"
    rng = np.random.default_rng(0)
    refusals = 0
    for place in rng.choice(len(good), size=400, replace=False):
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            again = nr.load(path, pool=POOL)
        except nr.NoRegretError:
            refusals += 1
            continue
        assert everything(again, tmp_path) == whole
        np.testing.assert_array_equal(again.ask(at_most=3).sequence, batch.sequence)
    assert refusals > 250
    for stop in rng.choice(len(good), size=30, replace=False):
        path.write_bytes(good[:stop])
        with refused(re.escape(str(path))):
            nr.load(path, pool=POOL)

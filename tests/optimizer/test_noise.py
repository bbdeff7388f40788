"""Values of several instruments: `tell(..., noise_std=...)` against one row per evaluation."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import TellError
from noregret.policies import Bandit
from small_instruments import NOISE, OFFSET, Diary, live_through, make, noise_of
from small_optimizers import (
    DRAWING,
    MODELS,
    POOL,
    X,
    value,
)
from strategies import close

NAMES = [*MODELS, *DRAWING]
EXACT = ("gp_ucb", "gp_bucb-product", "mini_gp_ucb", "mini_gp_ei")
every_model = pytest.mark.parametrize("name", NAMES)
CLOSE = 1e-9


def seen(optimizer: nr.Optimizer) -> tuple[object, ...]:
    """What a user can see of a run, to the last bit."""
    told, view = optimizer.evaluated, optimizer.posterior
    numbers = (told.averages, told.weights, told.evaluations, view.mean(X), view.variance(X))
    bits = [part.tobytes() for part in numbers]
    counts = (optimizer.evaluations, optimizer.spent, optimizer.batches)
    return bits, counts, optimizer.sequence.tolist(), view.beta, optimizer.best().id


@given(st.sampled_from(EXACT), st.integers(0, 200), st.integers(1, 9))
def test_any_history_gives_the_dense_heteroscedastic_posterior(
    name: str, seed: int, turns: int
) -> None:
    """However values of several instruments come in, what is believed is the textbook's."""
    optimizer, diary = make(name, seed=seed), Diary()
    for i in range(seed, seed + turns):
        live_through(optimizer, diary, i)
    dense, view = diary.dense(), optimizer.posterior
    close(view.mean(X) - OFFSET, dense.mean(X), CLOSE)
    close(view.variance(X), dense.variance(X), CLOSE)
    assert view.log_det == pytest.approx(dense.log_det(), rel=CLOSE, abs=CLOSE)
    assert view.effective_dimension() == pytest.approx(dense.effective_dimension(), rel=CLOSE)
    assert optimizer.evaluations == optimizer.spent == len(diary.rows)
    seen = optimizer.evaluated
    for id, weight, count, average in zip(
        seen.ids, seen.weights, seen.evaluations, seen.averages, strict=True
    ):
        at = np.flatnonzero(np.array(diary.rows) == id)
        w = (NOISE / np.array(diary.noise)[at]) ** 2
        assert (count, weight) == (len(at), pytest.approx(w.sum()))
        assert average == pytest.approx(w @ np.array(diary.values)[at] / w.sum())
    assert optimizer.best().evaluations == diary.rows.count(int(optimizer.best().id))


@every_model
def test_an_instrument_as_noisy_as_the_run_is_the_usual_one(name: str) -> None:
    """To the last bit, so that nothing moves for who says what was known."""
    plain, said = make(name), make(name)
    for i in range(6):
        batch, same = plain.ask(at_most=4), said.ask(at_most=4)
        told = [value(int(row), i + j) for j, row in enumerate(batch.sequence)]
        np.testing.assert_array_equal(batch.sequence, same.sequence)
        plain.tell(batch, told)
        said.tell(same, told, noise_std=NOISE)
        said.tell(same, told)  # again, which changes nothing
    assert seen(plain) == seen(said)


@every_model
def test_a_fine_value_counts_as_several(name: str) -> None:
    """Four evaluations are one of half their noise: of them all but the number is the same."""
    several, one = make(name), make(name)
    for row in (3, 7, 11):
        several.tell([row] * 4, [value(row, 1)] * 4)
        one.tell([row], [value(row, 1)], noise_std=NOISE / 2)
    np.testing.assert_allclose(one.evaluated.weights, several.evaluated.weights, rtol=CLOSE)
    assert (one.evaluations, several.evaluations) == (3, 12)
    assert one.evaluated.evaluations.tolist() == [1, 1, 1]
    if name not in ("bkb", "bbkb-global", "bbkb-local"):  # no dictionary is drawn
        mean, variance = several.posterior.mean(X), several.posterior.variance(X)
        close(one.posterior.mean(X), mean, CLOSE)
        close(one.posterior.variance(X), variance, CLOSE)


@every_model
def test_splitting_a_tell_changes_nothing(name: str) -> None:
    """Bit for bit, whether values of many instruments come one by one or together."""
    whole, parts, by_id = make(name), make(name), make(name)
    for i in range(6):
        for optimizer in (whole, parts, by_id):
            batch = optimizer.ask(at_most=5, worker="ab"[i % 2])
            rows = [int(row) for row in batch.sequence]
            told = [value(row, i + j) for j, row in enumerate(rows)]
            noise = noise_of(i, len(rows))
            extra, of_extra = [rows[0]] * 3, noise_of(i + 100, 3)
            if optimizer is whole:
                optimizer.tell(batch, told, noise_std=noise)
                optimizer.tell(extra, [0.5] * 3, noise_std=of_extra)
                continue
            for j, row in enumerate(rows):
                one = row if optimizer is by_id else batch[j : j + 1]
                optimizer.tell([one] if optimizer is by_id else one, told[j], noise_std=noise[j])
            for j in range(3):
                optimizer.tell(extra[:1], [0.5], noise_std=of_extra[j])
    assert whole.posterior.mean(X).tobytes() == parts.posterior.mean(X).tobytes()
    assert whole.posterior.mean(X).tobytes() == by_id.posterior.mean(X).tobytes()
    if name in MODELS:
        assert whole.state.information == parts.state.information == by_id.state.information
    assert whole.sequence.tolist() == parts.sequence.tolist() == by_id.sequence.tolist()


@every_model
def test_a_saved_run_goes_on(name: str, tmp_path: Path) -> None:
    """What the instruments said is not lost with the process, nor what is half told."""
    unbroken, broken = make(name), make(name)
    one, other = Diary(), Diary()
    for i in range(9):
        live_through(unbroken, one, i)
        batch = unbroken.ask(worker="late", at_most=3)
        unbroken.tell(batch[:1], [0.1], noise_std=0.07)
        live_through(broken, other, i)
        batch = broken.ask(worker="late", at_most=3)
        broken.tell(batch[:1], [0.1], noise_std=0.07)
        broken.save(tmp_path / "run")
        broken = nr.load(tmp_path / "run", pool=POOL)
        broken.tell(batch[:1], [0.1], noise_std=0.07)  # again
        with pytest.raises(TellError, match="another noise_std"):
            broken.tell(batch[:1], [0.1])
        unbroken.fail(unbroken.ask(worker="late"))
        broken.fail(broken.ask(worker="late"))
    assert seen(unbroken) == seen(broken)


NEW_FIELDS = {
    "Ledger": ["weights"],
    "PendingBatches": ["asked_weights"],
    "PendingBatch": ["weights"],
    "Observations": ["evaluations"],
}


def without_new_fields(path: Path) -> int:
    """Make of a saved run one of before there were weights; return how many fields went."""
    gone = 0

    def drop(node: Any) -> None:
        nonlocal gone
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, dict | list):
                drop(child)
        if isinstance(node, dict) and node.get("tag") in NEW_FIELDS:
            for name in NEW_FIELDS[node["tag"]]:
                del node["fields"][name]
                gone += 1

    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(held["run.json"])
    drop(tree)
    held["run.json"] = json.dumps(tree).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return gone


@every_model
def test_runs_saved_before_there_were_weights_go_on(name: str, tmp_path: Path) -> None:
    """Their evaluations weighed 1 each; a fine instrument may join them."""
    unbroken, old = make(name), make(name)
    for i in (3, 7, 11):  # of which nothing is said
        for optimizer in (unbroken, old):
            live_through(optimizer, Diary(), i)
    for optimizer in (unbroken, old):
        batch = optimizer.ask(at_most=3, worker="late")
        optimizer.tell(batch[:1], [0.4])
        optimizer.tell([2, 2], [0.1, 0.2])
    old.save(tmp_path / "run")
    assert without_new_fields(tmp_path / "run") >= 3
    old = nr.load(tmp_path / "run", pool=POOL)
    for i in range(12, 18):
        for optimizer in (unbroken, old):
            live_through(optimizer, Diary(), i)
    assert seen(unbroken) == seen(old)


@pytest.mark.parametrize("name", MODELS)
def test_information_is_never_less_than_what_was_learned(name: str) -> None:
    """BBKB's width counts evaluations by variances of their batch: a bound, with weights too."""
    optimizer, diary = make(name, seed=2), Diary()
    for i in range(9):
        live_through(optimizer, diary, i)
        assert isinstance(optimizer.policy, Bandit)
        _, inputs = optimizer.policy.believe(optimizer.state, optimizer.evidence)
        assert inputs.information.plain >= inputs.posterior.log_det * (1 - CLOSE)
        assert inputs.information.tripled >= diary.dense().log_det() * (1 - CLOSE)
        assert inputs.weight == pytest.approx(sum((NOISE / s) ** 2 for s in diary.noise))
        assert inputs.evaluations == len(diary.rows)

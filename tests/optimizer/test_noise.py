"""Values of several instruments: `tell(..., noise_std=...)` against one row per evaluation."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Vector
from noregret.errors import TellError
from noregret.optimizer.feedback import Report, reports
from noregret.policies import Bandit
from slow_references import DenseGP
from small_optimizers import (
    BASELINES,
    DRAWING,
    KERNEL,
    MODELS,
    POOL,
    X,
    build,
    everything,
    refused_by,
    value,
)
from strategies import close

NOISE, OFFSET = 0.5, 0.25
NAMES = [*MODELS, *DRAWING]
EXACT = ("gp_ucb", "gp_bucb-product", "mini_gp_ucb", "mini_gp_ei")
every_model = pytest.mark.parametrize("name", NAMES)
CLOSE = 1e-9


def make(name: str, **settings: Any) -> nr.Optimizer:
    return build(name, **{"noise_std": NOISE, "offset": OFFSET, **settings})


def noise_of(time: int, size: int) -> Vector:
    """An instrument for each value: the usual one, a fine one, or one of its own."""
    rng = np.random.default_rng([time, 4])
    return rng.choice([NOISE, 0.1, 2.0, float(rng.uniform(0.2, 1.5))], size)


def seen(optimizer: nr.Optimizer) -> tuple[object, ...]:
    """What a user can see of a run, to the last bit."""
    told, view = optimizer.evaluated, optimizer.posterior
    numbers = (told.averages, told.weights, told.evaluations, view.mean(X), view.variance(X))
    bits = [part.tobytes() for part in numbers]
    counts = (optimizer.evaluations, optimizer.spent, optimizer.batches)
    return bits, counts, optimizer.sequence.tolist(), view.beta, optimizer.best().id


class Diary:
    """Every value told, with its row and its noise."""

    def __init__(self) -> None:
        self.rows, self.values, self.noise = list[int](), list[float](), list[float]()

    def note(self, rows: Any, values: Any, noise: Any) -> None:
        self.rows += [int(row) for row in rows]
        self.values += [float(v) for v in values]
        self.noise += np.broadcast_to(noise, len(rows)).tolist()

    def dense(self) -> DenseGP:
        noise = (np.array(self.noise) / NOISE) ** 2
        return DenseGP(KERNEL, NOISE**2, X[self.rows], np.array(self.values) - OFFSET, noise)


def turn(optimizer: nr.Optimizer, diary: Diary, i: int) -> list[int]:
    """Ask, and tell by some instruments; by and by in every way there is."""
    batch = optimizer.ask(at_most=4)
    rows = [int(row) for row in batch.sequence]
    told = [value(row, i + j) for j, row in enumerate(rows)]
    noise = noise_of(i, len(rows))
    if i % 4 == 0:
        optimizer.tell(batch, told, noise_std=noise)
        diary.note(rows, told, noise)
    elif i % 4 == 1:  # by id, more than were asked for
        more, values = [*rows, 3, rows[0]], [*told, 0.3, 0.4]
        optimizer.tell(more, values, noise_std=noise_of(i, len(more)).tolist())
        diary.note(more, values, noise_of(i, len(more)))
    elif i % 4 == 2:  # one number for all, and an average of three by another
        optimizer.tell(batch, told, noise_std=0.2)
        optimizer.tell([5, rows[0]], means=[0.5, 0.6], counts=[3, 1], noise_std=[0.9, 0.3])
        diary.note([*rows, 5, 5, 5, rows[0]], [*told, 0.5, 0.5, 0.5, 0.6], NOISE)
        diary.noise[-len(rows) - 4 :] = [*[0.2] * len(rows), 0.9, 0.9, 0.9, 0.3]
    else:  # the usual one, of which nothing is said
        optimizer.tell(batch, told)
        diary.note(rows, told, NOISE)
    return rows


@given(st.sampled_from(EXACT), st.integers(0, 200), st.integers(1, 9))
def test_any_history_gives_the_dense_heteroscedastic_posterior(
    name: str, seed: int, turns: int
) -> None:
    """However values of several instruments come in, what is believed is the textbook's."""
    optimizer, diary = make(name, seed=seed), Diary()
    for i in range(seed, seed + turns):
        turn(optimizer, diary, i)
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
        turn(unbroken, one, i)
        batch = unbroken.ask(worker="late", at_most=3)
        unbroken.tell(batch[:1], [0.1], noise_std=0.07)
        turn(broken, other, i)
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


def aged(path: Path) -> int:
    """Make of a saved run one of before there were weights; return how many fields went."""
    gone = 0

    def strip(node: Any) -> None:
        nonlocal gone
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, dict | list):
                strip(child)
        if isinstance(node, dict) and node.get("tag") in NEW_FIELDS:
            for name in NEW_FIELDS[node["tag"]]:
                del node["fields"][name]
                gone += 1

    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(held["run.json"])
    strip(tree)
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
            turn(optimizer, Diary(), i)
    for optimizer in (unbroken, old):
        batch = optimizer.ask(at_most=3, worker="late")
        optimizer.tell(batch[:1], [0.4])
        optimizer.tell([2, 2], [0.1, 0.2])
    old.save(tmp_path / "run")
    assert aged(tmp_path / "run") >= 3
    old = nr.load(tmp_path / "run", pool=POOL)
    for i in range(12, 18):
        for optimizer in (unbroken, old):
            turn(optimizer, Diary(), i)
    assert seen(unbroken) == seen(old)


def test_telling_again_by_another_instrument_is_an_error(tmp_path: Path) -> None:
    """Twice the same is a network that stutters; another noise is another measurement."""
    optimizer = make("gp_bucb-product", seed=3)
    for _ in range(3):
        optimizer.tell(optimizer.ask(at_most=1), [0.2])
    batch = optimizer.ask(at_most=3)
    rest = nr.FAILED, *[0.2] * (len(batch) - 1)
    noise = [float("nan"), *[0.1] * (len(batch) - 1)]  # of what failed nothing need be known
    optimizer.tell(batch, rest, noise_std=noise)
    before = everything(optimizer, tmp_path)
    optimizer.tell(batch, rest, noise_std=noise)
    assert everything(optimizer, tmp_path) == before
    if len(batch) > 1:
        for other in (None, 0.2):
            with pytest.raises(TellError, match="batch 3 was told before with another noise_std"):
                optimizer.tell(batch[1:], rest[1:], noise_std=other)
    optimizer.tell(batch[:1], [0.3], noise_std=0.1)  # late, after it failed
    optimizer.tell(optimizer.ask(), [0.2] * len(optimizer.ask()))  # which closes the batch before
    before = everything(optimizer, tmp_path)
    optimizer.tell(batch, [0.3, *rest[1:]], noise_std=0.1)
    assert everything(optimizer, tmp_path) == before
    with pytest.raises(TellError, match="was told before"):
        optimizer.tell(batch, [0.3, *rest[1:]])


@pytest.mark.parametrize("name", MODELS)
def test_information_is_never_less_than_what_was_learned(name: str) -> None:
    """BBKB's width counts evaluations by variances of their batch: a bound, with weights too."""
    optimizer, diary = make(name, seed=2), Diary()
    for i in range(9):
        turn(optimizer, diary, i)
        assert isinstance(optimizer.policy, Bandit)
        _, inputs = optimizer.policy.believe(optimizer.state, optimizer.evidence)
        assert inputs.information.plain >= inputs.posterior.log_det * (1 - CLOSE)
        assert inputs.information.tripled >= diary.dense().log_det() * (1 - CLOSE)
        assert inputs.weight == pytest.approx(sum((NOISE / s) ** 2 for s in diary.noise))
        assert inputs.evaluations == len(diary.rows)


def test_averages_of_open_evaluations_close_the_oldest_first() -> None:
    """Five reports of two instruments on what two workers hold and nobody asked for."""
    optimizer = nr.mini_gp_ucb(nr.Pool([[0.0]]), kernel=KERNEL, noise_std=2.0, limit=3.0)
    for worker in "ab":
        optimizer.ask(worker=worker, at_most=2)
    optimizer.tell([0, 0, 0], means=[0.1, 0.2, 0.3], counts=[1, 2, 2], noise_std=[1.0, 2.0, 4.0])
    known, total = optimizer.evidence, 4.0 + 2 * 1.0 + 2 * 0.25
    assert known.asked_counts.tolist() == [1, 2]
    assert known.asked_weights.tolist() == [4.0, 1.0 + 1.0]
    assert known.unasked_weights.tolist() == [total - 6.0] == [known.told.w[0] - 6.0]


def _of_one_row(weights: list[float]) -> Report:
    (report,) = reports(np.zeros(len(weights), dtype=np.int64), None, np.array(weights))
    return report


def test_reports_are_a_list_of_evaluations() -> None:
    rows, counts = np.array([4, 2, 4, 2, 4]), np.array([1, 3, 2, 1, 1])
    weights = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    each = {r.row: r for r in reports(rows, counts, weights)}
    of_four = [0.5, 2.0, 2.0, 8.0]
    for cut in range(5):
        first = each[4].first(cut)
        assert first is not None
        assert first.tolist() == of_four[:cut]
        left = each[4].without(cut)
        assert (left.count, left.added_to(1.0)) == (4 - cut, 1.0 + sum(of_four[cut:]))
    assert each[2].added_to(0.0) == 7.0
    one, rest = (_of_one_row(part) for part in ([0.1], [0.2, 0.3]))
    both = _of_one_row([0.1, 0.2, 0.3])
    assert rest.added_to(one.added_to(0.0)) == both.added_to(0.0)  # to the last bit
    plain = list(reports(rows, counts))
    assert [(r.row, r.count, r.first(1), r.added_to(0.5)) for r in plain] == [
        (2, 4, None, 4.5),
        (4, 4, None, 4.5),
    ]
    assert [(r.row, r.count) for r in reports(rows)] == [(2, 2), (4, 3)]


BAD: dict[str, tuple[object, str]] = {
    "no noise": (0.0, r"must be above 0 .*noise_std=0\.5, got 0\. .*give a hundredth"),
    "less than none": ([0.1, -0.2], r"above 0 .*got -0\.2"),
    "a NaN": ([float("nan"), 0.1], "above 0 .*got nan"),
    "endless noise": (float("inf"), "within a factor 1e\\+06 .*got inf"),
    "far too little": (1e-9, "within a factor 1e\\+06 .*got 1e-09"),
    "far too much": ([0.1, 1e9], r"within a factor 1e\+06 .*got 1e\+09"),
    "too many": ([0.1, 0.1, 0.1], r"got 2 values and noise_std=... of shape \(3,\)"),
    "one in a list": ([0.1], r"got 2 values and noise_std=... of shape \(1,\)"),
    "a table": ([[0.1, 0.2]], r"of shape \(1, 2\)"),
    "words": (["fine", "coarse"], "must be a number, or one per value, got .*'fine'"),
}


@pytest.mark.parametrize("wrong", BAD)
@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-global", "ts_qff"])
def test_wrong_noise_is_refused_and_changes_nothing(wrong: str, name: str, tmp_path: Path) -> None:
    noise, words = BAD[wrong]
    optimizer = make(name)
    turn(optimizer, Diary(), 1)
    new = [[0.123, 0.456], [0.5, 0.5]]
    batch = optimizer.ask(at_most=2)
    calls: list[Callable[[], None]] = [
        lambda: optimizer.tell([1, 2], [0.1, 0.2], noise_std=noise),
        lambda: optimizer.tell(new, [0.1, 0.2], noise_std=noise),
        lambda: optimizer.tell([1, 2], means=[0.1, 0.2], counts=[2, 2], noise_std=noise),
    ]
    if len(batch) == 2:
        calls.append(lambda: optimizer.tell(batch, [0.1, 0.2], noise_std=noise))
    for call in calls:
        with refused_by(optimizer, tmp_path, words):
            call()


@pytest.mark.parametrize("name", [*BASELINES, "auto"])
def test_without_a_noise_of_its_own_a_run_can_weigh_nothing(name: str, tmp_path: Path) -> None:
    """auto fits noise to the values, and would have to know which of them are of one kind."""
    optimizer = build(name)
    optimizer.tell([1, 2], [0.1, 0.2])
    words = r"was given none\. .*such as noregret.mini_gp_ucb"
    with refused_by(optimizer, tmp_path, words):
        optimizer.tell([1, 2], [0.1, 0.2], noise_std=0.1)


def test_an_explanation_says_what_values_weigh() -> None:
    optimizer = make("gp_ucb")
    optimizer.tell([3, 3], [0.1, 0.2], noise_std=[NOISE, NOISE / 2])
    why = optimizer.explain(3)
    assert (why.evaluations, why.weight) == (2, 5.0)
    assert "Evaluated twice, weighing 5, average 0.18." in str(why)
    optimizer.tell([4], [0.1])
    assert "Evaluated once, average 0.1." in str(optimizer.explain(4))


def test_the_spread_of_values_is_in_units_of_the_run() -> None:
    """Replicates by several instruments scatter each by its own noise: by weight, by one."""
    rng, optimizer = np.random.default_rng(0), make("gp_ucb")
    noise = rng.choice([0.1, 0.5, 2.0], 4000)
    optimizer.tell([1] * 4000, 0.3 + noise * rng.standard_normal(4000), noise_std=noise)
    assert optimizer.evaluated.deviations[0] == pytest.approx(NOISE, rel=0.05)


def test_all_of_several_may_fail() -> None:
    optimizer = nr.gp_ucb(nr.Pool.numbered(3), kernel=nr.RBF(), noise_std=1.0)
    optimizer.tell([0, 2], [nr.FAILED, nr.FAILED], noise_std=[1.0, 2.0])
    assert (optimizer.evaluations, optimizer.spent) == (0, 2)


@pytest.mark.parametrize("told", [0.0, NOISE])
def test_deterministic_values_have_no_noise_to_tell(told: float, tmp_path: Path) -> None:
    """0 says what is known; anything else contradicts it."""
    optimizer = nr.gp_ucb(POOL, kernel=KERNEL, noise_std=told, deterministic=True)
    optimizer.tell([1, 2], [0.1, nr.FAILED], noise_std=[0.0, 0.3])
    optimizer.tell([3], [0.2], noise_std=0)
    assert optimizer.evaluated.weights.tolist() == [1.0, 1.0]
    for noise in (0.1, float("nan"), [0.0, 0.1]):
        with refused_by(optimizer, tmp_path, "must be 0 where deterministic=True .*got"):
            optimizer.tell([4, 5], [0.1, 0.2], noise_std=noise)

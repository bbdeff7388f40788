"""The trace against plain counts from the batches handed out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.optimizer.feedback import Report
from noregret.optimizer.pending import PendingBatches, as_runs
from noregret.optimizer.run_state import Records
from noregret.optimizer.trace import COLUMNS
from noregret.policies import ChoiceDiagnostics
from slow_references import DenseGP
from small_optimizers import BASELINES, DRAWING, KERNEL, MODELS, POOL, F, X, build

ALGORITHMS = [*MODELS, *DRAWING, *BASELINES]


@dataclass
class Notebook:
    """What a patient person would have written down beside the run."""

    batches: list[list[Any]] = field(default_factory=list)  # ids in the order asked
    runs: list[int] = field(default_factory=list)
    workers: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    told: list[int] = field(default_factory=list)  # when each batch was opened …
    unique: list[int] = field(default_factory=list)  # … as was this
    seen: list[Any] = field(default_factory=list)  # ids of values told

    def ask(self, optimizer: nr.Optimizer, worker: str, at_most: int = 6) -> nr.Batch:
        batch = optimizer.ask(at_most=at_most, worker=worker)
        if batch.ticket == len(self.batches):
            self.batches.append(batch.sequence.tolist())
            self.runs.append(len(batch.ids))
            self.workers.append(worker)
            self.reasons.append(batch.reason)
            self.told.append(len(self.seen))
            self.unique.append(len(set(self.seen)))
        return batch

    def tell(self, optimizer: nr.Optimizer, batch: nr.Batch, lost: int = -1) -> None:
        values = [float(F[row] + 0.1 * i) for i, row in enumerate(batch.sequence.tolist())]
        told = [nr.FAILED if i == lost else value for i, value in enumerate(values)]
        optimizer.tell(batch, told)
        self.seen += [row for i, row in enumerate(batch.sequence.tolist()) if i != lost]

    def switches(self) -> list[int]:
        """Count each worker's changes of candidate over all that it asked for, from the start."""
        asked: dict[str, list[Any]] = {worker: [] for worker in self.workers}
        counts = []
        for worker, batch in zip(self.workers, self.batches, strict=True):
            asked[worker] += batch
            counts.append(sum(a != b for way in asked.values() for a, b in pairwise(way)))
        return counts

    def agrees(self, trace: nr.Trace) -> None:
        assert len(trace) == len(self.batches)
        assert trace["batch"].tolist() == list(range(len(self.batches)))
        assert trace["size"].tolist() == [len(batch) for batch in self.batches]
        assert trace["runs"].tolist() == self.runs
        assert trace["worker"].tolist() == self.workers
        assert trace["reason"].tolist() == self.reasons
        assert trace["told"].tolist() == self.told
        assert trace["unique"].tolist() == self.unique
        assert trace["switches"].tolist() == self.switches()


def troubled(optimizer: nr.Optimizer, steps: int, notes: Notebook) -> Iterator[None]:
    """Three workers, lost wells, values by id, a batch told long after others were opened."""
    late: nr.Batch | None = None
    for i in range(steps):
        worker = "abc"[i % 3]
        batch = notes.ask(optimizer, worker)
        if i == 1:
            late = batch
        elif worker == "b" and i < 8:
            pass  # it holds its batch, asking again and again
        elif i % 4 == 2 and len(batch) > 1:
            notes.tell(optimizer, batch[:1])
            optimizer.fail(batch[1:])
        else:
            notes.tell(optimizer, batch, lost=0 if i % 5 == 3 else -1)
        if i == 6:
            held = [] if late is None else late.sequence.tolist()
            others = [row for row in range(30) if row not in held][:2]
            optimizer.tell(others, F[others])
            notes.seen += others
        if i == 9 and late is not None:
            notes.tell(optimizer, late)
        yield


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_trace_is_what_a_notebook_would_say(name: str) -> None:
    """A figure in a paper is drawn from these columns."""
    optimizer, notes = build(name, seed=2, noise_std=0.5), Notebook()
    for _ in troubled(optimizer, 16, notes):
        notes.agrees(optimizer.trace)
    assert len(optimizer.trace) == optimizer.batches > 8
    assert len(set(optimizer.trace["worker"].tolist())) == 3


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_loaded_run_goes_on_with_its_trace(name: str, tmp_path: Path) -> None:
    """Monday's half of the table must not be lost on Tuesday."""
    optimizer, notes = build(name, seed=2, noise_std=0.5), Notebook()
    for _ in troubled(optimizer, 7, notes):
        pass
    before = optimizer.trace
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    for column in COLUMNS:
        np.testing.assert_array_equal(again.trace[column], before[column])
    assert repr(again.trace) == repr(before)
    for i in range(7, 16):
        notes.tell(again, notes.ask(again, "abc"[i % 3]))
        notes.agrees(again.trace)
    new = len(again.trace) - len(before)
    assert new > 0
    assert np.isnan(again.trace["waited"][len(before)])  # nobody knows how long it slept
    assert not np.isnan(again.trace["waited"][len(before) + 1 :]).any()


@pytest.mark.parametrize("name", [*MODELS, *DRAWING])
def test_width_information_and_dictionary_are_those_of_the_choice(name: str) -> None:
    """They are held against theory: half of log det, not all of it, and before the batch."""
    optimizer = build(name, noise_std=0.5)
    ids, values = np.empty(0, dtype=np.int64), np.empty(0)
    for step in range(9):
        posterior, unique = optimizer.posterior, optimizer.unique
        batch = optimizer.ask(at_most=5)
        row = {column: optimizer.trace[column][-1] for column in COLUMNS}
        assert row["information"] == pytest.approx(posterior.log_det / 2, rel=1e-9, abs=1e-9)
        assert row["beta"] == posterior.beta
        if "bkb" in name:
            assert row["dictionary"] == len(optimizer.state.posterior.members) <= unique
        elif name == "ts_qff":
            assert row["dictionary"] == optimizer.policy.features.size  # type: ignore[attr-defined]  # its own
        else:
            assert row["dictionary"] == unique
            dense = DenseGP(KERNEL, 0.25, X[ids], values)
            assert row["information"] == pytest.approx(dense.log_det() / 2, rel=1e-9)
        told = F[batch.sequence.astype(np.int64)] + 0.1 * step
        ids, values = np.append(ids, batch.sequence), np.append(values, told)
        optimizer.tell(batch, told)


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_have_no_width(name: str) -> None:
    """Rather nothing than a number that means nothing."""
    optimizer = build(name)
    optimizer.ask()
    trace = optimizer.trace
    assert np.isnan(trace["beta"]).all()
    assert np.isnan(trace["information"]).all()
    assert trace["dictionary"].tolist() == [0]


def test_a_repeat_across_batches_is_no_switch() -> None:
    """MINI may choose the same candidate in two batches; the robot does not move."""
    optimizer = nr.mini_gp_ucb(
        nr.Pool([[0.0], [5.0]]), kernel=nr.RBF(1.0), noise_std=1.0, start=[0], seed=0
    )
    notes = Notebook()
    for _ in range(12):
        batch = notes.ask(optimizer, "", at_most=1)
        optimizer.tell(batch, [1.0 if batch.ids[0] else -1.0])
    assert optimizer.trace["switches"].tolist() == notes.switches()
    assert 0 < notes.switches()[-1] < 11


def test_points_of_a_box_are_told_apart() -> None:
    """A point met before is the same candidate, a new one is a switch."""
    optimizer = nr.mini_gp_ucb(nr.Box([(0.0, 2.0)]), kernel=nr.RBF(0.3), noise_std=0.5, seed=3)
    notes = Notebook()
    for i in range(8):
        batch = notes.ask(optimizer, "ab"[i % 2], at_most=4)
        optimizer.tell(batch, [float(-((x[0] - 1.2) ** 2)) for x in batch])
    assert optimizer.trace["switches"].tolist() == notes.switches()
    assert optimizer.trace["unique"][-1] == len({i for batch in notes.batches[:-1] for i in batch})


def test_times_are_those_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of choosing and seconds of waiting add up to the whole run."""
    clock = iter([10.0, 10.5, 20.0, 20.25, 21.0, 24.0])
    monkeypatch.setattr("noregret.optimizer.optimizer.perf_counter", lambda: next(clock))
    optimizer = nr.uniform(POOL)
    for _ in range(3):
        optimizer.tell(optimizer.ask(), [0.0])
    np.testing.assert_array_equal(optimizer.trace["seconds"], [0.5, 0.25, 3.0])
    np.testing.assert_array_equal(optimizer.trace["waited"], [np.nan, 9.5, 0.75])


@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-global", "epsilon_greedy"])
def test_no_choice_depends_on_the_clock(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow morning must not give another molecule."""

    def chosen(tick: float) -> list[list[Any]]:
        clock = iter(np.cumsum(np.full(99, tick)).tolist())
        monkeypatch.setattr("noregret.optimizer.optimizer.perf_counter", lambda: next(clock))
        notes = Notebook()
        optimizer = build(name, seed=4, noise_std=0.5)
        for _ in range(8):
            notes.tell(optimizer, notes.ask(optimizer, ""))
        return notes.batches

    assert chosen(1e-6) == chosen(1e6)


def test_a_trace_is_a_picture_that_does_not_move() -> None:
    """A table printed before lunch is the same after it, and nobody can scribble on the books."""
    optimizer = nr.uniform(POOL, batch_size=2)
    optimizer.ask()
    before = optimizer.trace
    first = before["size"].copy()
    for worker in "abcdefgh":
        optimizer.ask(worker=worker)
    assert len(before) == 1
    np.testing.assert_array_equal(before["size"], first)
    with pytest.raises(ValueError, match="read-only"):
        optimizer.trace["size"][0] = 9


def test_an_empty_trace_has_its_columns() -> None:
    """Scripts look at a run before it has begun."""
    trace = nr.uniform(POOL).trace
    assert len(trace) == 0
    assert tuple(trace) == trace.columns == COLUMNS
    assert [len(trace[name]) for name in COLUMNS] == [0] * len(COLUMNS)
    assert repr(trace).endswith("0 batches")
    assert trace.to_pandas().shape == (0, len(COLUMNS))


def test_printing_shows_both_ends() -> None:
    """A table of a million rows must fit a screen."""
    optimizer = nr.uniform(POOL, batch_size=2)
    for worker in range(30):
        optimizer.ask(worker=f"w{worker}")
    lines = repr(optimizer.trace).splitlines()
    assert len(lines) == 1 + 5 + 1 + 5 + 1
    assert lines[0].split()[:3] == ["batch", "worker", "size"]
    assert lines[1].split()[:3] == ["0", "w0", "2"]
    assert lines[-2].split()[:2] == ["29", "w29"]
    assert lines[-1] == "30 batches"
    assert "worker" not in repr(nr.uniform(POOL).trace)


def test_an_unknown_column_is_refused_by_name() -> None:
    trace = nr.uniform(POOL).trace
    for wrong in ("sizes", 0, None):
        with pytest.raises(nr.NoRegretError, match=f"beta, information.*got {wrong!r}"):
            trace[wrong]  # type: ignore[index]  # wrong on purpose


def test_data_frames_hold_the_columns() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    optimizer, notes = build("mini_gp_ucb", seed=2, noise_std=0.5), Notebook()
    for _ in troubled(optimizer, 10, notes):
        pass
    trace = optimizer.trace
    frame, table = trace.to_pandas(), pyarrow.table(trace)
    assert tuple(frame.columns) == tuple(table.column_names) == COLUMNS
    for name in COLUMNS:
        np.testing.assert_array_equal(frame[name].to_numpy(), trace[name])
        np.testing.assert_array_equal(np.array(table[name].to_pylist()), trace[name])


def test_many_batches_stay_light() -> None:
    """A run of a year: O(1) per batch, some hundred bytes each, one entry for a word said often."""
    pending, records = PendingBatches(), Records()
    for i in range(20_000):
        runs = as_runs(np.array([i % 7]), np.array([1 + i % 3]), np.array([0.5]))
        batch = pending.open(f"w{i % 4}", runs, "full")
        pending.settle_by_row(Report(i % 7, 3), failed=False)
        records.add(batch, runs, ChoiceDiagnostics(2.0, 3.0, 5), (7, i), asked=i, now=i + 0.5)
    assert len(records.words) == 5
    buffers = (records.batches, records.runs)
    assert (
        sum(b.base.nbytes for b in buffers if b.base is not None) <= 2 * 20_000 * (104 + 24) + 999
    )
    trace = records.shown()
    np.testing.assert_array_equal(trace["switches"], np.maximum(np.arange(20_000) - 3, 0))
    np.testing.assert_array_equal(trace["size"], 1 + np.arange(20_000) % 3)
    assert trace["worker"][:6].tolist() == ["w0", "w1", "w2", "w3", "w0", "w1"]

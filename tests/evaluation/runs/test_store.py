"""Finished cells survive whatever happens, and are run once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from evaluation.runs.cells import Cell, Line, Setting, Store
from evaluation.runs.trial import run
from evaluation.runs.work import missing, work
from small_runs import cell, small

ROOT = Path(__file__).parents[3]
UNIFORM: Setting = {"algorithm": "uniform"}

HEAD = """
import sys, time
from pathlib import Path
from evaluation.runs import work as crew
from evaluation.runs.cells import Line, Store
from small_runs import cell, small, stuck

folder, uniform = Path(sys.argv[1]), {"algorithm": "uniform"}
"""
WORKER = """
plain = crew.run

def noted(cell, problem):
    with Path(sys.argv[2]).open("a") as out:
        out.write(cell.key + "\\n")
    return plain(cell, problem)

crew.run, crew.problem = noted, lambda name: small()
crew.work([Line("small", "uniform", (uniform,), 300, 12)], folder)
"""
HOLDER = """
with Store(folder).claim(cell(uniform)) as ours:
    print(ours, flush=True)
    time.sleep(60)
"""
CREW = """
line = Line("small", "uniform", (uniform,), 300, 1)
crew.share([line], folder, jobs=1, minutes=10, play=stuck)
"""


def line(problem: str = "small", horizon: int = 300, repetitions: int = 12) -> Line:
    return Line(problem, "uniform", (UNIFORM,), horizon, repetitions)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def one() -> Cell:
    return cell(UNIFORM)


@contextmanager
def started(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "tests")))
    with subprocess.Popen(
        [sys.executable, "-c", HEAD + script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def test_what_was_written_is_read_and_nobodys_to_run(store: Store, one: Cell) -> None:
    record = run(one, small())
    assert not store.holds(one)
    store.write(one, record)
    assert store.holds(one)
    assert store.load(one) == record
    assert json.loads((store.folder / f"{one.key}.json").read_text())["cell"] == one.as_dict()
    with store.claim(one) as ours:
        assert not ours


def test_different_cells_have_different_names() -> None:
    """Two runs under one name would be one run short."""
    one = Cell.of("small", UNIFORM, horizon=90, repetition=0)
    setting = {"setting": (("a", 1.0), ("algorithm", "uniform"))}
    other = ({"problem": "large"}, {"horizon": 91}, {"history": 1}, {"repetition": 1}, setting)
    changed: list[dict[str, Any]] = [{}, *other]
    assert len({replace(one, **change).key for change in changed}) == 6


def test_processes_share_the_work(tmp_path: Path) -> None:
    """Two commands started side by side must not do everything twice."""
    ran = tmp_path / "ran"
    with ExitStack() as stack:
        crew = [stack.enter_context(started(WORKER, tmp_path / "cells", ran)) for _ in range(3)]
        assert [worker.wait(60) for worker in crew] == [0, 0, 0]
    keys = ran.read_text().split()
    assert len(keys) == len(set(keys)) == 12
    assert missing([line()], Store(tmp_path / "cells")) == []


def test_a_killed_worker_leaves_no_claim(store: Store, one: Cell) -> None:
    """After kill -9 somebody else can run the cell at once, without any cleaning up."""
    with started(HOLDER, store.folder) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "True"
        with store.claim(one) as ours:
            assert not ours
        holder.send_signal(signal.SIGKILL)
    with store.claim(one) as ours:
        assert ours


def test_a_crew_ends_with_its_parent(store: Store) -> None:
    """Whoever kills the command leaves no processes behind that go on for hours."""
    first = missing([line(repetitions=1)], store)[0]

    def is_claimed() -> bool:
        with store.claim(first) as ours:
            return not ours

    def comes(wanted: bool) -> bool:
        until = time.time() + 60
        while is_claimed() is not wanted and time.time() < until:
            time.sleep(0.05)
        return is_claimed() is wanted

    with started(CREW, store.folder) as parent:
        assert comes(True)
        parent.send_signal(signal.SIGKILL)
    assert comes(False)


def test_a_half_written_cell_is_not_seen(
    store: Store, one: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the middle of a write leaves the cell to be run again."""
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        store.write(one, run(one, small()))
    assert not store.holds(one)


def test_work_stops_when_the_clock_says_so(store: Store) -> None:
    work([line("abalone")], store.folder, until=time.time() - 1)
    assert len(missing([line("abalone")], store)) == 12


def test_a_cell_that_fails_is_told_of_and_the_others_are_run(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bad setting must not cost a night."""
    monkeypatch.setattr("evaluation.runs.work.problem", lambda _: small())
    good = line(horizon=30, repetitions=3)
    bad = Line("small", "wrong", ({"algorithm": "gp_ucb", "bandwidth": -1.0},), 30, 2)
    assert work([bad, good], store.folder) == 2
    said = capsys.readouterr().err
    assert "'bandwidth': -1.0" in said
    assert "must be" in said
    assert missing([good], store) == []

"""Asks on large pools are timed in a process that can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.problems import large
from evaluation.problems.large import LARGE, SMALL
from evaluation.runs import timed
from evaluation.runs.cells import Cell, Setting


def cell(name: str, plates: int = 2, algorithm: str = "auto") -> Cell:
    size = SMALL[name].size
    setting: Setting = {"algorithm": algorithm, "batch": size}
    return Cell.of(name, setting, horizon=plates * size, repetition=0)


@pytest.mark.parametrize("name", SMALL)
def test_every_plate_is_timed(name: str) -> None:
    found = timed.play(cell(name))
    assert found["late"] is None
    assert [len(found[part]) for part in ("seconds", "processor", "distinct", "memory")] == [2] * 4
    assert all(0 < took < SMALL[name].limit for took in found["seconds"])
    assert found["distinct"][0] == SMALL[name].size
    assert 0 <= found["memory"][0] <= found["memory"][1]


def test_a_late_plate_is_given_up_and_its_process_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ask comes back in no time."""
    started: list[int] = []

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        process = popen(*arguments, **options)
        started.append(process.pid)
        return process

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", noted)
    monkeypatch.setattr(large.Large, "limit", 1e-6)
    found = timed.play(cell("small-numbers"))
    assert found["late"] == 1e-6
    assert found["seconds"] == []
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_a_process_that_fails_is_no_late_one(capfd: pytest.CaptureFixture[str]) -> None:
    """Else a slip would be published as a method that never comes back."""
    with pytest.raises(RuntimeError, match="ended before its last plate"):
        timed.play(cell("small-bits", algorithm="luck"))
    assert "KeyError: 'luck'" in capfd.readouterr().err


def test_the_process_ends_with_who_started_it(tmp_path: Path) -> None:
    root = Path(timed.__file__).parents[2]
    with (
        (tmp_path / "out").open("w") as out,
        subprocess.Popen(
            [sys.executable, "-m", "evaluation.runs.timed", "small-bits", "auto", "0", "100000"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
            stdin=subprocess.PIPE,
            stdout=out,
        ) as process,
    ):
        while not (tmp_path / "out").read_text():
            time.sleep(0.05)
        assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 1


@pytest.mark.parametrize("name", SMALL)
def test_values_are_those_of_the_formula(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row, against blocks that do not divide the pool."""
    monkeypatch.setattr(large, "CHUNK", 128)
    at = SMALL[name]
    X = large.features(at)
    f = large.values(at, X)
    rng = np.random.default_rng(1)
    hills, heights = X[rng.integers(at.N, size=5)], rng.uniform(0.5, 1.0, 5)
    rows = np.unpackbits(X, axis=1).astype(bool) if at.bits else X
    peaks = np.unpackbits(hills, axis=1).astype(bool) if at.bits else hills
    for row in range(0, at.N, 37):
        x, total = rows[row], 0.0
        for peak, height in zip(peaks, heights, strict=True):
            near = (
                (x & peak).sum() / (x | peak).sum()
                if at.bits
                else np.exp(-((x - peak) ** 2).sum() / at.d)
            )
            total += height * near
        assert f[row] == pytest.approx(total, rel=1e-5)


def test_limits_are_those_of_the_goals() -> None:
    goals = {(at.N, at.d, at.size): at.goal for at in LARGE.values()}
    assert goals == {
        (50_000, 2048, 96): 1.0,
        (1_000_000, 16, 512): 10.0,
        (5_000_000, 12, 1000): 60.0,
    }
    assert [at.limit for at in LARGE.values()] == [60.0, 60.0, 300.0]
    assert replace(LARGE["large-million"], goal=30.0).limit == 150.0

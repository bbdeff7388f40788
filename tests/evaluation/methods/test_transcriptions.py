"""The papers' pseudo-code and the library choose alike, or the gains compare different things."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from evaluation.data import files
from evaluation.methods.transcriptions import ALGORITHMS
from evaluation.problems.speed import MOLECULES, NORM_BOUND, Problem, make_molecules, make_problem
from evaluation.speed import measure
from evaluation.speed.machine import Meter
from evaluation.speed.races import transcription
from evaluation.speed.results import Settings
from evaluation.speed.runs import MARKS, loop, marks_of, run
from noregret.arrays import Indices

N, T = 200, 150


def rows_of_both(problem: Problem, algorithm: str) -> tuple[Indices, Indices]:
    _, ours = run(algorithm, problem, T, Meter(60.0))
    return ours, ALGORITHMS[algorithm](problem, T)


@pytest.mark.parametrize(
    ("algorithm", "kernel"),
    [
        *(("bbkb global", kernel) for kernel in ("rbf", "matern52", "ard", "scikit")),
        *(("mini_gp_ucb", kernel) for kernel in ("rbf", "scikit")),
        *((algorithm, "rbf") for algorithm in ("bbkb local", "bkb")),
    ],
)
def test_transcription_and_library_choose_the_same_rows(algorithm: str, kernel: str) -> None:
    """A transcription that chooses otherwise is not the same algorithm, only slower."""
    problem = make_problem(N, kernel=kernel, seed=1)
    ours, theirs = rows_of_both(problem, algorithm)
    first = np.flatnonzero(ours != theirs)[:1]
    assert not first.size, f"they part at evaluation {first[0]}: {ours[first]} and {theirs[first]}"


@pytest.mark.parametrize("algorithm", ["mini_gp_ucb", "bbkb global"])
def test_transcription_and_library_choose_the_same_molecules(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On packed bits as on numbers; lower scores are better."""
    rng = np.random.default_rng(0)
    bits, y = rng.random((90, 64)) < 0.2, rng.standard_normal(90).astype(np.float32)
    np.savez(tmp_path / MOLECULES, fp=np.packbits(bits, axis=1), y=y)
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    problem = make_molecules(80, seed=1)
    assert problem.f.argmax() == y[:80].argmin()
    assert problem.f.max() == pytest.approx(1.0)
    assert isinstance(problem.pool(), nr.BitPool)
    ours, theirs = rows_of_both(problem, algorithm)
    np.testing.assert_array_equal(ours, theirs)


def test_without_data_a_case_is_skipped_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not everybody has the molecules; the other cases must run all the same."""
    monkeypatch.setattr(files, "folders", lambda: (tmp_path,))
    settings: Settings = {"algorithm": "uniform", "N": 50, "T": 20, "kernel": "tanimoto"}
    monkeypatch.setattr(sys, "argv", ["measure", json.dumps(["loop", settings, 0, 60.0])])
    measure.main()
    told = json.loads(capsys.readouterr().out)["skipped"]
    assert told.startswith(f"no {MOLECULES} in {tmp_path}; {files.VARIABLE}")


def test_runs_of_both_are_measured_alike() -> None:
    """Regret and choices are compared across processes by these figures."""
    settings: Settings = {"algorithm": "bbkb global", "N": N, "T": 60, "kernel": "rbf"}
    ours = loop(settings, 0, Meter(60.0))
    theirs = transcription(settings, 0, Meter(60.0))
    assert ours["marks"] == theirs["marks"]
    assert ours["regret"] == theirs["regret"] > 0
    assert ours["seconds"] > 0
    assert ours["peak"] >= ours["beyond"]
    assert ours["evaluations"] == 60
    assert "stopped" not in ours


def test_a_run_stops_when_its_time_is_up() -> None:
    """One cell that an algorithm cannot bear must not hold up all the others."""
    figures = loop({"algorithm": "uniform", "N": N, "T": 10**6}, 0, Meter(0.05))
    assert 0 < figures["stopped"] < 10**6


def test_marks_tell_how_long_two_runs_agree() -> None:
    rows = np.arange(100)
    other = rows.copy()
    other[50] = -1
    pairs = zip(marks_of(rows, 100), marks_of(other, 100), strict=True)
    assert [a == b for a, b in pairs] == [True] * (MARKS // 2) + [False] * (MARKS // 2)


@pytest.mark.parametrize("kernel", ["rbf", "matern52", "ard"])
def test_the_function_has_the_norm_that_is_assumed(kernel: str) -> None:
    """‖f‖ = norm_bound bounds |f|; a f nearly constant would make every choice as good."""
    problem = make_problem(2000, kernel=kernel)
    assert np.abs(problem.f).max() <= NORM_BOUND
    assert problem.f.std() > 0.02
    assert make_problem(2000, kernel=kernel).f.tobytes() == problem.f.tobytes()
    assert problem.noise(10).tobytes() == problem.noise(20)[:10].tobytes()

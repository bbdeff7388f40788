"""Every benchmark, every figure of the papers and every comparison runs, at its quick size.

`make test-slow` runs this in the environment of the benchmarks, where the peers are installed.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from evaluation.comparison import command as comparison
from evaluation.comparison.command import QUICK, QUICK_BUDGET, QUICK_SEEDS
from evaluation.data.files import Missing
from evaluation.methods.by_plate import FILLERS
from evaluation.methods.contestants import CONTESTANTS
from evaluation.papers import command as papers
from evaluation.papers.bkb import sketches
from evaluation.papers.command import PLATES
from evaluation.papers.settings import sweep
from evaluation.plates import command as plates
from evaluation.problems.by_plate import POOLS
from evaluation.problems.comparison import PROBLEMS
from evaluation.problems.papers import problem
from evaluation.runs.cells import Cell
from evaluation.runs.reading import play
from evaluation.speed import __main__ as speed
from evaluation.speed.cases import CASES
from evaluation.speed.machine import describe
from evaluation.speed.results import Results

PEERS = [name for name in ("torch", "botorch", "optuna") if importlib.util.find_spec(name) is None]
needs_peers = pytest.mark.skipif(bool(PEERS), reason=f"without {', '.join(PEERS)}: extra bench")
WITH_PEERS = ("exact", "asks", "race")  # the cases that run them

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # peers warn


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cases and figures share runs: what one has run, the next does not run again."""
    return tmp_path_factory.mktemp("out")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=needs_peers if name in WITH_PEERS else ()) for name in CASES],
)
def test_every_benchmark(name: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that fails is a row of its table that says so, which nobody reads for months."""
    floor = {"bandwidth": 10e9, "flops": 100e9}
    monkeypatch.setattr(speed, "measured_machine", lambda _: (describe(), floor))
    # A busy machine fails nobody.
    monkeypatch.setattr("evaluation.speed.results.QUICK_SECONDS", 600.0)
    assert speed.main([name, "--quick", "--resume", "--threads", "1", "--out", str(out)]) == 0
    results, case = Results.read(out / "benchmarks" / "results.json"), CASES[name]
    for subject in case.subjects:
        (figures,) = results.of(subject)
        if "NOREGRET_DATA" in figures.get("skipped", ""):
            pytest.skip(figures["skipped"])
        assert not results.trouble(subject), f"{subject.label}: {results.trouble(subject)}"
    for goal in case.goals:
        assert goal.quantity.of(results) is not None, goal.text
    assert f"`python -m evaluation.speed {name}`" in (out / "benchmarks.md").read_text()


@pytest.mark.parametrize("name", PLATES)
def test_every_figure(name: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "OUT", out / "papers")
    runs = PLATES[name].runs
    for setting, value in {"ARMS": 60, "T": 30, "REPETITIONS": 1, "LONG": 60}.items():
        monkeypatch.setattr(sketches, setting, value)  # it has no smaller size of its own
    try:
        for line in sweep(runs, quick=True):
            problem(line.problem)
    except Missing as missing:
        pytest.skip(str(missing))
    assert papers.main([name, "--quick", "--jobs", "2", "--cells", str(out / "cells")]) == 0
    numbers = json.loads((out / "papers" / "quick" / f"{name}.json").read_text())
    assert numbers["claims"]
    assert bool(numbers["lines"]) == bool(PLATES[name].runs)
    assert (out / "papers" / "quick" / f"{name}.png").stat().st_size > 10_000


@needs_peers
def test_the_comparison(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for name in QUICK:
            PROBLEMS[name]()
    except Missing as missing:
        pytest.skip(str(missing))
    monkeypatch.setattr(comparison, "OUT", out / "comparison")
    assert comparison.main(["--quick", "--jobs", "2"]) == 0
    numbers = json.loads((out / "comparison" / "quick" / "results.json").read_text())
    found = {(one["problem"], one["contestant"]): one["repetitions"] for one in numbers["pools"]}
    assert found == {(name, who): QUICK_SEEDS for name in QUICK for who in CONTESTANTS}
    assert numbers["goals"]


@needs_peers
def test_plates(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for name in plates.QUICK_POOLS:
            POOLS[name]()
    except Missing as missing:
        pytest.skip(str(missing))
    monkeypatch.setattr(plates, "OUT", out / "plates")
    left_out = () if importlib.util.find_spec("baybe") else ("baybe",)
    only = [name for name in FILLERS if name not in left_out]
    assert plates.main(["--quick", "--jobs", "2", "--only", ",".join(only)]) == 0
    numbers = json.loads((out / "plates" / "quick" / "results.json").read_text())
    found = {(one["problem"], one["contestant"]): one["repetitions"] for one in numbers["pools"]}
    on_pools = [name for name in only if FILLERS[name].pools]
    expected = {(name, who) for name in plates.QUICK_POOLS for who in on_pools}
    assert found == dict.fromkeys(expected, plates.QUICK_SEEDS)
    assert {one["contestant"] for one in numbers["clicks"]} == {
        name for name in only if FILLERS[name].clicks
    }
    assert {one["pool"] for one in numbers["times"]} == {"small-bits", "small-numbers"}
    assert numbers["goals"]


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in QUICK])
def test_every_problem_of_the_comparison(name: str) -> None:
    for who in ("auto", "uniform"):
        cell = Cell.of(name, {"algorithm": who}, horizon=QUICK_BUDGET, repetition=0)
        try:
            found = play(cell)
        except Missing as missing:
            pytest.skip(str(missing))
        assert found["budgets"][-1] == QUICK_BUDGET
        assert found["simple"][-1] >= 0
        assert found["regret"][-1] > 0

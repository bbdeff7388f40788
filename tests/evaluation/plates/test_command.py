"""What is run, by which sizes, and what the command says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.methods.by_plate import FILLERS
from evaluation.plates import command
from evaluation.plates.command import lineup, main
from evaluation.problems.base import NOISE
from evaluation.problems.large import LARGE
from evaluation.runs.cells import Cell, Store
from evaluation.runs.work import work
from small_readings import numeric, table


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty candidates with noise in place of every pool."""
    monkeypatch.setattr(command, "problem", lambda _: numeric(noise=NOISE))
    monkeypatch.setattr("evaluation.runs.by_plate.problem", lambda _: numeric(noise=NOISE))


def test_sizes_are_those_that_make_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lineup(only=["uniform", "auto"], problems=["oer"]).pools
    found = {(line.label, line.settings[0]["batch"]): line.horizon for line in lines}
    assert found == {
        **{("auto", 1): 960, ("auto", 8): 80, ("auto", 24): 960},  # 40 plates of 24
        **{("uniform", 8): 80, ("uniform", 24): 240},  # 96 are more than there are
    }
    monkeypatch.setattr(command, "problem", lambda _: table())  # nine, without noise
    assert lineup(only=["auto"], problems=["oer"]).pools == []
    monkeypatch.setattr(command, "MANY", 8)
    monkeypatch.setattr(command, "SIZES", ())
    monkeypatch.setattr(command, "LARGEST", 9)
    monkeypatch.setattr(command, "problem", lambda _: table(noise=NOISE))
    sizes = [line.settings[0]["batch"] for line in lineup(only=["auto"], problems=["oer"]).pools]
    assert sizes == [1, 9]


def test_the_lineup_is_everybody_where_they_can() -> None:
    wanted = lineup()
    assert {line.label for line in wanted.pools} == {n for n, one in FILLERS.items() if one.pools}
    assert {line.label for line in wanted.clicks} == {n for n, one in FILLERS.items() if one.clicks}
    assert {line.horizon for line in wanted.clicks} == {100_000}
    assert {line.problem for line in wanted.times} == set(LARGE)
    assert {line.repetitions for line in wanted.pools} == {20, 5}
    assert {line.repetitions for line in lineup(seeds=3).pools} == {3}
    assert len({line.label for line in lineup(sizes=[1]).pools}) == 1  # auto
    keys = [cell.key for line in wanted.lines for cell in line.cells(line.settings[0], 1)]
    assert len(keys) == len(set(keys))


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    lines = lineup(only=["uniform"], problems=["oer"], sizes=[8], seeds=3).lines
    store, ran = Store(tmp_path), list[Cell]()

    def noted(cell: Cell) -> object:
        ran.append(cell)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return command.play(cell)

    with pytest.raises(KeyboardInterrupt):
        work(lines, tmp_path, play=noted)  # type: ignore[arg-type]
    assert work(lines, tmp_path, play=noted) == 0  # type: ignore[arg-type]
    assert [cell.repetition for cell in ran] == [0, 1, 1, 2]
    assert all(store.holds(cell) for line in lines for cell in line.wanted(store))


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "BoTorch qLogNEI: 5 seeds" in capsys.readouterr().out
    for option, names, told in (
        ("--only", "auto,luck", "--only: no luck; there are auto, forest"),
        ("--problems", "branin", "--problems: no branin"),
    ):
        assert main([option, names]) == 2
        assert told in capsys.readouterr().err


def test_the_command_runs_draws_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pools that need no data: the large ones, made small."""
    monkeypatch.setattr(command, "OUT", tmp_path)
    monkeypatch.setattr(command, "QUICK_POOLS", ())
    monkeypatch.setattr(command, "QUICK_CLICKS", ())
    asked = ["--quick", "--jobs", "1", "--only", "auto"]
    assert main([*asked, "--draw"]) == 1
    assert "nothing has been run yet" in capsys.readouterr().err
    assert main(asked) == 0
    cells = sorted((tmp_path / "quick-cells").glob("*.json"))
    assert len(cells) == 2
    before = [cell.stat().st_mtime_ns for cell in cells]
    assert main(asked) == 0
    assert [cell.stat().st_mtime_ns for cell in cells] == before
    numbers = json.loads((tmp_path / "quick" / "results.json").read_text())
    assert [len(one["seconds"]) for one in numbers["times"]] == [3, 3]

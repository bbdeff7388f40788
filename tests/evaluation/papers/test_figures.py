"""Pictures, numbers and pages, made of runs of a small problem."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from evaluation.data.files import Missing
from evaluation.papers.command import LINK, PAGES, PLATES, RESULTS, main, publish, section
from evaluation.papers.curves import Runs
from evaluation.papers.plates import Plate
from evaluation.papers.settings import sweep
from evaluation.problems import papers as problems
from evaluation.problems.base import Problem
from evaluation.reports.markdown import into_page
from evaluation.runs.cells import Line, Setting, Store
from evaluation.runs.work import work
from small_runs import small

RUNS = [name for name, plate in PLATES.items() if plate.runs]
SMALL = ("small", "another", "a third", "a fourth")


@pytest.fixture(autouse=True)
def _small_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.papers.command.OUT", tmp_path)
    for name in SMALL:
        monkeypatch.setitem(problems.PROBLEMS, name, small)


def shrunk(plate: Plate) -> tuple[Line, ...]:
    """A plate's own lines, on the small problem, with one setting and few steps."""
    lines = sweep(plate.runs)
    problems_of = dict.fromkeys(line.problem for line in lines)
    names = dict(zip(problems_of, SMALL, strict=False))
    names |= {"f104": "f104"} if "f104" in names else {}  # it has a claim of its own
    small_lines = (
        replace(line, problem=names[line.problem], settings=(_small(line.settings[0]),))
        for line in lines
    )
    return tuple(
        replace(line, horizon=40, repetitions=2, tuning=1, rounds=()) for line in small_lines
    )


def _small(setting: Setting) -> Setting:
    return {
        ("bandwidth" if "band" in key else key): (0.3 if "band" in key else value)
        for key, value in setting.items()
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_plate_is_drawn_and_its_numbers_are_those_of_the_runs(name: str, tmp_path: Path) -> None:
    """What a page says must be what was run."""
    plate = PLATES[name]
    lines, store = shrunk(plate), Store(tmp_path / "cells")
    work(lines, store.folder)
    runs = Runs(lines, store)
    claims = publish(plate, runs, tmp_path)

    picture = imread(tmp_path / f"{name}.png")
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 20
    numbers = json.loads((tmp_path / f"{name}.json").read_text())
    shown = [line for line in lines if line.history in plate.histories]
    assert len(numbers["lines"]) == len(shown)
    assert [claim["agrees"] for claim in numbers["claims"]] == [claim.holds for claim in claims]
    for line, entry in zip(shown, numbers["lines"], strict=True):
        records = line.runs(store)
        assert entry["repetitions"] == 2
        assert entry["tuning"] == []  # one setting
        assert entry["steps"][-1] == 40
        if "regret ratio" in plate.quantities:
            ratios = [run["regret"][-1] / (40 * run["uniform"]) for run in records]
            found = entry["curves"]["regret ratio"]["mean"][-1]
            assert found == pytest.approx(np.mean(ratios), rel=1e-3)

    text = section(plate, runs, claims)
    assert f"({LINK}/{name}.png)" in text
    assert "(2)" in text
    assert text.count("| yes |") + text.count("| **no** |") == len(claims) > 0
    assert all(line.label in text for line in lines)


def test_numbers_hold_what_each_setting_of_a_grid_gave(tmp_path: Path) -> None:
    """Else nobody could see how much hangs on what was tuned."""
    plate = PLATES["mini-fig3"]
    lines = shrunk(plate)
    other = {**lines[0].settings[0], "bandwidth": 0.1}
    both = replace(lines[0], settings=(*lines[0].settings, other), rounds=(1,), tuning=3)
    lines, store = (both, *lines[1:]), Store(tmp_path / "cells")
    work(lines, store.folder)
    publish(plate, Runs(lines, store), tmp_path)
    entry = json.loads((tmp_path / "mini-fig3.json").read_text())["lines"][0]
    regrets = [store.regret(both.cells(one, 1)[0]) for one in both.settings]
    assert [one["bandwidth"] for one in entry["tuning"]] == [0.3, 0.1]
    assert regrets[0] != regrets[1]
    assert sorted(one["runs"] for one in entry["tuning"]) == [1, 2]  # the loser ran once
    lost = int(np.argmax(regrets))
    assert entry["tuning"][lost]["average regret"] == pytest.approx(regrets[lost] / 40, rel=1e-3)
    assert entry["setting"] == both.settings[1 - lost]


def test_a_section_goes_between_its_markers_and_nothing_else_changes(tmp_path: Path) -> None:
    """The hand-written half of a page, and other figures, must survive every run."""
    page = tmp_path / "page.md"
    others = "<!-- bbkb-fig2 -->\n\nsecond\n\n<!-- /bbkb-fig2 -->\n\nafter\n"
    page.write_text(f"before\n\n<!-- bbkb-fig1 -->\nold\n<!-- /bbkb-fig1 -->\n\nwhy\n{others}")
    section_of = "<!-- bbkb-fig1 -->\n\nnew\n\n<!-- /bbkb-fig1 -->"
    for _ in range(2):
        into_page(page, "bbkb-fig1", "new")
        assert page.read_text() == f"before\n\n{section_of}\n\nwhy\n{others}"
    page.write_text("before <!-- bbkb-fig1 --> and no end")
    with pytest.raises(ValueError, match="no place for bbkb-fig1"):  # and nothing is written
        into_page(page, "bbkb-fig1", "new")
    assert page.read_text() == "before <!-- bbkb-fig1 --> and no end"


def test_the_command_names_figures_and_refuses_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in PLATES)
    assert main(["bbkb-fig9"]) == 2
    assert "no figure bbkb-fig9; there are bkb-fig1" in capsys.readouterr().err


def test_missing_data_are_told_of_before_anything_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not an hour later, and not as somebody else's traceback."""

    def absent() -> Problem:
        raise Missing("no abalone.csv.gz anywhere; NOREGRET_DATA may name another folder.")

    problems.problem.cache_clear()
    monkeypatch.setitem(problems.PROBLEMS, "abalone", absent)
    assert main(["bbkb-fig5", "--quick", "--jobs", "1"]) == 1
    assert "NOREGRET_DATA" in capsys.readouterr().err


def test_no_process_at_all_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--jobs", "0"])
    assert "must be a whole number of at least 1, got 0" in capsys.readouterr().err


def test_a_run_by_processes_is_drawn_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a user types, from nothing to the picture; the second time nothing is run."""
    plate = PLATES["mini-fig3"]
    few = [
        replace(line, settings=line.settings[:2], horizon=20, repetitions=2)
        for line in sweep(plate.runs)
    ]
    monkeypatch.setattr("evaluation.papers.command.sweep", lambda *_, **__: tuple(few))
    assert main(["mini-fig3", "--quick", "--jobs", "2"]) == 0
    first = capsys.readouterr().out
    assert (tmp_path / "quick" / "mini-fig3.png").exists()
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "quick-cells").glob("*.json")}
    assert len(written) > 50
    assert main(["mini-fig3", "--quick", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == first
    assert {path: path.stat().st_mtime_ns for path in written} == written


def test_a_plate_without_runs_is_made_at_once_and_one_with_runs_missing_is_not_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a figure would be taken for a whole one."""
    assert main(["mini-fig3", "--quick", "--draw"]) == 0
    assert "not all methods have been run yet" in capsys.readouterr().err
    assert not (tmp_path / "quick").exists()
    assert main(["bbkb-lemma3", "--quick"]) == 0
    assert "bbkb-lemma3: 0 of 2 claims hold" in capsys.readouterr().out
    assert (tmp_path / "quick" / "bbkb-lemma3.png").exists()


@pytest.mark.parametrize("name", PLATES)
def test_what_is_published_is_whole(name: str) -> None:
    """Every plate has its picture, its numbers, and its place in its paper's page."""
    page = (PAGES / f"{PLATES[name].paper}.md").read_text()
    assert (RESULTS / f"{name}.png").exists()
    assert f"### {PLATES[name].title}" in page
    numbers = json.loads((RESULTS / f"{name}.json").read_text())
    for claim in numbers["claims"]:
        assert claim["measured"] in page
    for line in numbers["lines"]:
        assert line["repetitions"] >= 1


@pytest.mark.parametrize("name", RUNS)
def test_what_is_published_is_what_the_settings_ask_for(name: str) -> None:
    """The command under a figure makes that figure again, no other: as many runs, of the same."""
    plate = PLATES[name]
    asked = [line for line in sweep(plate.runs) if line.history in plate.histories]
    shown = json.loads((RESULTS / f"{name}.json").read_text())["lines"]
    if {line.problem for line in asked} != {one["problem"] for one in shown}:
        pytest.skip("other problems are at hand than were run")
    where = ("problem", "panel", "history", "horizon", "repetitions")
    assert [(line.label, *(getattr(line, key) for key in where)) for line in asked] == [
        (one["method"], *(one[key] for key in where)) for one in shown
    ]
    for line, one in zip(asked, shown, strict=True):
        assert one["setting"] in line.settings

"""Published runs: what is written is read back, and nothing stored is overwritten."""

from __future__ import annotations

from pathlib import Path

from evaluation.runs.archive import publish_runs, restore_runs
from evaluation.runs.cells import Line, Store

PLACES = (("pool", "auto"), ("other", "auto"), ("pool", "tpe"))
LINES = [Line(place, who, ({"algorithm": who},), 200, 3) for place, who in PLACES]
RECORD = {"budgets": [50, 200], "regret": [1 / 3, 2.0], "covered": [True, None], "uniform": 0.5}


def a_store(folder: Path) -> Store:
    store = Store(folder)
    folder.mkdir()
    for line in LINES[:2]:
        for cell in line.wanted(store)[:2]:
            store.write(cell, {**RECORD, "unique": [cell.repetition]})
    return store


def test_a_clone_goes_on_where_others_stopped(tmp_path: Path) -> None:
    store, fresh = a_store(tmp_path / "one"), Store(tmp_path / "two")
    publish_runs(LINES, store, tmp_path / "runs")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["auto.jsonl"]
    assert restore_runs(tmp_path / "runs", fresh) == 4
    for line in LINES:
        for cell in line.wanted(store):
            assert fresh.holds(cell) == store.holds(cell)
    record = fresh.load(LINES[1].wanted(fresh)[1])
    assert record == {**RECORD, "regret": [0.3333333, 2.0], "unique": [1]}
    publish_runs(LINES, fresh, tmp_path / "again")
    texts = [(tmp_path / name / "auto.jsonl").read_text() for name in ("runs", "again")]
    assert texts[0] == texts[1]


def test_what_was_run_here_is_kept(tmp_path: Path) -> None:
    store = a_store(tmp_path / "one")
    publish_runs(LINES, store, tmp_path / "runs")
    cell = LINES[0].wanted(store)[0]
    store.write(cell, {"regret": [7.0]})
    assert restore_runs(tmp_path / "runs", store) == 0
    assert store.load(cell) == {"regret": [7.0]}


def test_a_method_whose_runs_are_gone_has_no_file(tmp_path: Path) -> None:
    publish_runs(LINES, a_store(tmp_path / "one"), tmp_path / "runs")
    publish_runs(LINES, Store(tmp_path / "none"), tmp_path / "runs")
    assert not [*(tmp_path / "runs").iterdir()]
    assert restore_runs(tmp_path / "nowhere", Store(tmp_path / "none")) == 0

"""Results are kept, read back and reported; nothing is measured for a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.speed import __main__ as command
from evaluation.speed.cases import CASES
from evaluation.speed.machine import Meter, describe
from evaluation.speed.measure import measured
from evaluation.speed.report import write_report
from evaluation.speed.results import Figures, Results, Subject
from evaluation.speed.runs import refits, steered

FLOOR = {"bandwidth": 10e9, "flops": 100e9}
FIGURES: Figures = {
    **{"peak": 10**8, "beyond": 10**7, "regret": 0.05, "evaluations": 100, "unique": 40},
    **{"marks": ["a"], "floor": FLOOR},
    "work": {"rankings": 5, "refreshed": 2064, "scanned": 9, "bytes": 10**9, "flops": 10**9},
}


def figures_for(subject: Subject, seed: int) -> Figures:
    figures: Figures = {**FIGURES, "seconds": 0.4 + 0.01 * seed}
    ts = subject.settings.get("ts")
    if isinstance(ts, list):
        figures["steps"] = [(t, 0.01 * t) for t in ts]
        if subject.runner == "asks":
            figures["later"] = [(t, 0.001 * t) for t in ts]
    return figures


def tiny_results(path: Path) -> Results:
    results = Results(path, machine=describe())
    for name in ("mini", "mini-million", "exact", "scaling-t", "asks"):
        for one in CASES[name].subjects:
            for seed, key in enumerate(one.keys):
                results.cells[key] = figures_for(one, seed)
    late = CASES["scaling-t"].subjects[3]
    results.cells[late.key(0)] = {"seconds": 95.0, "stopped": 12}
    results.write()
    return results


def test_the_report_renders_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--report` must give the same page as the run that measured."""
    path = tmp_path / "benchmarks" / "results.json"
    written = tiny_results(path)
    assert command.main(["--report", str(path)]) == 0
    page = (tmp_path / "benchmarks.md").read_text()
    assert "| seconds: ≤ 0.5 s | 0.41 s | met |" in page
    assert "times as fast as transcription of bbkb global: ≥ 100 × | 1 × | missed |" in page
    assert "![seconds against evaluations" in page
    assert (tmp_path / "benchmarks" / "scaling-t.png").stat().st_size > 1000
    assert "### BKB," not in page  # nothing of it was measured
    assert "met" in capsys.readouterr().out
    again = write_report(CASES.values(), Results.read(path), tmp_path / "again")
    assert again.read_text() == page
    assert Results.read(path).cells.keys() == written.cells.keys()


def test_trouble_is_shown_in_place_of_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = Results(tmp_path / "results.json", quick=True)
    case = CASES["bbkb"]
    failed = results.sized(case.subjects[1]).key(0)
    results.keep(failed, {"error": "ArgumentError: unknown argument"})
    command.print_tables([case], results)
    shown = capsys.readouterr().out
    assert "ArgumentError" in shown
    assert "not run" in shown


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Subject, int]]:
    """What is asked to be measured; a user stops the second, and the clock BKB at T = 10 000."""
    asked: list[tuple[Subject, int]] = []

    def fake(subject: Subject, seed: int, threads: int) -> Figures:
        assert threads == 2
        asked.append((subject, seed))
        if len(asked) == 2 and not subject.series:
            raise KeyboardInterrupt
        stopped = subject.series == "bkb" and subject.settings["T"] == 10_000
        return {"seconds": 1.0, "stopped": 5} if stopped else figures_for(subject, seed)

    monkeypatch.setattr(command, "measured", fake)
    monkeypatch.setattr(command, "measured_machine", lambda _: (describe(), FLOOR))
    return asked


def test_a_rerun_goes_on_where_it_was_broken_off(
    tmp_path: Path, asked: list[tuple[Subject, int]]
) -> None:
    """Hours of measuring must survive an interruption."""
    arguments = ["mini", "--out", str(tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        command.main(arguments)
    for _ in range(2):
        assert command.main([*arguments, "--resume"]) == 0
        keys = [subject.key(seed) for subject, seed in asked]
        assert set(keys) == {key for one in CASES["mini"].subjects for key in one.keys}
        assert len(keys) == len(set(keys)) + 1  # only the one broken off was measured twice


def test_a_series_ends_at_the_first_size_too_slow(
    tmp_path: Path, asked: list[tuple[Subject, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.speed.report.plot", lambda *_: None)
    assert command.main(["scaling-t", "--out", str(tmp_path)]) == 0
    sizes = [(subject.series, subject.settings["T"]) for subject, _ in asked]
    assert ("bkb", 1000) in sizes
    assert ("bkb", 100_000) not in sizes
    assert ("mini_gp_ucb", 1_000_000) in sizes


def test_names_and_sizes_are_checked_before_anything_is_measured(tmp_path: Path) -> None:
    """Figures of other sizes or threads must not be taken for these, nor be overwritten."""
    assert command.main(["nonsense"]) == 2
    assert command.main(["--list"]) == 0
    Results(tmp_path / "benchmarks" / "results.json", quick=True).write()
    assert command.main(["mini", "--out", str(tmp_path)]) == 2


def test_a_measurement_runs_in_a_process_of_its_own() -> None:
    """An algorithm that fails is a figure, not the end of the benchmark."""
    settings = {"N": 50, "T": 20}
    good = measured(Subject("", "loop", {**settings, "algorithm": "uniform"}), 0, 1)
    assert good["evaluations"] == 20
    assert good["threads"] == 1
    bad = measured(Subject("", "loop", {**settings, "algorithm": "nonsense"}), 0, 1)
    assert bad["error"].startswith("KeyError")


def test_time_spent_on_fits_is_found() -> None:
    """It is taken where `auto` calls a fit, which may move."""
    found = refits({"N": 60, "T": 30}, 0, Meter(60.0))
    assert 0 < found["one_pass"] < found["seconds"]


def test_time_spent_on_a_width_is_found() -> None:
    """Of the run itself, so that a busy machine slows both alike."""
    found = steered({"N": 60, "T": 30}, 0, Meter(60.0))
    assert found["evaluations"] == 30
    assert 0 < found["one_pass"] < found["seconds"]

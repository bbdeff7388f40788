"""Settings become lines, lines become cells, and a grid is tuned before it is repeated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evaluation.papers.command import PLATES
from evaluation.papers.curves import Runs, band
from evaluation.papers.settings import sweep
from evaluation.runs.cells import Line, Setting, Store
from evaluation.runs.trial import Record, run
from small_runs import cell, small

SWEEPS = sorted({plate.runs for plate in PLATES.values() if plate.runs})
CS = (1.1, 1.2)  # of the grid
GRID: tuple[Setting, ...] = tuple(
    {"algorithm": "epsilon_greedy", "a": a, "b": 1.0} for a in (0.1, 1.0, 10.0)
)


def record(regret: float, seed: int = 0) -> Record:
    made = run(cell({"algorithm": "uniform"}, repetition=seed), small())
    scale = regret / made["regret"][-1]
    made["regret"] = [scale * value for value in made["regret"]]
    return made


def test_a_grid_is_run_first_and_its_best_is_repeated(tmp_path: Path) -> None:
    """The papers report the setting of lowest average regret."""
    store = Store(tmp_path)
    line = Line("small", "eps", GRID, horizon=90, repetitions=5, tuning=2)
    first = line.wanted(store)
    assert len(first) == 6
    assert line.chosen(store) is None
    assert line.runs(store) == []
    for one in first:
        means = {0.1: 3.0, 1.0: 1.0, 10.0: 2.0}
        luck = {0: 0.9, 1: -0.9}[one.repetition]  # the lucky run of a bad setting does not decide
        store.write(one, record(means[float(one.method["a"])] + luck))
    assert line.chosen(store) == GRID[1]
    then = line.wanted(store)
    assert [one.repetition for one in then] == [0, 1, 2, 3, 4]
    assert {one.setting for one in then} == {tuple(sorted(GRID[1].items()))}
    assert len(line.runs(store)) == 2  # the two of the grid are kept


@pytest.mark.parametrize("figure", SWEEPS)
@pytest.mark.parametrize("quick", [False, True])
def test_every_figure_has_lines_and_a_quick_version(figure: str, quick: bool) -> None:
    held, full = sweep(figure, quick=quick), sweep(figure)
    assert held
    if quick:
        assert held[0].horizon < full[0].horizon
        assert held[0].repetitions < full[0].repetitions
    for line in held:
        assert len({str(setting) for setting in line.settings}) == len(line.settings)
        where = {"problem": line.problem, "panel": line.panel, "history": line.history}
        assert line in Runs(held, Store(Path())).of(**where).lines


def test_the_settings_are_those_that_bbkb_prints() -> None:
    """Table 1 of BBKB 2020, and section 5."""
    lines = sweep("bbkb-fig1")
    found = {(one.problem, one.label): one.settings[0].get("bandwidth") for one in lines}
    printed = {
        **{"Global-BBKB": (17.5, 12.5), "GlobalLocal-BBKB": (17.5, 12.5), "BKB": (17.5, 12.5)},
        **{"GP-UCB": (5.0, 12.5), "GP-BUCB": (12.5, 12.5), "ASYNC-TS": (10.0, 10.0)},
        "EPS-GREEDY": (None, None),
    }
    assert found == {
        (name, label): pair[at]
        for at, name in enumerate(("abalone", "cadata"))
        for label, pair in printed.items()
    }
    assert all(line.horizon == 10_000 and line.repetitions >= 5 for line in lines)
    for figure in ("bbkb-fig5", "bbkb-fig6"):
        panels = {float(line.panel.removeprefix("σ = ")) for line in sweep(figure)}
        assert panels == {5.0, 7.5, 10.0, 12.5, 15.0, 17.5}
        slow = {("BKB", "σ = 5"), ("BKB", "σ = 7.5")} if figure == "bbkb-fig6" else set()
        few = {(line.label, line.panel) for line in sweep(figure) if line.repetitions < 5}
        assert few == slow
    assert {line.history for line in sweep("bbkb-nas")} == {2000, 0}
    for one in sweep("bbkb-squared"):  # the same numbers, as σ²
        assert one.settings[0]["bandwidth_squared"] == found[one.problem, one.label]
    for figure, left in (
        ("bbkb-squared5", set[float]()),
        ("bbkb-squared-cadata", {5.0, 7.5, 15.0, 17.5}),
    ):
        squares = {float(line.panel.removeprefix("σ² = ")) for line in sweep(figure)}
        assert squares == {5.0, 7.5, 10.0, 12.5, 15.0, 17.5} - left


def test_the_settings_are_those_that_mini_prints() -> None:
    """Appendix B.1 of MINI 2022: ten bandwidths, C in {1.1, 1.2}; ε-greedy's grid of twelve."""
    lines = {line.label: line for line in sweep("mini-nas")}
    squares = np.round(np.linspace(100, 500, 10), 1)
    for label, limits in {"MINI-GP-UCB": (1.21, 1.44), "BBKB": CS, "GP-BUCB": CS}.items():
        settings = lines[label].settings
        assert len(settings) == 20
        assert {setting["limit"] for setting in settings} == set(limits)
        found = sorted({float(setting["bandwidth_squared"]) for setting in settings})
        np.testing.assert_allclose(found, squares, atol=0.06)
        assert {setting["noise_variance"] for setting in settings} == {"noise level"}
    assert len(lines["EPS-GREEDY"].settings) == 12
    functions = {line.problem for line in sweep("mini-fig3")}
    assert functions == {"f104", "f116", "f122", "rastrigin"}


def test_intervals_are_students() -> None:
    """95 %, by the textbook."""
    runs = [record(float(value), seed) for seed, value in enumerate((3, 5, 4, 8))]
    found = band(runs, "average regret")
    values = np.array([one["regret"] for one in runs]) / np.array(runs[0]["steps"])
    low, high = stats.t.interval(0.95, 3, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(found.mean - found.half, low)
    np.testing.assert_allclose(found.mean + found.half, high)
    assert found.repetitions == 4
    i = int(np.searchsorted(found.steps, 45))
    assert found.steps[i - 1] < 45 <= found.steps[i]
    assert min(found.mean[i - 1 : i + 1]) <= found.at(45)[0] <= max(found.mean[i - 1 : i + 1])
    assert found.at() == (found.mean[-1], found.half[-1])


def test_the_batch_that_the_horizon_cuts_counts_as_large_as_the_one_before() -> None:
    """Else the last point of every curve of batch sizes would be chance."""
    made = record(1.0)
    made["batches"] = [1] * (len(made["steps"]) - 3) + [2, 2, 2]
    made["batch"] = [50] * (len(made["steps"]) - 3) + [7, 7, 7]
    assert set(band([made], "batch size").mean) == {50.0}


def test_one_repetition_has_no_interval() -> None:
    assert np.isnan(band([record(1.0)], "regret ratio").half).all()

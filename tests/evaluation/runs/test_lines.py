"""Settings become lines, lines become cells, and a grid is tuned before it is repeated."""

from __future__ import annotations

from dataclasses import replace
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


def test_rounds_drop_the_worse_settings_before_they_are_tuned(tmp_path: Path) -> None:
    """Against the race by hand, from any state: means of 1, then 2, then 4 repetitions."""
    many: tuple[Setting, ...] = tuple(
        {"algorithm": "epsilon_greedy", "a": float(a), "b": 1.0} for a in range(1, 8)
    )
    regrets = np.random.default_rng(5).normal([3, 2, 9, 1, 2, 5, 2.2], 1.5, size=(6, 7)) + 20
    line = Line("small", "eps", many, horizon=90, repetitions=6, tuning=4, rounds=(1, 2))
    store, left = Store(tmp_path), list(range(7))
    for repetitions, stay in ((1, 3), (2, 1)):
        wanted = line.wanted(store)
        assert line.chosen(store) is None
        assert line.runs(store) == []
        asked = {(int(float(one.method["a"])) - 1, one.repetition) for one in wanted}
        assert asked == {(i, r) for i in left for r in range(repetitions)}
        for one in wanted:
            i = int(float(one.method["a"])) - 1
            store.write(one, record(regrets[one.repetition, i]))
        means = regrets[:repetitions].mean(axis=0)
        left = sorted(left, key=lambda i: means[i])[:stay]
    assert line.chosen(store) == many[left[0]]  # the last one left: nothing to be tuned
    assert [one.repetition for one in line.wanted(store)] == [0, 1, 2, 3, 4, 5]
    assert len(line.runs(store)) == 2
    assert line.tuned_on == 2
    assert replace(line, settings=(*many, *many)).tuned_on == 4  # 14, 5, 2
    assert replace(line, settings=many[:2], rounds=()).tuned_on == 4
    assert replace(line, settings=many[:1]).tuned_on == 0


@pytest.mark.parametrize("figure", SWEEPS)
@pytest.mark.parametrize("quick", [False, True])
def test_every_figure_has_lines_and_a_quick_version(figure: str, quick: bool) -> None:
    held, full = sweep(figure, quick=quick), sweep(figure)
    assert held
    if quick:
        assert held[0].horizon < full[0].horizon
        assert held[0].repetitions <= full[0].repetitions
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


def test_the_settings_are_those_that_mini_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Appendix B.1 of MINI 2022: ten bandwidths, C in {1.1, 1.2}; ε-greedy's grid of twelve."""
    problems = ("nasbench101-subset", "nasbench201")
    monkeypatch.setattr("evaluation.papers.settings.architectures", lambda: problems)
    squares = np.round(np.linspace(100, 500, 10), 1)
    for problem in problems:
        lines = {one.label: one for one in sweep("mini-nas") if one.problem == problem}
        for label, limits in {"MINI-GP-UCB": (1.21, 1.44), "BBKB": CS}.items():
            settings = lines[label].settings
            assert {setting["limit"] for setting in settings} == set(limits)
            found = sorted({float(setting["bandwidth_squared"]) for setting in settings})
            assert len(settings) == 2 * len(found)
            printed = [square for square in found if 100 <= square <= 500]
            if problem == "nasbench101-subset":
                np.testing.assert_allclose(printed, squares, atol=0.06)
            assert max(found) > 500  # beyond the grid where the best lies at its end
            assert {setting["noise_variance"] for setting in settings} == {"noise level²"}
        assert {setting.get("limit") for setting in lines["BKB"].settings} == {None}
        assert len(lines["EPS-GREEDY"].settings) == 12
    functions = {line.problem for line in sweep("mini-fig3")}
    assert functions == {"f104", "f116", "f122", "rastrigin"}


def test_a_problem_may_have_a_grid_and_repetitions_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But a quick run is quick on every problem."""
    monkeypatch.setattr(
        "evaluation.papers.settings.architectures", lambda: ("nasbench201", "fcnet")
    )
    lines = {(one.problem, one.label): one for one in sweep("mini-nas")}
    for problem, count, repetitions in (("nasbench201", 7, 20), ("fcnet", 8, 40)):
        assert lines[problem, "BKB"].repetitions < lines[problem, "GP-UCB"].repetitions == 5
        assert lines[problem, "MINI-GP-UCB"].repetitions == repetitions
        assert len(lines[problem, "MINI-GP-UCB"].settings) == 2 * count
    for label in ("BKB", "GP-BUCB"):  # a line's own arguments are not tuned
        (setting,) = lines["nasbench201", label].settings
        assert setting["bandwidth_squared"] == 500.0
    assert {(one.rounds, one.tuning) for one in lines.values()} == {((1, 3), 10)}
    for one in sweep("mini-nas", quick=True):
        assert (one.rounds, one.tuning, one.repetitions, one.horizon) == ((), 1, 2, 100)


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

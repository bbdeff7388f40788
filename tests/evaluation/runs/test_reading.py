"""Cells are run as they say, with the library itself and with peers where they are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from evaluation.comparison.command import QUICK_BUDGET, lineup, main
from evaluation.methods import as_printed as papers
from evaluation.methods import contestants
from evaluation.methods.contestants import CONTESTANTS
from evaluation.methods.players import Advice, Ours
from evaluation.problems import base
from evaluation.problems.base import NOISE, recorded
from evaluation.problems.candidates import coded, measured
from evaluation.problems.comparison import problem
from evaluation.runs.cells import Cell, Store
from evaluation.runs.loop import Clock, Run
from evaluation.runs.reading import Reading, entry, play
from evaluation.runs.work import missing, work
from small_readings import BUDGETS, PROBLEMS, Scripted, evaluated, numeric, played, table


def test_regret_is_of_the_truth_and_batches_end_at_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: values are 0 to 8, so that row r falls short by 8 − r."""
    player = Scripted([0, 8, 8, 7, 7, 1, 2, 2], Advice(np.array([7]), 6.5, 7.5))
    found = played(monkeypatch, table(), player, 8, (4, 8))
    assert player.asked == [3, 1, 3, 1]
    assert player.told == [0, 8, 8, 7, 7, 1, 2, 2]
    assert found == {
        **{"budgets": [4, 8], "unique": [3, 5], "covered": [True, True], "width": [1.0, 1.0]},
        **{"regret": [8 + 0 + 0 + 1, 9 + 1 + 7 + 6 + 6], "simple": [1.0, 1.0]},
        **{"seconds": found["seconds"], "uniform": 4.0},
    }


@pytest.mark.parametrize(
    ("bounds", "covered"),
    [((6.5, 6.9), False), ((7.0, 7.0), True), ((np.nan, np.nan), None), ((-np.inf, 8.0), None)],
)
def test_bounds_cover_or_do_not(bounds: tuple[float, float], covered: bool | None) -> None:
    advice = Advice(np.array([7]), *bounds)
    run = Run(table(), Scripted([3], advice), 0, Clock())
    run.until(1)
    assert entry(run, advice)["covered"] == covered


def test_noise_is_that_of_the_seed_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that ask alike must be answered alike."""
    held = PROBLEMS["numbers"]
    one, other = (Scripted(list(range(20)), Advice(np.array([0]))) for _ in range(2))
    played(monkeypatch, held, one)
    played(monkeypatch, held, other)
    assert one.told == other.told != held.truth(np.arange(20)).tolist()


def test_ours_recommends_what_best_says() -> None:
    held = numeric()
    player = Ours(held, nr.uniform(held.domain, seed=1))
    seen = evaluated(player, held, 10)
    assert held.truth(player.advise().point)[0] == held.truth(np.array(seen)).max()


def test_the_papers_scale_features_and_values() -> None:
    """The kernel on raw features must be the papers' on scaled ones."""
    held = numeric(noise=NOISE)
    X, scale = held.numbers, held.best - held.worst
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    lengthscales = tuple((12.5 * papers.deviations(held)).tolist())
    ours = nr.RBF(lengthscales)(X, X)
    assert ours == pytest.approx(nr.RBF(12.5)(standard, standard), abs=1e-12)
    assert np.linalg.norm(X / papers.longest(held), axis=1).max() == pytest.approx(1.0)
    model, exact = (papers.model(one, 1.0, 0, 100) for one in (held, numeric()))
    assert model["offset"] == held.worst
    found = model["noise_std"], exact["noise_std"]
    assert found == pytest.approx((0.05 * scale, 0.01 * scale))


def test_constant_features_have_no_spread_to_divide_by() -> None:
    X = np.column_stack([np.ones(5), np.arange(5.0)])
    held = recorded("small", "Small", measured(("a", "b"), X), np.arange(5.0))
    assert papers.deviations(held).tolist() == [1.0, np.std(np.arange(5.0))]


def test_the_lineup_is_everybody_at_the_largest_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.comparison.command.problem", lambda _: numeric(noise=NOISE))
    lines = lineup(problems=["branin", "oer"])
    assert len(lines) == 2 * len(CONTESTANTS)
    horizons = {line.label: line.horizon for line in lines}
    named = ("auto", "uniform", "tpe", "gp-sampler", "log-ei")
    assert [horizons[one] for one in named] == [10_000, 10_000, 1000, 200, 200]
    few = {line.label for line in lines if line.repetitions == 5}
    assert few == {"gp-sampler", "log-ei"}
    assert {line.horizon for line in lineup(quick=True)} == {QUICK_BUDGET}


def test_a_stopped_comparison_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BUDGETS", BUDGETS)
    for module in ("runs.reading", "comparison.command"):
        monkeypatch.setattr(f"evaluation.{module}.problem", lambda _: PROBLEMS["numbers"])
    lines = lineup(only=["uniform"], problems=["branin", "oer"])
    store, ran = Store(tmp_path), list[Cell]()

    def noted(cell: Cell) -> Reading:
        ran.append(cell)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return play(cell)

    with pytest.raises(KeyboardInterrupt):
        work(lines, tmp_path, play=noted)
    assert [cell.repetition for cell in ran] == [0, 0, 1]
    assert len(missing(lines, store)) == 2 * 20 - 2
    stopped = set(ran[:2])
    assert work(lines, tmp_path, play=noted) == 0
    assert len(ran) == 3 + 2 * 20 - 2
    assert not stopped & set(ran[3:])


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert "BoTorch log EI: T ≤ 200, 5 seeds" in capsys.readouterr().out
    for option, names, told in (
        ("--only", "auto,luck", "--only: no luck; there are auto, tpe"),
        ("--problems", "gb2", "--problems: no gb2"),
    ):
        assert main([option, names]) == 2
        assert told in capsys.readouterr().err


def test_the_command_runs_draws_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("evaluation.comparison.command.OUT", tmp_path)
    monkeypatch.setattr("evaluation.comparison.command.QUICK", ("branin",))
    command = ["--quick", "--jobs", "1", "--only", "uniform,mini-gp-ucb", "--problems", "branin"]
    assert main([*command, "--draw"]) == 1
    assert "nothing has been run yet" in capsys.readouterr().err
    assert main(command) == 0
    assert (tmp_path / "quick" / "ranks.png").exists()
    cells = sorted((tmp_path / "quick-cells").glob("*.json"))
    assert len(cells) == 2 * 2
    before = [cell.stat().st_mtime_ns for cell in cells]
    assert main(command) == 0
    assert [cell.stat().st_mtime_ns for cell in cells] == before


def test_every_contestant_is_made_of_a_problem_a_seed_and_a_budget() -> None:
    assert list(contestants.CONTESTANTS) == [
        *("auto", "tpe", "gp-sampler", "log-ei", "evolution", "mini-gp-ucb", "mini-gp-ei"),
        *("bbkb", "uniform"),
    ]
    codes = coded(("a",), ("u", "v"), np.array([[0], [1]], dtype=np.uint8))
    held = recorded("small", "Small", codes, np.arange(2.0))
    assert CONTESTANTS["tpe"].budgets(held) == ()
    assert CONTESTANTS["tpe"].budgets(problem("branin")) == (50, 200, 1000)

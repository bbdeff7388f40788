"""Cells are run as they say, with the library itself and with peers where they are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import noregret as nr
from evaluation.comparison.command import QUICK_BUDGET, lineup, main
from evaluation.methods import as_printed as papers
from evaluation.methods import botorch, contestants, optuna
from evaluation.methods.contestants import CONTESTANTS, Contestant
from evaluation.methods.players import Advice, Ours, Player
from evaluation.problems import base
from evaluation.problems.base import NOISE, Observations, Problem, recorded
from evaluation.problems.candidates import Listing, coded, framed, measured
from evaluation.problems.comparison import problem
from evaluation.runs import reading
from evaluation.runs.cells import Cell, Store
from evaluation.runs.loop import Clock, Run
from evaluation.runs.reading import Reading, entry, play
from evaluation.runs.work import missing, work
from noregret.arrays import Vector

BOUNDED = ("auto", "mini-gp-ucb", "bbkb")
BUDGETS = (6, 20)


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is in the extra bench")


needs_optuna, needs_botorch = needs("optuna"), needs("botorch")
OF_PEERS = pytest.mark.filterwarnings("ignore")  # what they warn of is not for us to change


def table(*, noise: float = 0.0) -> Problem:
    """Two categories and a number; nine of the twelve members are there."""
    rows = [(salt, base_, heat) for salt in "uvw" for base_ in "kl" for heat in (20.0, 80.0)][:9]
    words, others, heat = zip(*rows, strict=True)
    listing = framed({"salt": list(words), "base": list(others), "heat": np.array(heat)})
    return recorded("small", "Small", listing, np.arange(9.0), noise=noise)


def numeric(*, noise: float = 0.0) -> Problem:
    X = np.random.default_rng(0).random((40, 2)) * [1.0, 1000.0]
    values = -((X[:, 0] - 0.3) ** 2) - (X[:, 1] / 1000 - 0.6) ** 2
    return recorded("small", "Small", measured(("x", "y"), X), values, noise=noise)


def bits() -> Problem:
    rng = np.random.default_rng(1)
    described = measured(("weight",), rng.random((30, 1))).space
    pool = nr.BitPool(rng.integers(2, size=(30, 16)))
    listing = Listing(pool, described, np.arange(30))
    return recorded("small", "Small", listing, rng.random(30), noise=NOISE)


PROBLEMS = {
    "table": table(noise=NOISE),
    "exact table": table(),
    "numbers": numeric(noise=NOISE),
    "exact numbers": numeric(),
    "bits": bits(),
    "box": problem("branin"),
}


Playing: TypeAlias = Callable[..., Reading]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Playing:
    """Let a contestant, known by name, or a script play a problem up to a horizon."""

    def play_on(
        held: Problem, who: str | Scripted, horizon: int = 20, budgets: tuple[int, ...] = BUDGETS
    ) -> Reading:
        monkeypatch.setattr(base, "BUDGETS", budgets)
        monkeypatch.setattr(reading, "problem", lambda _: held)
        name = who if isinstance(who, str) else "x"
        if isinstance(who, Scripted):
            known = {"x": Contestant("x", "X", lambda *_: who)}
            monkeypatch.setattr(reading, "CONTESTANTS", known)
        return play(Cell.of("small", {"algorithm": name}, horizon=horizon, repetition=3))

    return play_on


def check(found: Reading, held: Problem, horizon: int) -> None:
    """What must hold of every reading."""
    budgets = [budget for budget in held.budgets if budget < horizon] + [horizon]
    assert found["budgets"] == budgets
    assert found["uniform"] == held.uniform
    assert np.all(np.diff(found["regret"]) >= 0)
    worst = held.best - held.worst
    for T, regret, simple in zip(budgets, found["regret"], found["simple"], strict=True):
        assert 0 <= regret <= 1.1 * T * worst  # the worst of a box is that of points drawn
        assert 0 <= simple <= 1.1 * worst
    assert np.all(np.diff(found["seconds"]) >= 0)
    assert 1 <= found["unique"][-1] <= min(horizon, held.candidates or horizon)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "who",
    [
        *(*BOUNDED, "uniform", "evolution"),
        *(pytest.param(who, marks=needs_optuna) for who in ("tpe", "gp-sampler")),
        pytest.param("log-ei", marks=[needs_botorch, OF_PEERS]),
    ],
)
def test_a_contestant_plays(who: str, name: str, played: Playing) -> None:
    held = PROBLEMS[name]
    horizon = 20 if held.noise_std else min(20, held.candidates or 20)
    if who in ("tpe", "gp-sampler", "log-ei"):
        horizon = 13  # peers go on where nothing is left to learn
    found, again = (played(held, who, horizon) for _ in range(2))
    check(found, held, horizon)
    assert [found["regret"], found["simple"]] == [again["regret"], again["simple"]]
    assert all((one is not None) == (who in BOUNDED) for one in found["covered"])


class Scripted:
    """Asks for rows that are known beforehand, in batches of three."""

    def __init__(self, rows: Sequence[int], advice: Advice) -> None:
        self.rows, self.advice = list(rows), advice
        self.asked, self.told = list[int](), list[float]()

    def ask(self, at_most: int) -> None:
        self.size = min(3, at_most)

    def points(self) -> Observations:
        taken, self.rows = self.rows[: self.size], self.rows[self.size :]
        self.asked.append(len(taken))
        return np.array(taken)

    def tell(self, values: Vector) -> None:
        self.told.extend(values.tolist())

    def advise(self) -> Advice:
        return self.advice


def test_regret_is_of_the_truth_and_batches_end_at_budgets(played: Playing) -> None:
    """By hand: values are 0 to 8, so that row r falls short by 8 − r."""
    player = Scripted([0, 8, 8, 7, 7, 1, 2, 2], Advice(np.array([7]), 6.5, 7.5))
    found = played(table(), player, 8, (4, 8))
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


def test_noise_is_that_of_the_seed_whoever_asks(played: Playing) -> None:
    """Methods that ask alike must be answered alike."""
    held = PROBLEMS["numbers"]
    one, other = (Scripted(list(range(20)), Advice(np.array([0]))) for _ in range(2))
    played(held, one)
    played(held, other)
    assert one.told == other.told != held.truth(np.arange(20)).tolist()


def evaluated(player: Player, held: Problem, count: int) -> list[int]:
    """Return the rows that a player asks for, one by one, told their true values."""
    rows = []
    for _ in range(count):
        player.ask(1)
        points = player.points()
        player.tell(held.truth(points))
        rows.append(int(points[0]))
    return rows


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


@needs_optuna
def test_optuna_is_told_of_the_member_that_was_evaluated() -> None:
    """Else it would learn the value of a candidate from the features of another."""
    held = table()
    player = optuna.tpe(held, seed=0)
    rows = evaluated(player, held, 40)
    trials = [one for one in player.study.trials if one.state.name == "COMPLETE"]
    assert len(trials) == 40
    assert len(player.study.trials) > 40  # three of twelve are not in the pool
    assert [one.user_attrs["row"] for one in trials] == rows
    assert held.space.table is not None
    for one, row in zip(trials, rows, strict=True):
        assert one.value == row
        assert one.params == player.member(row)
    assert player.advise().point.tolist() == [max(rows)]


@needs_optuna
def test_optuna_searches_what_a_person_would_name() -> None:
    listing = framed(
        {
            "rate": np.array([0.001, 0.01, 0.1]),
            "units": np.array([16.0, 64.0, 512.0]),
            "act": ["relu", "tanh", "relu"],
            "drop": np.array([0.0, 0.3, 0.6]),
        },
        log=["rate", "units"],
    )
    player = optuna.tpe(recorded("small", "Small", listing, np.arange(3.0)), seed=0)
    said = {name: str(one) for name, one in player.ranges.items()}
    assert said == {
        "rate": "FloatDistribution(high=0.1, log=True, low=0.001, step=None)",
        "units": "IntDistribution(high=512, log=True, low=16, step=1)",
        "act": "CategoricalDistribution(choices=('relu', 'tanh'))",
        "drop": "FloatDistribution(high=0.6, log=False, low=0.0, step=None)",
    }


def of_botorch(model: Any, points: Any, best: float) -> tuple[Vector, ...]:
    """Return what BoTorch says at some points: means, variances, and log EI over the best."""
    import torch
    from botorch.acquisition import LogExpectedImprovement

    with torch.no_grad():
        known = model.posterior(points)
        over = torch.tensor(best, dtype=torch.float64)
        scores = LogExpectedImprovement(model, best_f=over)(points[:, None])
    return known.mean.numpy()[:, 0], known.variance.numpy()[:, 0], scores.numpy()


@needs_botorch
@OF_PEERS
@pytest.mark.parametrize("best", [-3.0, 0.5, 2.0, 30.0])
def test_log_ei_is_botorchs(best: float) -> None:
    import torch
    from botorch.models import SingleTaskGP

    rng = np.random.default_rng(0)
    X = torch.from_numpy(rng.random((12, 3)))
    model = SingleTaskGP(X, torch.sin(5 * X.sum(dim=1, keepdim=True)))
    mean, variance, scores = of_botorch(model, torch.from_numpy(rng.random((50, 3))), best)
    assert botorch.log_ei(mean, np.sqrt(variance), best) == pytest.approx(scores, rel=1e-6)


@needs_botorch
@OF_PEERS
@pytest.mark.parametrize("kind", ["exact", "noisy", "repeated", "constant"])
def test_marginals_are_botorchs(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the model's own posterior and acquisition, in blocks that do not divide the pool."""
    import torch

    monkeypatch.setattr(botorch, "TOGETHER", 16)
    held = numeric(noise=NOISE if kind == "noisy" else 0.0)
    player = botorch.LogEI(held, 0)
    rng = np.random.default_rng(0)
    for row in [3] * 12 if kind == "repeated" else range(12):
        player.seen.append(player.U[row])
        told = held.feedback(np.array([row]), rng)
        player.tell(np.zeros(1) if kind == "constant" else 1e3 * told)
    model = player.fitted()
    mean, variance = botorch.marginals(model, player.U)
    best = max(player.values)
    means, variances, scores = of_botorch(model, torch.from_numpy(player.U), best)
    scale = variances.max()
    assert mean == pytest.approx(means, rel=1e-9, abs=1e-8 * np.sqrt(scale))
    assert variance == pytest.approx(variances, rel=1e-6, abs=1e-9 * scale)
    assert botorch.log_ei(mean, np.sqrt(variance), best) == pytest.approx(scores, rel=1e-6)


def test_log_ei_is_the_logarithm_of_ei_and_does_not_underflow() -> None:
    """By the plain formula where that has a value, and in order where it has none."""
    from scipy.stats import norm

    u = np.linspace(-6, 30, 200)
    std = np.full(200, 2.0)
    plain = std * (u * norm.cdf(u) + norm.pdf(u))
    assert botorch.log_ei(u * std, std, 0.0) == pytest.approx(np.log(plain), rel=1e-6, abs=1e-8)
    far = botorch.log_ei(-np.logspace(0, 9, 500), np.ones(500), 0.0)
    assert np.isfinite(far).all()
    assert np.all(np.diff(far) < 0)


def test_every_contestant_is_made_of_a_problem_a_seed_and_a_budget() -> None:
    assert list(contestants.CONTESTANTS) == [
        *("auto", "tpe", "gp-sampler", "log-ei", "evolution", "mini-gp-ucb", "mini-gp-ei"),
        *("bbkb", "uniform"),
    ]
    codes = coded(("a",), ("u", "v"), np.array([[0], [1]], dtype=np.uint8))
    held = recorded("small", "Small", codes, np.arange(2.0))
    assert CONTESTANTS["tpe"].budgets(held) == ()
    assert CONTESTANTS["tpe"].budgets(problem("branin")) == (50, 200, 1000)

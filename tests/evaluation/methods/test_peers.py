"""Peers, where they are installed: what Optuna is told, and what BoTorch computes."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from evaluation.methods import botorch, optuna
from evaluation.problems.base import NOISE, Problem, recorded
from evaluation.problems.candidates import framed
from evaluation.runs.reading import Reading
from noregret.arrays import Vector
from small_readings import PROBLEMS, evaluated, numeric, played, table

BOUNDED = ("auto", "mini-gp-ucb", "bbkb")


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is in the extra bench")


needs_optuna, needs_botorch = needs("optuna"), needs("botorch")
OF_PEERS = pytest.mark.filterwarnings("ignore")  # what they warn of is not for us to change


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
def test_a_contestant_plays(who: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = PROBLEMS[name]
    horizon = 20 if held.noise_std else min(20, held.candidates or 20)
    if who in ("tpe", "gp-sampler", "log-ei"):
        horizon = 13  # peers go on where nothing is left to learn
    found, again = (played(monkeypatch, held, who, horizon) for _ in range(2))
    check(found, held, horizon)
    assert [found["regret"], found["simple"]] == [again["regret"], again["simple"]]
    assert all((one is not None) == (who in BOUNDED) for one in found["covered"])


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

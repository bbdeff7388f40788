"""Who is compared, up to which budget and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import noregret as nr
from evaluation.methods import as_printed as papers
from evaluation.methods import botorch, optuna
from evaluation.methods.players import Ours, Player
from evaluation.problems.comparison.base import BUDGETS, Problem

SEEDS, FEW_SEEDS = 20, 5
UNIFORM_BATCH = 50  # feedback changes nothing


@final
@dataclass(frozen=True, slots=True)
class Contestant:
    """A method, with nothing set by problem."""

    name: str
    title: str
    make: Callable[[Problem, int, int], Player]  # of a problem, a seed and the longest budget
    most: int = BUDGETS[-1]  # evaluations
    seeds: int = SEEDS
    rival: bool = False  # what others would run instead; not ours, not a floor

    def budgets(self, problem: Problem) -> tuple[int, ...]:
        """Return the budgets that it is run for; one run serves them all."""
        return tuple(budget for budget in problem.budgets if budget <= self.most)


def _auto(problem: Problem, seed: int, _: int) -> Player:
    return Ours(problem, nr.auto(problem.domain, seed=seed))


def _uniform(problem: Problem, seed: int, _: int) -> Player:
    return Ours(problem, nr.uniform(problem.domain, batch_size=UNIFORM_BATCH, seed=seed))


def _evolution(problem: Problem, seed: int, _: int) -> Player:
    groups = problem.groups
    return Ours(problem, nr.regularized_evolution(problem.domain, groups=groups, seed=seed))


def _mini(problem: Problem, seed: int, horizon: int) -> Player:
    return Ours(problem, papers.mini_gp_ucb(problem, seed, horizon))


def _mini_ei(problem: Problem, seed: int, horizon: int) -> Player:
    return Ours(problem, papers.mini_gp_ei(problem, seed, horizon))


def _bbkb(problem: Problem, seed: int, horizon: int) -> Player:
    return Ours(problem, papers.bbkb(problem, seed, horizon))


def _tpe(problem: Problem, seed: int, _: int) -> Player:
    return optuna.tpe(problem, seed)


def _gp(problem: Problem, seed: int, _: int) -> Player:
    return optuna.gp(problem, seed)


def _log_ei(problem: Problem, seed: int, _: int) -> Player:
    return botorch.LogEI(problem, seed)


AUTO, UNIFORM, TPE = "auto", "uniform", "tpe"
CONTESTANTS: dict[str, Contestant] = {
    one.name: one
    for one in (
        Contestant(AUTO, "auto", _auto),
        Contestant(TPE, "Optuna TPE", _tpe, 1000, rival=True),
        Contestant("gp-sampler", "Optuna GPSampler", _gp, 200, FEW_SEEDS, rival=True),
        Contestant("log-ei", "BoTorch log EI", _log_ei, 200, FEW_SEEDS, rival=True),
        Contestant("evolution", "regularised evolution", _evolution, rival=True),
        Contestant("mini-gp-ucb", "MINI-GP-UCB, paper", _mini, rival=True),
        Contestant("mini-gp-ei", "MINI-GP-EI, paper", _mini_ei, rival=True),
        Contestant("bbkb", "BBKB, paper", _bbkb, 1000, rival=True),
        Contestant(UNIFORM, "uniform", _uniform),
    )
}

"""Who is compared, up to which budget and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import noregret as nr
from evaluation.methods import as_printed as papers
from evaluation.methods import botorch, optuna
from evaluation.methods.players import Ours, Player
from evaluation.problems.base import BUDGETS, Problem

SEEDS, FEW = 20, 5
Make: TypeAlias = Callable[[Problem, int, int], Player]  # of a seed, and of the longest budget
UNIFORM_BATCH = 50  # feedback changes nothing


@final
@dataclass(frozen=True, slots=True)
class Contestant:
    """A method, with nothing set by problem."""

    name: str
    title: str
    make: Make
    most: int = BUDGETS[-1]  # evaluations
    seeds: int = SEEDS
    competitor: bool = False  # what others would run instead; not ours, not a floor

    def budgets(self, problem: Problem) -> tuple[int, ...]:
        """Return the budgets that it is run for; one run serves them all."""
        return tuple(budget for budget in problem.budgets if budget <= self.most)


def _auto(problem: Problem, seed: int, _: int) -> nr.Optimizer:
    return nr.auto(problem.domain, seed=seed)


def _uniform(problem: Problem, seed: int, _: int) -> nr.Optimizer:
    return nr.uniform(problem.domain, batch_size=UNIFORM_BATCH, seed=seed)


def _evolution(problem: Problem, seed: int, _: int) -> nr.Optimizer:
    return nr.regularized_evolution(problem.domain, groups=problem.groups, seed=seed)


def _ours(make: Callable[[Problem, int, int], nr.Optimizer]) -> Make:
    return lambda problem, seed, most: Ours(problem, make(problem, seed, most))


def _peer(make: Callable[[Problem, int], Player]) -> Make:
    return lambda problem, seed, _: make(problem, seed)


AUTO, UNIFORM, TPE = "auto", "uniform", "tpe"
_ALL = (
    Contestant(AUTO, "auto", _ours(_auto)),
    Contestant(TPE, "Optuna TPE", _peer(optuna.tpe), 1000, competitor=True),
    Contestant("gp-sampler", "Optuna GPSampler", _peer(optuna.gp), 200, FEW, competitor=True),
    Contestant("log-ei", "BoTorch log EI", _peer(botorch.LogEI), 200, FEW, competitor=True),
    Contestant("evolution", "regularised evolution", _ours(_evolution), competitor=True),
    Contestant("mini-gp-ucb", "MINI-GP-UCB, paper", _ours(papers.mini_gp_ucb), competitor=True),
    Contestant("mini-gp-ei", "MINI-GP-EI, paper", _ours(papers.mini_gp_ei), competitor=True),
    Contestant("bbkb", "BBKB, paper", _ours(papers.bbkb), 1000, competitor=True),
    Contestant(UNIFORM, "uniform", _ours(_uniform)),
)
CONTESTANTS = {one.name: one for one in _ALL}

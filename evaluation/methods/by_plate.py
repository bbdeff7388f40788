"""Who fills plates, where they can, and how often.

An option of the library that is about plates (what is sought, how often a candidate may come) is
one more line of `_ALL`; who seeks hits is named in `evaluation.plates.goals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import noregret as nr
from evaluation.methods import optuna, told_a_kernel, trees
from evaluation.methods.baybe import BayBE
from evaluation.methods.players import OursByPlate, Player
from evaluation.methods.q_log_nei import QLogNEI
from evaluation.problems.base import Problem

SEEDS, FEW = 20, 5
Make: TypeAlias = Callable[[Problem, int, int], Player]  # of a seed, and of a plate's size


@final
@dataclass(frozen=True, slots=True)
class Filler:
    """A method that fills plates, with nothing set by problem."""

    name: str
    title: str
    make: Make
    seeds: int = SEEDS
    competitor: bool = False  # what others would run instead; not ours, not a floor
    largest: int | None = None  # plate
    most: int | None = None  # evaluations
    pool: int | None = None  # candidates
    pools: bool = True  # runs on pools
    clicks: bool = False  # runs on clicks

    def fills(self, size: int, plates: int, candidates: int) -> bool:
        """Whether it is run so far: what is left out would take hours a run, or cannot be done."""
        asked = ((size, self.largest), (size * plates, self.most), (candidates, self.pool))
        return all(most is None or wanted <= most for wanted, most in asked)

    @property
    def limited(self) -> bool:
        return any(one is not None for one in (self.largest, self.most, self.pool))


def _auto(problem: Problem, seed: int, size: int) -> nr.Optimizer:
    return nr.auto(problem.domain, workers=size, seed=seed)


def _uniform(problem: Problem, seed: int, size: int) -> nr.Optimizer:
    return nr.uniform(problem.domain, batch_size=size, seed=seed)


def _evolution(problem: Problem, seed: int, size: int) -> nr.Optimizer:
    groups = problem.groups
    return nr.regularized_evolution(problem.domain, groups=groups, batch_size=size, seed=seed)


def _ours(make: Callable[[Problem, int, int], nr.Optimizer]) -> Make:
    return lambda problem, seed, size: OursByPlate(problem, make(problem, seed, size))


AUTO, UNIFORM, BOOSTING = "auto", "uniform", "boosting"
_ALL = (
    Filler(AUTO, "auto", _ours(_auto), clicks=True),
    Filler("forest", "random forest, top k", trees.forest, competitor=True),
    Filler("tpe", "Optuna TPE, constant liar", optuna.tpe_by_plate, competitor=True, most=1000),
    Filler("q-log-nei", "BoTorch qLogNEI", QLogNEI, FEW, competitor=True, largest=24, pool=5000),
    Filler("baybe", "BayBE", BayBE, FEW, competitor=True, largest=24, pool=5000),
    Filler("evolution", "regularised evolution", _ours(_evolution), competitor=True, clicks=True),
    Filler("gp-bucb", "GP-BUCB, fixed size", told_a_kernel.gp_bucb),
    Filler("thompson", "batch Thompson", told_a_kernel.batch_thompson),
    Filler(UNIFORM, "uniform", _ours(_uniform), clicks=True),
    Filler(
        *("exploring-forest", "random forest, 20 % uniform", trees.exploring_forest),
        competitor=True,
        pools=False,
        clicks=True,
    ),
    Filler(
        *(BOOSTING, "gradient boosting, 20 % uniform", trees.exploring_boosting),
        competitor=True,
        pools=False,
        clicks=True,
    ),
)
FILLERS = {one.name: one for one in _ALL}

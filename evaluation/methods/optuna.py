"""Optuna's samplers, on the parameters that a person would describe a candidate by.

Used through ask and tell. What is suggested need not be in the pool: then its nearest member is
evaluated, the suggestion is told to have failed, which samplers leave out of account, and the
member is added as a trial with its value. It recommends `study.best_trial`, the best value seen.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from evaluation.problems.candidates import Parameter
from noregret.arrays import Vector


@final
class Optuna:
    """A study of one sampler, all its settings the defaults."""

    def __init__(self, problem: Problem, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna, self._space = optuna, problem.space
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.ranges = {one.name: _distribution(one) for one in problem.space.parameters}
        self._trial: Any = None
        self._row: int | None = None  # the member of a pool

    def ask(self, at_most: int) -> None:
        del at_most  # one at a time
        self._trial = self.study.ask(self.ranges)

    def points(self) -> Observations:
        point = np.array([_value(one, self._trial) for one in self._space.parameters])
        if self._space.table is None:
            return point[None]
        self._row = self._space.nearest(point)
        return np.array([self._row])

    def tell(self, values: Vector) -> None:
        value, params = float(values[0]), self._trial.params
        if self._row is not None:
            self._trial.set_user_attr("row", self._row)
            params = self.member(self._row)
        if params == self._trial.params:
            self.study.tell(self._trial, value)
            return
        self.study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)
        member = self._optuna.trial.create_trial(
            params=params,
            distributions=self.ranges,
            value=value,
            user_attrs={"row": self._row},
        )
        self.study.add_trial(member)

    def advise(self) -> Advice:
        best = self.study.best_trial
        if self._row is not None:
            return Advice(np.array([best.user_attrs["row"]]))
        return Advice(np.array([[_value(one, best) for one in self._space.parameters]]))

    def member(self, row: int) -> dict[str, str | int | float]:
        assert self._space.table is not None, "a box has no members"
        values = self._space.table[row]
        return {
            one.name: _spoken(one, float(value))
            for one, value in zip(self._space.parameters, values, strict=True)
        }


def tpe(problem: Problem, seed: int) -> Optuna:
    from optuna.samplers import TPESampler

    return Optuna(problem, TPESampler(multivariate=True, seed=seed))


def gp(problem: Problem, seed: int) -> Optuna:
    from optuna.samplers import GPSampler

    return Optuna(problem, GPSampler(seed=seed))


def _distribution(one: Parameter) -> Any:
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if one.levels:
        return CategoricalDistribution(one.levels)
    if one.whole:
        return IntDistribution(int(one.low), int(one.high), log=one.log)
    return FloatDistribution(one.low, one.high, log=one.log)


def _spoken(one: Parameter, value: float) -> str | int | float:
    """Return a parameter's value as Optuna knows it."""
    if one.levels:
        return one.levels[int(value)]
    return int(value) if one.whole else value


def _value(one: Parameter, trial: Any) -> float:
    """Return a parameter's value as a number, categories by their place."""
    said = trial.params[one.name]
    return float(one.levels.index(said)) if one.levels else float(said)

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
from evaluation.problems.candidates import Parameter, Space
from noregret.arrays import Vector


@final
class Optuna:
    """A study of one sampler, all its settings the defaults."""

    def __init__(self, space: Space, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna, self._space = optuna, space
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.ranges = {one.name: _distribution(one) for one in space.parameters}
        self._trial: Any = None
        self._row: int | None = None  # the member of a pool

    @property
    def asked(self) -> bool:
        return self._trial is not None

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
        value = float(values[0])
        if self._row is None:
            self.study.tell(self._trial, value)
        elif self.member(self._row) == self._trial.params:
            self._trial.set_user_attr("row", self._row)
            self.study.tell(self._trial, value)
        else:
            self.study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)
            self.add(self._row, value)

    def add(self, row: int, value: float) -> None:
        """Add the evaluation of a member that was not suggested."""
        member = self._optuna.trial.create_trial(
            params=self.member(row),
            distributions=self.ranges,
            value=value,
            user_attrs={"row": row},
        )
        self.study.add_trial(member)

    def advise(self) -> Advice:
        best = self.study.best_trial
        if self._row is not None:
            return Advice(np.array([best.user_attrs["row"]]))
        return Advice(np.array([[_value(one, best) for one in self._space.parameters]]))

    def member(self, row: int) -> dict[str, str | int | float]:
        """Return the parameters of a candidate, as Optuna knows them."""
        assert self._space.table is not None, "a box has no members"
        values = self._space.table[row].tolist()
        return {
            one.name: one.levels[int(value)] if one.levels else int(value) if one.whole else value
            for one, value in zip(self._space.parameters, values, strict=True)
        }


def tpe(problem: Problem, seed: int) -> Optuna:
    from optuna.samplers import TPESampler

    return Optuna(problem.space, TPESampler(multivariate=True, seed=seed))


def gp(problem: Problem, seed: int) -> Optuna:
    from optuna.samplers import GPSampler

    return Optuna(problem.space, GPSampler(seed=seed))


def _distribution(one: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if one.levels:
        return CategoricalDistribution(one.levels)
    if one.whole:
        return IntDistribution(int(one.low), int(one.high), log=one.log)
    return FloatDistribution(one.low, one.high, log=one.log)


def _value(one: Parameter, trial: Any) -> float:
    """Return a parameter's value as a number, categories by their place."""
    said = trial.params[one.name]
    return float(one.levels.index(said)) if one.levels else float(said)

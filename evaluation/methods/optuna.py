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
    """A study of one sampler, all its settings the defaults; one at a time, or `together`."""

    def __init__(self, space: Space, sampler: Any, together: int = 1) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna, self._space, self._together = optuna, space, together
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.ranges = {one.name: _distribution(one) for one in space.parameters}
        self._trials: list[Any] = []  # the last asked for
        self._rows: list[int] = []  # the members of a pool that they became

    @property
    def asked(self) -> bool:
        return bool(self._trials)

    def ask(self, at_most: int) -> None:
        together = min(self._together, at_most)
        self._trials = [self.study.ask(self.ranges) for _ in range(together)]

    def points(self) -> Observations:
        parameters = self._space.parameters
        points = np.array([[_value(one, trial) for one in parameters] for trial in self._trials])
        if self._space.table is None:
            return points
        self._rows = [self._space.nearest(point) for point in points]
        return np.array(self._rows)

    def tell(self, values: Vector) -> None:
        for at, (trial, value) in enumerate(zip(self._trials, values.tolist(), strict=True)):
            if not self._rows:
                self.study.tell(trial, value)
            elif self.member(self._rows[at]) == trial.params:
                trial.set_user_attr("row", self._rows[at])
                self.study.tell(trial, value)
            else:
                self.study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                self.add(self._rows[at], value)

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
        if self._rows:
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


def tpe_by_plate(problem: Problem, seed: int, size: int) -> Optuna:
    """Trials under way count as bad ones: the constant liar."""
    from optuna.samplers import TPESampler

    sampler = TPESampler(multivariate=True, constant_liar=True, seed=seed)
    return Optuna(problem.space, sampler, size)


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

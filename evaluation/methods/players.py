"""What plays: asks for points, is told values, recommends one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol, final

import numpy as np

import noregret as nr
from evaluation.problems.base import Observations, Problem
from noregret.arrays import Vector


@final
@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """What a method recommends, and between which values it says that the truth lies."""

    point: Observations  # one
    lower: float = math.nan
    upper: float = math.nan


class Player(Protocol):
    """One method on one problem; `ask`, `tell` and `advise` are timed, `points` is not."""

    def ask(self, at_most: int) -> None:
        """Make up one's mind about at most so many evaluations."""
        ...

    def points(self) -> Observations:
        """Return what was asked for, as members of the pool or points of the box."""
        ...

    def tell(self, values: Vector) -> None:
        """Learn the values of these points, in order."""
        ...

    def advise(self) -> Advice: ...


@final
@dataclass(slots=True, eq=False)
class Ours:
    """An optimizer of the library."""

    problem: Problem
    optimizer: nr.Optimizer
    _batch: nr.Batch | None = field(default=None, init=False)

    def ask(self, at_most: int) -> None:
        self._batch = self.optimizer.ask(at_most=at_most)

    def points(self) -> Observations:
        assert self._batch is not None, "ask first"
        return self.problem.batch(self._batch)

    def tell(self, values: Vector) -> None:
        assert self._batch is not None, "ask first"
        self.optimizer.tell(self._batch, values)

    def advise(self) -> Advice:
        best = self.optimizer.best()
        return Advice(self.problem.recommended(best), best.lower, best.upper)


@final
@dataclass(slots=True, eq=False)
class OursByPlate:
    """An optimizer of the library that fills a plate, and is told of all of it together.

    Where a batch holds less than is left, another worker asks for the rest.
    """

    problem: Problem
    optimizer: nr.Optimizer
    _batches: list[nr.Batch] = field(default_factory=list, init=False)

    def ask(self, at_most: int) -> None:
        self._batches, left = [], at_most
        while left:
            worker = f"part {len(self._batches)}" if self._batches else ""
            self._batches.append(self.optimizer.ask(at_most=left, worker=worker))
            left -= len(self._batches[-1])

    def points(self) -> Observations:
        return np.concatenate([self.problem.batch(batch) for batch in self._batches])

    def tell(self, values: Vector) -> None:
        for batch in self._batches:
            told, values = values[: len(batch)], values[len(batch) :]
            self.optimizer.tell(batch, told)

    def advise(self) -> Advice:
        best = self.optimizer.best()
        return Advice(self.problem.recommended(best), best.lower, best.upper)

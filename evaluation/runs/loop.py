"""The loop of every run: ask, evaluate, tell, until a budget is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import final

import numpy as np

from evaluation.methods.players import Player
from evaluation.problems.base import Observations, Problem

NOISE, HISTORY = 1, 2  # streams of chance beside the method's own


@final
@dataclass(slots=True)
class Clock:
    """Processor time, which other programs on the machine do not lengthen much."""

    seconds: float = 0.0
    _began: float = 0.0

    def __enter__(self) -> None:
        self._began = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._began


@final
@dataclass(slots=True, eq=False)
class Run:
    """A method on a problem, and what it asked for so far, batch by batch.

    The noise of evaluations is that of the repetition, whoever asks for them.
    """

    problem: Problem
    player: Player
    repetition: int
    clock: Clock
    batches: list[Observations] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # after each batch
    spent: int = 0
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.repetition, NOISE])

    @property
    def points(self) -> Observations:
        return np.concatenate(self.batches)

    def until(self, budget: int) -> None:
        """Go on until so many evaluations are spent, batches ending there."""
        while self.spent < budget:
            with self.clock:
                self.player.ask(budget - self.spent)
            points = self.player.points()
            values = self.problem.feedback(points, self._rng)
            with self.clock:
                self.player.tell(values)
            self.batches.append(points)
            self.seconds.append(self.clock.seconds)
            self.spent += len(points)

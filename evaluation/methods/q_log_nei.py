"""BoTorch by the plate: the expected improvement of a whole batch under noise (qLogNEI).

The model is that of `evaluation.methods.botorch`. The first plate is drawn uniformly, without a
candidate twice; then `optimize_acqf_discrete` takes one candidate after another of the whole pool,
each the one that adds most to those taken before, with all settings the defaults.
"""

from __future__ import annotations

import warnings
from typing import final

import numpy as np

from evaluation.methods.botorch import TOGETHER, LogEI
from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from noregret.arrays import Indices, Vector


@final
class QLogNEI:
    """Chooses a plate at a time."""

    def __init__(self, problem: Problem, seed: int, size: int) -> None:
        del size
        self._told = LogEI(problem, seed)  # the model, and its recommendation
        self._rng = np.random.default_rng(seed)
        self._batch: Indices = np.empty(0, dtype=np.int64)

    def ask(self, at_most: int) -> None:
        N = len(self._told.U)
        first = self._rng.choice(N, at_most, replace=at_most > N)
        self._batch = self._chosen(at_most) if self._told.values else first
        for row in self._batch.tolist():
            self._told.take(row)

    def points(self) -> Observations:
        return self._batch

    def tell(self, values: Vector) -> None:
        self._told.tell(values)

    def advise(self) -> Advice:
        return self._told.advise()

    def _chosen(self, size: int) -> Indices:
        import torch
        from botorch.acquisition import qLogNoisyExpectedImprovement
        from botorch.optim import optimize_acqf_discrete

        told = self._told
        model = told.fitted()
        seen = torch.from_numpy(np.array(told.seen))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pools that are small, and of numerics
            acquisition = qLogNoisyExpectedImprovement(model, seen, prune_baseline=True)
            choices = torch.from_numpy(told.U)
            found, _ = optimize_acqf_discrete(
                acquisition, q=size, choices=choices, max_batch_size=TOGETHER, unique=True
            )
        return np.array([_first_equal(told.U, x) for x in found.numpy()])


def _first_equal(U: Vector, x: Vector) -> int:
    return int(np.argmin(np.abs(U - x).max(axis=1)))

"""GP-UCB and GP-BUCB with a row for every evaluation, at the costs that BBKB quotes for them.

The library's exact posterior holds unique points alone and looks only at candidates that could be
best. This one does neither: O(t·N) at step t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self, final

import numpy as np

import noregret as nr
from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from evaluation.runs.cells import Cell
from noregret.arrays import Matrix, Vector

GP_BUCB = "gp_bucb_every_evaluation"  # GP-UCB where `limit` is 1


class EveryEvaluation:
    """The exact posterior of all candidates by L Lᵀ = K + λI of all evaluations."""

    def __init__(self, X: Matrix, kernel: nr.RBF, ridge: float, horizon: int) -> None:
        self.X, self.kernel, self.ridge = X, kernel, ridge
        self.rows: list[int] = []
        self.told: list[float] = []  # L⁻¹y, as far as values are known
        self.half: Matrix = np.empty((horizon, len(X)))  # L⁻¹k(·, X)
        self.roots: Vector = np.empty(horizon)  # the diagonal of L
        self.mean: Vector = np.zeros(len(X))
        self.variance: Vector = kernel.diagonal(X)
        self.log_det = 0.0  # of I + K/λ

    def evaluate(self, row: int) -> float:
        """Shrink all variances; return by what factor det(I + K/λ) grew."""
        t, gain = len(self.rows), 1 + float(self.variance[row]) / self.ridge
        k = self.kernel(self.X[[row]], self.X)[0]
        self.roots[t] = math.sqrt(self.ridge * gain)
        self.half[t] = (k - self.half[:t, row] @ self.half[:t]) / self.roots[t]
        self.variance = np.maximum(self.variance - self.half[t] ** 2, 0.0)
        self.log_det += math.log(gain)
        self.rows.append(row)
        return gain

    def learn(self, values: Vector) -> None:
        """Take in the values of what was evaluated since the last time."""
        for value in values:
            t = len(self.told)
            known = self.half[:t, self.rows[t]] @ np.array(self.told)
            self.told.append(float(value - known) / float(self.roots[t]))
            self.mean += self.told[-1] * self.half[t]


@final
@dataclass(slots=True, eq=False)
class GPBUCB:
    """BBKB 2020, Algorithm 2, with GP-BUCB's own rule Π(1 + σ²(x_s)/λ) ≤ C̃; F = 1, δ = 1/T."""

    posterior: EveryEvaluation
    limit: float
    horizon: int
    seed: int
    _batch: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem, cell: Cell) -> Self:
        bandwidth, limit = (float(cell.method[name]) for name in ("bandwidth", "limit"))
        ridge = problem.noise_std**2
        posterior = EveryEvaluation(problem.numbers, nr.RBF(bandwidth), ridge, cell.horizon)
        return cls(posterior, limit, cell.horizon, cell.repetition)

    def ask(self, at_most: int) -> None:
        post = self.posterior
        if not post.rows:
            self._batch = [int(np.random.default_rng(self.seed).integers(len(post.X)))]
            post.evaluate(self._batch[0])
            return
        beta = 1 + math.sqrt(post.log_det + 2 * math.log(self.horizon))
        self._batch, product = [], 1.0
        while len(self._batch) < at_most:
            ucb = post.mean + math.sqrt(self.limit) * beta * np.sqrt(post.variance)
            self._batch.append(int(ucb.argmax()))
            product *= post.evaluate(self._batch[-1])
            if product > self.limit:
                return

    def points(self) -> Observations:
        return np.array(self._batch, dtype=np.int64)

    def tell(self, values: Vector) -> None:
        self.posterior.learn(values)

    def advise(self) -> Advice:
        return Advice(np.array([self.posterior.mean.argmax()], dtype=np.int64))

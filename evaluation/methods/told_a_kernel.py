"""The library's algorithms by the plate, told what a user would tell them after a first plate.

That plate is drawn uniformly. Its average is the offset and its standard deviation that of f. The
kernel is Tanimoto's for fingerprints; else features are standardised and the kernel is Matérn-5/2
with half the usual distance between two candidates as its lengthscale, as docs/how-to-choose.md
says. The noise told is the true one, at least a hundredth of that deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

import noregret as nr
from evaluation.methods.as_printed import deviations
from evaluation.methods.players import Advice, OursByPlate
from evaluation.problems.base import Domain, Observations, Problem
from noregret.arrays import Vector

PAIRS = 1000  # of candidates, for the usual distance
LEAST_NOISE = 0.01  # of the standard deviation of the first plate
Algorithm: TypeAlias = Callable[..., nr.Optimizer]


@final
@dataclass(slots=True, eq=False)
class ToldAKernel:
    """One of the papers' algorithms, made when the first plate is known."""

    problem: Problem
    seed: int
    algorithm: Algorithm
    _first: Observations | None = field(default=None, init=False)
    _player: OursByPlate | None = field(default=None, init=False)

    def ask(self, at_most: int) -> None:
        if self._player:
            self._player.ask(at_most)
            return
        N = self.problem.candidates or 0
        rng = np.random.default_rng(self.seed)
        self._first = rng.choice(N, at_most, replace=at_most > N)

    def points(self) -> Observations:
        if self._player:
            return self._player.points()
        assert self._first is not None, "ask first"
        return self._first

    def tell(self, values: Vector) -> None:
        if self._player:
            self._player.tell(values)
            return
        assert self._first is not None, "ask first"
        assert self.problem.order is not None, "a pool has an order"
        optimizer = self.algorithm(**model(self.problem, values), seed=self.seed)
        optimizer.tell(np.argsort(self.problem.order)[self._first], values)
        self._player = OursByPlate(self.problem, optimizer)

    def advise(self) -> Advice:
        assert self._player, "tell first"
        return self._player.advise()


def model(problem: Problem, values: Vector) -> dict[str, object]:
    """Return pool, kernel, noise and offset, the last three by some values."""
    deviation = max(float(values.std()), 1e-12)
    assert problem.order is not None, "a pool has an order"
    pool: Domain = problem.domain
    scaled: nr.Kernel = deviation**2 * nr.Tanimoto()
    if not isinstance(pool, nr.BitPool):
        X = problem.numbers / deviations(problem)
        a, b = X[np.random.default_rng(0).integers(len(X), size=(2, PAIRS))]
        usual = 0.5 * float(np.linalg.norm(a - b, axis=1).mean())
        pool = nr.Pool(X[problem.order])
        scaled = deviation**2 * nr.Matern(nu=2.5, lengthscale=usual)
    return {
        "pool": pool,
        "kernel": scaled,
        "noise_std": max(problem.noise_std, LEAST_NOISE * deviation),
        "offset": float(values.mean()),
    }


def gp_bucb(problem: Problem, seed: int, size: int) -> ToldAKernel:
    def made(**told: object) -> nr.Optimizer:
        make: Algorithm = nr.gp_bucb
        return make(**told, rule=nr.FixedSize(size))

    return ToldAKernel(problem, seed, made)


def batch_thompson(problem: Problem, seed: int, size: int) -> ToldAKernel:
    def made(**told: object) -> nr.Optimizer:
        make: Algorithm = nr.batch_thompson
        return make(**told, batch_size=size)

    return ToldAKernel(problem, seed, made)

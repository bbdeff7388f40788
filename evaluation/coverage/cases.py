"""Small problems whose f is known, the algorithms that are run on them, and what is counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.automatic import AutoConstants, AutoPolicy, AutoSettings

DELTA, CANDIDATES = 0.1, 120
THIN, SMALL = 0.3, 0.01  # a dictionary that leaves much out, a ridge far below 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Candidates, a kernel, f on them, and the noise of an evaluation."""

    X: Matrix
    kernel: nr.Kernel
    f: Vector
    noise_std: float


def of_norm(seed: int, *, norm: float, noise_std: float, lengthscale: float = 0.3) -> Problem:
    """Draw f = Σ aᵢ k(·, cᵢ) of that norm, on candidates uniform in the unit square."""
    rng = np.random.default_rng([seed, 101])
    kernel, X, C = nr.RBF(lengthscale), rng.random((CANDIDATES, 2)), rng.random((15, 2))
    a = rng.standard_normal(len(C))
    a *= norm / math.sqrt(a @ kernel(C, C) @ a)
    return Problem(X, kernel, kernel(X, C) @ a, noise_std)


def from_prior(seed: int, *, noise_std: float) -> Problem:
    """Draw f from the prior itself."""
    rng = np.random.default_rng([seed, 102])
    kernel, X = nr.Matern(nu=1.5, lengthscale=0.3), rng.random((CANDIDATES, 2))
    f = np.linalg.cholesky(kernel(X, X)) @ rng.standard_normal(CANDIDATES)
    return Problem(X, kernel, f, noise_std)


def told(algorithm: Callable[..., nr.Optimizer], **settings: Any) -> Callable[..., nr.Optimizer]:
    """Return a maker of optimizers that are told kernel and noise, and are right."""

    def make(problem: Problem, seed: int) -> nr.Optimizer:
        model: dict[str, Any] = {"kernel": problem.kernel, "noise_std": problem.noise_std}
        pool = nr.Pool(problem.X)
        return algorithm(pool, **model, delta=DELTA, seed=seed, **settings)

    return make


def fitted(problem: Problem, seed: int) -> nr.Optimizer:
    """Return `auto`, whose posterior is exact up to 12 points here in place of 2000."""
    pool, constants = nr.Pool(problem.X), AutoConstants(exact_points=12)
    settings = AutoSettings(enumerates=True, delta=DELTA, constants=constants)
    return nr.Optimizer(pool, AutoPolicy.of(pool, settings), seed=seed)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """An algorithm on problems of a kind."""

    says: str
    make: Callable[[Problem, int], nr.Optimizer]
    problem: Callable[[int], Problem]
    budget: int = 50
    fits: bool = False  # the model too: intervals are looked at, not bands about the mean


plain, loud = partial(of_norm, norm=1.0, noise_std=0.5), partial(of_norm, norm=1.0, noise_std=1.0)
large = partial(of_norm, norm=5.0, noise_std=0.5)
CASES = {
    "bkb": Case("BKB, q̄ = 2", told(nr.bkb), plain, 40),
    "bbkb": Case("BBKB, q̄ = 2", told(nr.bbkb), plain),
    "bbkb-local": Case("BBKB, local rule, q̄ = 2, noise 1", told(nr.bbkb, rule="local"), loud),
    "bbkb-ridge": Case("BBKB, q̄ = 2, λ = 0.01", told(nr.bbkb, ridge=SMALL), plain),
    "bbkb-thin": Case(
        "BBKB, q̄ = 0.3, F = 5", told(nr.bbkb, oversample=THIN, norm_bound=5.0), large
    ),
    "bbkb-bayesian": Case(
        "BBKB, q̄ = 2, f drawn from the prior",
        told(nr.bbkb, width=nr.BayesianWidth(DELTA)),
        partial(from_prior, noise_std=0.5),
    ),
    "bbkb-steered": Case(
        "BBKB, q̄ = 2, steered by √C̃ times the width that certifies",
        told(nr.bbkb, width=2**0.5 * nr.NystromWidth(DELTA)),
        plain,
    ),
    "thompson": Case(
        "Thompson sampling in batches of 5 on a dictionary, q̄ = 2",
        told(nr.batch_thompson, posterior="nystrom", batch_size=5),
        plain,
    ),
    "auto": Case("auto beyond its exact posterior", fitted, plain, 90, fits=True),
}


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one run."""

    reach: float  # largest distance of f from the mean over that of the band, everywhere and always
    kept: bool  # whether every certificate kept its promise
    sound: bool  # whether the last one said that nothing of its assumptions is seen to fail
    beta: float
    gap: float  # certified at the end …
    true_gap: float  # … and true
    dictionary: float  # share of the points told that are members


def run(case: Case, seed: int) -> Outcome:
    """Run, and hold all that was promised after every batch against f."""
    problem = case.problem(seed)
    optimizer, rng = case.make(problem, seed), np.random.default_rng([seed, 103])
    reach, kept, top = 0.0, True, float(problem.f.max())
    while optimizer.spent < case.budget:
        batch = optimizer.ask(at_most=case.budget - optimizer.spent)
        ids = np.asarray(batch.sequence, dtype=np.int64)
        noise = problem.noise_std * rng.standard_normal(len(ids))
        optimizer.tell(batch, problem.f[ids] + noise)
        if case.fits and optimizer.spent < case.budget:
            continue
        promised, view = optimizer.certificate(), optimizer.posterior
        true = float(problem.f[int(promised.id)])
        kept = kept and promised.guaranteed <= true and promised.reachable >= top
        if not case.fits:
            distance = np.abs(problem.f - view.mean(problem.X))
            reach = max(reach, float((distance / (promised.beta * view.std(problem.X))).max()))
    members = len(optimizer.look().posterior.basis) / optimizer.unique
    gap, true_gap = promised.gap, top - true
    return Outcome(reach, kept, promised.is_sound, promised.beta, gap, true_gap, members)

"""The papers' algorithms with the papers' settings, told what the papers tell them.

Values are scaled to [0, 1] by the true range, by way of the kernel's variance and the offset. Where
evaluations are exact, the noise told is that of BBKB's regressions, 0.01. F = 1, δ = 1/T and q̄ = 2.

- MINI: features at most of unit norm, σ² = 277.78 (the middle of the grid the paper tunes over),
  C = 1.1, λ the noise level itself.
- BBKB: features standardised and C̃ = 2; σ = 17.5 on Abalone and 12.5 on Cadata as printed, 12.5 on
  what the paper does not have. On architectures features at most of unit norm, σ = 100, C̃ = 1.1.

See docs/papers/mini.md and docs/papers/bbkb.md for what is printed and what is not.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

import noregret as nr
from evaluation.problems.base import Problem
from evaluation.problems.papers import NOISE_STD
from noregret.arrays import Vector

Model: TypeAlias = dict[str, Any]
MINI_BANDWIDTH, MINI_LIMIT = 277.78**0.5, 1.1**2
BANDWIDTHS, OTHERS, LIMIT = {"abalone": 17.5, "cadata": 12.5}, 12.5, 2.0  # Table 1 of BBKB
ARCHITECTURES, ARCHITECTURES_LIMIT = 100.0, 1.1


def mini_gp_ucb(problem: Problem, seed: int, horizon: int) -> nr.Optimizer:
    return nr.mini_gp_ucb(_numeric(problem), **_mini(problem, seed, horizon))


def mini_gp_ei(problem: Problem, seed: int, horizon: int) -> nr.Optimizer:
    return nr.mini_gp_ei(_numeric(problem), **_mini(problem, seed, horizon))


def _mini(problem: Problem, seed: int, horizon: int) -> Model:
    printed = model(problem, MINI_BANDWIDTH * longest(problem), seed, horizon)
    printed["noise_std"] *= _level(problem) ** -0.5  # λ = ξ² is the level, not its square
    return {**printed, "limit": MINI_LIMIT}


def bbkb(problem: Problem, seed: int, horizon: int) -> nr.Optimizer:
    scales: float | tuple[float, ...]
    if problem.name.startswith(("nasbench", "fcnet")):
        scales, limit = ARCHITECTURES * longest(problem), ARCHITECTURES_LIMIT
    else:
        bandwidth = BANDWIDTHS.get(problem.name.removesuffix("-noisy"), OTHERS)
        scales, limit = tuple((bandwidth * deviations(problem)).tolist()), LIMIT
    return nr.bbkb(_numeric(problem), limit=limit, **model(problem, scales, seed, horizon))


def deviations(problem: Problem) -> Vector:
    """Return the standard deviation of every feature; in a box, as a kernel sees it: on [0, 1]."""
    if isinstance(problem.domain, nr.Box):
        return np.full(problem.domain.dim, 12**-0.5)
    std = problem.numbers.std(axis=0)
    return np.where(std > 0, std, 1.0)


def longest(problem: Problem) -> float:
    """Return the norm of the longest row of features; in a box, as a kernel sees them."""
    if isinstance(problem.domain, nr.Box):
        return math.sqrt(problem.domain.dim)
    return float(np.linalg.norm(problem.numbers, axis=1).max())


def _numeric(problem: Problem) -> nr.Pool | nr.Box:
    """Return the domain, or a pool of the numbers that stand in for bits."""
    if isinstance(problem.domain, nr.BitPool):
        return nr.Pool(problem.numbers[problem.order])
    return problem.domain


def _level(problem: Problem) -> float:
    """Return the standard deviation that is told, values being on [0, 1]."""
    return max(problem.noise_std / (problem.best - problem.worst), NOISE_STD)


def model(
    problem: Problem, lengthscale: float | tuple[float, ...], seed: int, horizon: int
) -> Model:
    """Return the model that is told: values on [0, 1] by way of variance and offset."""
    scale = problem.best - problem.worst
    return {
        "kernel": scale**2 * nr.RBF(lengthscale),
        "noise_std": scale * _level(problem),
        "offset": problem.worst,
        "horizon": horizon,
        "seed": seed,
    }

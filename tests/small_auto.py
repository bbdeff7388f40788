"""Runs of auto on a hill, and what it has fitted."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.automatic import AutoConstants, AutoModel, AutoPolicy, AutoSettings, AutoView
from noregret.fitting import FittedModel

GRID = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 15)]), axis=-1).reshape(-1, 2)


def hill(X: Matrix) -> Vector:
    """Highest at (0.7, 0.3), with a lower hill far from it."""
    high = np.exp(-20 * ((X - [0.7, 0.3]) ** 2).sum(axis=1))
    low = 0.6 * np.exp(-20 * ((X - [0.2, 0.8]) ** 2).sum(axis=1))
    f: Vector = high + low
    return f


def run(
    opt: nr.Optimizer,
    budget: int,
    *,
    noise: float = 0.1,
    f: Callable[[Matrix], Vector] = hill,
    seed: int = 0,
) -> nr.Optimizer:
    """Evaluate until the budget is spent, noise coming in the order of evaluations; NaN fails."""
    rng = np.random.default_rng(seed)
    rng.standard_normal(opt.spent)
    while opt.spent < budget:
        batch = opt.ask(at_most=budget - opt.spent)
        values = f(np.array(list(batch))) + noise * rng.standard_normal(len(batch))
        opt.tell(batch, [nr.FAILED if math.isnan(value) else value for value in values])
    return opt


def chosen(constants: AutoConstants, pool: nr.Pool) -> nr.Optimizer:
    """`nr.auto` with other numbers."""
    policy = AutoPolicy.of(pool, AutoSettings(enumerates=True, constants=constants))
    return nr.Optimizer(pool, policy)


def looked(opt: nr.Optimizer) -> AutoView:
    view = opt.look()
    assert isinstance(view, AutoView)
    return view


def model_of(opt: nr.Optimizer) -> AutoModel:
    return looked(opt).model


def fitted_of(opt: nr.Optimizer) -> FittedModel:
    return model_of(opt).fitted


def policy_of(opt: nr.Optimizer) -> AutoPolicy:
    assert isinstance(opt.policy, AutoPolicy)
    return opt.policy

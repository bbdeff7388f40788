"""Regret: how far evaluations fell short of the best there was to choose."""

from __future__ import annotations

import numpy as np

from noregret.arrays import Indices, Matrix, Vector, as_floats
from noregret.errors import ArgumentError
from noregret.optimizer import Optimizer
from noregret.pools import Candidates


def true_values(name: str, truth: object, optimizer: Optimizer, ids: object) -> Vector:
    """Return the true value of each evaluation, in a run without contexts."""
    pool = _pool(name, optimizer)
    return _of_candidates(name, truth, pool)[pool.find(ids)]


def regrets(
    name: str, truth: object, optimizer: Optimizer, ids: object, contexts: Matrix | None
) -> Vector:
    """Return f(x*) − f(x) of each evaluation (its negative, minimising).

    x* is the best candidate of the pool; where there are contexts, the best under the context of
    the evaluation ("contextual regret" of Krause & Ong 2011). `truth` is called once per context.
    """
    pool, sign = _pool(name, optimizer), 1.0 if optimizer.goal == "max" else -1.0
    rows = pool.find(ids)
    if contexts is None:
        return _shortfall(sign * _of_candidates(name, truth, pool), rows)
    if not callable(truth):
        raise ArgumentError(
            f"{name} must be a function where there are contexts, under each of which another "
            "candidate may be best: truth(context) returns one true value per candidate."
        )
    names, short = optimizer.context_names, np.empty(len(rows))
    together: dict[bytes, list[int]] = {}
    for at, context in enumerate(contexts):
        together.setdefault(context.tobytes(), []).append(at)
    for here in together.values():
        context = contexts[here[0]]
        given = context if names is None else dict(zip(names, context.tolist(), strict=True))
        values = _of_candidates(f"{name} under the context {given!r:.80}", truth(given), pool)
        short[here] = _shortfall(sign * values, rows[here])
    return short


def _pool(name: str, optimizer: Optimizer) -> Candidates:
    pool = optimizer.pool
    if not isinstance(pool, Candidates):
        raise ArgumentError(
            f"{name} is one true value per candidate of a pool; a box has none. "
            "Leave it out and give best=."
        )
    return pool


def _of_candidates(name: str, given: object, pool: Candidates) -> Vector:
    """Return one true value per candidate, checked."""
    if callable(given):
        raise ArgumentError(
            f"{name} is a function of the context, and this run has no contexts: give one true "
            "value per candidate."
        )
    values = as_floats(name, given)
    if values.shape != (len(pool),):
        raise ArgumentError(
            f"{name} must hold one true value per candidate, {len(pool)} of them, "
            f"got shape {values.shape}."
        )
    return values


def _shortfall(values: Vector, rows: Indices) -> Vector:
    return np.asarray(values.max() - values[rows])

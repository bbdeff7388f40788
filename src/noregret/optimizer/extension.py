"""A run goes on over a pool to which candidates were added."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from noregret.arrays import stacked
from noregret.errors import ArgumentError, PoolError
from noregret.optimizer.run_state import RunState
from noregret.policies import ExtensiblePolicy, Policy
from noregret.pools import Candidates, Domain, Extensible, MatrixSwitchCosts, rows_from


def extended(
    policy: Policy[Any], state: Any, run_state: RunState, more: object, names: object
) -> tuple[Policy[Any], Any, RunState]:
    """Return policy, state and run state with more candidates; those given stay as they are.

    Rows keep their numbers, and new ones come behind them. Points off the pool are numbered behind
    all candidates, so that these move; one that is a candidate by now becomes it.
    """
    if isinstance(run_state.switch_costs, MatrixSwitchCosts):
        raise ArgumentError(
            "extend() cannot know what a switch to new candidates costs: switch_cost is a matrix "
            f"of the {run_state.points.candidates} that there were. Give columns or a function."
        )
    before = run_state.points
    pool = _pool(before.domain, more, names)
    N, first = before.candidates, pool.rows(np.arange(1))
    for _, X in rows_from(pool, N):
        policy.vet(before.in_last_context(stacked(first, X)))  # beside what was there
    points, numbers = before.extended(pool)
    ledger, pending = run_state.ledger, run_state.pending
    grown = replace(
        run_state,
        points=points,
        ledger=replace(ledger, candidates=len(pool), rows=numbers(ledger.rows)),
        pending=replace(
            pending,
            unasked={numbers.of(row): count for row, count in pending.unasked.items()},
            failed={numbers.of(row): count for row, count in pending.failed.items()},
        ),
        excluded=np.pad(run_state.excluded, (0, len(pool) - N)),
    )
    if isinstance(policy, ExtensiblePolicy):
        policy, state = policy.extended(state, before, points, numbers)
    return policy, state, grown


def _pool(domain: Domain, more: object, names: object) -> Candidates:
    if isinstance(domain, Extensible):
        return domain.extended(more, names)
    if isinstance(domain, Candidates):
        raise PoolError(
            f"{type(domain).__name__} is a pool of your own without a method extended(more, "
            "names), which returns a pool with more candidates behind its own."
        )
    raise ArgumentError(
        "extend() adds candidates to a pool; a box holds all points between its bounds already. "
        "For wider bounds make a new box, start a run on it, and tell it what is known."
    )

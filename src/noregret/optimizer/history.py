"""What happened in a run so far, counted and in order."""

from __future__ import annotations

from threading import RLock

import numpy as np

from noregret.optimizer import results
from noregret.optimizer.run_state import RunState
from noregret.optimizer.switching import cost_of
from noregret.optimizer.trace import Trace
from noregret.pools import Keys
from noregret.text import counted
from noregret.threads import in_turn


class History:
    """What an optimizer tells of its run; nothing here changes it."""

    _lock: RLock
    _run_state: RunState

    @property
    def spent(self) -> int:
        """Evaluations used up: values told and evaluations that failed."""
        return self.evaluations + self._run_state.pending.failures

    @property
    def evaluations(self) -> int:
        """Values told."""
        return self._run_state.ledger.evaluations

    @property
    def deterministic(self) -> bool:
        """Whether the same candidate was said to have the same value always.

        >>> nr.uniform(nr.Pool.numbered(3), deterministic=True).deterministic
        True
        """
        return self._run_state.deterministic

    @property
    def takes_contexts(self) -> bool:
        """Whether every question and value is of a context, as `context_kernel=` says.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5]]), kernel=nr.RBF(), noise_std=0.1,
        ...                 context_kernel=nr.RBF())
        >>> opt.tell([1], [0.3], context={"hour": 0.2})
        >>> opt.takes_contexts, opt.context_names, opt.evaluated.contexts
        (True, ('hour',), array([[0.2]]))
        """
        return self._run_state.points.takes_contexts

    @property
    def context_names(self) -> tuple[str, ...] | None:
        """What the numbers of a context are called, None where they were given without names."""
        return self._run_state.points.context_names

    @property
    def unique(self) -> int:
        """Different candidates evaluated."""
        return len(self._run_state.ledger)

    @property
    def batches(self) -> int:
        """Batches opened."""
        return self._run_state.pending.opened

    @property
    def switches(self) -> int:
        """How often a worker asked for another candidate than the one before.

        Each worker has a set-up of its own: from one to another nothing is switched.
        """
        return self._run_state.records.switches

    def _paid_so_far(self) -> str:
        """Say what switches cost, in a line of its own, where that is known."""
        if self._run_state.switch_costs is None:
            return ""
        return f"\n{counted(self.switches, 'switch', 'switches')} so far cost {self.paid:g}."

    @property
    def paid(self) -> float:
        """What these `switches` cost, by the `switch_cost` of the run; 0 without one."""
        return self._run_state.records.paid

    @in_turn
    def cost_of(self, ids: object) -> float:
        """Return what it costs to go from candidate to candidate in this order, by `switch_cost`.

        >>> opt = nr.uniform(nr.Pool.numbered(9), switch_cost=lambda x, z: abs(x[0] - z[0]))
        >>> opt.cost_of([2, 2, 7, 6])
        6.0
        """
        points, costs = self._run_state.points, self._run_state.switch_costs
        rows = points.find(ids)
        return 0.0 if costs is None else cost_of(points.picks(rows), points, costs)

    @property
    @in_turn
    def sequence(self) -> Keys:
        """The id of every evaluation asked for, in order."""
        runs = self._run_state.records.runs
        return self._run_state.points.keys(np.repeat(runs["row"], runs["repeats"]))

    @property
    @in_turn
    def evaluated(self) -> results.Evaluated:
        """Every point that has a value: how often it was evaluated, and its average."""
        run_state = self._run_state
        return results.measured(run_state.ledger, run_state.points, run_state.units)

    @property
    @in_turn
    def trace(self) -> Trace:
        """What happened so far as a table, one row per batch, in O(1): sizes, widths, times."""
        return self._run_state.records.shown()

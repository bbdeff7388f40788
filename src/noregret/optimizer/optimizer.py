"""ask, tell, best: the only thing that changes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any, Literal, TypeAlias, final

from noregret.arrays import Vector
from noregret.errors import (
    ArgumentError,
    require_choice,
    require_count,
    require_number,
)
from noregret.kernels import Kernel, as_kernel
from noregret.optimizer import results, storage
from noregret.optimizer.batch import Batch
from noregret.optimizer.deterministic import at_most
from noregret.optimizer.extension import extended
from noregret.optimizer.feedback import Feedback
from noregret.optimizer.pending import room_for
from noregret.optimizer.run_looks import RunLooks
from noregret.optimizer.run_state import RunState
from noregret.policies import Policy, Proposal, propose_within
from noregret.policies.base import as_policy, known_noise_std
from noregret.pools import Domain, Points, as_switch_costs, require_domain
from noregret.text import counted
from noregret.threads import in_turn, single_threaded_blas

Goal: TypeAlias = Literal["max", "min"]


@final
class Optimizer(RunLooks):
    """Hand out batches to evaluate, take in their values, and say which candidate is best.

    Only `ask`, `tell`, `fail`, `exclude` and `extend` change a run; each happens as a whole or, on
    an error, not at all. Everything else only looks, and looking never changes a choice. Threads
    may share an optimizer.

    The functions in `noregret.algorithms` build one; compose your own from a pool and a policy.

    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> opt = nr.gp_ucb(pool, kernel=nr.RBF(0.4), noise_std=0.1, start=[1])
    >>> for _ in range(3):
    ...     batch = opt.ask()
    ...     opt.tell(batch, [0.3 + x[0] for x in batch])
    >>> opt.sequence, opt.spent, opt.unique, opt.batches, opt.switches, opt.paid, opt.goal
    (array([1, 0, 2]), 3, 3, 3, 2, 0.0, 'max')
    >>> opt.best().id, opt.certificate().is_sound, opt.evaluated.ids, opt.trace["told"]
    (2, True, [1, 0, 2], array([0, 1, 2]))
    >>> opt.posterior.mean([[0.7]]).round(2), opt.account().partition(";")[0]
    (array([1.09]), 'Exact posterior on 3 unique points')
    >>> opt.exclude([0, 1])
    >>> opt.fail(opt.ask())
    >>> opt.peek().ids, opt.spent, opt.evaluations
    (array([2]), 4, 3)

    For code that looks deeper: `policy` decides, `state` is what it keeps in mind, `evidence` what
    it is shown, and `look` what its model believes.

    >>> type(opt.policy).__name__, type(opt.state).__name__, opt.pool is pool
    ('Bandit', 'Belief', True)
    >>> opt.evidence.told.y, opt.look().means().round(2)
    (array([0.8, 0.3, 1.3]), array([0.8 , 0.3 , 1.29]))
    """

    def __init__(
        self,
        pool: Domain | Points,
        policy: Policy[Any],
        *,
        seed: int = 0,
        goal: Goal = "max",
        offset: float = 0.0,
        at_most_each: int | None = None,
        deterministic: bool = False,
        switch_cost: object = None,
    ) -> None:
        require_count("seed", seed, least=0)
        most = at_most(at_most_each, deterministic)
        sign = 1.0 if require_choice("goal", goal, ("max", "min")) == "max" else -1.0
        units = results.Units(sign, require_number("offset", offset))
        self._lock = RLock()
        self._policy = as_policy(policy)
        self._state: Any = policy.begin()
        points = Points.of(pool)
        self._run_state = replace(
            RunState.opened(points, units, int(seed)),
            at_most_each=most,
            deterministic=deterministic,
            switch_costs=as_switch_costs(switch_cost, points),
        )
        self._seen = None  # until something changes

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name != "_lock"}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        vars(self).update(parts, _lock=RLock())  # a copy has a lock of its own

    def __repr__(self) -> str:
        told = f"{counted(self.evaluations, 'evaluation')} of {counted(self.unique, 'candidate')}"
        return f"Optimizer({type(self._policy).__name__}, {self.pool!r}, {told})"

    @in_turn
    def ask(self, *, at_most: int | None = None, worker: str = "", context: object = None) -> Batch:
        """Return what to evaluate next, at most `at_most` evaluations (100 000 if not given).

        A worker whose batch is still open is given the open part of it again, so that a crash
        loses nothing. Another worker gets new work, chosen as if all open evaluations had been
        made (variances shrink, the mean stays).

        A run with contexts (`context_kernel=`) is told the `context` that this batch is for: the
        numbers that describe it, in order or by name. A worker holds one batch per context.
        """
        room = room_for("ask", at_most, worker)
        given = self._run_state.read_context("ask(context=...)", context, self._policy)
        held = self._run_state.held_by(worker, given)
        if held is None:
            asked, self._seen = perf_counter(), None
            proposal, state = self._propose(room, worker, given)
            self._run_state.points.name_contexts(context)
            held = self._run_state.hand_out(
                worker, proposal, given, asked=asked, now=perf_counter()
            )
            self._state = self._run_state.with_numbers(self._policy, state, given)
        return self._run_state.open_part(held, room)

    @in_turn
    def peek(
        self, *, at_most: int | None = None, worker: str = "", context: object = None
    ) -> Batch:
        """Return what `ask` would return, without opening a batch: nothing changes.

        It takes as long as an ask. Its values can be told once the batch has been asked for.
        """
        room = room_for("peek", at_most, worker)
        given = self._run_state.read_context("peek(context=...)", context, self._policy)
        held = self._run_state.held_by(worker, given)
        if held is None:
            proposal, _ = self._propose(room, worker, given)
            return self._run_state.draft(proposal, worker, given)
        return self._run_state.open_part(held, room)

    @in_turn
    def tell(
        self,
        what: object,
        values: object = None,
        *,
        means: object = None,
        counts: object = None,
        noise_std: object = None,
        context: object = None,
    ) -> None:
        """Take in the values of a batch (or a slice of one) in order, or of candidates by id.

        Candidates told by id need not have been asked for; where evaluations of one are open, its
        values close them, oldest first. Averages are told by `means` and `counts`, values noisier
        or less noisy than the algorithm was told by their `noise_std`, one number or one per value.
        On a box, or for points not in the pool, give features in place of ids, one point per row.

        `FAILED` in place of a value says that the evaluation failed; it may be asked for again,
        but under `at_most_each` no more once it failed as often as that.
        Telling a batch again with the same values changes nothing; other values are an error.

        >>> opt = nr.gp_ucb(nr.Pool.numbered(3), kernel=nr.RBF(), noise_std=0.2, start=[0, 1, 2])
        >>> opt.tell(opt.ask(), [0.3, nr.FAILED, 0.4])  # what was asked for, in order
        >>> opt.tell([0, 2], [0.1, 0.9])  # whatever else is known
        >>> opt.tell([1], means=[0.5], counts=[20])
        >>> opt.tell([[0.7]], [0.8])  # a point that is not in the pool
        >>> opt.tell([0, 0], [0.2, 0.3], noise_std=[0.1, 0.4])  # by two other instruments
        >>> opt.evaluations
        27
        """
        told, given = (
            Feedback(values, means, counts, noise_std, known_noise_std(self._policy)),
            None,
        )
        if not isinstance(what, Batch):
            given = self._run_state.read_context("tell(context=...)", context, self._policy)
        elif context is not None:
            raise ArgumentError("tell(batch, values) takes no context: a batch has its own.")
        self._seen = None
        self._run_state.tell(what, told, self._policy.vet, given)
        self._run_state.points.name_contexts(context)

    @in_turn
    def fail(self, batch: Batch) -> None:
        """Say that a batch (or a slice of one) failed: it is no longer open and has no values."""
        self._seen = None
        self._run_state.fail(batch)

    @in_turn
    def exclude(self, ids: object) -> None:
        """Never ask for these candidates again, nor recommend one of them.

        Their open evaluations are withdrawn; a value that still comes is accepted.
        """
        self._seen = None
        self._run_state.exclude(ids)

    @in_turn
    def extend(self, more: object, *, names: object = None) -> None:
        """Add candidates, in the form that the pool was made of: an array, a data frame, a pool.

        They are numbered behind the others, which keep their numbers; a pool with names needs a
        name for each. What a table's columns become stays as it was: numbers scaled to the range
        of the first candidates lie outside [0, 1] where they exceed it, and new levels are refused.
        Batches that are open stay so. `pool` is the larger pool from here on, and `noregret.load`
        must be given all of it; the pool that the run began with is not changed.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5]]), kernel=nr.RBF(0.3), noise_std=0.1)
        >>> opt.tell([0, 1], [0.1, 0.4])
        >>> opt.extend([[0.75], [1.0]])
        >>> len(opt.pool), opt.ask().ids
        (4, array([3]))
        """
        self._seen = None
        self._policy, self._state, self._run_state = extended(
            self._policy, self._state, self._run_state, more, names
        )

    @property
    def pool(self) -> Domain:
        """The pool or box."""
        return self._run_state.points.domain

    @property
    def policy(self) -> Policy[Any]:
        """What decides: a `Bandit`, or a baseline."""
        return self._policy

    @property
    def state(self) -> Any:
        """What the policy keeps in mind from one batch to the next."""
        return self._state

    @property
    def goal(self) -> Goal:
        """Whether large values are good ("max") or small ones ("min")."""
        return "max" if self._run_state.units.sign > 0 else "min"

    @in_turn
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole run to one file, all or nothing; `noregret.load` goes on from it.

        The pool's rows are not saved, only their fingerprint; nothing is pickled.
        """
        storage.write(Path(path), self._policy, self._state, self._run_state)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        pool: Domain,
        kernel: Kernel | None = None,
        switch_cost: object = None,
    ) -> Optimizer:
        """Go on from a saved run: the same choices, bit for bit, as if it had never stopped.

        `pool` must be the pool of the saved run. `kernel` is needed where the run used a kernel
        that is not one of this library's, or a function or matrix, `switch_cost` where that was a
        function or matrix. Also `noregret.load`.

        >>> from tempfile import TemporaryDirectory
        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]))
        >>> opt.tell([2], [0.3])
        >>> with TemporaryDirectory() as folder:
        ...     opt.save(f"{folder}/run")
        ...     nr.Optimizer.load(f"{folder}/run", pool=opt.pool).evaluations
        1
        """
        require_domain(pool)
        given = None if kernel is None else as_kernel(kernel)
        costs = as_switch_costs(switch_cost, Points.of(pool))
        policy, state, run_state = storage.read(Path(path), pool, given, costs)
        optimizer = cls(run_state.points, policy)
        optimizer._state, optimizer._run_state = state, run_state
        return optimizer

    def _propose(self, room: int, worker: str, context: Vector | None) -> tuple[Proposal, Any]:
        state = self._run_state.with_rows(self._policy, self._state, context)
        evidence = self._run_state.evidence(worker, context)
        with single_threaded_blas():
            if evidence.at_most_each is None:
                return self._policy.propose(state, evidence, room)
            return propose_within(self._policy, state, evidence, room)

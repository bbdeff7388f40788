"""ask, tell, best: the only thing that changes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any, Literal, TypeAlias, final

from noregret.errors import (
    ArgumentError,
    CertificateError,
    require_choice,
    require_count,
    require_number,
)
from noregret.kernels import Kernel, as_kernel
from noregret.optimizer import results, storage
from noregret.optimizer.batch import Batch
from noregret.optimizer.deterministic import at_most
from noregret.optimizer.explanation import Explanation, explained
from noregret.optimizer.extension import extended
from noregret.optimizer.feedback import Feedback
from noregret.optimizer.history import History
from noregret.optimizer.pending import room_for
from noregret.optimizer.run_state import RunState
from noregret.policies import (
    Evidence,
    ModelPolicy,
    ModelView,
    Policy,
    Proposal,
    propose_within,
    why_uncertified,
)
from noregret.policies.base import as_policy, noise_told
from noregret.pools import Domain, Points, as_switch_costs, require_domain
from noregret.text import counted
from noregret.threads import in_turn, single_threaded_blas

Goal: TypeAlias = Literal["max", "min"]


@final
class Optimizer(History):
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
        self._seen: tuple[ModelView | None, Evidence] | None = None  # until something changes

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name != "_lock"}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        vars(self).update(parts, _lock=RLock())  # a copy has a lock of its own

    def __repr__(self) -> str:
        told = f"{counted(self.evaluations, 'evaluation')} of {counted(self.unique, 'candidate')}"
        return f"Optimizer({type(self._policy).__name__}, {self.pool!r}, {told})"

    @in_turn
    def ask(self, *, at_most: int | None = None, worker: str = "") -> Batch:
        """Return what to evaluate next, at most `at_most` evaluations (100 000 if not given).

        A worker whose batch is still open is given the open part of it again, so that a crash
        loses nothing. Another worker gets new work, chosen as if all open evaluations had been
        made (variances shrink, the mean stays).
        """
        room = room_for("ask", at_most, worker)
        held = self._run_state.pending.held_by(worker)
        if held is None:
            asked, self._seen = perf_counter(), None
            proposal, state = self._propose(room, worker)
            held = self._run_state.hand_out(worker, proposal, asked=asked, now=perf_counter())
            self._state = state
        return self._run_state.open_part(held, room)

    @in_turn
    def peek(self, *, at_most: int | None = None, worker: str = "") -> Batch:
        """Return what `ask` would return, without opening a batch: nothing changes.

        It takes as long as an ask. Its values can be told once the batch has been asked for.
        """
        room = room_for("peek", at_most, worker)
        held = self._run_state.pending.held_by(worker)
        if held is None:
            return self._run_state.draft(self._propose(room, worker)[0], worker)
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
    ) -> None:
        """Take in the values of a batch (or a slice of one) in order, or of candidates by id.

        Candidates told by id need not have been asked for; where evaluations of one are open, its
        values close them, oldest first. Averages are told by `means` and `counts`, values noisier
        or less noisy than the algorithm was told by their `noise_std`, one number or one per value.
        On a box, or for points not in the pool, give features in place of ids, one point per row.

        `FAILED` in place of a value says that the evaluation failed; it may be asked for again.
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
        told = Feedback(values, means, counts, noise_std, noise_told(self._policy))
        self._seen = None
        self._run_state.tell(what, told, self._policy.vet)

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

    @property
    @in_turn
    def evidence(self) -> Evidence:
        """What the policy is shown: all that is known, in its sign and units."""
        return self._look()[1]

    @property
    @in_turn
    def posterior(self) -> results.PosteriorView:
        """What is believed of f now, in your sign and units."""
        view, units = self.look(), self._run_state.units
        with single_threaded_blas():
            floor, centred = units.outwards(view.floor), units.centred(view.centre)
            return results.PosteriorView(view.posterior, view.beta, floor, centred, self.pool)

    @in_turn
    def look(self) -> ModelView:
        """Return what the model believes now, in its own sign and units: for code, not people."""
        view, _ = self._look()
        if view is None:
            raise CertificateError(why_uncertified(self._policy) or f"{self._policy} has no model.")
        return view

    @in_turn
    def best(self) -> results.Best:
        """Return the evaluated candidate of highest posterior mean (of lowest, minimising)."""
        view, evidence = self._look()
        with single_threaded_blas():
            return results.recommended(view, evidence, self._run_state.units)

    @in_turn
    def certificate(self) -> results.Certificate:
        """Return how far `best()` can be from the true best, and under which assumptions."""
        with single_threaded_blas():
            return results.certified(self.look(), self.evidence, self._run_state.units)

    @in_turn
    def explain(self, id: object) -> Explanation:
        """Return what is believed of a candidate, and why it was chosen or why not.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> print(opt.explain(2))
        2: estimated at 0.792194 ± 0.1; choices look at 0.323 to 1.26 (± 4.7 standard deviations).
        Evaluated once, average 0.8. Nothing similar to it has been evaluated.
        This run has never asked for it.
        It ranks 2 of 3 as the next choice: its upper bound, 1.26, is below 4.14, that of 1.
        """
        run_state = self._run_state
        rows = run_state.points.find(id)
        if len(rows) != 1:
            raise ArgumentError(f"explain(id) takes one id, got {len(rows)}: {id!r:.80}.")
        view, evidence = self._look()
        with single_threaded_blas():
            return explained(view, evidence, int(rows[0]), run_state.records, run_state.units)

    @in_turn
    def account(self) -> str:
        """Say what is done and why, what was learned for that, and what it guarantees."""
        view, _ = self._look()
        with single_threaded_blas():
            lines = () if view is None else view.account(self._run_state.units.outwards)
        said = "\n".join(lines) or f"No model was learned: this run is by {self._policy!r}."
        return said + self._paid_so_far()

    @in_turn
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole run to one file, all or nothing; `noregret.load` goes on from it.

        The pool's rows are not saved, only their fingerprint; nothing is pickled.
        """
        storage.write(Path(path), self._policy, self._state, self._run_state)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, pool: Domain, kernel: Kernel | None = None
    ) -> Optimizer:
        """Go on from a saved run: the same choices, bit for bit, as if it had never stopped.

        `pool` must be the pool of the saved run. `kernel` is needed where the run used a kernel
        that is not one of this library's, or a function or matrix. Also `noregret.load`.

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
        policy, state, run_state = storage.read(Path(path), pool, given)
        optimizer = cls(run_state.points, policy)
        optimizer._state, optimizer._run_state = state, run_state
        return optimizer

    def _propose(self, room: int, worker: str) -> tuple[Proposal, Any]:
        evidence = self._run_state.evidence(worker)
        with single_threaded_blas():
            if evidence.at_most_each is None:
                return self._policy.propose(self._state, evidence, room)
            return propose_within(self._policy, self._state, evidence, room)

    def _look(self) -> tuple[ModelView | None, Evidence]:
        """Return what the policy believes, None without a model, and on what evidence.

        It is kept until something changes, so that several questions in a row compute it once.
        """
        if self._seen is None:
            evidence, policy = self._run_state.evidence(), self._policy
            view = policy.look(self._state, evidence) if isinstance(policy, ModelPolicy) else None
            self._seen = view, evidence
        return self._seen

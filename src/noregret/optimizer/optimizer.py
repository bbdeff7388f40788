"""ask, tell, best: the only thing that changes."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias, final

import numpy as np

from noregret.errors import (
    ArgumentError,
    CertificateError,
    require_choice,
    require_count,
    require_number,
)
from noregret.kernels import Kernel, as_kernel
from noregret.optimizer import storage
from noregret.optimizer.batch import Batch
from noregret.optimizer.explanation import Explanation, explained
from noregret.optimizer.pending import PendingBatch
from noregret.optimizer.results import (
    Best,
    Certificate,
    Evaluated,
    PosteriorView,
    Units,
    certified,
    measured,
    posterior_view,
    recommended,
)
from noregret.optimizer.run_state import RunState
from noregret.optimizer.trace import Trace
from noregret.policies import (
    Evidence,
    ModelPolicy,
    ModelView,
    Policy,
    State,
    why_uncertified,
)
from noregret.pools import Domain, Keys, Points, require_domain
from noregret.text import counted
from noregret.threads import Turn, in_turn, single_threaded_blas

MOST_EVALUATIONS = 100_000  # in one batch, where ask() is not given at_most
Goal: TypeAlias = Literal["max", "min"]


@final
class Optimizer:
    """Hand out batches, take in values, say what is best.

    Only `ask`, `tell`, `fail` and `exclude` change it; each either happens wholly or, on an error,
    not at all. Everything else only looks, and looking never changes a choice.

    Built by the functions in `noregret.algorithms`; compose your own from a pool and a policy.

    >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
    >>> opt.tell(opt.ask(), [0.3, nr.FAILED, 0.4])
    >>> opt.spent, opt.evaluations, opt.batches, len(opt.sequence)
    (3, 2, 1, 3)
    >>> opt.tell([0, 1, 2], [0.3, 0.7, 0.8])
    >>> opt.unique, opt.goal, opt.pool, opt.policy
    (3, 'max', Pool(3 candidates × 1 features), Uniform(size=3))
    >>> opt.evidence.evaluations, opt.state
    (5, Nothing())
    """

    def __init__(
        self,
        pool: Domain | Points,
        policy: Policy[State],
        *,
        seed: int = 0,
        goal: Goal = "max",
        offset: float = 0.0,
    ) -> None:
        require_domain(pool)
        require_count("seed", seed, least=0)
        sign = 1.0 if require_choice("goal", goal, ("max", "min")) == "max" else -1.0
        units = Units(sign, require_number("offset", offset))
        self._turn = Turn()  # what threads that share a run wait for
        self._policy: Policy[Any] = policy
        self._state: Any = policy.begin()
        self._run_state = RunState.opened(Points.of(pool), units, int(seed))
        self._seen: tuple[ModelView | None, Evidence] | None = None  # until something changes

    def __repr__(self) -> str:
        told = f"{counted(self.evaluations, 'evaluation')} of {counted(self.unique, 'candidate')}"
        return f"Optimizer({type(self._policy).__name__}, {self.pool!r}, {told})"

    @in_turn
    def ask(self, *, at_most: int | None = None, worker: str = "") -> Batch:
        """Return what to evaluate next, at most `at_most` evaluations (100 000 if not given).

        A worker whose batch is still open is given the open part of it again, so that a crash
        loses nothing. Another worker gets new work, chosen as if all open evaluations had happened
        (variances shrink, the mean stays).

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> len(opt.ask()), len(opt.ask(at_most=2)), opt.ask(worker="another robot").ticket
        (3, 2, 1)
        """
        room, held = self._request("ask", at_most, worker)
        if held is not None:
            return self._run_state.open_part(held, room)
        asked, self._seen = perf_counter(), None
        with single_threaded_blas():
            proposal, self._state = self._policy.propose(
                self._state, self._run_state.evidence(), room
            )
        pending = self._run_state.hand_out(worker, proposal, asked=asked, now=perf_counter())
        return self._run_state.open_part(pending, room)

    @in_turn
    def peek(self, *, at_most: int | None = None, worker: str = "") -> Batch:
        """Return what `ask` would, without asking for it: nothing is opened, and nothing changes.

        It takes as long as an ask. What it shows can be told once it was asked for.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> opt.peek().reason, opt.batches
        ('fixed size 3 reached', 0)
        """
        room, held = self._request("peek", at_most, worker)
        if held is not None:
            return self._run_state.open_part(held, room)
        with single_threaded_blas():
            proposal, _ = self._policy.propose(self._state, self._run_state.evidence(), room)
        return self._run_state.draft(proposal)

    @in_turn
    def tell(
        self, what: object, values: object = None, *, means: object = None, counts: object = None
    ) -> None:
        """Take in values: of a batch (or slice of one) in order, or of ids, asked for or not.

        `FAILED` in place of a value says that the evaluation failed; it may be asked for again.
        Telling a batch again with the same values changes nothing; with other values it is an
        error. Values by id close open evaluations of that candidate, oldest first. Averages are
        told by `means` and `counts`. In place of ids stand features, one point a row, on a box
        or for points that are not in the pool.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> opt.tell(opt.ask(), [0.3, nr.FAILED, 0.4])  # what was asked for, in order
        >>> opt.tell([0, 2], [0.1, 0.9])  # whatever else is known
        >>> opt.tell([1], means=[0.5], counts=[20])
        >>> opt.tell([[0.7]], [0.8])  # a point that is not in the pool
        >>> opt.evaluations
        25
        """
        self._seen = None
        self._run_state.tell(what, values, means, counts, self._policy.vet)

    @in_turn
    def fail(self, batch: Batch) -> None:
        """Say that a batch (or slice of one) failed: it is no longer open and has no values.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> batch = opt.ask()
        >>> opt.fail(batch[:1])
        >>> opt.tell(batch[1:], [0.1, 0.2])
        >>> opt.spent, opt.evaluations
        (3, 2)
        """
        self._seen = None
        self._run_state.fail(batch)

    @in_turn
    def exclude(self, ids: object) -> None:
        """Never ask for these candidates again, nor name one of them as best.

        Evaluations of them under way are taken back; a value that still comes is accepted.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> opt.exclude([0, 1])
        >>> opt.ask().sequence
        array([2, 2, 2])
        """
        self._seen = None
        self._run_state.exclude(ids)

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
    def spent(self) -> int:
        """Evaluations used up: values told and evaluations that failed."""
        return self.evaluations + self._run_state.pending.failures

    @property
    def evaluations(self) -> int:
        """Values told."""
        return self._run_state.ledger.evaluations

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
        """How often an evaluation asked for was of another candidate than the one before.

        >>> opt = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=4, seed=1)
        >>> opt.ask().sequence, opt.switches
        (array([0, 1, 0, 0]), 2)
        """
        return self._run_state.records.switches

    @property
    @in_turn
    def sequence(self) -> Keys:
        """The id of every evaluation asked for, in order."""
        runs = self._run_state.records.runs
        return self._run_state.points.keys(np.repeat(runs["row"], runs["repeats"]))

    @property
    @in_turn
    def evaluated(self) -> Evaluated:
        """Every point that has a value: how often it was evaluated, and its average.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> opt.tell([0, 0, 2], [0.3, 0.2, 0.4])
        >>> opt.evaluated.ids, opt.evaluated.averages
        ([0, 2], array([0.25, 0.4 ]))
        """
        run_state = self._run_state
        return measured(run_state.ledger, run_state.points, run_state.units)

    @property
    @in_turn
    def evidence(self) -> Evidence:
        """What the policy is shown: all that is known, in its sign and units.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]))
        >>> opt.tell([0, 2, 2], [0.3, 0.8, 0.4])
        >>> opt.evidence.told.w, opt.evidence.told.y
        (array([1., 2.]), array([0.3, 0.6]))
        """
        return self._look()[1]

    @property
    @in_turn
    def posterior(self) -> PosteriorView:
        """What is believed of f now, in your sign and units.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> opt.posterior.mean([[0.0], [0.5]]).round(2)
        array([0.3 , 0.48])
        """
        with single_threaded_blas():
            return posterior_view(self._model_view(), self.pool, self._run_state.units)

    @in_turn
    def look(self) -> ModelView:
        """Return what the model believes now, in its own sign and units: for code, not for people.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> opt.look().means().round(2)
        array([0.3 , 0.79])
        """
        return self._model_view()

    @in_turn
    def best(self) -> Best:
        """Return the evaluated candidate of highest posterior mean (of lowest, minimising).

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> opt.best().id
        2
        """
        view, evidence = self._look()
        with single_threaded_blas():
            return recommended(view, evidence, self._run_state.units)

    @in_turn
    def certificate(self) -> Certificate:
        """Return how far `best()` can be from the true best, and what that rests on.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 1, 2], means=[0.3, 0.4, 0.8], counts=[50, 50, 50])
        >>> opt.certificate().gap < 0.2
        True
        """
        why = why_uncertified(self._policy)
        if why is not None:
            raise CertificateError(why)
        with single_threaded_blas():
            return certified(self._model_view(), self._look()[1], self._run_state.units)

    @property
    @in_turn
    def trace(self) -> Trace:
        """What happened so far, batch by batch, as a table: sizes, widths, switches, times.

        O(1) to look at; some 100 bytes a batch to keep.

        >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=3)
        >>> for _ in range(3):
        ...     opt.tell(opt.ask(), [0.3, 0.2, 0.4])
        >>> opt.trace["told"]
        array([0, 3, 6])
        """
        return self._run_state.records.shown()

    @in_turn
    def explain(self, id: object) -> Explanation:
        """Return what is believed of a candidate, and why it was chosen or why not.

        >>> opt = nr.gp_ucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.4), noise_std=0.1)
        >>> opt.tell([0, 2], [0.3, 0.8])
        >>> print(opt.explain(2))
        2: 0.792194 ± 0.1 (between 0.323 and 1.26, 4.7 standard deviations either way).
        Evaluated once, average 0.8. Nothing else evaluated tells much about it.
        Never asked for.
        As a next choice, 2 of 3. Its upper bound 1.26 is below 4.14, that of 1, which comes first.
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
        """Say what is done and why, what was learned for that, and what it guarantees.

        >>> opt = nr.auto(nr.Pool([[0.0], [0.5], [1.0]]))
        >>> print(opt.account())
        Nothing told yet: the first candidates are drawn by chance.
        """
        view, _ = self._look()
        if view is None:
            return f"{self._policy!r}"
        with single_threaded_blas():
            lines = view.account(self._run_state.units.outwards)
        return "\n".join(lines) or f"{self._policy!r}"

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
        >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
        >>> opt = nr.uniform(pool)
        >>> opt.tell(opt.ask(), [0.3])
        >>> with TemporaryDirectory() as folder:
        ...     opt.save(f"{folder}/run")
        ...     again = nr.load(f"{folder}/run", pool=pool)
        >>> again.evaluations
        1
        """
        require_domain(pool)
        own = None if kernel is None else as_kernel(kernel)
        policy, state, run_state = storage.read(Path(path), pool, own)
        optimizer = cls(run_state.points, policy)
        optimizer._state, optimizer._run_state = state, run_state
        return optimizer

    def _request(
        self, name: str, at_most: object, worker: object
    ) -> tuple[int, PendingBatch | None]:
        """Check a request; return its room and the batch that the worker holds."""
        room = MOST_EVALUATIONS
        if at_most is not None:
            room = require_count(f"{name}(at_most=...)", at_most)
        if not isinstance(worker, str):
            raise ArgumentError(f"{name}(worker=...) must be a string, got {worker!r}.")
        return room, self._run_state.pending.held_by(worker)

    def _look(self) -> tuple[ModelView | None, Evidence]:
        """Return what the policy believes, None without a model, and of what.

        It is kept until something changes, so that whatever is asked in a row is computed once.
        """
        if self._seen is None:
            evidence, policy = self._run_state.evidence(), self._policy
            view = policy.look(self._state, evidence) if isinstance(policy, ModelPolicy) else None
            self._seen = view, evidence
        return self._seen

    def _model_view(self) -> ModelView:
        view, _ = self._look()
        if view is None:
            why = why_uncertified(self._policy) or f"{self._policy!r} has no model."
            raise CertificateError(why)
        return view

"""ask, tell, best: the only thing that changes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, final

import numpy as np

from noregret import snapshot
from noregret.answers import Best, Certificate, PosteriorView, Units
from noregret.arrays import Indices, Mask, Rows, Vector
from noregret.batches import Batch
from noregret.errors import (
    ArgumentError,
    NothingToldError,
    TellError,
    require_choice,
    require_count,
    require_number,
)
from noregret.kernels import Kernel, as_kernel
from noregret.ledger import Ledger
from noregret.policy import Evidence, Policy, State
from noregret.pools import Domain, Places, require_domain
from noregret.pools.tables import is_frame
from noregret.posteriors import Points
from noregret.snapshot import Parts
from noregret.threads import steady
from noregret.tickets import OPEN, Ticket, Tickets, counted, digest_of
from noregret.values import averaged, parsed

MOST_EVALUATIONS = 100_000  # in one batch, where ask() is not given at_most
MOST_VALUE = 1e130  # distance of a value from the offset; squares must stay finite
Goal: TypeAlias = Literal["max", "min"]


@final
class Optimizer:
    """Hand out batches, take in values, say what is best.

    Only `ask`, `tell`, `fail` and `exclude` change it; each either happens wholly or, on an error,
    not at all. Everything else only looks, and looking never changes a choice.

    Built by the functions in `noregret.algorithms`; compose your own from a pool and a policy.
    """

    def __init__(
        self,
        pool: Domain | Places,
        policy: Policy[State],
        *,
        seed: int = 0,
        goal: Goal = "max",
        offset: float = 0.0,
    ) -> None:
        require_domain(pool)
        self._pool = Places.of(pool)
        self._policy: Policy[Any] = policy
        self._seed = require_count("seed", seed, least=0)
        sign = 1.0 if require_choice("goal", goal, ("max", "min")) == "max" else -1.0
        self._units = Units(sign, require_number("offset", offset))
        self._state: Any = policy.begin()
        self._ledger = Ledger(self._pool.candidates)
        self._tickets = Tickets()
        self._excluded: Mask = np.zeros(self._pool.candidates, dtype=np.bool_)

    def __repr__(self) -> str:
        return (
            f"Optimizer({type(self._policy).__name__}, {self._pool.domain!r}, "
            f"{self.evaluations} evaluations of {self.unique} candidates)"
        )

    def ask(self, *, at_most: int | None = None, worker: str = "") -> Batch:
        """Return what to evaluate next, at most `at_most` evaluations (100 000 if not given).

        A worker whose batch is still open is given the open part of it again, so that a crash
        loses nothing. Another worker gets new work, chosen as if all open evaluations had happened
        (variances shrink, the mean stays).
        """
        room = MOST_EVALUATIONS if at_most is None else require_count("ask(at_most=...)", at_most)
        if not isinstance(worker, str):
            raise ArgumentError(f"ask(worker=...) must be a string, got {worker!r}.")
        ticket = self._tickets.held_by(worker)
        if ticket is None:
            with steady():
                proposal, self._state = self._policy.propose(self._state, self._evidence(), room)
            rows, new = proposal.rows.copy(), proposal.rows >= len(self._pool)
            rows[new] = self._pool.meet(proposal.X[new]) if new.any() else rows[new]
            ticket = self._tickets.open(
                worker, rows, proposal.repeats, proposal.variances, proposal.reason
            )
        start, stop = ticket.first_open_stretch()
        batch = self._batch(ticket)
        if start or stop < len(ticket.fate) or room < stop:
            batch = batch[start : min(stop, start + room)]
        return batch if start + room >= stop else replace(batch, reason=f"at_most {room} reached")

    def tell(
        self, what: object, values: object = None, *, means: object = None, counts: object = None
    ) -> None:
        """Take in values: of a batch (or slice of one) in order, or of ids, asked for or not.

        `FAILED` in place of a value says that the evaluation failed; it may be asked for again.
        Telling a batch again with the same values changes nothing; with other values it is an
        error. Values by id close open evaluations of that candidate, oldest first. Averages are
        told by `means` and `counts`. In place of ids stand features, one point a row, on a box
        or for points that are not in the pool.
        """
        if isinstance(what, Batch):
            if means is not None or counts is not None or values is None:
                raise TellError(
                    "a batch is told by values, one an evaluation in order; "
                    "means and counts go with ids: tell(ids, means=..., counts=...)."
                )
            self._tell_batch(what, values)
        elif values is not None and means is None and counts is None:
            self._tell_values(what, values)
        elif values is None and means is not None and counts is not None:
            self._tell_means(what, means, counts)
        else:
            raise TellError(
                "tell(batch, values), tell(ids, values) or tell(ids, means=..., counts=...): "
                "one of these, whole, is needed."
            )

    def fail(self, batch: Batch) -> None:
        """Say that a batch (or slice of one) failed: it is no longer open and has no values."""
        if not isinstance(batch, Batch):
            raise TellError(
                f"fail() takes a batch or a slice of one, got {batch!r:.80}. "
                "By id: tell(ids, [noregret.FAILED, ...])."
            )
        ticket, positions = self._positions(batch)
        still_open = positions[ticket.fate[positions] == OPEN]
        failed = np.ones(len(still_open), dtype=np.bool_)
        self._tickets.settle(ticket, still_open, np.zeros(len(still_open)), failed)

    def exclude(self, ids: object) -> None:
        """Never ask for these candidates again, nor name one of them as best.

        Evaluations of them under way are taken back; a value that still comes is accepted.
        """
        if not self._pool.candidates:
            raise ArgumentError("a box has no candidates to exclude; bounds exclude parts of it.")
        rows = self._pool.find(ids)
        self._excluded[rows] = True
        self._tickets.withdraw(rows)

    @property
    def pool(self) -> Domain:
        """The pool or box."""
        return self._pool.domain

    @property
    def spent(self) -> int:
        """Evaluations used up: values told and evaluations that failed."""
        return self.evaluations + self._tickets.failures

    @property
    def evaluations(self) -> int:
        """Values told."""
        return self._ledger.evaluations

    @property
    def unique(self) -> int:
        """Different candidates evaluated."""
        return len(self._ledger)

    @property
    def batches(self) -> int:
        """Batches opened."""
        return self._tickets.opened

    @property
    def posterior(self) -> PosteriorView:
        """What is believed of f now, in your sign and units."""
        with steady():
            posterior = self._policy.posterior(self._state, self._evidence())
        return PosteriorView(posterior, self._units, self._pool)

    def best(self) -> Best:
        """Return the evaluated candidate of highest posterior mean (of lowest, minimising)."""
        evidence = self._evidence()
        with steady():
            estimates = self._policy.estimates(self._state, evidence)
        at = self._best_place(evidence, estimates.mean)
        row = evidence.told.rows[at : at + 1]
        bounds = self._units.outwards(np.array([estimates.lower[at], estimates.upper[at]]))
        return Best(
            id=self._pool.keys(row)[0].item(),
            x=self._pool.shown(self._pool.rows(row))[0],
            mean=float(self._units.outwards(estimates.mean[at])),
            std=float(estimates.std[at]),
            lower=float(bounds.min()),
            upper=float(bounds.max()),
            evaluations=int(evidence.told.w[at]),
        )

    def certificate(self) -> Certificate:
        """Return how far `best()` can be from the true best, and what that rests on."""
        evidence = self._evidence()
        with steady():
            estimates = self._policy.estimates(self._state, evidence)
            at = self._best_place(evidence, estimates.mean)
            gap = self._policy.certify(self._state, evidence, int(evidence.told.rows[at]))
        return Certificate(
            gap=gap.gap,
            id=self._pool.keys(np.array([gap.row]))[0].item(),
            guaranteed=float(self._units.outwards(gap.lowest)),
            reachable=float(self._units.outwards(gap.highest)),
            beta=gap.beta,
            delta=gap.delta,
            theorem=gap.theorem,
            assumptions=gap.assumptions,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole run to one file, all or nothing; `noregret.load` goes on from it.

        The pool's rows are not kept, only their fingerprint; nothing is pickled.
        """
        parts = Parts(
            policy=self._policy,
            state=self._state,
            units=self._units,
            seed=self._seed,
            ledger=self._ledger,
            tickets=self._tickets,
            excluded=self._excluded,
        )
        snapshot.write(Path(path), parts, self._pool)

    def _tell_batch(self, batch: Batch, values: object) -> None:
        numbers, failed = parsed(values, len(batch), f"batch {batch.ticket}")
        asked = np.repeat(self._pool.find(batch.ids), batch.repeats)
        receipt = (batch.start, batch.start + len(batch), digest_of(asked, numbers, failed))
        if self._tickets.is_repetition(batch.ticket, *receipt):
            return
        ticket, positions = self._positions(batch)
        inside = self._inwards(numbers)
        new = self._tickets.untold(ticket, positions, numbers)
        rows, lost = ticket.rows[ticket.runs_of(positions[new])], failed[new]
        self._ledger.add(rows[~lost], inside[new][~lost])
        self._tickets.settle(ticket, positions[new], numbers[new], lost)
        ticket.receipts.append(receipt)

    def _tell_values(self, what: object, values: object) -> None:
        given = self._given(what)
        numbers, failed = parsed(values, len(given), "tell(ids, values)")
        inside, rows = self._inwards(numbers), self._met(given)
        good = ~failed if failed.any() else slice(None)  # a slice copies nothing
        self._ledger.add(rows[good], inside[good])
        for row, count in counted(rows[good]):
            self._tickets.settle_by_row(row, count, failed=False)
        for row, count in counted(rows[failed]):
            self._tickets.settle_by_row(row, count, failed=True)

    def _tell_means(self, what: object, means: object, counts: object) -> None:
        given = self._given(what)
        averages, whole = averaged(means, counts, len(given))
        inside, rows = self._inwards(averages), self._met(given)
        self._ledger.add_means(rows, inside, whole)
        unique, place = np.unique(rows, return_inverse=True)
        totals = np.zeros(len(unique), dtype=np.int64)
        np.add.at(totals, place, whole)
        for row, count in zip(unique, totals, strict=True):
            self._tickets.settle_by_row(int(row), int(count), failed=False)

    def _given(self, what: object) -> Indices | Rows:
        """Return the rows of ids, or checked features where one point a row is given."""
        try:
            dimensions = 2 if is_frame(what) else np.ndim(what)  # type: ignore[arg-type]  # anything
        except ValueError:  # a ragged list: `find` says what is wrong with it
            dimensions = 1
        if dimensions != 2:
            return self._pool.find(what)
        return self._pool.read("tell(X, ...)", what)

    def _met(self, given: Indices | Rows) -> Indices:
        """Return rows; points given by features are recognised, or numbered behind the others."""
        return self._pool.meet(cast(Rows, given)) if given.ndim == 2 else cast(Indices, given)

    def _inwards(self, numbers: Vector) -> Vector:
        inside = self._units.inwards(numbers)
        if inside.size and max(inside.max(), -inside.min()) > MOST_VALUE:
            raise TellError(
                f"values must lie within {MOST_VALUE:g} of the offset, got "
                f"{numbers[np.argmax(np.abs(inside))]:g}. Rescale them, or pass noregret.FAILED."
            )
        return inside

    def _positions(self, batch: Batch) -> tuple[Ticket, Indices]:
        ticket, positions = self._tickets.stretch(
            batch.ticket, batch.start, batch.start + len(batch)
        )
        own = self._pool.keys(ticket.rows[ticket.runs_of(positions)])
        if not np.array_equal(own, np.repeat(batch.ids, batch.repeats)):
            raise TellError(
                f"batch {batch.ticket} holds other candidates than this optimizer asked for: it "
                "comes from another optimizer. Tell by ids instead."
            )
        return ticket, positions

    def _batch(self, ticket: Ticket) -> Batch:
        return Batch(
            ticket=ticket.number,
            ids=self._pool.keys(ticket.rows),
            repeats=ticket.repeats,
            x=self._pool.shown(self._pool.rows(ticket.rows)),
            reason=ticket.reason,
        )

    def _best_place(self, evidence: Evidence, mean: Vector) -> int:
        allowed = evidence.eligible
        if not allowed.any():
            raise NothingToldError(
                "there is no best candidate: no value was told of a candidate that is not excluded."
            )
        highest = np.where(allowed, mean, -np.inf)
        ties = np.flatnonzero(highest == highest.max())
        return int(ties[np.argmin(evidence.told.rows[ties])])

    def _evidence(self) -> Evidence:
        ledger, tickets = self._ledger, self._tickets
        rows, counts = tickets.pending()
        asked = sorted(tickets.asked)
        unasked = sorted(tickets.unasked)
        return Evidence(
            places=self._pool,
            told=self._points(ledger.rows, ledger.counts, ledger.averages),
            open_=self._points(rows, counts, np.zeros(len(rows))),
            excluded=self._excluded,
            asked_variances=np.array(
                [tickets.by_number[number].variances[run] for number, run in asked]
            ),
            asked_counts=np.array([tickets.asked[key] for key in asked], dtype=np.int64),
            unasked_rows=np.array(unasked, dtype=np.int64),
            unasked_counts=np.array([tickets.unasked[row] for row in unasked], dtype=np.int64),
            seed=self._seed,
            step=tickets.opened,
        )

    def _points(self, rows: Indices, counts: Indices, averages: Vector) -> Points:
        return Points(rows, self._pool.rows(rows), counts.astype(np.float64), averages)

    @classmethod
    def _restored(cls, pool: Places, parts: Parts) -> Optimizer:
        optimizer = cls(pool, parts.policy, seed=parts.seed)
        optimizer._units, optimizer._state = parts.units, parts.state
        optimizer._ledger, optimizer._tickets = parts.ledger, parts.tickets
        optimizer._excluded = parts.excluded
        return optimizer


def load(path: str | os.PathLike[str], *, pool: Domain, kernel: Kernel | None = None) -> Optimizer:
    """Go on from a saved run: the same choices, bit for bit, as the run that was not broken off.

    `pool` must be the pool of the saved run. `kernel` is needed where the run used a kernel that
    is not one of this library's, or a function or matrix.
    """
    require_domain(pool)
    own = None if kernel is None else as_kernel(kernel)
    return Optimizer._restored(*snapshot.read(Path(path), pool, own))

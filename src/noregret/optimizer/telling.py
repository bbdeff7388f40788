"""What was told, checked and entered: wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from noregret.arrays import Indices, Rows, Vector
from noregret.errors import TellError
from noregret.optimizer.batch import Batch
from noregret.optimizer.deterministic import require_same_values
from noregret.optimizer.feedback import Feedback, reports
from noregret.optimizer.ledger import MOST_VALUE, Ledger
from noregret.optimizer.pending import OPEN, PendingBatch, PendingBatches, digest_of
from noregret.optimizer.results import Units
from noregret.pools import Points, is_frame, joined


class Telling:
    """How values come into a `RunState`: the base of it."""

    __slots__ = ()
    points: Points
    units: Units
    ledger: Ledger
    pending: PendingBatches
    deterministic: bool

    def tell(
        self,
        what: object,
        told: Feedback,
        vet: Callable[[Rows], None],
        context: Vector | None = None,
    ) -> None:
        """Enter what was told of a batch, of ids or of points that `vet` lets pass."""
        told.require_one_kind(of_batch=isinstance(what, Batch))
        if isinstance(what, Batch):
            self._tell_batch(what, told)
        elif told.is_of_means:
            self._tell_means(self._given(what, vet, context), told, context)
        else:
            self._tell_values(self._given(what, vet, context), told, context)

    def _tell_batch(self, batch: Batch, told: Feedback) -> None:
        """Enter one value per evaluation of a batch, in order."""
        numbers, failed = told.parsed(len(batch), f"batch {batch.ticket}")
        weights = told.weights(failed, deterministic=self.deterministic)
        pairs = self.points.numbers_under(batch.context, self.points.find(batch.ids))
        asked = np.repeat(pairs, batch.repeats)
        start, stop = batch.start, batch.start + len(batch)
        digest = digest_of(asked, numbers, failed, weights)
        if self.pending.is_repetition(batch.ticket, start, stop, digest):
            return
        pending, positions = self._positions(batch)
        inside = self._inwards(numbers)
        new = self.pending.untold(pending, positions, numbers, weights)
        if pending.order is not None:
            new = new[np.argsort(positions[new])]  # as they stand in the batch, not as run
        rows, lost = pending.rows_of(positions[new]), failed[new]
        w = None if weights is None else weights[new]
        self._require_same(rows[~lost], inside[new][~lost])
        good = np.flatnonzero(~lost)[self._says_more(rows[~lost])]
        self.ledger.add(rows[good], inside[new][good], None if w is None else w[good])
        self.pending.settle(pending, positions[new], numbers[new], lost, w)
        pending.receipts.append((start, stop, digest))

    def _tell_values(self, given: Indices | Rows, told: Feedback, context: Vector | None) -> None:
        """Enter one value per id, or per point."""
        numbers, failed = told.parsed(len(given), "tell(ids, values)")
        weights = told.weights(failed, deterministic=self.deterministic)
        inside = self._inwards(numbers)
        good = ~failed if failed.any() else slice(None)  # a slice copies nothing
        self._require_same(given[good], inside[good])
        rows, w = self._met(given, context), None if weights is None else weights[good]
        more = self._says_more(rows[good])
        self.ledger.add(rows[good][more], inside[good][more], w)
        for report in reports(rows[good][more], None, w):
            self.pending.settle_by_row(report, failed=False)
        for report in reports(rows[failed]):
            self.pending.settle_by_row(report, failed=True)

    def _tell_means(self, given: Indices | Rows, told: Feedback, context: Vector | None) -> None:
        """Enter averages of several values each."""
        averages, whole = told.averaged(len(given))
        weights = told.weights(np.zeros(len(given), np.bool_), deterministic=self.deterministic)
        inside = self._inwards(averages)
        self._require_same(given, inside)
        rows = self._met(given, context)
        if self.deterministic:
            more = self._says_more(rows)
            rows, inside, whole = rows[more], inside[more], np.ones_like(whole[more])
        self.ledger.add_means(rows, inside, whole, weights)
        for report in reports(rows, whole, weights):
            self.pending.settle_by_row(report, failed=False)

    def _require_same(self, given: Indices | Rows, values: Vector) -> None:
        """Raise where values contradict each other, though they are said to be deterministic."""
        if self.deterministic:
            rows = self.points.lookup(cast(Rows, given)) if given.ndim == 2 else given
            outwards = self.units.outwards
            require_same_values(self.ledger, self.points, cast(Indices, rows), values, outwards)

    def _says_more(self, rows: Indices) -> Indices | slice:
        """Return which values say more than is known: where they must agree, each row's first."""
        if not self.deterministic:
            return slice(None)  # which copies nothing
        first = np.sort(np.unique(rows, return_index=True)[1])
        new: Indices = first[np.isnan(self.ledger.first_values(rows[first]))]
        return new

    def fail(self, batch: object) -> None:
        """Enter that what is open of a batch has failed."""
        if not isinstance(batch, Batch):
            raise TellError(
                f"fail() takes a batch or a slice of one, got {batch!r:.80}. "
                "By id: tell(ids, [noregret.FAILED, ...])."
            )
        pending, positions = self._positions(batch)
        still_open = positions[pending.fate[positions] == OPEN]
        failed = np.ones(len(still_open), dtype=np.bool_)
        self.pending.settle(pending, still_open, np.zeros(len(still_open)), failed)

    def _given(
        self, what: object, vet: Callable[[Rows], None], context: Vector | None
    ) -> Indices | Rows:
        """Return the rows of ids, or checked features where one point a row is given."""
        try:
            dimensions = 2 if is_frame(what) else np.ndim(what)  # type: ignore[arg-type]  # anything
        except ValueError:  # a ragged list: `find` says what is wrong with it
            dimensions = 1
        if dimensions != 2:
            return self.points.find(what)
        X = self.points.domain.read("tell(X, ...)", what)
        vet(X if context is None else joined(X, context[None]))
        return X

    def _met(self, given: Indices | Rows, context: Vector | None) -> Indices:
        """Return rows; points given by features are recognised, or numbered behind the others."""
        points, off = self.points, given.ndim == 2
        rows = points.register(cast(Rows, given)) if off else cast(Indices, given)
        return points.register_pairs(context, rows)

    def _inwards(self, numbers: Vector) -> Vector:
        inside = self.units.inwards(numbers)
        if inside.size and max(inside.max(), -inside.min()) > MOST_VALUE:
            raise TellError(
                f"values must lie within {MOST_VALUE:g} of the offset, got "
                f"{numbers[np.argmax(np.abs(inside))]:g}. Rescale them, or pass noregret.FAILED."
            )
        return inside

    def _positions(self, batch: Batch) -> tuple[PendingBatch, Indices]:
        pending, positions = self.pending.stretch(
            batch.ticket, batch.start, batch.start + len(batch)
        )
        held = self.points.keys(self.points.candidates_of(pending.rows_of(positions)))
        context = self.points.context_of(pending.runs["row"][0])
        if not (
            np.array_equal(held, np.repeat(batch.ids, batch.repeats))
            and np.array_equal(context, batch.context)  # type: ignore[arg-type]  # None, or both
        ):
            raise TellError(
                f"batch {batch.ticket} holds other candidates than this optimizer asked for: it "
                "comes from another optimizer. Tell by ids instead."
            )
        return pending, positions

"""What tell() was given, checked before anything is written down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Vector, as_floats
from noregret.errors import ArgumentError, TellError
from noregret.optimizer.batch import FAILED

MOST_COUNT = 10**12  # evaluations behind one average


@final
@dataclass(frozen=True, slots=True)
class Feedback:
    """The numbers told of some evaluations, as the user gave them."""

    values: object
    means: object = None
    counts: object = None

    @property
    def is_of_means(self) -> bool:
        """Whether averages are told, with the number of values behind each."""
        return self.values is None and self.means is not None and self.counts is not None

    def require_one_kind(self, *, of_batch: bool) -> None:
        """Raise unless these are the values of a batch, or of ids values or averages."""
        by_values = self.values is not None and self.means is None and self.counts is None
        if by_values or (self.is_of_means and not of_batch):
            return
        told = {"values": self.values, "means": self.means, "counts": self.counts}
        given = " and ".join(name for name, numbers in told.items() if numbers is not None)
        raise TellError(
            f"tell() got {'a batch' if of_batch else 'ids'} with {given or 'nothing'}. It takes a "
            "batch and its values, ids and values, or ids with means=... and counts=...: all of "
            "one of these, and nothing else."
        )

    def parsed(self, count: int, what: str) -> tuple[Vector, Mask]:
        """Return values as floats and where they failed; a single number stands for one value."""
        values = self.values
        if not isinstance(values, np.ndarray):
            listed = list(values) if isinstance(values, Iterable) else [values]
            failed = np.array([value is FAILED for value in listed], dtype=np.bool_)
            values = [0.0 if value is FAILED else value for value in listed]
        else:
            failed = np.zeros(len(np.atleast_1d(values)), dtype=np.bool_)
        try:
            numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            raise TellError(
                f"{what}: values must be numbers or noregret.FAILED, got {values!r:.80}."
            ) from None
        if numbers.shape != (count,):
            shape = "" if numbers.ndim == 1 else f" in shape {numbers.shape}"
            raise TellError(
                f"{what} holds {count} evaluations, got {numbers.size} values{shape}.\n"
                "tell() takes one value per evaluation, in the order of iterating the batch.\n"
                "If an evaluation failed, pass noregret.FAILED in its place; "
                "the point keeps its earlier count."
            )
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise TellError(
                f"{what}: value {bad[0]} is {numbers[bad[0]]}; values must be finite.\n"
                "If an evaluation failed, pass noregret.FAILED in its place."
            )
        return numbers, failed

    def averaged(self, ids: int) -> tuple[Vector, Indices]:
        """Return averages and how many values stand behind each."""
        try:
            averages = np.atleast_1d(as_floats("tell(means=...)", self.means))
            amounts = np.atleast_1d(as_floats("tell(counts=...)", self.counts))
        except ArgumentError as error:
            raise TellError(str(error)) from None
        if averages.shape != (ids,) or amounts.shape != (ids,):
            raise TellError(
                f"tell() got {ids} ids, {averages.size} means and {amounts.size} counts; "
                "it takes one mean and one count per id."
            )
        if ((amounts < 1) | (amounts > MOST_COUNT) | (amounts != np.floor(amounts))).any():
            raise TellError(
                f"tell(counts=...) must be whole numbers from 1 to {MOST_COUNT:g}, got "
                f"{self.counts!r:.80}."
            )
        return averages, amounts.astype(np.int64)

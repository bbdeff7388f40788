"""A batch: what to evaluate next.

What a user told, checked before anything is written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Vector, as_floats
from noregret.errors import ArgumentError, TellError
from noregret.pools import Keys
from noregret.text import counted


@final
class Failed:
    """The type of FAILED."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "noregret.FAILED"


FAILED: Final = Failed()
"""Stands in place of the value of an evaluation that failed."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A sequence of evaluations, stored as runs of one candidate each.

    `np.repeat(batch.ids, batch.repeats)` is its order; iterating yields the features of one
    evaluation at a time; `len` counts evaluations. A slice is a batch too, of the same ticket:
    `tell(batch[:3], values[:3])` leaves the rest open.

    >>> pool = nr.Pool([[0.0], [0.5]], names=["a", "b"])
    >>> opt = nr.mini_gp_ucb(pool, kernel=nr.RBF(), noise_std=1.0, limit=4.0, start=[])
    >>> batch = opt.ask()
    >>> batch.ids.tolist(), batch.repeats.tolist(), len(batch), batch.sequence.tolist()
    (['a'], [3], 3, ['a', 'a', 'a'])
    >>> [x.tolist() for x in batch[:2]]
    [[0.0], [0.0]]
    """

    ticket: int
    ids: Keys  # (runs,) names, or row numbers
    repeats: Indices  # (runs,)
    x: Matrix  # (runs, d)
    reason: str
    start: int = 0  # position of the first evaluation in the whole batch

    @property
    def sequence(self) -> Keys:
        """The id of every evaluation, in order."""
        return self.ids[np.repeat(np.arange(len(self.ids)), self.repeats)]

    def __len__(self) -> int:
        return int(self.repeats.sum())

    def __iter__(self) -> Iterator[Vector]:
        for features, count in zip(self.x, self.repeats, strict=True):
            for _ in range(count):
                yield features

    def __getitem__(self, part: slice) -> Batch:
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise ArgumentError(
                f"a batch is cut by slices without a step, such as batch[:10], got {part!r}. "
                "For single evaluations iterate it, or use np.repeat(batch.ids, batch.repeats)."
            )
        first, last, _ = part.indices(len(self))
        ends = np.cumsum(self.repeats)
        left = np.clip(np.minimum(ends, last) - np.maximum(ends - self.repeats, first), 0, None)
        runs = np.flatnonzero(left)
        return replace(
            self,
            ids=self.ids[runs],
            repeats=left[runs],
            x=self.x[runs],
            start=self.start + min(first, last),
        )

    def __repr__(self) -> str:
        candidates = len(np.unique(self.ids))
        return (
            f"Batch(ticket={self.ticket}, {counted(len(self), 'evaluation')} of "
            f"{counted(candidates, 'candidate')}, reason={self.reason!r})"
        )


MOST_VALUE = 1e130  # distance of a value from the offset; squares must stay finite
MOST_COUNT = 10**12  # evaluations behind one average


def parsed(values: object, count: int, what: str) -> tuple[Vector, Mask]:
    """Return values as floats and where they failed; a single number stands for one value."""
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


def averaged(means: object, counts: object, ids: int) -> tuple[Vector, Indices]:
    """Return averages and how many values stand behind each."""
    try:
        averages = np.atleast_1d(as_floats("tell(means=...)", means))
        amounts = np.atleast_1d(as_floats("tell(counts=...)", counts))
    except ArgumentError as error:
        raise TellError(str(error)) from None
    if averages.shape != (ids,) or amounts.shape != (ids,):
        raise TellError(
            f"tell() got {ids} ids, {averages.size} means and {amounts.size} counts; "
            "it takes one mean and one count an id."
        )
    if ((amounts < 1) | (amounts > MOST_COUNT) | (amounts != np.floor(amounts))).any():
        raise TellError(
            f"tell(counts=...) must be whole numbers from 1 to {MOST_COUNT:g}, got {counts!r:.80}."
        )
    return averages, amounts.astype(np.int64)

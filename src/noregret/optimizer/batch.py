"""Batches, as a user is handed them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import ArgumentError
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
    context: Vector | None = None  # under which all are to be evaluated, where there are some

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

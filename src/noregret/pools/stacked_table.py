"""Tables one below the other, read as one."""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices

Part: TypeAlias = npt.NDArray[Any]


@final
class StackedTable:
    """Tables of as many columns, in memory or on disk; only what is asked for is copied."""

    __slots__ = ("_starts", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self._starts = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), int(self.parts[0].shape[1])

    def __getitem__(self, at: slice | Indices) -> Part:
        """Return rows by their numbers, or a stretch of them."""
        if isinstance(at, slice):
            start, stop, _ = at.indices(len(self))
            found = [
                part[max(start - first, 0) : max(stop - first, 0)]
                for part, first in zip(self.parts, self._starts.tolist(), strict=False)
            ]
            some = [part for part in found if len(part)]
            return some[0] if len(some) == 1 else np.concatenate(found)
        which = np.searchsorted(self._starts, at, side="right") - 1
        kind = np.result_type(*(part.dtype for part in self.parts))
        out = np.empty((len(at), self.shape[1]), dtype=kind)
        for number, part in enumerate(self.parts):
            here = np.flatnonzero(which == number)
            out[here] = part[at[here] - self._starts[number]]
        return out


def stacked_table(above: Part | StackedTable, below: Part | StackedTable) -> StackedTable:
    """Return two tables as one; small additions to what is in memory are put together."""
    first, *rest = _parts(above)
    more = _parts(below)
    if rest and len(more) == 1 and not any(isinstance(p, np.memmap) for p in (rest[-1], *more)):
        more = (np.concatenate([rest.pop(), *more]),)
    return StackedTable((first, *rest, *more))


def _parts(table: Part | StackedTable) -> tuple[Part, ...]:
    return table.parts if isinstance(table, StackedTable) else (table,)

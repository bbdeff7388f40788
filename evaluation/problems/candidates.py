"""Candidates as a user would hand them over, beside how a person would describe them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import require_extra

Groups: TypeAlias = tuple[tuple[int, ...], ...]
Columns: TypeAlias = Mapping[str, Vector | Sequence[str]]  # of a table: numbers, or words


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A number between bounds, or a category if it has levels."""

    name: str
    low: float
    high: float
    log: bool = False  # a number that is searched on a logarithmic scale
    whole: bool = False
    levels: tuple[str, ...] = ()  # a category's value is a place among these

    def unit(self, values: Vector) -> Vector:
        """Return numbers scaled to [0, 1]; the places of levels stay."""
        if self.levels:
            return values
        if self.log:
            scaled: Vector = np.log(values / self.low) / np.log(self.high / self.low)
            return scaled
        span = self.high - self.low
        return (values - self.low) / (span if span > 0 else 1.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The parameters of a problem; for a pool, those of every candidate."""

    parameters: tuple[Parameter, ...]
    table: Matrix | None = None  # (N, p) numbers, and places of levels; None for a box
    _unit: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = np.empty((0, len(self.parameters))) if self.table is None else self.table
        columns = [one.unit(table[:, at]) for at, one in enumerate(self.parameters)]
        object.__setattr__(self, "_unit", np.column_stack(columns))

    @classmethod
    def of(cls, columns: Columns, *, log: Collection[str] = ()) -> Space:
        """Return the space of a table; a column of whole numbers stays whole."""
        parameters, table = list[Parameter](), list[Vector]()
        for name, values in columns.items():
            if isinstance(values, np.ndarray):
                low, high = float(values.min()), float(values.max())
                whole = bool((values == np.round(values)).all())
                parameters.append(Parameter(name, low, high, name in log, whole))
                table.append(values)
            else:
                levels, points = np.unique(np.array(values), return_inverse=True)
                words = tuple(levels.tolist())
                parameters.append(Parameter(name, 0, len(words) - 1, levels=words))
                table.append(points.astype(np.float64))
        return cls(tuple(parameters), np.column_stack(table))

    def nearest(self, point: Vector) -> int:
        """Return the candidate nearest to any values of the parameters, the first of equals.

        Numbers differ by their distance on [0, 1], squared; categories by 0 or 1. O(N·p).
        """
        apart = np.zeros(len(self._unit))
        for at, one in enumerate(self.parameters):
            away = self._unit[:, at] - one.unit(point[at : at + 1])
            apart += away != 0 if one.levels else away**2
        return int(apart.argmin())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A pool, its parameters, and the columns that mutate together."""

    pool: nr.Pool | nr.BitPool  # its rows are candidates in another order
    space: Space
    order: Indices  # (N,) the candidate that each row of the pool is
    groups: Groups | None = None  # None where no two candidates differ in one column alone


def shuffled(count: int) -> Indices:
    """Return an order that tells nothing, always the same.

    Ties go to the first of a pool's rows, and some tables are sorted by what is sought.
    """
    order: Indices = np.random.default_rng(count).permutation(count)
    return order


def framed(columns: Columns, *, log: Collection[str] = (), mutable: bool = True) -> Listing:
    """Take a table as a data frame: words become a feature per level, numbers stay as they are."""
    pyarrow = require_extra("pyarrow", extra="tables", what="python -m evaluation.comparison")
    order = shuffled(len(next(iter(columns.values()))))
    mixed = {name: np.asarray(column)[order] for name, column in columns.items()}
    pool = nr.Pool.from_frame(pyarrow.table(mixed))
    groups = tuple(pool.groups.values()) if mutable else None
    return Listing(pool, Space.of(columns, log=log), order, groups)


def coded(names: Sequence[str], levels: Sequence[str], codes: npt.NDArray[np.uint8]) -> Listing:
    """Take columns of codes, all into the same levels, as one-hot columns: (N, names × levels)."""
    count = len(levels)
    one_hot = np.eye(count)[codes].reshape(len(codes), -1)
    words = np.array(levels)
    space = Space.of({name: words[codes[:, at]].tolist() for at, name in enumerate(names)})
    order = shuffled(len(codes))
    return Listing(nr.Pool(one_hot[order]), space, order, blocks(one_hot.shape[1], count))


def measured(
    names: Iterable[str], X: Matrix, *, groups: Groups | None = None, order: Indices | None = None
) -> Listing:
    space = Space.of(dict(zip(names, X.T, strict=True)))
    order = shuffled(len(X)) if order is None else order
    return Listing(nr.Pool(X[order]), space, order, groups)


def in_order(X: Matrix, groups: Groups | None = None) -> Listing:
    """Take features that have no names, in their order: those of the papers' problems."""
    names = (f"x{at}" for at in range(X.shape[1]))
    return measured(names, X, groups=groups, order=np.arange(len(X)))


def blocks(columns: int, size: int = 1) -> Groups:
    """Return groups of so many neighbouring columns each."""
    return tuple(tuple(range(at, at + size)) for at in range(0, columns, size))


def at_most_unit_norm(X: Matrix) -> Matrix:
    """Scale all rows alike so that the longest has norm 1."""
    scaled: Matrix = X / np.linalg.norm(X, axis=1).max()
    return scaled

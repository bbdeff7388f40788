"""What a candidate is described by, as a person would say it: numbers and categories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

from noregret.arrays import Matrix, Vector

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

"""How columns of a table become features, in the pool and in rows that are told later.

A column of numbers is one feature. A column of levels is one feature per level (1 where a row has
it, else 0), or one feature of codes; levels are sorted, so that their order is always the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from noregret.arrays import Mask, Matrix, Vector
from noregret.errors import ArgumentError, PoolError
from noregret.pools.base import Keys
from noregret.pools.tables.feature_spec import is_string
from noregret.pools.tables.sources import Source, arrow, frame_of

if TYPE_CHECKING:
    import pyarrow as pa

Level: TypeAlias = str | int | float | bool
MOST_LEVELS = 1000  # of a column that becomes one feature per level
SHOWN = 6  # rows, columns or levels that a message or repr lists


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is, or with its range mapped to [0, 1]."""

    name: str
    scaled: bool
    low: float = np.inf
    high: float = -np.inf

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def rule(self) -> str:
        return "a finite number"

    def look(self, column: pa.Array) -> tuple[Vector, Mask]:
        """Return values, and where there is one."""
        values = numbers(self.name, column)
        return values, np.isfinite(values)

    @property
    def meaning(self) -> tuple[object, ...]:
        """What two columns must agree in for their features to be compared."""
        return (self.name, self.low, self.high) if self.scaled else (self.name,)

    def extended(self, values: Vector, kept: Mask) -> Number:
        """Take in the values of the rows that are kept."""
        seen = values[kept]
        low, high = float(seen.min(initial=self.low)), float(seen.max(initial=self.high))
        if self.scaled and high - low == np.inf:
            raise PoolError(f"column {self.name!r} spans too much to be scaled: rescale it first.")
        return replace(self, low=low, high=high)

    def write(self, column: pa.Array, out: Matrix) -> None:
        values = numbers(self.name, column)
        out[:, 0] = (values - self.low) / (self.high - self.low or 1.0) if self.scaled else values


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """One of some levels: a feature for each, or one feature, the number of the level."""

    name: str
    onehot: bool
    levels: tuple[Level, ...] = ()  # sorted

    @property
    def labels(self) -> tuple[str, ...]:
        if not self.onehot:
            return (self.name,)
        return tuple(f"{self.name}={level}" for level in self.levels)

    @property
    def rule(self) -> str:
        return f"one of the pool's levels: {listed(map(repr, self.levels))}"

    def look(self, column: pa.Array) -> tuple[pa.Array, Mask]:
        """Return levels, and where there is one."""
        values = levels_of(self.name, column)
        return values, present(values)

    @property
    def meaning(self) -> tuple[object, ...]:
        """What two columns must agree in for their features to be compared."""
        return self.name, self.onehot, self.levels

    def extended(self, values: pa.Array, kept: Mask) -> Choice:
        """Take in the levels of the rows that are kept."""
        found = values.filter(arrow().array(kept)).unique().to_pylist()
        levels = tuple(sorted([*self.levels, *set(found).difference(self.levels)]))
        if self.onehot and len(levels) > MOST_LEVELS:
            raise PoolError(
                f"column {self.name!r} has more than {MOST_LEVELS} levels, and each would be a "
                f"feature. If it names the candidates, give it as name={self.name!r}; leave it "
                'out by features=[...]; or take categories="codes".'
            )
        return replace(self, levels=levels)

    def write(self, column: pa.Array, out: Matrix) -> None:
        pa = arrow()
        given = levels_of(self.name, column)
        known = levels_of(self.name, pa.array(self.levels))
        if given.type != known.type:
            given = _cast(self.name, given, known.type, known[0].as_py())
        found = arrow("pyarrow.compute").index_in(given, value_set=known)
        codes = found.fill_null(-1).to_numpy(zero_copy_only=False)
        if self.onehot:
            out[:] = 0.0
            out[np.arange(len(codes)), codes] = 1.0
        else:
            out[:, 0] = codes
        out[codes < 0] = np.nan


Column: TypeAlias = Number | Choice


@final
@dataclass(frozen=True, slots=True)
class Encoding:
    """How the columns of a table become features, in their order; none for other pools."""

    columns: tuple[Column, ...] = ()
    name: str | None = None  # of the column that names rows

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for column in self.columns for label in column.labels)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        groups, start = {}, 0
        for column in self.columns:
            stop = start + len(column.labels)
            groups[column.name] = tuple(range(start, stop))
            start = stop
        return groups

    @property
    def levels(self) -> dict[str, tuple[Level, ...]]:
        return {column.name: column.levels for column in self.columns if isinstance(column, Choice)}

    def is_like(self, other: Encoding) -> bool:
        """Tell whether features of the other mean what they mean here; those of no table may."""
        both = (self.columns, other.columns)
        mine, theirs = (tuple(column.meaning for column in columns) for columns in both)
        return not (mine and theirs) or mine == theirs

    def __str__(self) -> str:
        return listed(
            f"{column.name} ({len(column.levels)} levels)"
            if isinstance(column, Choice)
            else column.name
            for column in self.columns
        )

    def encode(self, batch: pa.RecordBatch) -> Matrix:
        """Return the features of rows; NaN where a value is missing, or a level unknown."""
        out = np.empty((batch.num_rows, len(self.labels)))
        for column, group in zip(self.columns, self.groups.values(), strict=True):
            column.write(batch.column(column.name), out[:, group[0] : group[-1] + 1])
        return out

    def read(self, name: str, frame: object) -> Matrix:
        """Return the features of rows that a user gave as a data frame, in argument `name`."""
        given = frame_of(name, frame)
        wanted = [column.name for column in self.columns]
        for column in wanted:
            _require_one(name, column, given)
        try:
            parts = [self.encode(batch) for batch in given.batches(wanted)]
        except PoolError as error:
            raise ArgumentError(f"{name}: {error}") from None
        X = np.concatenate([np.empty((0, len(self.labels))), *parts])
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            row, feature = bad[0].tolist()
            groups = zip(self.columns, self.groups.values(), strict=True)
            at = next(column for column, group in groups if feature in group)
            cell = arrow().Table.from_batches(given.batches([at.name])).column(0)[row]
            raise ArgumentError(
                f"{name}: row {row} has {cell.as_py()!r} in column {at.name!r}, which must hold "
                f"{at.rule}. Correct such rows, or leave them out."
            )
        return X

    def keys(self, name: str, frame: object) -> Keys:
        """Return the names of rows that a user gave as a data frame, in argument `name`."""
        assert self.name is not None
        given = frame_of(name, frame)
        _require_one(name, self.name, given)
        try:
            parts = [names_of(self.name, batch.column(0)) for batch in given.batches([self.name])]
        except PoolError as error:
            raise ArgumentError(f"{name}: {error}") from None
        known = np.concatenate([np.empty(0, dtype=np.bool_), *map(present, parts)])
        if not known.all():
            raise ArgumentError(
                f"{name}: row {np.argmin(known)} has no name in column {self.name!r}. Correct such "
                "rows, or leave them out."
            )
        keys = [part.to_numpy(zero_copy_only=False) for part in parts]
        return np.concatenate(keys) if keys else np.empty(0, dtype=np.int64)


def _require_one(name: str, column: str, given: Source) -> None:
    if given.schema.names.count(column) != 1:
        raise ArgumentError(
            f"{name} must have one column {column!r}, as the pool has; "
            f"its columns are {given.schema.names}."
        )


def listed(names: Iterable[str]) -> str:
    """Return names joined by commas, the first few if there are many."""
    every = list(names)
    more = len(every) - SHOWN
    return ", ".join(every[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def numbers(name: str, column: pa.Array) -> Vector:
    """Return a column as float64, NaN where it is null."""
    pa = arrow()
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not any(test(column.type) for test in tests):
        raise PoolError(f"column {name!r} must hold numbers, got {column.type}.")
    try:
        values: Vector = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise PoolError(
            f"column {name!r} holds whole numbers above 2^53, which would be rounded ({error}). "
            f"Subtract or divide first, read it as levels by categorical=[{name!r}], or, if it "
            "identifies candidates, give it as name."
        ) from None
    return values


def levels_of(name: str, column: pa.Array) -> pa.Array:
    """Return a column of levels as plain text, int64, float64 or booleans."""
    pa = arrow()
    types = pa.types
    if types.is_dictionary(column.type):
        values = levels_of(name, column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()
    if is_string(column.type):
        return column.cast(pa.large_string())
    if types.is_floating(column.type):
        return column.cast(pa.float64())
    if types.is_boolean(column.type) or types.is_null(column.type):
        return column
    if not types.is_integer(column.type):
        raise PoolError(f"column {name!r} must hold levels, got {column.type}.")
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise PoolError(
            f"column {name!r} holds whole numbers of 2^63 or more; turn them into strings."
        ) from None


def present(levels: pa.Array) -> Mask:
    """Tell where there is a level."""
    known = levels.is_valid()
    if arrow().types.is_floating(levels.type):
        known = arrow("pyarrow.compute").is_finite(levels).fill_null(False)
    mask: Mask = known.to_numpy(zero_copy_only=False)
    return mask


def names_of(name: str, column: pa.Array) -> pa.Array:
    """Return a column of names as plain text or int64."""
    types = arrow().types
    values = levels_of(name, column)
    if types.is_floating(values.type) or types.is_boolean(values.type):
        raise PoolError(
            f"name={name!r}: names must be strings or whole numbers, got {column.type}."
        )
    return values


def _cast(name: str, column: pa.Array, type_: Any, like: Level) -> pa.Array:
    """Return a column as another type, where that loses nothing."""
    pa = arrow()
    try:
        if is_string(column.type) != is_string(type_) and not pa.types.is_null(column.type):
            raise pa.ArrowInvalid("text is not a number")
        return column.cast(type_)
    except pa.ArrowException:
        raise PoolError(
            f"column {name!r} must hold levels such as {like!r}, got {column.type}."
        ) from None

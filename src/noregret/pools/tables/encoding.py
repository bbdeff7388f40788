"""From the columns of a table to features, the same way for the pool and for rows that come later.

A column of numbers is one feature. A column of levels is one feature a level (1 where a row has it,
else 0), or one feature of codes; levels are sorted, and so stand in the same order every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Vector, as_matrix
from noregret.errors import ArgumentError, PoolError
from noregret.pools.tables.feature_spec import is_string
from noregret.pools.tables.sources import arrow, frame_of, is_frame

if TYPE_CHECKING:
    import pyarrow as pa


Level: TypeAlias = str | int | float | bool
EXACT = 2**53  # up to which every whole number is a float64
SHOWN = 6  # rows, columns or levels that a message or repr lists


class Column(Protocol):
    """How one column becomes features."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the features."""
        ...

    def present(self, column: pa.Array) -> Mask:
        """Tell where there is a value."""
        ...

    def write(self, column: pa.Array, out: Matrix) -> None:
        """Write features, one row each; NaN where the value is missing."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is, or scaled: (x − low)/span."""

    name: str
    low: float = 0.0
    span: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.name,)

    def present(self, column: pa.Array) -> Mask:
        return np.isfinite(numbers(self.name, column))

    def write(self, column: pa.Array, out: Matrix) -> None:
        out[:, 0] = (numbers(self.name, column) - self.low) / self.span


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """One of some levels: a feature for each, or the place of the level as a code."""

    name: str
    levels: tuple[Level, ...]  # sorted
    onehot: bool = True

    @property
    def labels(self) -> tuple[str, ...]:
        return (
            tuple(f"{self.name}={level}" for level in self.levels) if self.onehot else (self.name,)
        )

    def present(self, column: pa.Array) -> Mask:
        return as_mask(present(levels_of(self.name, column)))

    def write(self, column: pa.Array, out: Matrix) -> None:
        codes = self._codes(column)
        missing = codes < 0
        if self.onehot:
            out[:] = 0.0
            out[np.arange(len(codes)), codes] = 1.0
        else:
            out[:, 0] = codes
        out[missing] = np.nan

    def _codes(self, column: pa.Array) -> Indices:
        """Return the places of levels, −1 where the value is missing."""
        pa, compute = arrow(), arrow("pyarrow.compute")
        given = levels_of(self.name, column)
        known = levels_of(self.name, pa.array(self.levels))
        if given.type != known.type:
            given = _cast(self.name, given, known.type, known[0].as_py())
        found = compute.index_in(given, value_set=known)
        unknown = given.filter(compute.and_(found.is_null(), present(given)))
        if len(unknown):
            listed = ", ".join(repr(level) for level in self.levels[:SHOWN])
            more = "" if len(self.levels) <= SHOWN else f" and {len(self.levels) - SHOWN} more"
            raise ArgumentError(
                f"column {self.name!r} has the level {unknown[0].as_py()!r}, which no candidate "
                f"of the pool has; known are {listed}{more}."
            )
        codes: Indices = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return codes


@final
@dataclass(frozen=True, slots=True)
class Encoding:
    """How the columns of a table become features, in their order."""

    columns: tuple[Column, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of every feature."""
        return tuple(label for column in self.columns for label in column.labels)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """For every column of the table, the features that it became."""
        places, start = {}, 0
        for column in self.columns:
            stop = start + len(column.labels)
            places[column.name] = tuple(range(start, stop))
            start = stop
        return places

    @property
    def levels(self) -> dict[str, tuple[Level, ...]]:
        """For every column of levels, the levels in the order of their features or codes."""
        return {column.name: column.levels for column in self.columns if isinstance(column, Choice)}

    def __str__(self) -> str:
        shown = [
            f"{column.name} ({len(column.levels)} levels)"
            if isinstance(column, Choice)
            else column.name
            for column in self.columns[:SHOWN]
        ]
        more = len(self.columns) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def encode(self, batch: pa.RecordBatch) -> Matrix:
        """Return the features of rows; NaN where a value is missing."""
        out = np.empty((batch.num_rows, len(self.labels)))
        for column, places in zip(self.columns, self.groups.values(), strict=True):
            column.write(batch.column(column.name), out[:, places[0] : places[-1] + 1])
        return out

    def present(self, batch: pa.RecordBatch) -> Mask:
        """Tell which rows miss nothing."""
        whole: Mask = np.ones(batch.num_rows, dtype=np.bool_)
        for column in self.columns:
            whole &= column.present(batch.column(column.name))
        return whole

    def read(self, name: str, frame: object) -> Matrix:
        """Return the features of rows that a user gave as a data frame, in argument `name`."""
        given = frame_of(name, frame)
        wanted = [column.name for column in self.columns]
        for column in wanted:
            if given.schema.names.count(column) != 1:
                raise ArgumentError(
                    f"{name} must have one column {column!r}, as the pool has; "
                    f"its columns are {given.schema.names}."
                )
        try:
            parts = [self.encode(batch) for batch in given.batches(wanted)]
        except (ArgumentError, PoolError) as error:
            raise ArgumentError(f"{name}: {error}") from None
        X = np.concatenate([np.empty((0, len(self.labels))), *parts])
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            row, place = bad[0].tolist()
            raise ArgumentError(
                f"{name}: row {row} misses a feature ({self.labels[place]!r} is null, NaN or "
                "infinite). Remove or impute it first."
            )
        return X


def features_of(name: str, X: object, dim: int, encoding: Encoding | None) -> Matrix:
    """Return features that a user gave: a frame like that of the pool, or a matrix of features."""
    if encoding is not None and is_frame(X):
        return encoding.read(name, X)
    return as_matrix(name, X, columns=dim)


def numbers(name: str, column: pa.Array) -> Vector:
    """Return a column as float64, NaN where it is null."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    types = pa.types
    if types.is_integer(column.type):
        bounds = [end for end in compute.min_max(column).as_py().values() if end is not None]
        large = [end for end in bounds if abs(end) > EXACT]
        if large:
            raise PoolError(
                f"column {name!r} holds the whole number {large[0]}; above 2^53 it would be "
                "rounded to a neighbour. Subtract or divide first, read it as levels by "
                f"categorical=[{name!r}], or, if it is an identifier, give it as name."
            )
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    if not any(test(column.type) for test in tests):
        raise PoolError(f"column {name!r} must hold numbers, got {column.type}.")
    values: Vector = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
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
    if types.is_integer(column.type):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise PoolError(
                f"column {name!r} holds whole numbers of 2^63 or more; turn them into strings."
            ) from None
    if types.is_floating(column.type):
        return column.cast(pa.float64())
    if types.is_boolean(column.type) or types.is_null(column.type):
        return column
    raise PoolError(f"column {name!r} must hold levels, got {column.type}.")


def present(levels: pa.Array) -> pa.Array:
    """Tell where there is a level."""
    compute = arrow("pyarrow.compute")
    if arrow().types.is_floating(levels.type):
        return compute.is_finite(levels).fill_null(False)
    return levels.is_valid()


def as_mask(truths: pa.Array) -> Mask:
    """Return truths of Arrow as NumPy's."""
    mask: Mask = truths.to_numpy(zero_copy_only=False)
    return mask


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

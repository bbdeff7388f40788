"""Tables of others, walked as Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final

from noregret.arrays import chunk_rows
from noregret.errors import PoolError
from noregret.extras import require_extra
from noregret.progress import Display

if TYPE_CHECKING:
    import pyarrow as pa


class Source(Protocol):
    """A table that can be walked again and again, a block of rows at a time."""

    @property
    def label(self) -> str:
        """What messages call it."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Names and types of its columns."""
        ...

    @property
    def rows(self) -> int | None:
        """How many rows it has, if that is known before a walk."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Walk these columns in order."""
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A data frame in memory."""

    label: str
    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        chosen = self.table.select(list(columns))
        pa = arrow()
        for batch in chosen.to_batches(max_chunksize=chunk_rows(len(columns))):
            plain = [_without_views(column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(plain, list(columns))


def arrow(module: str = "pyarrow") -> Any:
    """Return PyArrow, or a module of it."""
    return require_extra(module, extra="tables", what="reading data frames and table files")


def is_frame(thing: object) -> bool:
    """Tell whether something is a data frame; a single column (a series) is none.

    >>> is_frame([[1.0, 2.0]])
    False
    """
    if hasattr(thing, "__dataframe__"):
        return True
    named = hasattr(thing, "columns") or hasattr(thing, "column_names")
    return named and (hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "__arrow_c_array__"))


def frame_of(label: str, frame: object) -> Frame:
    """Return a data frame of any library, by the Arrow stream it offers or else by interchange."""
    streams = hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")
    if not streams and not hasattr(frame, "__dataframe__"):
        raise PoolError(
            f"{label} must be a data frame of pandas, Polars, PyArrow or another library that "
            f"offers __arrow_c_stream__ or __dataframe__, got {type(frame).__name__}. "
            "An array goes to noregret.Pool(X); a lazy frame must be collected first."
        )
    pa = arrow()
    try:
        if streams:
            return Frame(label, pa.table(frame))
        return Frame(label, arrow("pyarrow.interchange").from_dataframe(frame))
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        raise PoolError(
            f"{label} cannot be read: {error}. "
            "Columns must hold numbers, booleans or strings, each column of one kind."
        ) from error


def _without_views(column: pa.Array) -> pa.Array:
    """Return text that is held as views, as in Polars, as plain text: Arrow can do more with it."""
    pa = arrow()
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(column.type):
        values = _without_views(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values)
    return column


def walk(
    source: Source, columns: Sequence[str], *, label: str, total: int | None, progress: bool
) -> Iterator[pa.RecordBatch]:
    """Walk a table, showing how far it is once that takes long."""
    with Display(label, total=total, shown=progress) as display:
        for batch in source.batches(columns):
            yield batch
            display.advance(batch.num_rows)

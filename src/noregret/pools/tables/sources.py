"""Data frames, CSV files and Parquet files, read alike: as Arrow record batches, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from noregret.arrays import chunk_rows
from noregret.errors import PoolError, require_extra
from noregret.progress import Display

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 22  # types are first guessed from so much; some thirty blocks are read ahead


@final
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A table that can be read several times, a block of rows at a time."""

    label: str  # what messages call it
    schema: pa.Schema  # names and types of its columns
    rows: int | None  # where known before it is read
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]  # these columns, in order

    def walk(
        self, columns: Sequence[str], label: str, *, progress: bool
    ) -> Iterator[pa.RecordBatch]:
        """Read these columns, with a progress bar once that takes long."""
        with Display(label, total=self.rows, shown=progress) as display:
            for batch in self.batches(columns):
                yield batch
                display.advance(batch.num_rows)


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


def frame_of(label: str, frame: object) -> Source:
    """Return a data frame of any library, by the Arrow stream it offers or else by interchange."""
    table = _table_of(label, frame)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        chosen = table.select(list(columns))
        yield from chosen.to_batches(max_chunksize=chunk_rows(len(columns)))

    return Source(label, table.schema, int(table.num_rows), batches)


def _table_of(label: str, frame: object) -> pa.Table:
    streams = hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")
    if not streams and not hasattr(frame, "__dataframe__"):
        raise PoolError(
            f"{label} must be a data frame of pandas, Polars, PyArrow or another library that "
            f"offers __arrow_c_stream__ or __dataframe__, got {type(frame).__name__}. "
            "An array goes to noregret.Pool(X); a lazy frame must be collected first."
        )
    pa = arrow()
    try:
        return pa.table(frame) if streams else arrow("pyarrow.interchange").from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        raise PoolError(
            f"{label} cannot be read: {error}. "
            "Columns must hold numbers, booleans or strings, each column of one kind."
        ) from error


class UnsettledError(PoolError):
    """The type of a column was guessed from the first block and does not fit a later one."""


def csv_source(path: Path, schema: pa.Schema = None) -> Source:
    """Return a CSV file with a header, compressed or not.

    Without a schema, types are guessed from the first block, which for most files is all of it.
    """
    if schema is None:
        with _reader(path, {}) as reader:
            schema = reader.schema
        _require_header(path, schema.names)

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        types = {name: schema.field(name).type for name in columns}
        try:
            with _reader(path, types) as reader:
                for batch in reader:
                    yield batch.select(list(columns))
        except arrow().ArrowInvalid as error:
            if "conversion error" in str(error):
                raise UnsettledError(f"{path}: {error}.") from error
            raise

    return Source(str(path), schema, None, batches)


def settled(path: Path, schema: pa.Schema) -> Source:
    """Return a CSV file with types that fit every block: one more pass, of text."""
    pa = arrow()
    names = [name for name in schema.names if schema.names.count(name) == 1]
    types = {name: schema.field(name).type for name in names}
    with _reader(path, dict.fromkeys(names, pa.string())) as reader:
        for batch in reader:
            for name in names:
                types[name] = _fitting(types[name], batch.column(name))
    return csv_source(path, pa.schema(types))


def _reader(path: Path, types: dict[str, Any]) -> Any:
    csv = arrow("pyarrow.csv")
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=list(types), strings_can_be_null=True
        ),
    )


def _fitting(type_: Any, text: pa.Array) -> Any:
    """Return the narrowest type, from this one on, that the text of a block can be read as."""
    pa = arrow()
    wider = {
        pa.null(): (pa.int64(), pa.float64(), pa.bool_()),
        pa.int64(): (pa.int64(), pa.float64()),
    }
    if text.null_count == len(text):
        return type_
    plain = arrow("pyarrow.compute").utf8_trim_whitespace(text)
    for candidate in wider.get(type_, (type_,)):
        try:
            plain.cast(candidate)
        except pa.ArrowException:
            continue
        return candidate
    return pa.string()


def _require_header(path: Path, names: list[str]) -> None:
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise PoolError(
            f"{path}: its header is one column, {names[0]!r}; fields must be separated by commas. "
            "Read it with pandas or Polars and give the frame to noregret.Pool.from_frame."
        )
    if all(_is_number(name) for name in names) and names != [str(at) for at in range(len(names))]:
        raise PoolError(
            f"{path}: its first line holds numbers only ({', '.join(names[:4])}...), but must "
            "hold the names of the columns."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parquet_source(path: Path) -> Source:
    """Return a Parquet file."""
    parquet = arrow("pyarrow.parquet")

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        # Buffered beforehand, all of the file would be in memory before long.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            size = chunk_rows(len(columns))
            yield from file.iter_batches(batch_size=size, columns=list(columns))

    with parquet.ParquetFile(path) as file:
        return Source(str(path), file.schema_arrow, int(file.metadata.num_rows), batches)

"""CSV files, a block at a time, and the types of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from noregret.errors import PoolError
from noregret.pools.tables import arrow

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 22  # types are first guessed from so much; some thirty blocks are read ahead


class UnsettledError(PoolError):
    """A type that was guessed from the first block does not fit a later one."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A CSV file with a header, compressed or not."""

    path: Path
    schema: pa.Schema
    rows = None  # known after a walk only

    @property
    def label(self) -> str:
        return str(self.path)

    @classmethod
    def opened(cls, path: Path) -> Sheet:
        """Guess types from the first block, which for most files is all of it."""
        with _reader(path, {}) as reader:
            schema = reader.schema
        _require_header(path, schema.names)
        return cls(path, schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        pa, types = arrow(), {name: self.schema.field(name).type for name in columns}
        try:
            with _reader(self.path, types) as reader:
                for batch in reader:
                    yield batch.select(list(columns))
        except pa.ArrowInvalid as error:
            if "conversion error" in str(error):
                raise UnsettledError(f"{self.path}: {error}.") from error
            raise

    def settled(self) -> Sheet:
        """Find types that fit every block: one more pass, of text."""
        pa = arrow()
        names = [name for name in self.schema.names if self.schema.names.count(name) == 1]
        types = {name: self.schema.field(name).type for name in names}
        with _reader(self.path, dict.fromkeys(names, pa.string())) as reader:
            for batch in reader:
                for name in names:
                    types[name] = _fitting(types[name], batch.column(name))
        return replace(self, schema=pa.schema(types))


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

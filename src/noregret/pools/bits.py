"""A pool of bit fingerprints, eight bits per byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import CHUNK_BYTES, Rows
from noregret.errors import ArgumentError, PoolError, require_count
from noregret.pools.stacked_table import StackedTable
from noregret.pools.stored import MORE, Names, StoredPool, Table

Packed: TypeAlias = npt.NDArray[np.uint8]
WORD = 8  # bytes that a kernel takes at a time


@final
class BitPool(StoredPool):
    """Hold candidates as fingerprints of bits, packed: a million of 2048 bits take 256 MB.

    `X` is a 0/1 matrix, one candidate per row; or, with `packed=True`, rows as `np.packbits` gives
    them, with the number of `bits` unless it is eight per byte. Kernels such as `Tanimoto`, `tell`
    and `posterior` see packed rows; `batch.x` holds them too, and `unpacked` turns them into rows
    of 0 and 1.

    A row is kept in whole words of 8 bytes, the rest filled with zeros. Your array is copied once,
    so that later changes to it change nothing here. Only a memory-mapped array of packed rows in
    whole words is used in place, and read when it is needed: leave its file alone during a run.

    >>> pool = BitPool([[1, 0, 0, 1], [0, 1, 1, 0]], names=["water", "ethanol"])
    >>> len(pool), pool.bits, pool.dim
    (2, 4, 8)
    >>> pool.unpacked(pool.rows(np.array([1])))
    array([[0, 1, 1, 0]], dtype=uint8)
    """

    __slots__ = ("_bits",)
    _kind = np.uint8

    def __init__(
        self, X: object, *, packed: bool = False, bits: int | None = None, names: object = None
    ) -> None:
        try:
            given = _checked("BitPool(X=...)", X)
            self._bits = _count(given, packed, bits)
            pack = _padded if packed else _packed
            table = pack("BitPool(X=...)", given, self._bits, _width(self._bits))
        except ArgumentError as error:
            raise PoolError(str(error)) from None
        table.flags.writeable = False
        self._hold(table, Names(names, len(table)))

    @property
    def _size(self) -> str:
        return f"{len(self)} candidates × {self._bits} bits"

    @property
    def _shape(self) -> str:
        return f"bits {len(self)} × {self._bits}"

    def _more(self, more: object, names: object) -> tuple[Table, object]:
        if not isinstance(more, BitPool):
            return self.read(MORE, more), names
        if more._bits != self._bits:
            raise ArgumentError(f"{MORE} must have {self._bits} bits as the pool, got {more!r}.")
        return more._table, more._names.all if names is None else names

    @property
    def bits(self) -> int:
        """Number of bits of a fingerprint."""
        return self._bits

    @property
    def X(self) -> Rows:
        """All rows, packed, read-only."""
        if isinstance(self._table, StackedTable):
            whole = self._table[:]
            whole.flags.writeable = False
            self._table = whole
        return cast(Rows, self._table)

    def read(self, name: str, X: object) -> Rows:
        """Return fingerprints that a user gave, as 0/1 rows or packed, as they are kept."""
        given = np.asarray(X)
        given = _checked(name, given[None] if given.ndim == 1 else given, least=0)
        width = given.shape[1]
        if width == self._bits:
            return cast(Rows, _packed(name, given, self._bits, self.dim))
        if given.dtype == np.uint8 and width in (self.dim, -(-self._bits // 8)):
            return cast(Rows, _padded(name, given, self._bits, self.dim))
        raise ArgumentError(
            f"{name} must have {self._bits} columns of 0 and 1, or {self.dim} of packed bytes "
            f"(uint8), got {width} of {given.dtype}."
        )

    def unpacked(self, X: Rows) -> npt.NDArray[np.uint8]:
        """Return packed rows as rows of 0 and 1."""
        return np.unpackbits(cast(Packed, X), axis=1, count=self._bits)


def _checked(name: str, X: object, least: int = 1) -> npt.NDArray[np.generic]:
    """Return a table of numbers, not copied where it is an array."""
    try:
        table = X if isinstance(X, np.memmap) else np.asarray(X)
    except ValueError:
        raise ArgumentError(f"{name} must have rows of equal length.") from None
    if table.ndim != 2 or len(table) < least or table.shape[1] == 0:
        raise ArgumentError(
            f"{name} must be a table, one fingerprint per row, with at least one bit, got shape "
            f"{table.shape}."
        )
    if table.dtype.kind not in "biuf":
        raise ArgumentError(f"{name} must hold 0 and 1 only, got entries such as {table[:1, :1]}.")
    return table


def _count(table: npt.NDArray[np.generic], packed: bool, bits: int | None) -> int:
    """Return the number of bits per row."""
    columns = int(table.shape[1])
    if not packed:
        if bits not in (None, columns):
            raise ArgumentError(
                f"BitPool(bits={bits!r}): a 0/1 matrix of {columns} columns has as many bits; "
                "bits= goes with packed=True."
            )
        return columns
    if table.dtype != np.uint8:
        raise ArgumentError(
            f"BitPool(X=..., packed=True) must be uint8, as np.packbits gives it, got "
            f"{table.dtype}."
        )
    count = 8 * columns if bits is None else require_count("BitPool(bits=...)", bits)
    if count > 8 * columns:
        raise ArgumentError(
            f"BitPool(bits={bits}): {columns} bytes per row hold {8 * columns} bits."
        )
    return count


def _width(bits: int) -> int:
    """Return the bytes in which a row is kept: whole words, and not as many as there are bits.

    So rows of 0 and 1 are told from packed ones by their length.
    """
    width = -(-bits // (8 * WORD)) * WORD
    return width if width != bits else width + WORD


def _blocks(table: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Walk a table a piece at a time, with the number of the first row."""
    step = max(1, CHUNK_BYTES // table.shape[1])
    return ((start, table[start : start + step]) for start in range(0, len(table), step))


def _packed(name: str, table: npt.NDArray[np.generic], bits: int, width: int) -> Packed:
    """Return rows of 0 and 1, one per bit, as packed rows of `width` bytes."""
    out = np.zeros((len(table), width), dtype=np.uint8)
    for start, block in _blocks(table):
        ones = block != 0
        if block.dtype.kind != "b" and not (good := (block == 1) | ~ones).all():
            row, at = np.argwhere(~good)[0].tolist()
            raise ArgumentError(
                f"{name} must hold 0 and 1 only, got {block[row, at]} in row {start + row}, column "
                f"{at}. Rows as np.packbits gives them need packed=True."
            )
        out[start : start + len(block), : -(-bits // 8)] = np.packbits(ones, axis=1)
    return out


def _padded(name: str, table: npt.NDArray[np.generic], bits: int, width: int) -> Packed:
    """Return packed rows as rows of `width` bytes; a memory map of such rows as it is."""
    rows, used = cast(Packed, table), -(-bits // 8)
    last, spare = divmod(bits, 8)
    for _, block in _blocks(rows) if bits < 8 * rows.shape[1] else ():
        beyond = block[:, last:].copy()
        if spare:
            beyond[:, 0] &= 0xFF >> spare
        if beyond.any():
            raise ArgumentError(
                f"{name}: bits behind the first {bits} are set; np.packbits leaves them 0. "
                "Give the number of bits with bits=..."
            )
    if isinstance(table, np.memmap) and rows.shape[1] == width and table.flags.c_contiguous:
        return rows.view(np.ndarray)
    out = np.zeros((len(rows), width), dtype=np.uint8)
    out[:, :used] = rows[:, :used]
    return out

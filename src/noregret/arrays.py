"""Types of arrays, and checks of those that users give."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from noregret.errors import ArgumentError, KernelError

Vector: TypeAlias = npt.NDArray[np.float64]  # one number per entry
Matrix: TypeAlias = npt.NDArray[np.float64]  # one candidate per row
Rows: TypeAlias = npt.NDArray[np.float64]  # candidates as a domain keeps them; perhaps packed bits
Indices: TypeAlias = npt.NDArray[np.int64]  # rows of a pool, positions, counts
Mask: TypeAlias = npt.NDArray[np.bool_]  # true or false per row
Array = TypeVar("Array", bound=npt.NDArray[Any])
CHUNK_BYTES = 1 << 24  # blocks of candidates are cut so that a temporary stays near 16 MiB


def chunk_rows(columns: int) -> int:
    """Return how many rows of a float64 block of `columns` columns make one chunk."""
    return max(64, CHUNK_BYTES // (8 * max(1, columns)))


def as_floats(name: str, values: object) -> npt.NDArray[np.float64]:
    """Return a float64 copy of `values`, which must be finite numbers."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} must hold numbers only, in rows of equal length, got {values!r:.80}."
        ) from None
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        where = tuple(int(i) for i in np.unravel_index(bad[0], array.shape))
        place = where[0] if len(where) == 1 else where
        raise ArgumentError(
            f"{name} must be finite: {bad.size} of {array.size} entries are NaN or infinite, "
            f"the first at {place}. Remove or impute them first."
        )
    return array


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def stacked(above: Rows, below: Rows) -> Rows:
    """Return rows over rows; an empty block may be of any kind."""
    return np.concatenate([above, below]) if len(above) else below


Column = TypeVar("Column", Indices, Vector, npt.NDArray[np.void])


def extended(column: Column, new: Column) -> Column:
    """Return `column` with `new` appended, in the spare room of its buffer or in a new one.

    A column is a view of the front of a buffer that it alone extends and that doubles when it is
    full, so that n entries cost O(n) in all.
    """
    n, k = len(column), len(new)
    buffer = column.base if column.base is not None else column
    if len(buffer) < n + k:
        buffer = np.zeros((2 * (n + k), *column.shape[1:]), dtype=column.dtype)
        buffer[:n] = column
    buffer[n : n + k] = new
    return buffer[: n + k]


def positions(rows: Indices, among: Indices) -> Indices:
    """Return the position of each row among others, −1 where it is not there."""
    if not len(among):
        return np.full(len(rows), -1)
    order = np.argsort(among)
    at = order[np.minimum(np.searchsorted(among, rows, sorter=order), len(among) - 1)]
    return np.where(among[at] == rows, at, -1)


def as_matrix(name: str, values: object, columns: int | None = None) -> Matrix:
    """Return a finite float64 copy of `values` with one candidate per row."""
    array = as_floats(name, values)
    if array.ndim == 1 and columns is not None and array.shape[0] == columns:
        array = array[None]
    if array.ndim != 2:
        raise ArgumentError(
            f"{name} must have two dimensions, one candidate per row, got shape {array.shape}. "
            "A single feature needs X[:, None], a single candidate X[None]."
        )
    if columns is not None and array.shape[1] != columns:
        raise ArgumentError(f"{name} must have {columns} columns, got {array.shape[1]}.")
    return np.ascontiguousarray(array)


def require_numbers(*blocks: Rows) -> None:
    """Raise where rows are packed bits, which no kernel on numbers can read."""
    if any(X.dtype == np.uint8 for X in blocks):
        raise KernelError(
            "this kernel compares numbers, and the pool holds packed bits: use noregret.Tanimoto() "
            "with a BitPool, or noregret.Pool(X) with this kernel."
        )

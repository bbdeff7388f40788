"""A pool over an .npy file that stays on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import chunk_rows
from noregret.errors import PoolError
from noregret.pools.stored import FeaturePool, Names
from noregret.pools.tables.encoding import Encoding
from noregret.progress import Display

EXACT = 2**53  # up to which every whole number is a float64


@final
class MappedPool(FeaturePool):
    """Hold candidates as rows of an .npy file, read as they are needed.

    The file is mapped into memory, never loaded: the system keeps in memory what it has room for.
    Numbers of any width are read as float64. Opening reads the file once, to refuse values that are
    not finite. Choices and fingerprint are those of `Pool(np.load(path))`, so that a saved run goes
    on with either. Leave the file alone while a run uses it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "features.npy"
    >>> np.save(path, np.array([[0.5, 1.0], [2.0, 3.0]], dtype=np.float32))
    >>> pool = MappedPool(path, names=["water", "ethanol"])
    >>> pool.rows(pool.find("ethanol"))
    array([[2., 3.]])
    """

    __slots__ = ("_path",)

    def __init__(
        self, path: str | os.PathLike[str], *, names: object = None, progress: bool = True
    ) -> None:
        self._path = Path(path)
        table = _opened(self._path)
        self._hold(table, Names(names, len(table)))
        self._encoding = Encoding()
        self._require_finite(table, progress)

    @property
    def path(self) -> Path:
        """The file; candidates that were added to the pool are not in it."""
        return self._path

    @property
    def _size(self) -> str:
        return f"{self._path.name!r}, {super()._size}"

    def _require_finite(self, table: npt.NDArray[Any], progress: bool) -> None:
        whole = table.dtype.kind in "iu"
        with Display("rows checked", total=len(self), shown=progress) as display:
            for start, X in self.chunks(chunk_rows(self.dim)):
                bad = np.argwhere(np.abs(X) > EXACT) if whole else np.argwhere(~np.isfinite(X))
                if len(bad):
                    row, column = bad[0].tolist()
                    raise PoolError(
                        f"{self._path}: row {start + row}, column {column} holds "
                        f"{table[start + row, column]}; features must be finite, and whole "
                        "numbers at most 2^53 (above, they would be rounded to a neighbour)."
                    )
                display.advance(len(X))


def mapped(path: Path, names: Names, encoding: Encoding) -> MappedPool:
    """Return the pool of a file that was written from a table, and so is known to be finite."""
    pool = MappedPool.__new__(MappedPool)
    pool._path = path
    pool._hold(_opened(path), names)
    pool._encoding = encoding
    return pool


def _opened(path: Path) -> npt.NDArray[Any]:
    """Map a file of numbers, one candidate per row."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise PoolError(f"there is no file {path}.") from None
    except (OSError, ValueError, EOFError) as error:
        raise PoolError(f"{path} cannot be read as an .npy file: {error}.") from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise PoolError(f"{path} is an archive of arrays; save one of them as an .npy file.")
    if array.dtype.kind not in "fiub":
        raise PoolError(f"{path} must hold numbers, got dtype {array.dtype}.")
    if array.ndim != 2 or 0 in array.shape:
        raise PoolError(
            f"{path} must have two dimensions, one candidate per row, and hold at least one "
            f"candidate and one feature, got shape {array.shape}."
        )
    if not array.flags.c_contiguous:
        raise PoolError(
            f"{path} is in Fortran order, in which the features of one candidate lie far apart. "
            "Write it again by np.save(path, np.ascontiguousarray(X))."
        )
    return np.asarray(array)  # a plain view of the map

"""A pool over an .npy file that stays on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, chunk_rows
from noregret.errors import PoolError
from noregret.pools.names import Keys, Names
from noregret.pools.tables.encoding import EXACT, Encoding, Level, features_of
from noregret.progress import Display


@final
class MappedPool:
    """Hold candidates as rows of an .npy file, read as they are needed.

    The file is mapped into memory, never loaded: the system keeps of it what it has room for.
    Numbers of any width are read as float64. Opening reads the file once, to refuse what is not
    finite; choices are those of `Pool(np.load(path))`, and so is the fingerprint, so that a saved
    run goes on with either. Leave the file alone while a run uses it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "features.npy"
    >>> np.save(path, np.array([[0.5, 1.0], [2.0, 3.0]], dtype=np.float32))
    >>> pool = MappedPool(path, names=["water", "ethanol"])
    >>> pool.rows(pool.find("ethanol"))
    array([[2., 3.]])
    """

    __slots__ = ("_encoding", "_fingerprint", "_map", "_names", "_path")

    def __init__(
        self, path: str | os.PathLike[str], *, names: object = None, progress: bool = True
    ) -> None:
        self._path = Path(path)
        self._map = _opened(self._path)
        self._names = Names(names, len(self._map))
        self._encoding: Encoding | None = None
        self._fingerprint: str | None = None
        self._require_finite(progress)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self._map.shape[1])

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features, where they come from a table; none otherwise."""
        return () if self._encoding is None else self._encoding.labels

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """For every column of the table, the features that it became."""
        return {} if self._encoding is None else self._encoding.groups

    @property
    def levels(self) -> dict[str, tuple[Level, ...]]:
        """For every column of levels, the levels in the order of their features or codes."""
        return {} if self._encoding is None else self._encoding.levels

    def __len__(self) -> int:
        return int(self._map.shape[0])

    def __repr__(self) -> str:
        made = "" if self._encoding is None else f": {self._encoding}"
        named = ", named" if self._names.given else ""
        return (
            f"MappedPool({self._path.name!r}, {len(self)} candidates × {self.dim} "
            f"features{made}{named})"
        )

    def read(self, name: str, X: object) -> Matrix:
        """Return features that a user gave, checked: a matrix, or a frame like the pool's."""
        return features_of(name, X, self.dim, self._encoding)

    def shown(self, X: Matrix) -> Matrix:
        """Return features as they are."""
        return X

    def rows(self, index: Indices) -> Matrix:
        """Return the features of the given rows."""
        return np.asarray(self._map[index], dtype=np.float64)

    def chunks(self, size: int) -> Iterator[tuple[int, Matrix]]:
        """Walk the pool in order, at most `size` rows at a time."""
        for start in range(0, len(self), size):
            yield start, np.asarray(self._map[start : start + size], dtype=np.float64)

    def keys(self, index: Indices) -> Keys:
        """Return the names of the given rows; without names, the rows themselves."""
        return self._names.of(index)

    def find(self, keys: object) -> Indices:
        """Return the rows of the given names (or row numbers, for a pool without names)."""
        return self._names.find(keys)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest of shape, features and names: one pass, the first time."""
        if self._fingerprint is None:
            digest = hashlib.sha256(repr(self._map.shape).encode())
            for _, X in self.chunks(chunk_rows(self.dim)):
                digest.update(X.data)
            self._names.digest(digest)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    def _require_finite(self, progress: bool) -> None:
        whole = self._map.dtype.kind in "iu"
        with Display("rows checked", total=len(self), shown=progress) as display:
            for start, X in self.chunks(chunk_rows(self.dim)):
                bad = np.argwhere(np.abs(X) > EXACT) if whole else np.argwhere(~np.isfinite(X))
                if len(bad):
                    row, column = bad[0].tolist()
                    raise PoolError(
                        f"{self._path}: row {start + row}, column {column} holds "
                        f"{self._map[start + row, column]}; features must be finite, and whole "
                        "numbers at most 2^53 (above, they would be rounded to a neighbour)."
                    )
                display.advance(len(X))


def mapped(path: Path, names: Names, encoding: Encoding) -> MappedPool:
    """Return the pool of a file that was written from a table, and so is known to be finite."""
    pool = MappedPool.__new__(MappedPool)
    pool._path, pool._map, pool._names = path, _opened(path), names
    pool._encoding, pool._fingerprint = encoding, None
    return pool


def _opened(path: Path) -> npt.NDArray[Any]:
    """Map a file of numbers, one candidate a row."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise PoolError(f"there is no file {path}.") from None
    except (OSError, ValueError, EOFError) as error:
        raise PoolError(f"{path} cannot be read as an .npy file: {error}.") from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise PoolError(f"{path} is an archive of arrays; give the .npy file of one of them.")
    if array.dtype.kind not in "fiub":
        raise PoolError(f"{path} must hold numbers, got dtype {array.dtype}.")
    if array.ndim != 2 or 0 in array.shape:
        raise PoolError(
            f"{path} must have two dimensions, one candidate a row, and hold at least one "
            f"candidate and one feature, got shape {array.shape}."
        )
    if not array.flags.c_contiguous:
        raise PoolError(
            f"{path} is in Fortran order, in which the features of one candidate lie far apart. "
            "Write it again by np.save(path, np.ascontiguousarray(X))."
        )
    return np.asarray(array)  # a plain view of the map

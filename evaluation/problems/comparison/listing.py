"""Candidates as a user would hand them over, beside how a person would describe them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

import noregret as nr
from evaluation.data.files import path_of
from evaluation.problems.comparison.space import Columns, Space
from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import require_extra

Groups: TypeAlias = tuple[tuple[int, ...], ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """A pool, its parameters, and the columns that mutate together."""

    pool: nr.Pool | nr.BitPool  # its rows are candidates in another order
    space: Space
    order: Indices  # (N,) the candidate that each row of the pool is
    groups: Groups | None = None  # None where no two candidates differ in one column alone


def shuffled(count: int) -> Indices:
    """Return an order that tells nothing, always the same.

    Ties go to the first of a pool's rows, and some tables are sorted by what is sought.
    """
    order: Indices = np.random.default_rng(count).permutation(count)
    return order


def framed(columns: Columns, *, log: Collection[str] = (), mutable: bool = True) -> Listing:
    """Take a table as a data frame: words become a feature a level, numbers stay as they are."""
    pyarrow = require_extra("pyarrow", extra="tables", what="python -m evaluation.comparison")
    order = shuffled(len(next(iter(columns.values()))))
    mixed = {name: np.asarray(column)[order] for name, column in columns.items()}
    pool = nr.Pool.from_frame(pyarrow.table(mixed))
    groups = tuple(pool.groups.values()) if mutable else None
    return Listing(pool, Space.of(columns, log=log), order, groups)


def coded(names: Sequence[str], levels: Sequence[str], codes: npt.NDArray[np.uint8]) -> Listing:
    """Take columns of codes, all into the same levels, as one-hot columns: (N, names × levels)."""
    count = len(levels)
    one_hot = np.eye(count)[codes].reshape(len(codes), -1)
    words = np.array(levels)
    space = Space.of({name: words[codes[:, at]].tolist() for at, name in enumerate(names)})
    groups = tuple(tuple(range(at, at + count)) for at in range(0, one_hot.shape[1], count))
    order = shuffled(len(codes))
    return Listing(nr.Pool(one_hot[order]), space, order, groups)


def measured(names: Sequence[str], X: Matrix, *, mutable: bool = False) -> Listing:
    """Take numbers as they are."""
    space = Space.of({name: X[:, at] for at, name in enumerate(names)})
    groups = tuple((at,) for at in range(len(names))) if mutable else None
    order = shuffled(len(X))
    return Listing(nr.Pool(X[order]), space, order, groups)


def sheet(file: str) -> dict[str, list[str]]:
    """Return the columns of a packed CSV file, as text."""
    with gzip.open(path_of(file), "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def floats(column: Sequence[str]) -> Vector:
    return np.array(column, dtype=np.float64)

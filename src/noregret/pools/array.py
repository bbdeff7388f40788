"""A pool over a NumPy array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from noregret.arrays import Matrix, as_matrix
from noregret.errors import ArgumentError, PoolError, require_count
from noregret.pools.base import Keys
from noregret.pools.stacked_table import StackedTable
from noregret.pools.stored import FeaturePool, Names
from noregret.pools.tables.encoding import Encoding
from noregret.pools.tables.feature_spec import Categories, FeatureSpec, Missing, Scale
from noregret.pools.tables.scan import TableScan, scan_table
from noregret.pools.tables.sources import frame_of, is_frame


@final
class Pool(FeaturePool):
    """Hold candidates as rows of a matrix, optionally with one name per row.

    The features are copied, so that later changes to your array change nothing here.

    >>> pool = nr.Pool([[0.0, 1.0], [2.0, 3.0]], names=["water", "ethanol"])
    >>> len(pool), pool.dim
    (2, 2)
    >>> pool.find(["ethanol"]), pool.keys([1])
    (array([1]), array(['ethanol'], dtype='<U7'))
    >>> pool.X[1], pool.rows([1])
    (array([2., 3.]), array([[2., 3.]]))
    >>> [start for start, X in pool.chunks(1)]
    [0, 1]
    >>> pool.read("X", [4, 5]), pool.shown(pool.rows([0]))
    (array([[4., 5.]]), array([[0., 1.]]))
    >>> pool.fingerprint() == nr.Pool(pool.X).fingerprint()  # without names
    False
    """

    __slots__ = ()

    def __init__(self, X: object, *, names: object = None) -> None:
        try:
            matrix = as_matrix("Pool(X=...)", X)
        except ArgumentError as error:
            hint = " Data frames go to Pool.from_frame(frame)." if is_frame(X) else ""
            raise PoolError(f"{error}{hint}") from None
        if matrix.shape[0] == 0 or matrix.shape[1] == 0:
            raise PoolError(
                f"Pool(X=...) needs at least one candidate and one feature, got shape "
                f"{matrix.shape}."
            )
        matrix.flags.writeable = False
        self._hold(matrix, Names(names, len(matrix)))
        self._encoding = Encoding()

    @classmethod
    def numbered(cls, count: int, *, names: object = None) -> Pool:
        """Return a pool whose only feature is the row number, as `Precomputed` kernels want it.

        >>> nr.Pool.numbered(3).X.ravel()
        array([0., 1., 2.])
        """
        numbers = np.arange(require_count("Pool.numbered(count)", count), dtype=np.float64)
        return cls(numbers[:, None], names=names)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        features: Iterable[str] | None = None,
        name: str | None = None,
        categorical: Iterable[str] = (),
        categories: Categories = "onehot",
        missing: Missing = "refuse",
        scale: Scale | None = None,
    ) -> Pool:
        """Take the rows of a data frame as candidates: pandas, Polars, PyArrow or another library.

        `features` selects and orders columns; without it all are taken but `name` (and pandas'
        index), so leave out what you measure. Numbers and booleans become one feature per column.
        Strings, categories and columns in `categorical` become one feature per level, in sorted
        order, 1 where a row has that level and 0 elsewhere; with `categories="codes"` they become
        one feature, the number of the level. `scale="unit"` maps columns of numbers to [0, 1].

        Candidates are addressed by the column `name`, without it by the row numbers of the frame,
        counted from 0. `missing="drop"` leaves out rows that miss a feature or their name (null,
        NaN, infinite), which is logged; the other rows keep their numbers.

        `tell(rows, values)` and `posterior.mean(rows)` take frames with the same columns. Needs the
        extra `tables` (PyArrow). Two passes over the frame, O(N·d).

        >>> import pyarrow
        >>> frame = pyarrow.table({"id": ["a", "b", "c"], "salt": ["KF", "CsF", "KF"],
        ...                        "heat": [20, 40, 80]})
        >>> pool = nr.Pool.from_frame(frame, name="id", scale="unit")
        >>> pool.columns, pool.groups, pool.levels
        (('salt=CsF', 'salt=KF', 'heat'), {'salt': (0, 1), 'heat': (2,)}, {'salt': ('CsF', 'KF')})
        >>> pool.X[1]
        array([1.        , 0.        , 0.33333333])
        """
        spec = FeatureSpec(features, name, categorical, categories, missing, scale)
        source = frame_of("from_frame(frame)", frame)
        return pool_of(scan_table(source, spec, progress=True), progress=True)

    @property
    def X(self) -> Matrix:
        """All features, read-only."""
        if isinstance(self._table, StackedTable):
            whole = self._table[:]
            whole.flags.writeable = False
            self._table = whole
        return self._table


def pool_of(scan: TableScan, *, progress: bool) -> Pool:
    """Return the pool of a table that was walked once, by a second walk into its final place."""
    pool, start = Pool.__new__(Pool), 0
    X: Matrix = np.empty(scan.shape)
    keys: list[Keys] = []
    for block, names in scan.blocks(progress=progress):
        X[start : start + len(block)] = block
        start += len(block)
        keys.append(names)
    X.flags.writeable = False
    pool._hold(X, scan.names(keys))
    pool._encoding = scan.encoding
    return pool

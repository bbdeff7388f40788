"""A pool over a NumPy array."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, as_matrix
from noregret.errors import ArgumentError, PoolError, require_count
from noregret.pools.names import Keys, Names
from noregret.pools.tables.encoding import Encoding, Level, features_of
from noregret.pools.tables.feature_spec import Categories, FeatureSpec, Missing, Scale
from noregret.pools.tables.scan import TableScan, scan_table
from noregret.pools.tables.sources import frame_of, is_frame


@final
class Pool:
    """Hold candidates as rows of a matrix, optionally with a name each.

    The features are copied, so that later changes to your array change nothing here.

    >>> pool = Pool([[0.0, 1.0], [2.0, 3.0]], names=["water", "ethanol"])
    >>> len(pool), pool.dim
    (2, 2)
    >>> pool.find(["ethanol"])
    array([1])
    """

    __slots__ = ("_X", "_encoding", "_fingerprint", "_names")

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
        self._X: Matrix = matrix
        self._names = Names(names, len(matrix))
        self._encoding: Encoding | None = None
        self._fingerprint: str | None = None

    @classmethod
    def numbered(cls, count: int, *, names: object = None) -> Pool:
        """Return a pool whose only feature is the row number, as `Precomputed` kernels want it.

        >>> Pool.numbered(3).X.ravel()
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
        index), so leave out what you measure. Numbers and booleans become a feature each. Strings,
        categories and columns in `categorical` become a feature a level, in sorted order, 1 where
        a row has it, in the place of the column; with `categories="codes"` one feature, the place
        of the level. `scale="unit"` maps every column of numbers to [0, 1].

        Candidates are addressed by the column `name`, without it by the row numbers of the frame,
        counted from 0; they stay what they were where `missing="drop"` leaves out rows that miss a
        feature or their name (null, NaN, infinite), and says so to the log.

        `tell(rows, values)` and `posterior.mean(rows)` take frames with the same columns. Needs the
        extra `tables` (PyArrow). Two passes over the frame, O(N·d).

        >>> import pyarrow
        >>> frame = pyarrow.table({"id": ["a", "b", "c"], "salt": ["KF", "CsF", "KF"],
        ...                        "heat": [20, 40, 80]})
        >>> pool = Pool.from_frame(frame, name="id", scale="unit")
        >>> pool.columns
        ('salt=CsF', 'salt=KF', 'heat')
        >>> pool.X[1]
        array([1.        , 0.        , 0.33333333])
        """
        spec = FeatureSpec(features, name, categorical, categories, missing, scale)
        source = frame_of("from_frame(frame)", frame)
        return pool_of(scan_table(source, spec, progress=True), progress=True)

    @property
    def dim(self) -> int:
        """Number of features.

        >>> Pool([[0.0, 1.0], [2.0, 3.0]]).dim
        2
        """
        return int(self._X.shape[1])

    @property
    def X(self) -> Matrix:
        """All features, read-only.

        >>> Pool([[0.0, 1.0], [2.0, 3.0]]).X
        array([[0., 1.],
               [2., 3.]])
        """
        return self._X

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features, where they come from a table; none otherwise.

        >>> import pyarrow
        >>> table = pyarrow.table({"salt": ["KF", "CsF"], "heat": [20, 40]})
        >>> Pool.from_frame(table).columns
        ('salt=CsF', 'salt=KF', 'heat')
        """
        return () if self._encoding is None else self._encoding.labels

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """For every column of the table, the features that it became.

        >>> import pyarrow
        >>> table = pyarrow.table({"salt": ["KF", "CsF"], "heat": [20, 40]})
        >>> Pool.from_frame(table).groups
        {'salt': (0, 1), 'heat': (2,)}
        """
        return {} if self._encoding is None else self._encoding.groups

    @property
    def levels(self) -> dict[str, tuple[Level, ...]]:
        """For every column of levels, the levels in the order of their features or codes.

        >>> import pyarrow
        >>> table = pyarrow.table({"salt": ["KF", "CsF"], "heat": [20, 40]})
        >>> Pool.from_frame(table).levels
        {'salt': ('CsF', 'KF')}
        """
        return {} if self._encoding is None else self._encoding.levels

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def __repr__(self) -> str:
        made = "" if self._encoding is None else f": {self._encoding}"
        named = ", named" if self._names.given else ""
        return f"Pool({len(self)} candidates × {self.dim} features{made}{named})"

    def read(self, name: str, X: object) -> Matrix:
        """Return features that a user gave, checked: a matrix, or a frame like the pool's.

        >>> Pool([[0.0, 1.0]]).read("X", [[4, 5]])
        array([[4., 5.]])
        """
        return features_of(name, X, self.dim, self._encoding)

    def shown(self, X: Matrix) -> Matrix:
        """Return features as they are.

        >>> pool = Pool([[0.0, 1.0]])
        >>> pool.shown(pool.X)
        array([[0., 1.]])
        """
        return X

    def rows(self, index: Indices) -> Matrix:
        """Return the features of the given rows.

        >>> Pool([[0.0], [0.5], [1.0]]).rows([2, 0])
        array([[1.],
               [0.]])
        """
        return self._X[index]

    def chunks(self, size: int) -> Iterator[tuple[int, Matrix]]:
        """Walk the pool in order, at most `size` rows at a time.

        >>> [(start, len(X)) for start, X in Pool([[0.0], [0.5], [1.0]]).chunks(2)]
        [(0, 2), (2, 1)]
        """
        for start in range(0, len(self), size):
            yield start, self._X[start : start + size]

    def keys(self, index: Indices) -> Keys:
        """Return the names of the given rows; without names, the rows themselves.

        >>> Pool([[0.0], [1.0]], names=["water", "ethanol"]).keys([1])
        array(['ethanol'], dtype='<U7')
        """
        return self._names.of(index)

    def find(self, keys: object) -> Indices:
        """Return the rows of the given names (or row numbers, for a pool without names).

        >>> Pool([[0.0], [1.0]], names=["water", "ethanol"]).find("water")
        array([0])
        """
        return self._names.find(keys)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest of shape, features and names.

        >>> Pool([[0.0], [1.0]]).fingerprint() == Pool([[0.0], [1.0]]).fingerprint()
        True
        """
        if self._fingerprint is None:
            digest = hashlib.sha256(repr(self._X.shape).encode())
            digest.update(self._X.data)
            self._names.digest(digest)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint


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
    pool._X, pool._names = X, scan.names(keys)
    pool._encoding, pool._fingerprint = scan.encoding, None
    return pool

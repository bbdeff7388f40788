"""Kernels that are given as a function, or as a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from noregret.arrays import CHUNK_BYTES, Indices, Matrix, Rows, Vector
from noregret.errors import ArgumentError, KernelError, require_number
from noregret.kernels.base import KernelBase

Gram: TypeAlias = Callable[[Rows, Rows], npt.ArrayLike]
Diagonal: TypeAlias = Callable[[Rows], npt.ArrayLike]
BLOCK = 32  # rows whose diagonal is cut out of one block: a call costs about as much as its pairs
SAMPLED = 2048  # rows on which definiteness is checked, at most
ROUNDING = 1e-8  # of the largest entry, as in `probe`


@final
class FunctionKernel(KernelBase):
    """Make a kernel of any function k(X, Z) that returns a value for every row of X and row of Z.

    `diagonal` is a function of X that returns k(x, x) for each row, or a number where that is
    constant; without it, k is called on blocks of 32 rows, at 32 times the cost. The function is
    given rows as the pool keeps them (packed bits of a `BitPool`, a `Box` scaled to [0, 1]), and
    several threads may call it at once. Saved runs do not hold it: give it to `load` again.

    >>> brownian = FunctionKernel(lambda X, Z: np.minimum(X, Z.T), diagonal=lambda X: X[:, 0])
    >>> brownian(np.array([[1.0], [2.0]]), np.array([[1.5]]))
    array([[1. ],
           [1.5]])
    """

    __slots__ = ("_diagonal", "_function")

    def __init__(self, function: Gram, *, diagonal: Diagonal | float | None = None) -> None:
        if isinstance(function, type) or not callable(function):
            raise ArgumentError(
                f"FunctionKernel(function) must be callable as k(X, Z), got {function!r}."
            )
        if diagonal is not None and not callable(diagonal):
            diagonal = require_number("FunctionKernel(diagonal=...)", diagonal)
        self._function = function
        self._diagonal = diagonal

    def __repr__(self) -> str:
        return f"FunctionKernel({getattr(self._function, '__name__', repr(self._function))})"

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        shape = len(X), len(Z)
        if 0 in shape:
            return np.zeros(shape)
        K = np.array(self._function(X, Z), dtype=np.float64)  # a copy: ours is written to
        if K.shape != shape:
            raise KernelError(
                f"{self!r} must return shape {shape} for {shape[0]} and {shape[1]} rows, got "
                f"{K.shape}."
            )
        return K

    def diagonal(self, X: Rows) -> Vector:
        if self._diagonal is None:
            blocks = [X[start : start + BLOCK] for start in range(0, len(X), BLOCK)]
            return np.concatenate([np.empty(0), *(np.diag(self(part, part)) for part in blocks)])
        if not callable(self._diagonal):
            return np.full(len(X), self._diagonal)
        values = np.array(self._diagonal(X), dtype=np.float64)
        if values.shape != (len(X),):
            raise KernelError(
                f"the diagonal of {self!r} must have shape ({len(X)},) for {len(X)} rows, got "
                f"{values.shape}."
            )
        return values


@final
class Precomputed(KernelBase):
    """Take k(x, z) from a given matrix: a Gram matrix, or any positive semidefinite similarity.

    The pool is `Pool.numbered(len(K))`, whose one feature is the row number; `tell`, `batch.ids`
    and names work as always. K is neither copied nor converted (it may be float32, or a memory
    map), so it must not change during a run. Saved runs do not hold it: give it to `load` again.

    K is checked to be symmetric and finite (a memory map on 2048 rows only) and positive
    semidefinite, on 2048 rows where there are more: O(N²), and one Cholesky factor.

    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> pool = nr.Pool.numbered(2, names=["a", "b"])
    >>> Precomputed(K)(pool.X, pool.X)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    __slots__ = ("_K",)

    def __init__(self, K: object) -> None:
        matrix = np.asarray(K)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise KernelError(
                f"Precomputed(K=...) must be square, a row and a column for each candidate, got "
                f"shape {matrix.shape}."
            )
        if matrix.dtype.kind not in "fiu":
            raise KernelError(f"Precomputed(K=...) must hold numbers, got {matrix.dtype}.")
        N = len(matrix)
        some = np.unique(np.linspace(0, N - 1, SAMPLED).astype(np.int64))
        sample = np.asarray(matrix[np.ix_(some, some)], dtype=np.float64)
        if isinstance(K, np.memmap):
            _require_symmetric(sample, some)
        else:
            _require_symmetric(matrix, np.arange(N))
        _require_semidefinite(sample, N)
        self._K: npt.NDArray[np.floating] = matrix

    def __len__(self) -> int:
        return len(self._K)

    def __repr__(self) -> str:
        return f"Precomputed({len(self)} × {len(self)})"

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        i, j = self._numbers(X), self._numbers(Z)
        if len(i) > len(j):  # the fewer rows of K are read, the more of each
            return np.asarray(self._K[np.ix_(j, i)].T, dtype=np.float64)
        return np.asarray(self._K[np.ix_(i, j)], dtype=np.float64)

    def diagonal(self, X: Rows) -> Vector:
        i = self._numbers(X)
        return np.asarray(self._K[i, i], dtype=np.float64)

    def _numbers(self, X: Rows) -> Indices:
        """Return the row numbers that features are."""
        if X.shape[1] != 1:
            raise KernelError(
                f"Precomputed looks candidates up by number: make the pool by "
                f"noregret.Pool.numbered({len(self)}), got rows of {X.shape[1]} features."
            )
        rows = X[:, 0].astype(np.int64)
        wrong = np.flatnonzero((rows != X[:, 0]) | (rows < 0) | (rows >= len(self)))
        if wrong.size:
            raise KernelError(
                f"Precomputed has rows 0 to {len(self) - 1}, got {X[wrong[0], 0]:g}: the pool is "
                f"noregret.Pool.numbered({len(self)})."
            )
        return rows


def _require_symmetric(K: npt.NDArray[np.floating], numbers: Indices) -> None:
    """Raise unless K is finite and symmetric, a few rows and columns at a time, numbered so."""
    step = max(1, CHUNK_BYTES // (8 * len(K)))
    for start in range(0, len(K), step):
        down, right = K[start : start + step], K[:, start : start + step].T
        scale = float(np.abs(down).max())
        if not np.isfinite(scale):
            row, column = np.argwhere(~np.isfinite(down))[0].tolist()
            i, j = numbers[start + row], numbers[column]
            raise KernelError(
                f"Precomputed(K=...) must be finite: K[{i}, {j}] is {down[row, column]}."
            )
        off = np.abs(down - right)
        if not float(off.max()) <= ROUNDING * scale:
            row, column = np.unravel_index(int(np.argmax(off)), off.shape)
            i, j = numbers[start + row], numbers[column]
            raise KernelError(
                f"Precomputed(K=...) must be symmetric: K[{i}, {j}] is {down[row, column]:g}, "
                f"K[{j}, {i}] is {right[row, column]:g}. (K + K.T) / 2 is."
            )


def _require_semidefinite(K: Matrix, N: int) -> None:
    """Raise unless K, all or some rows of a matrix of N, has no eigenvalue below rounding."""
    n, scale = len(K), max(float(np.abs(K).max()), np.finfo(np.float64).tiny)
    room = ROUNDING * scale * n
    if lapack.dpotrf(K + room * np.eye(n), lower=1)[1] == 0:
        return
    least = float(np.linalg.eigvalsh(K)[0])
    where = "" if n == N else f" on {n} of its {N} rows"
    raise KernelError(
        f"Precomputed(K=...) is not positive semidefinite: its smallest eigenvalue{where} is "
        f"{least:.4g}. Clip what is negative: w, V = np.linalg.eigh(K); "
        "K = (V * w.clip(min=0)) @ V.T"
    )

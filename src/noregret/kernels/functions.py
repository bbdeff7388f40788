"""k(x, z) by a function of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Matrix, Rows, Vector
from noregret.errors import ArgumentError, KernelError, require_number
from noregret.kernels.algebra import plus, times

Gram: TypeAlias = Callable[[Rows, Rows], npt.ArrayLike]
Diagonal: TypeAlias = Callable[[Rows], npt.ArrayLike]
BLOCK = 32  # rows whose diagonal is cut out of one block: a call costs about as much as its pairs


@final
class FunctionKernel:
    """Make a kernel of any function k(X, Z) that gives a value for each row of X and row of Z.

    `diagonal` is a function of X giving k(x, x) for each row, or a number where that is constant;
    without it, k is called on blocks of 32 rows, at 32 times the cost. The function sees rows as
    the pool keeps them (packed bits of a `BitPool`, a `Box` scaled to [0, 1]), and several threads
    may call it at once. A saved run does not hold it: give it to `load` again.

    >>> brownian = FunctionKernel(lambda X, Z: np.minimum(X, Z.T), diagonal=lambda X: X[:, 0])
    >>> brownian(np.array([[1.0], [2.0]]), np.array([[1.5]]))
    array([[1. ],
           [1.5]])
    """

    __slots__ = ("_diagonal", "_function")

    __add__ = plus
    __mul__ = times
    __rmul__ = times

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
        own = np.array(self._diagonal(X), dtype=np.float64)
        if own.shape != (len(X),):
            raise KernelError(
                f"the diagonal of {self!r} must have shape ({len(X)},) for {len(X)} rows, got "
                f"{own.shape}."
            )
        return own

"""A box: continuous candidates between bounds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from noregret.arrays import Mask, Matrix, Vector, as_floats, as_matrix
from noregret.errors import ArgumentError, PoolError

GRID = 2.0**30  # steps from one end of a dimension to the other: closer points are one point


@final
class Box:
    """All points between bounds, one pair (low, high) a dimension.

    Dimensions in `log` are searched on a logarithmic scale; those in `integer` take whole numbers
    only. Kernels see every dimension scaled to [0, 1], so that a lengthscale of 0.2 is a fifth of
    the way across; `posterior`, `tell`, `batch.x` and `best().x` speak in your units.

    >>> box = Box([(1e-4, 1e-1), (1, 8)], log=[0], integer=[1])
    >>> box.shown(box.read("X", [[0.01, 5]]))
    array([[0.01, 5.  ]])
    """

    __slots__ = ("_high", "_integer", "_log", "_low")

    def __init__(
        self, bounds: object, *, log: Sequence[int] = (), integer: Sequence[int] = ()
    ) -> None:
        if isinstance(bounds, Mapping):
            raise PoolError(
                "Box(bounds=...) takes pairs (low, high) in order, one a dimension, without names: "
                "give list(bounds.values())."
            )
        try:
            pairs = as_floats("Box(bounds=...)", bounds)
        except ArgumentError as error:
            raise PoolError(str(error)) from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise PoolError(
                f"Box(bounds=...) must be pairs (low, high), one a dimension, got shape "
                f"{pairs.shape}."
            )
        d = len(pairs)
        self._log, self._integer = _flags("log", log, d), _flags("integer", integer, d)
        for at, (low, high) in enumerate(pairs.tolist()):
            if not low < high:
                raise PoolError(
                    f"Box(bounds=...): dimension {at} goes from {low:g} to {high:g}; the first "
                    "number must be the smaller one."
                )
            if self._log[at] and low <= 0:
                raise PoolError(
                    f"Box(log=...): dimension {at} starts at {low:g}; a logarithmic scale needs "
                    "bounds above 0."
                )
            if self._integer[at] and (low != round(low) or high != round(high)):
                raise PoolError(
                    f"Box(integer=...): dimension {at} goes from {low:g} to {high:g}; its bounds "
                    "must be whole numbers."
                )
            self._check_span(at, low, high)
        self._low: Vector = pairs[:, 0].copy()
        self._high: Vector = pairs[:, 1].copy()

    def _check_span(self, at: int, low: float, high: float) -> None:
        """Refuse a dimension of more steps than the grid has."""
        with np.errstate(over="ignore"):
            span = np.log(high / low) * high if self._log[at] else np.float64(high) - low
        if not np.isfinite(span):
            raise PoolError(
                f"Box(bounds=...): dimension {at} goes from {low:g} to {high:g}, which is too far."
            )
        if self._integer[at] and span > GRID / 4:
            raise PoolError(
                f"Box(integer=...): dimension {at} goes from {low:g} to {high:g}: too many whole "
                "numbers to tell them apart. Let it be a continuous one."
            )

    @property
    def dim(self) -> int:
        """Number of dimensions.

        >>> Box([(0, 1), (0, 5)]).dim
        2
        """
        return len(self._low)

    @property
    def bounds(self) -> Matrix:
        """The bounds, one pair a dimension.

        >>> Box([(0, 1), (0, 5)]).bounds
        array([[0., 1.],
               [0., 5.]])
        """
        return np.stack([self._low, self._high], axis=1)

    @property
    def integer(self) -> Mask:
        """Which dimensions take whole numbers only.

        >>> Box([(0, 1), (0, 5)], integer=[1]).integer
        array([False,  True])
        """
        return self._integer

    @property
    def log(self) -> Mask:
        """Which dimensions are searched on a logarithmic scale.

        >>> Box([(1e-3, 1), (0, 5)], log=[0]).log
        array([ True, False])
        """
        return self._log

    @property
    def has_integers(self) -> bool:
        """Whether some dimension takes whole numbers only.

        >>> Box([(0, 1), (0, 5)]).has_integers
        False
        """
        return bool(self._integer.any())

    def __repr__(self) -> str:
        kinds = (("log", self._log), ("integer", self._integer))
        some = [f", {name}={np.flatnonzero(of).tolist()}" for name, of in kinds if of.any()]
        return f"Box({self.bounds.tolist()}{''.join(some)})"

    def read(self, name: str, X: object) -> Matrix:
        """Return points given in the user's units, scaled to the unit cube.

        >>> Box([(0, 10), (1, 100)], log=[1]).read("X", [[5, 10]])
        array([[0.5, 0.5]])
        """
        given = as_matrix(name, X, columns=self.dim)
        slack = 1e-9 * (self._high - self._low)
        outside = (given < self._low - slack) | (given > self._high + slack)
        if outside.any():
            row, at = np.argwhere(outside)[0].tolist()
            raise ArgumentError(
                f"{name}: point {row} has {given[row, at]:g} in dimension {at}, outside the box, "
                f"which goes from {self._low[at]:g} to {self._high[at]:g}."
            )
        broken = self._integer & (np.abs(given - np.round(given)) > 1e-9)
        if broken.any():
            row, at = np.argwhere(broken)[0].tolist()
            raise ArgumentError(
                f"{name}: point {row} has {given[row, at]:g} in dimension {at}, which takes whole "
                "numbers only."
            )
        return self.snapped(self._scaled(np.clip(given, self._low, self._high)))

    def shown(self, X: Matrix) -> Matrix:
        """Return points of the unit cube in the user's units.

        >>> Box([(0, 10), (1, 100)], log=[1]).shown(np.array([[0.5, 0.5]]))
        array([[ 5., 10.]])
        """
        low, high = self._low, self._high
        plain = low + X * (high - low)
        safe = np.where(self._log, low, 1.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            curved = safe * np.where(self._log, high / safe, 1.0) ** X
        out = np.clip(np.where(self._log, curved, plain), low, high)
        return np.asarray(np.where(self._integer, np.round(out), out))

    def snapped(self, U: Matrix) -> Matrix:
        """Return points of the unit cube moved to the nearest one that is a candidate.

        >>> Box([(0, 4)], integer=[0]).snapped(np.array([[0.3]]))
        array([[0.25]])
        """
        U = np.round(np.clip(U, 0.0, 1.0) * GRID) / GRID
        if self._integer.any():
            whole = self._scaled(self.shown(U))
            U = np.where(self._integer, np.round(whole * GRID) / GRID, U)
        return U

    def sample(self, size: int, rng: np.random.Generator) -> Matrix:
        """Return points drawn uniformly in the unit cube, whole numbers being equally likely.

        >>> box = Box([(0, 4)], integer=[0])
        >>> box.shown(box.sample(5, np.random.default_rng(0))).T
        array([[3., 1., 0., 0., 4.]])
        """
        U = rng.random((size, self.dim))
        return self.snapped(self.spread(U))

    def spread(self, U: Matrix) -> Matrix:
        """Return numbers in [0, 1) such that every whole number gets an equal share of them.

        >>> Box([(0, 4)], integer=[0]).spread(np.array([[0.1], [0.3]])).T
        array([[0.  , 0.25]])
        """
        if not self._integer.any():
            return U
        count = self._high - self._low + 1.0
        whole = self._scaled(self._low + np.minimum(np.floor(U * count), count - 1))
        return np.where(self._integer & ~self._log, whole, U)

    def neighbours(self, u: Vector) -> Matrix:
        """Return points of the unit cube that differ by one in one whole number.

        >>> Box([(0, 4)], integer=[0]).neighbours(np.array([0.5])).T
        array([[0.75, 0.25]])
        """
        x = self.shown(u[None])[0]
        steps = np.eye(self.dim)[self._integer]
        moved = np.concatenate([x + steps, x - steps])
        inside = ((moved >= self._low) & (moved <= self._high)).all(axis=1)
        near = np.where(self._integer, self._scaled(moved[inside]), u)
        return self.snapped(near)

    def fingerprint(self) -> str:
        """Return a SHA-256 digest of bounds and kinds.

        >>> Box([(0, 1)]).fingerprint() == Box([(0, 2)]).fingerprint()
        False
        """
        parts = (self._low, self._high, self._log, self._integer)
        return hashlib.sha256(b"box" + b"".join(part.tobytes() for part in parts)).hexdigest()

    def _scaled(self, X: Matrix) -> Matrix:
        low, high = self._low, self._high
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            curved = np.log(X / low) / np.log(high / low)
        return np.asarray(np.where(self._log, curved, (X - low) / (high - low)))


def _flags(name: str, dimensions: Sequence[int], d: int) -> Mask:
    flags = np.zeros(d, dtype=np.bool_)
    for at in dimensions:
        if not isinstance(at, int | np.integer) or isinstance(at, bool) or not 0 <= at < d:
            raise PoolError(
                f"Box({name}=...) must list dimensions by number, from 0 to {d - 1}, got {at!r}."
            )
        flags[at] = True
    return flags

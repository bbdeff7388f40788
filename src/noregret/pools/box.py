"""A box: continuous candidates between bounds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from noregret.arrays import Mask, Matrix, Vector, as_floats, as_matrix
from noregret.errors import ArgumentError, PoolError
from noregret.pools.base import Domain

GRID = 2.0**30  # steps from one end of a dimension to the other: closer points are the same


@final
class Box(Domain):
    """All points between bounds, one pair (low, high) per dimension.

    Dimensions in `log` are searched on a logarithmic scale; those in `integer` take whole numbers
    only. Kernels see every dimension scaled to [0, 1], so that a lengthscale of 0.2 is a fifth of
    the way across; `posterior`, `tell`, `batch.x` and `best().x` are in your units.

    >>> box = nr.Box([(1e-4, 1e-1), (1, 5)], log=[0], integer=[1])
    >>> box.dim, box.bounds[1], box.log, box.integer
    (2, array([1., 5.]), array([ True, False]), array([False,  True]))

    Inside, points lie in the unit cube; what is no candidate is moved to the nearest that is:

    >>> U = box.read("X", [[0.01, 2]])
    >>> U.round(3), box.shown(U), box.snapped(np.array([[0.5, 0.3]]))
    (array([[0.667, 0.25 ]]), array([[0.01, 2.  ]]), array([[0.5 , 0.25]]))
    >>> box.shown(box.neighbours(U[0]))  # one step away in a whole number
    array([[0.01, 3.  ],
           [0.01, 1.  ]])
    >>> box.shown(box.sample(2, np.random.default_rng(0))).round(4).tolist()
    [[0.0081, 2.0], [0.0001, 1.0]]
    >>> box.from_uniform(np.array([[0.5, 0.19], [0.5, 0.21]])).tolist()  # a fifth per whole number
    [[0.5, 0.0], [0.5, 0.25]]
    >>> box.fingerprint() == nr.Box(box.bounds).fingerprint()
    False
    """

    __slots__ = ("_high", "_integer", "_log", "_low")

    def __init__(
        self, bounds: object, *, log: Sequence[int] = (), integer: Sequence[int] = ()
    ) -> None:
        if isinstance(bounds, Mapping):
            raise PoolError(
                "Box(bounds=...) takes pairs (low, high) in order, one per dimension, without "
                "names: give list(bounds.values())."
            )
        try:
            pairs = as_floats("Box(bounds=...)", bounds)
        except ArgumentError as error:
            raise PoolError(str(error)) from None
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise PoolError(
                f"Box(bounds=...) must be pairs (low, high), one per dimension, got shape "
                f"{pairs.shape}."
            )
        d = len(pairs)
        self._log, self._integer = _flags("log", log, d), _flags("integer", integer, d)
        for at, (low, high) in enumerate(pairs):
            _require_interval(at, low, high, log=self._log[at], integer=self._integer[at])
        self._low: Vector = pairs[:, 0].copy()
        self._high: Vector = pairs[:, 1].copy()

    @property
    def dim(self) -> int:
        return len(self._low)

    @property
    def bounds(self) -> Matrix:
        """The bounds, one pair per dimension."""
        return np.stack([self._low, self._high], axis=1)

    @property
    def integer(self) -> Mask:
        """Which dimensions take whole numbers only."""
        return self._integer

    @property
    def log(self) -> Mask:
        """Which dimensions are searched on a logarithmic scale."""
        return self._log

    def __repr__(self) -> str:
        kinds = (("log", self._log), ("integer", self._integer))
        some = [f", {name}={np.flatnonzero(of).tolist()}" for name, of in kinds if of.any()]
        return f"Box({self.bounds.tolist()}{''.join(some)})"

    def read(self, name: str, X: object) -> Matrix:
        given = as_matrix(name, X, columns=self.dim)
        slack = 1e-9 * (self._high - self._low)
        outside = (given < self._low - slack) | (given > self._high + slack)
        broken = self._integer & (np.abs(given - np.round(given)) > 1e-9)
        for wrong, rule in (
            (outside, "which goes from {:g} to {:g} in this box"),
            (broken, "which takes whole numbers only"),
        ):
            if wrong.any():
                row, at = np.argwhere(wrong)[0].tolist()
                raise ArgumentError(
                    f"{name}: point {row} has {given[row, at]} in dimension {at}, "
                    f"{rule.format(self._low[at], self._high[at])}."
                )
        return self.snapped(self._scaled(np.clip(given, self._low, self._high)))

    def shown(self, X: Matrix) -> Matrix:
        low, high = self._low, self._high
        safe = np.where(self._log, low, 1.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            curved = safe * np.where(self._log, high / safe, 1.0) ** X
        out = np.clip(np.where(self._log, curved, low + X * (high - low)), low, high)
        return np.asarray(np.where(self._integer, np.round(out), out))

    def snapped(self, U: Matrix) -> Matrix:
        """Return points of the unit cube moved to the nearest candidate."""
        U = np.round(np.clip(U, 0.0, 1.0) * GRID) / GRID
        if self._integer.any():
            whole = self._scaled(self.shown(U))
            U = np.where(self._integer, np.round(whole * GRID) / GRID, U)
        return U

    def sample(self, size: int, rng: np.random.Generator) -> Matrix:
        """Return candidates drawn uniformly, all whole numbers being equally likely."""
        return self.from_uniform(rng.random((size, self.dim)))

    def from_uniform(self, U: Matrix) -> Matrix:
        """Return candidates for numbers in [0, 1), with equal shares for all whole numbers.

        On a logarithmic scale the share of a whole number is that of the points nearest to it.
        """
        if self._integer.any():
            count = self._high - self._low + 1.0
            whole = self._scaled(self._low + np.minimum(np.floor(U * count), count - 1))
            U = np.where(self._integer & ~self._log, whole, U)
        return self.snapped(U)

    def neighbours(self, u: Vector) -> Matrix:
        """Return points of the unit cube that differ by one in one whole number."""
        x = self.shown(u[None])[0]
        steps = np.eye(self.dim)[self._integer]
        moved = np.concatenate([x + steps, x - steps])
        inside = ((moved >= self._low) & (moved <= self._high)).all(axis=1)
        near = np.where(self._integer, self._scaled(moved[inside]), u)
        return self.snapped(near)

    def fingerprint(self) -> str:
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


def _require_interval(
    at: int, low: np.float64, high: np.float64, *, log: np.bool_, integer: np.bool_
) -> None:
    """Raise unless a dimension can be searched between its bounds."""
    with np.errstate(all="ignore"):
        span = np.log(high / low) * high if log else high - low
    whole = low == np.round(low) and high == np.round(high)
    rules = (
        ("bounds", low < high, "the first number must be the smaller one"),
        ("log", not log or low > 0, "a logarithmic scale needs bounds above 0"),
        ("integer", not integer or whole, "its bounds must be whole numbers"),
        ("bounds", np.isfinite(span), "such a range is too wide for floating-point numbers"),
        (
            "integer",
            not integer or span <= GRID / 4,
            "so many whole numbers cannot be told apart. Leave it out of integer=[...]",
        ),
    )
    for name, kept, rule in rules:
        if not kept:
            raise PoolError(
                f"Box({name}=...): dimension {at} goes from {low:g} to {high:g}; {rule}."
            )

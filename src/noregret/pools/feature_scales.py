"""The range and deviation of every feature, in which distances are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector, chunk_rows
from noregret.pools.points import Points


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Lowest value, range and standard deviation of each feature; a box is a cube of side 1.

    Two passes over the pool, in chunks. A feature that never changes has range 0.
    """

    low: Vector
    span: Vector
    deviation: Vector

    @classmethod
    def of(cls, points: Points) -> Scales:
        if points.box is not None:
            ones = np.ones(points.dim)
            return cls(np.zeros(points.dim), ones, ones)
        ends = [(X.min(axis=0), X.max(axis=0)) for _, X in numbers(points)]
        low = np.min([lowest for lowest, _ in ends], axis=0)
        span = np.max([highest for _, highest in ends], axis=0) - low
        total, square = np.zeros(len(low)), np.zeros(len(low))
        for _, X in numbers(points):
            U = (X - low) / _divisor(span)  # in [0, 1]: no square underflows or overflows
            total += U.sum(axis=0)
            square += np.einsum("ij,ij->j", U, U)
        N = points.candidates
        variance = np.maximum(square / N - (total / N) ** 2, 0.0)  # at least 1/(2N), or 0
        return cls(low, span, span * np.sqrt(variance))

    def standard_squares(self, X: Matrix, x: Vector) -> Vector:
        """Return the squared distance of each row to x, features in standard deviations."""
        return _squares(X, x, self.deviation)

    def unit_squares(self, X: Matrix, x: Vector) -> Vector:
        """Return the squared distance of each row to x, features in parts of their ranges."""
        return _squares(X, x, self.span)


@final
class BitSquares:
    """Squared distances of all rows of a pool of bits to one row, in standard deviations, nearly.

    With w = 1/deviation², and c the sum of w over the bits that are set in x, row i is

        Σⱼ wⱼ [Xᵢⱼ ≠ xⱼ]  =  Σⱼ wⱼ Xᵢⱼ + c − 2 Σⱼ wⱼ Xᵢⱼ xⱼ                                (1)

    away. The first sum is kept, 8 bytes per row; the last only needs the bits that are set in x, in
    packed rows: O(N·set bits), once O(N·bits). Cancellation leaves an error of at most `slack`
    against `Scales.standard_squares`.
    """

    def __init__(self, points: Points, scales: Scales) -> None:
        self._points = points
        self._weights = 1 / _divisor(scales.deviation) ** 2
        self._sums = np.concatenate([X @ self._weights for _, X in numbers(points)])

    def to(self, x: Rows) -> tuple[Vector, float]:
        """Return the squared distance of each candidate to a packed row x, and the slack."""
        at = np.flatnonzero(np.unpackbits(x.view(np.uint8)))
        weights, byte, bit = self._weights[at], at // 8, np.left_shift(1, 7 - at % 8)
        bit, c = bit.astype(np.uint8), float(weights.sum())
        squares = self._sums + c
        for start, X in self._points.chunks(chunk_rows(max(len(at), self._points.dim))):
            common = (X.view(np.uint8).take(byte, axis=1) & bit) != 0
            squares[start : start + len(X)] -= 2 * (common.astype(np.float64) @ weights)  # (1)
        rounding = 4 * len(self._weights) * np.finfo(np.float64).eps
        return squares, rounding * (float(self._sums.max()) + c)


def numbers(points: Points) -> Iterator[tuple[int, Matrix]]:
    """Walk the candidates of a pool in chunks of features, packed bits being unpacked."""
    for start, X in points.chunks(chunk_rows(8 * points.dim)):  # a byte may become eight
        yield start, as_numbers(X)


def as_numbers(X: Rows) -> Matrix:
    """Return features as numbers; a byte of packed bits becomes eight of them."""
    if X.dtype != np.uint8:
        return X
    return np.unpackbits(X.view(np.uint8), axis=1).astype(np.float64)


def _squares(X: Matrix, x: Vector, scale: Vector) -> Vector:
    """Return squared distances, of differences: whole numbers equally far away stay so exactly."""
    gaps = (X - x) / _divisor(scale)
    return np.asarray(np.einsum("ij,ij->i", gaps, gaps))


def _divisor(scale: Vector) -> Vector:
    return np.where(scale > 0, scale, 1.0)  # a feature that never changes has no differences

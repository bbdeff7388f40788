"""k(x, z) of categories: alike in as many as agree.

k(x, z) = 1 where x and z are the same: what a candidate shares with no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector, require_numbers
from noregret.errors import ArgumentError, require_at_least, require_count
from noregret.kernels.base import Kernel, KernelBase, KernelGradient, UnitVarianceKernel, slopes
from noregret.pools import hashed
from noregret.storable import storable

CACHED = 1 << 15  # numbers in a block that stays in a core's own cache
WIDEST = 52  # columns of 0 and 1 that one float64 tells apart


@final
@storable("Categorical")
@dataclass(frozen=True, slots=True)
class Categorical(UnitVarianceKernel):
    """Hamming kernel on categories: k(x, z) = exp(−Σ_g weight_g·[x_g ≠ z_g]).

    A product of one kernel a feature, each 1 where two candidates agree and e^(−weight) where they
    do not, so that it is positive definite. `weights` is one number for all features, or one a
    feature; a feature of weight 0 is not looked at.

    A column is a feature, holding codes of which only equality counts. With `groups`, columns
    belong together: `groups=(1, 5, 3)` is a column of codes, then one-hot blocks of 5 and of 3
    columns, each block one feature. One comparison a pair and feature.

    >>> kernel = Categorical(weights=(1.0, 0.5))
    >>> kernel(np.array([[3.0, 1.0]]), np.array([[3.0, 1.0], [3.0, 2.0], [0.0, 2.0]])).round(3)
    array([[1.   , 0.607, 0.223]])
    >>> Categorical(groups=(3,))(np.array([[0.0, 0.0, 1.0]]), np.eye(3)).round(3)
    array([[0.368, 0.368, 1.   ]])
    """

    weights: float | tuple[float, ...] = 1.0
    groups: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        name, weights, groups = "Categorical(weights=...)", self.weights, self.groups
        several = _listed(name, weights)
        if several is not None:
            each = tuple(require_at_least(name, weight, 0.0) for weight in several)
            object.__setattr__(self, "weights", each)
        else:
            object.__setattr__(self, "weights", require_at_least(name, weights, 0.0))
        if groups is None:
            return
        name = "Categorical(groups=...)"
        widths = _listed(name, groups)
        if widths is None:
            raise ArgumentError(f"{name} must list the widths of blocks, got {groups!r}.")
        checked = tuple(require_count(name, width) for width in widths)
        if max(checked) > WIDEST:
            raise ArgumentError(
                f"{name}: a block of {max(checked)} columns is wider than {WIDEST}; give such a "
                "feature as one column of codes."
            )
        object.__setattr__(self, "groups", checked)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        require_numbers(X, Z)
        A, B = self._codes(X), self._codes(Z)
        w = np.broadcast_to(self.weights, len(A))
        K = np.zeros((A.shape[1], B.shape[1]))
        if not K.size:
            return K
        step = max(1, CACHED // len(Z))
        for start in range(0, len(X), step):
            block = K[start : start + step]
            apart, share = np.empty(block.shape, dtype=np.bool_), np.empty(block.shape)
            for at in np.flatnonzero(w).tolist():
                np.not_equal(A[at, start : start + step, None], B[at], out=apart)
                block -= np.multiply(apart, w[at], out=share)
            np.exp(block, out=block)
        return K

    def _codes(self, X: Matrix) -> Matrix:
        """Return a row for each feature, a number for each row of X."""
        if self.groups is None:
            codes = np.ascontiguousarray(X.T)
        else:
            codes = _codes_of_blocks(X, self.groups)
        if isinstance(self.weights, tuple) and len(self.weights) != len(codes):
            raise ArgumentError(
                f"Categorical(weights=...) has {len(self.weights)} entries for {len(codes)} "
                "features; give one number, or one a feature."
            )
        return codes


def _codes_of_blocks(X: Matrix, widths: tuple[int, ...]) -> Matrix:
    """Return each block of 0 and 1 read as a binary number; a single column as it is."""
    if sum(widths) != X.shape[1]:
        raise ArgumentError(
            f"Categorical(groups=...) are {sum(widths)} columns in all, the candidates have "
            f"{X.shape[1]}."
        )
    inside = np.concatenate([np.full(width, width > 1) for width in widths])
    block = X[:, inside]
    if not ((block == 0) | (block == 1)).all():
        raise ArgumentError(
            "Categorical(groups=...): columns of a block must hold 0 and 1; a column of codes is a "
            "group of 1."
        )
    powers = np.concatenate([2.0 ** np.arange(width) for width in widths])
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    return np.ascontiguousarray(np.add.reduceat(X * powers, starts, axis=1).T)


def _listed(name: str, value: object) -> Sequence[object] | None:
    """Return a list's entries; None where `value` is none."""
    if not isinstance(value, list | tuple | np.ndarray | range):
        return None
    if not len(value):
        raise ArgumentError(f"{name} must not be empty.")
    return list(value)


COMPARED = 1 << 18  # numbers that are compared as they are; beyond it, a number a row


@final
@storable("CandidateEffect")
@dataclass(frozen=True, slots=True)
class CandidateEffect(UnitVarianceKernel):
    """1 for a candidate and itself (rows equal in all features), 0 for any two that differ.

    Added to another kernel, it lets every candidate be off from what its features say, by an amount
    that no other candidate tells. Evaluating it again averages noise away, and this not: replicates
    tell the two apart.

    >>> CandidateEffect()(np.array([[0.0], [0.5]]), np.array([[0.5], [0.6]]))
    array([[0., 0.],
           [1., 0.]])
    """

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        if len(X) * Z.size <= COMPARED:
            same = (X[:, None] == Z[None]).all(axis=2)
        else:
            same = np.equal.outer(hashed(X), hashed(Z))
        return np.asarray(same, dtype=np.float64)


@final
@storable("WithEffect")
@dataclass(frozen=True, slots=True)
class WithEffect(KernelBase):
    """A kernel that candidates share, plus an effect of that variance of each candidate alone.

    `shared + effect * CandidateEffect()`, under a name, so that what keeps kernel values can keep
    those of the shared part.
    """

    shared: Kernel
    effect: float

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.shared(X, Z) + self.effect * CandidateEffect()(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.shared.diagonal(X) + self.effect

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        """The effect has no slope, but at the candidate itself, where it jumps."""
        values, gradient = slopes(self.shared, X, Z)
        return values + self.effect * CandidateEffect()(X, Z), gradient

"""Kernels that only ask what is equal: categories, and whole candidates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector, require_numbers
from noregret.errors import ArgumentError, require_at_least, require_count
from noregret.kernels.base import (
    Kernel,
    KernelBase,
    KernelGradient,
    UnitVarianceKernel,
    each,
    one_or_each,
    slopes,
)
from noregret.pools import hashed
from noregret.storable import storable

CACHED = 1 << 15  # numbers in a block that stays in the cache of a core
WIDEST = 52  # columns of 0 and 1 that one float64 tells apart
COMPARED = 1 << 18  # numbers up to which rows are compared directly; above, their hashes are


@final
@storable("Categorical")
@dataclass(frozen=True, slots=True)
class Categorical(UnitVarianceKernel):
    """Hamming kernel on categories: k(x, z) = exp(−Σ_g weight_g·[x_g ≠ z_g]).

    A product of one kernel per feature, each 1 where two candidates agree and e^(−weight) where
    they do not, so that it is positive definite. `weights` is one number for all features, or one
    per feature; a feature of weight 0 is ignored.

    A column is a feature, holding codes of which only equality counts. With `groups`, columns
    belong together: `groups=(1, 5, 3)` is a column of codes, then one-hot blocks of 5 and of 3
    columns, each block one feature. One comparison per pair and feature.

    >>> kernel = Categorical(weights=(1.0, 0.5))
    >>> kernel(np.array([[3.0, 1.0]]), np.array([[3.0, 1.0], [3.0, 2.0], [0.0, 2.0]])).round(3)
    array([[1.   , 0.607, 0.223]])
    >>> Categorical(groups=(3,))(np.array([[0.0, 0.0, 1.0]]), np.eye(3)).round(3)
    array([[0.368, 0.368, 1.   ]])
    """

    weights: float | tuple[float, ...] = 1.0
    groups: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        least_0 = partial(require_at_least, least=0.0)
        weights = one_or_each("Categorical(weights=...)", self.weights, least_0)
        object.__setattr__(self, "weights", weights)
        if self.groups is None:
            return
        name = "Categorical(groups=...)"
        groups = one_or_each(name, self.groups, require_count)
        if not isinstance(groups, tuple):
            raise ArgumentError(f"{name} must list the widths of blocks, got {groups!r}.")
        if max(groups) > WIDEST:
            raise ArgumentError(
                f"{name}: a block of {max(groups)} columns is wider than {WIDEST}; give such a "
                "feature as one column of codes."
            )
        object.__setattr__(self, "groups", groups)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        require_numbers(X, Z)
        A, B = _codes(X, self.groups), _codes(Z, self.groups)
        w = each("Categorical(weights=...)", self.weights, len(A))
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


def _codes(X: Matrix, widths: tuple[int, ...] | None) -> Matrix:
    """Return a row for each feature, with a number for each row of X.

    A block of columns of 0 and 1 is read as a binary number, a single column as it is.
    """
    if widths is None:
        return np.ascontiguousarray(X.T)
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


@final
@storable("CandidateEffect")
@dataclass(frozen=True, slots=True)
class CandidateEffect(UnitVarianceKernel):
    """1 for a candidate and itself (rows equal in all features), 0 for any two that differ.

    Added to another kernel, it lets every candidate differ from what its features say, by an amount
    that no other candidate shows. Repeated evaluations average out noise but not this effect, so
    that replicates tell the two apart.

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
    """`shared + effect * CandidateEffect()`, named so that caches can keep the shared part."""

    shared: Kernel
    effect: float

    def __call__(self, X: Rows, Z: Rows) -> Matrix:
        return self.shared(X, Z) + self.effect * CandidateEffect()(X, Z)

    def diagonal(self, X: Rows) -> Vector:
        return self.shared.diagonal(X) + self.effect

    def slopes(self, X: Rows, Z: Rows) -> tuple[Matrix, KernelGradient]:
        """Return values and slopes: the effect is constant but for a jump at z = x."""
        values, gradient = slopes(self.shared, X, Z)
        return values + self.effect * CandidateEffect()(X, Z), gradient

"""Triangular factors: made, extended, shifted, solved with. Jitter is added here alone."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import blas, lapack, solve_triangular

from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import KernelError, NumericalWarning

EPS = float(np.finfo(np.float64).eps)
LARGE = 300  # rows of a block from which on a rotation of each beats one factorisation
MOST_JITTER = 1e-8  # relative to the largest diagonal entry; more means: not positive definite


def factor(A: Matrix) -> Matrix:
    """Return the lower L with L Lᵀ = A, adding jitter to A's diagonal if rounding demands it."""
    if len(A) == 0:
        return np.zeros((0, 0))
    L, info = lapack.dpotrf(A, lower=1, clean=1)
    if info == 0:
        return np.asarray(L)
    scale = float(np.abs(np.diag(A)).max())
    jitter = len(A) * EPS
    while jitter <= MOST_JITTER:
        L, info = lapack.dpotrf(A + jitter * scale * np.eye(len(A)), lower=1, clean=1)
        if info == 0:
            _warn(jitter)
            return np.asarray(L)
        jitter *= 10
    raise KernelError(
        f"the kernel is not positive definite on the evaluated candidates: the Gram matrix of "
        f"{len(A)} points has no Cholesky factor even with {MOST_JITTER:g} of its diagonal added. "
        "Use a covariance function as kernel, or raise noise_std if rows nearly coincide."
    )


def append(L: Matrix, K: Matrix, D: Matrix) -> Matrix:
    """Return the factor of [[A, Kᵀ], [K, D]] from the factor L of A.

    Costs O(n²) a new row, where factoring again would cost O(n³).
    """
    n, k = len(L), len(D)
    if n == 0:
        return factor(D)
    below = solve_lower(L, K.T).T  # (k, n)
    grown = np.zeros((n + k, n + k))
    grown[:n, :n] = L
    grown[n:, :n] = below
    grown[n:, n:] = factor(D - below @ below.T)
    return grown


def shift(L: Matrix, diagonal: Vector) -> Matrix:
    """Return the factor of A + diag(diagonal) from the factor L of A.

    Only the block from the first shifted row on changes. One shifted entry of a large block is
    rotated in, O(n²); else the block is multiplied out and factored again, which costs O(n³) but
    as one call is faster up to LARGE rows.
    """
    shifted = np.flatnonzero(diagonal)
    if not shifted.size:
        return L
    j = int(shifted[0])
    changed = L.copy()
    block = None
    if len(shifted) == 1 and len(L) - j > LARGE:
        block = _rotated(L[j:, j:], float(diagonal[j]))
    if block is None:
        T = L[j:, j:]
        block = factor(T @ T.T + np.diag(diagonal[j:]))
    changed[j:, j:] = block
    return changed


def _rotated(L: Matrix, delta: float) -> Matrix | None:
    """Return the factor of L Lᵀ + delta·e₀e₀ᵀ by plane rotations; None where rounding forbids it.

    Hyperbolic rotations, for delta < 0, lose digits as the smallest pivot does; they are given up
    where a pivot would lose more than half of its digits.
    """
    T = np.array(L, order="F")
    sign = 1.0 if delta > 0 else -1.0
    x = np.zeros(len(T))
    x[0] = abs(delta) ** 0.5
    for i in range(len(T)):
        pivot, own = T[i, i], x[i]
        square = 1.0 + sign * (own / pivot) ** 2
        if square < EPS**0.5:
            return None
        c, s = square**0.5, own / pivot
        T[i, i] = c * pivot
        column, rest = T[i + 1 :, i], x[i + 1 :]
        column += (sign * s) * rest
        column /= c
        rest *= c
        rest -= s * column
    return T


def pivoted(A: Matrix) -> tuple[Matrix, Indices]:
    """Return L and rows p with L Lᵀ = A[p][:, p], leaving out rows dependent on those before.

    A row is left out when all that is left of its diagonal is rounding: below n·eps·max diag.
    """
    diagonal = np.diag(A)
    scale = float(diagonal.max(initial=0.0))
    rank, C, order = 0, A, np.arange(len(A))
    if scale > 0:
        C, piv, rank, _ = lapack.dpstrf(A, lower=1, tol=len(A) * EPS * scale)
        order = np.asarray(piv, dtype=np.int64) - 1
    left = diagonal[order[rank:]] - (C[rank:, :rank] ** 2).sum(axis=1)
    if left.min(initial=0.0) < -MOST_JITTER * max(scale, EPS):
        raise KernelError(
            "the kernel is not positive definite: a point of the dictionary has the variance "
            f"{left.min():.3g} given the others. Use a covariance function as kernel."
        )
    return np.tril(C[:rank, :rank]), order[:rank]


def solve_lower(L: Matrix, B: Matrix, *, overwrite: bool = False) -> Matrix:
    """Return L⁻¹ B; with `overwrite`, in B's own memory where its columns are contiguous."""
    if len(L) == 0:
        return np.zeros_like(B)
    return np.asarray(blas.dtrsm(1.0, L, B, lower=1, overwrite_b=overwrite))


def solve(L: Matrix, b: Vector) -> Vector:
    """Return (L Lᵀ)⁻¹ b."""
    if len(L) == 0:
        return np.zeros_like(b)
    half = solve_triangular(L, b, lower=True, check_finite=False)
    return np.asarray(solve_triangular(L, half, lower=True, trans=1, check_finite=False))


def log_det(L: Matrix) -> float:
    """Return log det(L Lᵀ)."""
    return 2.0 * float(np.log(np.diag(L)).sum())


def _warn(jitter: float) -> None:
    warnings.warn(
        f"evaluated candidates nearly coincide at this noise: {jitter:.1g} of the prior variance "
        "was added to keep the factor positive. A larger noise_std or ridge avoids it.",
        NumericalWarning,
        stacklevel=2,
    )

"""Triangular factors: made and solved with. Jitter is added here alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import final

import numpy as np
from scipy.linalg import blas, lapack

from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import KernelError, NumericalWarning
from noregret.storable import storable


@lru_cache(maxsize=1)
def _dtrsm() -> Callable[..., None]:
    """Return BLAS's triangular solve, through the pointer that SciPy hands to other languages.

    While ctypes calls it, the interpreter's lock is free. The wrapper of SciPy holds it, so that
    threads would wait for each other.
    """
    import ctypes  # takes a while to load, so not before use

    from scipy.linalg import cython_blas

    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = cython_blas.__pyx_capi__["dtrsm"]
    number, scalar, array = (
        ctypes.POINTER(ctypes.c_int),
        ctypes.POINTER(ctypes.c_double),
        ctypes.c_void_p,
    )
    letters = [ctypes.c_char_p] * 4
    kind = ctypes.CFUNCTYPE(None, *letters, number, number, scalar, array, number, array, number)
    routine = kind(pointer_of(capsule, name_of(capsule)))

    def solve(L: Matrix, B: Matrix) -> None:
        m, n, one = ctypes.c_int(B.shape[0]), ctypes.c_int(B.shape[1]), ctypes.c_double(1.0)
        routine(b"L", b"L", b"N", b"N", m, n, one, L.ctypes.data, m, B.ctypes.data, m)

    return solve


def solve_lower_in_place(L: Matrix, B: Matrix) -> None:
    """Turn B into L⁻¹ B; both in Fortran's order."""
    assert L.flags.f_contiguous
    assert B.flags.f_contiguous
    assert L.dtype == B.dtype == np.float64
    assert L.shape == (len(B), len(B))
    if B.size:
        _dtrsm()(L, B)


EPS = float(np.finfo(np.float64).eps)
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


@final
@storable("Factor")
@dataclass(slots=True, eq=False)
class Factor:
    """L with L Lᵀ = A, and what is found from it once, where it is asked for."""

    L: Matrix
    _inverse_diagonal: Vector | None = field(default=None, init=False)

    @property
    def inverse_diagonal(self) -> Vector:
        """(A⁻¹)ᵢᵢ: O(n³/3), the first time."""
        if self._inverse_diagonal is None:
            inverse = np.asarray(lapack.dtrtri(self.L, lower=1)[0]) if len(self.L) else self.L
            self._inverse_diagonal = np.asarray((inverse**2).sum(axis=0))
        return self._inverse_diagonal


def pivoted(A: Matrix, scale: float = 0.0) -> tuple[Matrix, Indices]:
    """Return L and rows p with L Lᵀ = A[p][:, p], leaving out rows dependent on those before.

    A row is left out when all that is left of its diagonal is rounding: below n·eps·max diag, or
    n·eps·`scale` where that is more, of numbers that A is a difference of.
    """
    diagonal = np.diag(A)
    scale = max(float(diagonal.max(initial=0.0)), scale)
    least = len(A) * EPS * scale
    if scale > 0:
        L, info = lapack.dpotrf(A, lower=1, clean=1)  # ten times faster, where none is dependent
        if info == 0 and float(np.diag(L).min()) ** 2 > least:
            return np.asarray(L), np.arange(len(A))
    rank, C, order = 0, A, np.arange(len(A))
    if scale > 0:
        C, piv, rank, _ = lapack.dpstrf(A, lower=1, tol=least)
        order = np.asarray(piv, dtype=np.int64) - 1
    left = diagonal[order[rank:]] - (C[rank:, :rank] ** 2).sum(axis=1)
    if left.min(initial=0.0) < -MOST_JITTER * max(scale, EPS):
        raise KernelError(
            "the kernel is not positive definite: a point of the dictionary has the variance "
            f"{left.min():.3g} given the others. Use a covariance function as kernel."
        )
    return np.asfortranarray(np.tril(C[:rank, :rank])), order[:rank]


def solve_lower(L: Matrix, B: Matrix, *, overwrite: bool = False) -> Matrix:
    """Return L⁻¹ B; with `overwrite`, in B's own memory where its columns are contiguous."""
    if len(L) == 0:
        return np.zeros_like(B)
    if B.shape[1] == 1:  # the single candidates that choices are decided by
        return np.asarray(blas.dtrsv(L, B[:, 0], lower=1))[:, None]
    X = B if overwrite and B.flags.f_contiguous else np.array(B, order="F")
    solve_lower_in_place(np.asfortranarray(L), X)
    return X


def solve_upper(L: Matrix, B: Matrix) -> Matrix:
    """Return L⁻ᵀ B."""
    return np.asarray(blas.dtrsm(1.0, L, B, lower=1, trans_a=1)) if len(L) else np.zeros_like(B)


def explained(R: Matrix, ridge: float, LS: Matrix) -> tuple[Matrix, float]:
    """Return a lower T with TᵀT = LS⁻ᵀ(I − ridge·(R Rᵀ)⁻¹)LS⁻¹, and the jitter in I − ridge·V⁻¹.

    ‖T k‖² is then what is explained of a prior variance, and its first entries depend on the first
    entries of k only.
    """
    m = len(R)
    if m == 0:
        return np.zeros((0, 0)), 0.0
    inverse, _ = lapack.dpotri(R, lower=1)
    flipped = np.tril(inverse)[::-1, ::-1].T * -ridge
    jitter, info = 0.5 * m * EPS, 1
    while info and jitter < 1:  # from what rounding leaves below zero where nothing is explained
        jitter *= 8
        C, info = lapack.dpotrf(flipped + (1.0 + jitter) * np.eye(m), lower=1, clean=1)
    A = np.asarray(C)[::-1, ::-1]  # upper, A Aᵀ = I − ridge·V⁻¹
    return np.asarray(blas.dtrsm(1.0, LS, A.T, side=1, lower=1)), jitter


def square(Z: Matrix) -> Matrix:
    """Return Z Zᵀ, at the cost of one half of it."""
    lower = np.asarray(blas.dsyrk(1.0, Z, lower=1)) if Z.size else np.zeros((len(Z), len(Z)))
    whole: Matrix = lower + np.tril(lower, -1).T  # above the diagonal, dsyrk leaves zeros
    return whole


def solve(L: Matrix, b: Matrix) -> Matrix:
    """Return (L Lᵀ)⁻¹ b, for a vector or for each column of a matrix."""
    if len(L) == 0:
        return np.zeros_like(b)
    return np.asarray(lapack.dpotrs(L, b, lower=1)[0])


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

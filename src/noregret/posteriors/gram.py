"""Kernel values among told points, where these are not too many, and what is made of them."""

from __future__ import annotations

import numpy as np

from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import cholesky
from noregret.posteriors.base import Observations

MOST_GRAM = 2048  # points among which kernel values are kept


def grown(gram: Matrix, kernel: Kernel, rows: Indices, told: Observations) -> Matrix:
    """Return k among told points, computing only what is new; `gram` is of the first of `rows`."""
    n, known = len(told), len(gram)
    if n > MOST_GRAM:
        return np.zeros((0, 0))
    if not np.array_equal(told.rows[:known], rows[:known]):
        known = 0
    if n == known:
        return gram
    out = np.empty((n, n))
    out[:known, :known] = gram[:known, :known]
    out[known:] = kernel(told.X[known:], told.X)
    out[:known, known:] = out[known:, :known].T
    return out


def embedded_among(gram: Matrix, members: Indices, LS: Matrix) -> Matrix:
    """Return z of every point; for members, LS z = k_S is solved by columns of LSᵀ."""
    Z = np.empty((len(members), len(gram)), order="F")
    others = np.delete(np.arange(len(gram)), members)
    Z[:, members] = LS.T
    Z[:, others] = cholesky.solve_lower(LS, gram[np.ix_(members, others)])
    return Z


def variance_parts(prior: Vector, Z: Matrix, R: Matrix, ridge: float) -> tuple[Vector, Vector]:
    """Return the two parts of σ̃² for each column z of Z: the residual, and what feedback moves."""
    residual = prior - np.einsum("ij,ij->j", Z, Z)
    U = cholesky.solve_lower(R, Z)
    model: Vector = ridge * np.einsum("ij,ij->j", U, U)
    # Rounding leaves up to about m·eps·k(x, x) below zero at members of the dictionary.
    return np.maximum(residual, 0.0), model

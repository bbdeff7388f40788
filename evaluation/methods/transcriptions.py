"""The papers' pseudo-code, line by line, in vectorised NumPy.

What a capable reader of the papers would write: float64, matrix products for the pool, counts for
repeated points, lazy UCBs as BBKB's appendix A.3 describes them. None of the identities that make
the library fast. Widths are those of the papers' experiments, and draws the library's own, so that
choices can be held against the library's row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from evaluation.problems.speed import DELTA, NOISE_STD, NORM_BOUND, RIDGE, Problem
from noregret.arrays import Indices, Matrix, Vector
from noregret.policies import Purpose, stream

OVERSAMPLE = 2.0  # q̄
EPS = float(np.finfo(np.float64).eps)
NOISE_RATIO = NOISE_STD / math.sqrt(RIDGE)  # ξ/√λ


@final
@dataclass(slots=True, eq=False)
class History:
    """Unique evaluated rows in order of appearance, with counts and sums; and every choice."""

    problem: Problem
    noise: Vector  # (T,)
    w: Vector  # (N,) counts
    total: Vector  # (N,) sums of values
    unique: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)

    @classmethod
    def started(cls, problem: Problem, T: int) -> History:
        N = len(problem.X)
        history = cls(problem, problem.noise(T), np.zeros(N), np.zeros(N))
        history.evaluate([first_row(problem)])
        return history

    @property
    def room(self) -> int:
        return len(self.noise) - len(self.chosen)

    @property
    def rows(self) -> Indices:
        return np.array(self.unique, dtype=np.int64)

    def evaluate(self, rows: list[int]) -> None:
        t = len(self.chosen)
        values = self.problem.f[rows] + self.noise[t : t + len(rows)]
        np.add.at(self.w, rows, 1.0)
        np.add.at(self.total, rows, values)
        self.chosen += rows
        seen = set(self.unique)
        self.unique += [row for row in dict.fromkeys(rows) if row not in seen]


@final
@dataclass(slots=True, eq=False)
class Sparse:
    """The Nyström posterior of the whole pool: BKB 2019, Eq. 4; BBKB 2020, Eqs. 1-3 (times λ)."""

    Z: Matrix  # (N, m) z(x) of every arm, frozen until the next resparsification
    inverse: Matrix  # (m, m) V⁻¹
    mean: Vector  # (N,)
    variance: Vector  # (N,)
    residual: Vector  # (N,) k(x, x) − ‖z(x)‖²

    @classmethod
    def fit(cls, problem: Problem, history: History, dictionary: Indices) -> Sparse:
        """Embed every arm by the pseudo-root of K_S and condition on all the history."""
        k, X, S = problem.kernel, problem.X, problem.X[dictionary]
        values, vectors = np.linalg.eigh(k(S, S))
        kept = values > len(S) * EPS * values[-1]
        Z = k(X, S) @ (vectors[:, kept] / np.sqrt(values[kept]))  # (N, m)
        rows = history.rows
        Zu, w = Z[rows], history.w[rows]
        V = (Zu.T * w) @ Zu
        V[np.diag_indices_from(V)] += RIDGE
        inverse = cho_solve(cho_factor(V, lower=True), np.eye(len(V)))
        mean = Z @ (inverse @ (Zu.T @ history.total[rows]))
        residual = np.maximum(k.diagonal(X) - np.einsum("ij,ij->i", Z, Z), 0.0)
        variance = residual + RIDGE * np.einsum("ij,ij->i", Z @ inverse, Z)
        return cls(Z, inverse, mean, variance, residual)


def _resparsified(history: History, variance: Vector, seed: int, step: int) -> Indices:
    """Return the new dictionary: BBKB 2020, Algorithm 1, lines 11-16, with counts."""
    rows = history.rows
    p = np.minimum(1.0, history.w[rows] * OVERSAMPLE * variance[rows] / RIDGE)
    drawn = np.flatnonzero(stream(seed, Purpose.DICTIONARY, step).random(len(rows)) < p)
    return rows[drawn] if drawn.size else rows[[int(np.argmax(p))]]


def first_row(problem: Problem) -> int:
    """Return the row that the library draws to start from."""
    return int(stream(problem.seed, Purpose.START, 0).integers(len(problem.X), size=1)[0])


def bkb(problem: Problem, T: int) -> Indices:
    """BKB 2019, Algorithm 1: the dictionary drawn and every arm embedded again at every step."""
    history = History.started(problem, T)
    variance = problem.kernel.diagonal(problem.X)
    for step in range(1, T):
        post = Sparse.fit(problem, history, _resparsified(history, variance, problem.seed, step))
        variance = post.variance
        effective = float(history.w @ variance) / RIDGE
        inside = math.log(step) * effective + math.log(1 / DELTA)
        beta = NORM_BOUND + NOISE_RATIO * math.sqrt(inside)
        history.evaluate([int(np.argmax(post.mean + beta * np.sqrt(variance)))])
    return np.array(history.chosen, dtype=np.int64)


def bbkb(problem: Problem, T: int, *, local: bool = False, limit: float = 2.0) -> Indices:
    """BBKB 2020, Algorithm 1, with lazy UCBs (A.3); `local` is GlobalLocal (Lemma 3, corrected)."""
    history = History.started(problem, T)
    variance = problem.kernel.diagonal(problem.X)
    gains = math.log1p(float(variance[history.chosen[0]]) / RIDGE)
    step = 1
    while history.room:
        post = Sparse.fit(problem, history, _resparsified(history, variance, problem.seed, step))
        variance = post.variance
        beta = NORM_BOUND + NOISE_RATIO * math.sqrt(limit * gains + math.log(1 / DELTA))
        goes_on = _local_test(problem, post, limit) if local else None
        batch = _batch(post, beta, limit, history.room, goes_on)
        history.evaluate(batch)
        gains += float(np.log1p(variance[batch] / RIDGE).sum())
        step += 1
    return np.array(history.chosen, dtype=np.int64)


def _batch(
    post: Sparse, beta: float, limit: float, room: int, goes_on: Callable[[list[int]], bool] | None
) -> list[int]:
    """Choose arms, lines 4-8, until the bound of line 5 is passed (and `goes_on` says no)."""
    ucb = post.mean + beta * np.sqrt(post.variance)
    inverse, bound, batch = post.inverse.copy(), 1.0, []

    def renew(rows: Indices) -> None:
        Z = post.Z[rows]
        shrunk = post.residual[rows] + RIDGE * np.einsum("ij,ij->i", Z @ inverse, Z)
        ucb[rows] = post.mean[rows] + beta * np.sqrt(shrunk)

    while True:
        row = int(np.argmax(ucb))
        batch.append(row)
        bound += float(post.variance[row]) / RIDGE
        full = bound > limit and not (goes_on and goes_on(batch))
        if full or len(batch) == room:
            return batch
        z = post.Z[row]
        u = inverse @ z
        inverse -= np.outer(u, u / (1.0 + float(z @ u)))  # V + z zᵀ, by Sherman & Morrison
        renew(np.array([row]))  # line 7
        others = np.flatnonzero(ucb >= ucb[row])
        if len(others) > 1:
            renew(others)  # line 8


def _local_test(problem: Problem, post: Sparse, limit: float) -> Callable[[list[int]], bool]:
    """Return the test of Lemma 3, corrected: 1 + max(Σ c̃², Σ k̃²)/(λ·σ̃²) ≤ limit at every arm.

    c̃ = λ·zᵀV⁻¹z(x_j) and k̃ = k(x, x_j) − zᵀz(x_j) + c̃, V as it was when the batch was opened. Asked
    only once the global bound is passed; the sums then take in all of the batch so far.
    """
    N = len(problem.X)
    c2, k2, counted = np.zeros(N), np.zeros(N), 0
    allowed = (limit - 1.0) * RIDGE * post.variance

    def goes_on(batch: list[int]) -> bool:
        nonlocal counted
        for row in batch[counted:]:
            z = post.Z[row]
            c, inner = (post.Z @ np.column_stack([RIDGE * (post.inverse @ z), z])).T
            k = problem.kernel(problem.X, problem.X[[row]])[:, 0] - inner + c
            c2[:] += c * c
            k2[:] += k * k
        counted = len(batch)
        return bool((np.maximum(c2, k2) <= allowed).all())

    return goes_on


def mini_gp_ucb(problem: Problem, T: int, *, limit: float = 2.0) -> Indices:
    """MINI 2022, Algorithm 2 with Eq. 4 (on averages): every switch factors and passes again.

    Columns k(·, x) of the pool are kept, so that a switch costs O(n³ + N·n²).
    """
    history = History.started(problem, T)
    k, X = problem.kernel, problem.X
    prior = k.diagonal(X)
    columns = np.empty((len(X), 16), order="F")
    have = 0
    while history.room:
        rows = history.rows
        n = len(rows)
        if n > columns.shape[1]:
            columns = np.concatenate([columns, np.empty_like(columns, order="F")], axis=1)
            columns = np.asfortranarray(columns)
        if n > have:
            columns[:, have:n] = k(X, X[rows[have:]])
            have = n
        K = columns[:, :n]
        w = history.w[rows]
        A = K[rows].copy()
        A[np.diag_indices_from(A)] += RIDGE / w
        L = np.linalg.cholesky(A)
        half = solve_triangular(L, K.T, lower=True, check_finite=False)  # (n, N)
        y = solve_triangular(L, history.total[rows] / w, lower=True, check_finite=False)
        variance = np.maximum(prior - np.einsum("ij,ij->j", half, half), 0.0)
        log_det = 2 * float(np.log(np.diag(L)).sum()) + float(np.log(w / RIDGE).sum())
        beta = NORM_BOUND + NOISE_RATIO * math.sqrt(log_det + 2 * math.log(1 / DELTA))
        row = int(np.argmax(y @ half + beta * np.sqrt(variance)))
        repeats = (limit - 1.0) * RIDGE / max(float(variance[row]), 1e-300)
        history.evaluate([row] * max(1, math.floor(min(repeats, history.room))))
    return np.array(history.chosen, dtype=np.int64)


ALGORITHMS: dict[str, Callable[[Problem, int], Indices]] = {
    "bkb": bkb,
    "bbkb global": bbkb,
    "bbkb local": partial(bbkb, local=True),
    "mini_gp_ucb": mini_gp_ucb,
}

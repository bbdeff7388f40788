"""Variances after evaluations that were taken but not told yet."""

from __future__ import annotations

from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, stacked
from noregret.pools import Candidates, Points
from noregret.posteriors import Posterior, cholesky

ROOM = 16  # columns added at least when there is no room for another step
MANY = 64  # steps, at least, after which features are made again


@final
class Hallucinations:
    """How far the variances of some rows have shrunk in a batch.

    Let b₁ … b_k have been taken, r₁ … r_k times, and c(x, b) be the posterior's model covariance.
    With rows G(x), one entry a step,

        G_i(x) = (c(x, b_i) − Σ_{j<i} G_j(x) G_j(b_i))·√g_i,     g_i = r_i/(ridge + r_i s_i)     (1)
        σ²_now(x) = σ²_stale(x) − ‖G(x)‖²                                                       (2)

    s_i = c(b_i, b_i) − Σ_{j<i} G_j(b_i)² being the model variance of b_i when it was taken. A row
    costs O(m + k) a step; one that joins late catches up by a triangular solve. Where steps become
    more than features, the posterior takes them in, and the counting of steps begins again.
    """

    def __init__(self, pool: Candidates | Points, posterior: Posterior) -> None:
        self._pool, self._posterior = pool, posterior
        self.rows: Indices = np.empty(0, dtype=np.int64)
        self.variance: Vector = np.empty(0)
        self.steps: list[tuple[int, int]] = []  # row and count
        self._points: dict[int, int] = {}
        self._taken: list[int] = []  # the place of each step's row, since the posterior, …
        self._roots: list[float] = []  # … and its 1/√g
        self._X: Rows = np.empty((0, pool.dim))  # of rows whose features were needed …
        self._F: Matrix = np.empty((0, 0))  # … their features …
        self._G: Matrix = np.empty((0, 0))  # … and (1), with room to grow
        self._now = posterior  # after the first …
        self._known = 0  # … of these steps

    def __contains__(self, row: int) -> bool:
        return row in self._points

    def place(self, row: int) -> int:
        return self._points[row]

    def join(self, rows: Indices, variance: Vector) -> None:
        """Follow more rows, given their variance before the first step."""
        for at, row in enumerate(rows.tolist(), start=len(self.rows)):
            self._points[row] = at
        self.rows = np.concatenate([self.rows, rows])
        self.variance = np.concatenate([self.variance, variance])
        if self.steps:
            self._catch_up()

    def model_variance(self, at: int) -> float:
        """Return the part of a variance, now, that more evaluations can take away."""
        self._catch_up()
        x, f, k = self._X[at : at + 1], self._F[at : at + 1], len(self._taken)
        before = float(self._posterior.model_covariance_from(x, f, x, f)[0, 0])
        return max(before - float(self._G[at, :k] @ self._G[at, :k]), 0.0)

    def take(self, at: int, count: int) -> None:
        """Take the row at a place `count` times."""
        self._catch_up()
        if len(self._taken) >= max(MANY, self._F.shape[1]):
            self._begin_again()
        k, x, f = len(self._taken), self._X[at : at + 1], self._F[at : at + 1]
        c: Vector = self._posterior.model_covariance_from(self._X, self._F, x, f)[:, 0]
        c -= self._G[:, :k] @ self._G[at, :k]
        root = float(self._posterior.ridge / count + max(float(c[at]), 0.0)) ** 0.5
        c /= root
        if k == self._G.shape[1]:
            self._G = np.concatenate([self._G, np.zeros((len(c), k + ROOM))], axis=1)
        self._G[:, k] = c
        self.steps.append((int(self.rows[at]), count))
        self._taken.append(at)
        self._roots.append(root)
        self.variance = np.maximum(self.variance - c**2, 0.0)  # rounding, as in posteriors

    def now(self) -> Posterior:
        """Return the posterior after all steps."""
        counts: dict[int, int] = {}
        for row, count in self.steps[self._known :]:
            counts[row] = counts.get(row, 0) + count
        if counts:
            rows = np.array(list(counts))
            taken = np.array(list(counts.values()), dtype=np.float64)
            self._now = self._now.hallucinate(rows, self._pool.rows(rows), taken)
            self._known = len(self.steps)
        return self._now

    def _begin_again(self) -> None:
        """Let the posterior take in all steps."""
        self._posterior = self.now()
        self._F = self._posterior.features(self._X)
        self._G = np.zeros((len(self._X), ROOM))
        self._taken, self._roots = [], []

    def _catch_up(self) -> None:
        """Have features of all rows, and of those that came late what they missed."""
        start, k = len(self._F), len(self._taken)
        if start == len(self.rows):
            return
        X = self._pool.rows(self.rows[start:])
        F, G = self._posterior.features(X), np.zeros((len(X), self._G.shape[1]))
        self._X = stacked(self._X, X)
        self._F = F if start == 0 else np.concatenate([self._F, F])
        if len(self.steps) > k:
            self.variance[start:] = self._posterior.variance(X)
        if k:
            taken = np.array(self._taken)
            C = self._posterior.model_covariance_from(X, F, self._X[taken], self._F[taken])
            T = np.tril(self._G[taken, :k], -1) + np.diag(self._roots)
            G[:, :k] = cholesky.solve_lower(np.asfortranarray(T), C.T).T
            shrunk = self.variance[start:] - np.einsum("ij,ij->i", G, G)
            self.variance[start:] = np.maximum(shrunk, 0.0)
        self._G = np.concatenate([self._G, G])

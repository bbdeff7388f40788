"""Kernel values of a pool under contexts: those of candidates are kept, those of contexts few."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Vector, chunk_rows
from noregret.kernels import InContext, Kernel
from noregret.pools import Candidates, ContextView, parted
from noregret.posterior_caches.exact import KEPT, ExactCache, KeptValues
from noregret.posteriors import ExactPosterior, Observations, cholesky
from noregret.threads import parallel_map


@final
class ContextValues:
    """k((x, c), (xᵢ, cᵢ)) = k_X(x, xᵢ)·k_C(c, cᵢ) under one context after the other.

    A candidate that was evaluated under many contexts has one column of k_X, which stays when the
    context changes; k_C is one number per point. So a value costs a multiplication.
    """

    def __init__(self, pool: Candidates, memory: int) -> None:
        self.pool = pool
        self._kept = KeptValues(pool, min(memory, KEPT))
        self._view: ContextView | None = None
        self._place: Indices = np.empty(0, dtype=np.int64)  # of each point's candidate
        self._weights: Vector = np.empty(0)  # k_C of each point

    def under(self, view: ContextView) -> ContextValues:
        """Take in the context that comes next."""
        self._view = view
        return self

    def extend(self, pool: Candidates) -> None:
        """Follow the base of the next view."""
        self.pool = pool
        self._kept.extend(pool)

    def follow(self, kernel: Kernel, points: Observations) -> None:
        assert isinstance(kernel, InContext)
        assert self._view is not None
        X, C = parted(points.X, kernel.dim)
        _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in which they were met, so that columns are only added
        self._place = np.argsort(order)[place.ravel()]
        rows = np.arange(len(order))
        met = Observations(rows, X[first[order]], np.ones(len(rows)), np.zeros(len(rows)))
        self._kept.follow(kernel.kernel, met)
        self._weights = kernel.similarity(self._view.context[None], C)[0]

    @property
    def nearness(self) -> Vector:
        """How alike the context of each point is to this one."""
        return np.abs(self._weights)

    def of(self, rows: Indices) -> Matrix:
        K = self._kept.of(rows)[:, self._place]
        K *= self._weights
        return K


def glance(cache: ExactCache, values: ContextValues, p: ExactPosterior) -> None:
    """Bound all rows of a cache that begins when much is known already: O(N·n).

    By their means, and by variances given a few points alone, since less would be known with fewer
    points: given the √n nearest in context, and given any single one.
    """
    n, N = len(p.observed), len(cache.mean)
    values.follow(p.kernel, p.observed)
    diagonal = p.kernel.diagonal(p.observed.X) + p.ridge / p.observed.w
    few = np.argsort(-values.nearness, kind="stable")[: math.isqrt(n) + 1]
    some = p.observed.X[few]
    A = np.array(p.kernel(some, some))
    A[np.diag_indices_from(A)] += p.ridge / p.observed.w[few]
    L, (slack, relative) = cholesky.factor(A), p.rounding

    def look(rows: slice) -> None:
        K, prior = values.of(np.arange(rows.start, rows.stop)), cache.prior[rows]
        V = cholesky.solve_lower(L, K[:, few].T)
        known = np.maximum(np.einsum("ij,ij->j", V, V), (K**2 / diagonal).max(axis=1))
        left = np.maximum(prior - known, 0.0) + 2 * relative * prior
        cache.bound(rows, K @ p.alpha + slack, np.sqrt(left))

    step = chunk_rows(4 * n)
    parallel_map(look, [slice(at, min(at + step, N)) for at in range(0, N, step)])

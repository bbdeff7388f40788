"""Covariances of sparse posteriors between rows and a few others, from kernel values of rows."""

from __future__ import annotations

from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix
from noregret.pools import Candidates
from noregret.posteriors import NystromPosterior


@final
class Pairs:
    """c̃ and k̃ of `NystromPosterior`: O(m) a pair, given k_S(x), and O(m²) once for each other."""

    def __init__(self, pool: Candidates, posterior: NystromPosterior) -> None:
        self._pool, self._posterior = pool, posterior
        self._last: tuple[bytes, Matrix, Indices] | None = None  # others, weights, not members

    def between(self, rows: Indices, K: Matrix, others: Indices) -> tuple[Matrix, Matrix]:
        """Return c̃ and k̃ between rows, whose columns k_S(x) are K, and others."""
        p, key, last = self._posterior, others.tobytes(), self._last
        if last is None or last[0] != key:
            outside = np.flatnonzero(~np.isin(others, p.members.rows))  # k = zᵀz at members
            model, projection = p.weights(self._pool.rows(others))
            both = np.concatenate([model, projection[:, outside]], axis=1).T
            last = self._last = key, np.ascontiguousarray(both), outside
        _, both, outside = last  # its own: other threads may have others
        P = both @ K
        C = P[: len(others)]
        R = C.copy() if outside.size else C
        if outside.size:
            X, Z = self._pool.rows(rows), self._pool.rows(others[outside])
            R[outside] += p.kernel(Z, X) - P[len(others) :]
        return C.T, R.T

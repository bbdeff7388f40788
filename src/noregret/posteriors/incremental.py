"""Dictionaries that are thinned and added to, in place of being drawn again.

A point x has one number u, uniform, for the whole run. At every update members and points told
since are looked at again, and are in the dictionary if

    u < p̃_t(x) = min(1, w·q̄·σ̃²_stale(x)/λ)                                                (1)

So where p̃ falls, a member stays with probability p̃_{t+1}/p̃_t, and a point told since joins with
p̃_{t+1}. Where members leave, p̃ rises for others: over all points by no more than

    Σ p̃_{t+1} − Σ p̃_t ≤ q̄/λ·(Σ w(k − ‖z‖²)_{t+1} − Σ w(k − ‖z‖²)_t)                        (2)

in sum, since the rest of σ̃² falls. What this adds up to is known without a look at the points.
Where it exceeds a tenth of the members, those that leave are looked at again, by the variances that
would be left, and stay if (1) holds; where it still does, all points are, and come back so.

Source: BKB 2019, §3.2, "Incremental dictionary update", which leaves open whether accuracy is
preserved. Its proofs (App. C) weigh members by 1/p̃; the embedding, a projection on their span, does
not. Differs: the paper has no way back, and its members are ever fewer after a long history told at
once, each of which leaves while others are still in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, chunk_rows, positions
from noregret.kernels import Kernel
from noregret.pools import hashed, mixed
from noregret.posteriors import cholesky
from noregret.posteriors.base import Observations, changed_since, joined, subset
from noregret.threads import parallel_map

CLOSE = 1e-5  # of the largest deviation: what is left of a new member, at least


def point_numbers(X: Rows, key: int) -> Vector:
    """Return a number in [0, 1) for each point, the same for ever: a hash of features and key.

    Features, since rows move: points off a pool to which candidates are added, and under contexts.
    """
    z = mixed(hashed(X) ^ np.uint64(key))
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)


def to_resample(members: Indices, before: Observations, now: Observations) -> Indices:
    """Return the places of members, in their order, and behind them those told since."""
    at = positions(members, now.rows)
    at = at[at >= 0]
    return np.concatenate([at, np.setdiff1d(changed_since(before, now), at)])


def in_order(members: Indices, rows: Indices, places: Indices) -> Indices:
    """Return these places, those of members first and in their order."""
    at = positions(members, rows)
    at = at[np.isin(at, places)]
    return np.concatenate([at, np.setdiff1d(places, at)])


@final
@dataclass(frozen=True, slots=True, eq=False)
class SufficientStatistics:
    """All that a dictionary must know of what was told: sums over points, in its own features z.

        V = Σ w zzᵀ + λI,      Σ w ȳ z,      Σ w(k − ‖z‖²),        K_S = LS LSᵀ

    None of them needs the points again where values come or members go.
    """

    members: Observations
    LS: Matrix
    V: Matrix
    moment: Vector
    residual: float

    def through(
        self,
        dictionary: Observations,
        kernel: Kernel,
        before: Observations,
        now: Observations,
        ridge: float,
    ) -> SufficientStatistics | None:
        """Return the sums over what is told now, of some of these members and others behind them.

        O(m²) per point told since, O(m³) where a member went and O(n·m) per member that came.
        None where so many came that it is as fast to begin again.
        """
        at = positions(dictionary.rows, self.members.rows)
        kept, new = at[at >= 0], subset(dictionary, np.flatnonzero(at < 0))
        if not len(kept) or 4 * len(new) > len(kept):
            return None
        statistics = self.told(kernel, before, now)
        if not np.array_equal(kept, np.arange(len(self.members))):
            statistics = statistics.without(kept, ridge)
        return statistics.with_members(new, kernel, now, ridge) if len(new) else statistics

    def told(self, kernel: Kernel, before: Observations, now: Observations) -> SufficientStatistics:
        """Add what was told since: O(m²) per point."""
        new = changed_since(before, now)
        known = new[new < len(before)]
        w, total = now.w[new], now.w[new] * now.y[new]
        w[: len(known)] -= before.w[known]
        total[: len(known)] -= before.w[known] * before.y[known]
        X = now.X[new]
        Z = cholesky.solve_lower(self.LS, kernel(self.members.X, X))
        left = kernel.diagonal(X) - np.einsum("ij,ij->j", Z, Z)
        return replace(
            self,
            V=self.V + (Z * w) @ Z.T,
            moment=self.moment + Z @ total,
            residual=self.residual + float(w @ left),
        )

    def without(self, kept: Indices, ridge: float) -> SufficientStatistics:
        """Leave out all members but those in these places: O(m³).

        K_S of those kept is C Cᵀ with C rows of LS. With C = LS′ Q, Q of orthonormal rows, their
        features are z′ = Qz.
        """
        Qt, upper = np.linalg.qr(self.LS[kept].T)
        sign = np.where(np.diag(upper) < 0, -1.0, 1.0)
        Q, LS = (Qt * sign).T, np.asfortranarray(np.tril(upper.T * sign))
        inner = self.V - ridge * np.eye(len(self.V))
        left = Q @ inner @ Q.T
        lost = float(np.trace(inner) - np.trace(left))
        V = left + ridge * np.eye(len(left))
        members = subset(self.members, kept)
        return SufficientStatistics(
            members, LS, (V + V.T) / 2, Q @ self.moment, self.residual + lost
        )

    def with_members(
        self, new: Observations, kernel: Kernel, told: Observations, ridge: float
    ) -> SufficientStatistics | None:
        """Add new members behind the others: one pass over the points, O(n·m) per new member.

        With K_S = [[LS, 0], [lᵀ, G]] and a = LS⁻ᵀ l, new features are G⁻¹(k_J − aᵀk_S). None where
        a new member is all but explained by the others, so that G⁻¹ has no digits.
        """
        m, members = len(self.LS), self.members
        shared = cholesky.solve_lower(self.LS, kernel(members.X, new.X))  # l
        K = kernel(new.X, new.X)
        G, order = cholesky.pivoted(K - shared.T @ shared, float(np.diag(K).max()))
        if len(order) < len(new) or float(np.diag(G).min()) < CLOSE * float(self.LS[0, 0]):
            return None
        new, shared = subset(new, order), shared[:, order]
        a = cholesky.solve_upper(self.LS, shared)
        step = chunk_rows(2 * (m + len(new)))

        def over(at: int) -> tuple[Matrix, Matrix, Vector]:
            some = slice(at, at + step)
            K, w = kernel(self.members.X, told.X[some]), told.w[some]
            Z = cholesky.solve_lower(G, kernel(new.X, told.X[some]) - a.T @ K)
            return K @ (Z * w).T, (Z * w) @ Z.T, Z @ (w * told.y[some])

        parts = parallel_map(over, range(0, len(told), step))
        cross = cholesky.solve_lower(self.LS, np.sum([part[0] for part in parts], axis=0))
        square = np.sum([part[1] for part in parts], axis=0)
        moment = np.sum([part[2] for part in parts], axis=0)
        return SufficientStatistics(
            joined(members, new),
            np.asfortranarray(np.block([[self.LS, np.zeros((m, len(new)))], [shared.T, G]])),
            np.block([[self.V, cross], [cross.T, square + ridge * np.eye(len(new))]]),
            np.concatenate([self.moment, moment]),
            self.residual - float(np.trace(square)),
        )

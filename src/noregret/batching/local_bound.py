"""How far the variance of each candidate may be off by in a batch: the bound of the local rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.threads import parallel_map

TOGETHER = 1 << 11  # rows whose local bounds are looked at together
MANY_OF = 16  # the share of a pool from which on it is cheaper to look at all of it
ROUNDING = 1e-9  # of an eigenvalue, far more than it can be off by


@final
@dataclass(frozen=True, slots=True, eq=False)
class Opening:
    """What a batch starts from."""

    ridge: float
    excluded: Mask
    variances: Callable[[Indices], Vector]  # σ²_stale of rows
    covariances: Callable[[Indices, Indices], tuple[Matrix, Matrix]]  # c̃ and k̃ of rows and rows


@final
@dataclass(slots=True, eq=False)
class LocalSums:
    """Whether 1 + max(Σ c̃², Σ k̃²)/(ridge·σ²_stale(x)) passes a limit somewhere in a pool.

    Three bounds, each tighter and costlier than the last. With B the chosen, a choice as often
    as it was taken, and K̃_B the covariances among them,

        1 + Σⱼ σ²_stale(bⱼ)/ridge  =  1 + trace(K̃_B)/ridge                                 (1)
        1 + λ_max(K̃_B)/ridge                                                               (2)

    hold for every x by Cauchy-Schwarz: (1) is the global bound, and (2) looks at the chosen alone,
    since Σⱼ k̃ⱼ² ≤ k̃(x, x)·λ_max(K̃_B), and c̃ is k̃ less a covariance. Where (2) passes the limit,
    the pool is looked at: a choice raises the bound of a row by at most its share in (1), so a row
    whose bound was v when (1) was g has one of at most v + (g_now − g) today. `slack` holds v − g,
    and only rows with slack + g_now > limit are looked at again, for the choices that they have not
    seen. Where they are many, the whole pool is, in order.
    """

    opening: Opening
    rows: list[int] = field(default_factory=list)  # choices in order …
    counts: list[int] = field(default_factory=list)  # … and how often each was taken
    chosen: dict[int, float] = field(default_factory=dict)  # the same, each row once …
    among: Matrix = field(default_factory=lambda: np.empty((0, 0)))  # … and k̃ among them
    largest: float = np.inf  # (2) …
    at: float = 0.0  # … when (1) was this
    seen: Indices | None = None  # (N,) choices in the sums of a row
    model: Vector | None = None  # (N,) Σ c̃²
    whole: Vector | None = None  # (N,) Σ k̃²
    slack: Vector | None = None  # (N,)

    def note(self, row: int, count: int) -> None:
        """Take a choice into the sums."""
        self.rows.append(row)
        self.counts.append(count)
        self.chosen[row] = self.chosen.get(row, 0.0) + count

    def ceiling(self, g: float) -> float:
        """Return a bound that no candidate passes, `g` being the global one."""
        return min(g, self.largest + (g - self.at))

    def exceed(self, limit: float, g: float) -> bool:
        """Tell whether the bound passes `limit` at some candidate, `g` being the global one."""
        if self.ceiling(g) <= limit:
            return False
        rows, w = np.array(list(self.chosen)), np.array(list(self.chosen.values()))
        self.relate(rows)
        if not limit < self.largest < np.inf:  # it only grows
            self.largest, self.at = self.eigenvalue(w), g
        if self.largest <= limit:
            return False
        if not len(self.opening.excluded):  # a box has no pool to look at
            return True
        return self.at_chosen(rows, w) > limit or self.found(limit, g)

    def relate(self, rows: Indices) -> None:
        """Have the covariances among the chosen."""
        old = len(self.among)
        if old == len(rows):
            return
        _, columns = self.opening.covariances(rows, rows[old:])
        among = np.empty((len(rows), len(rows)))
        among[:old, :old], among[:, old:], among[old:, :old] = self.among, columns, columns[:old].T
        self.among = among

    def eigenvalue(self, w: Vector) -> float:
        """Return (2), with rounding added."""
        K = np.sqrt(w)[:, None] * self.among * np.sqrt(w)
        return 1.0 + (1.0 + ROUNDING) * float(np.linalg.eigvalsh(K)[-1]) / self.opening.ridge

    def at_chosen(self, rows: Indices, w: Vector) -> float:
        """Return what the bound is at least, by the chosen themselves, with rounding taken off."""
        scale = self.opening.ridge * np.diag(self.among)
        N = len(self.opening.excluded)
        inside = rows < N  # else under way under another context
        known = (scale > 0) & inside & ~self.opening.excluded[np.where(inside, rows, 0)]
        sums = self.among[known] ** 2 @ w
        return 1.0 + (1.0 - ROUNDING) * float((sums / scale[known]).max(initial=0.0))

    def found(self, limit: float, g: float) -> bool:
        """Look at rows whose bound may have passed the limit."""
        excluded = self.opening.excluded
        if self.slack is None:
            self.slack = np.where(excluded, -np.inf, 0.0)
            self.model, self.whole = np.zeros(len(excluded)), np.zeros(len(excluded))
            self.seen = np.zeros(len(excluded), dtype=np.int64)
        suspect = np.flatnonzero(self.slack + g > limit)
        if len(suspect) * MANY_OF > len(excluded):
            suspect = np.flatnonzero(~excluded) if excluded.any() else np.arange(len(excluded))
        pieces = [suspect[at : at + TOGETHER] for at in range(0, len(suspect), TOGETHER)]
        bounds = np.minimum(np.concatenate([np.empty(0), *parallel_map(self.ratios, pieces)]), g)
        self.slack[suspect] = bounds - g
        return bool(bounds.max(initial=0.0) > limit)

    def ratios(self, rows: Indices) -> Vector:
        """Return the bound at rows, after adding what they have not seen to their sums."""
        assert self.seen is not None
        assert self.model is not None
        assert self.whole is not None
        levels, level = np.unique(self.seen[rows], return_inverse=True)
        others, place = np.unique(self.rows[levels[0] :], return_inverse=True)
        w = np.zeros((len(levels), len(others)))  # how often each was taken since a level
        for at, since in enumerate((levels - levels[0]).tolist()):
            np.add.at(w[at], place[since:], self.counts[levels[0] + since :])
        c, k = self.opening.covariances(rows, others)
        model = self.model[rows] + _weighted(c**2, w, level)
        whole = self.whole[rows] + _weighted(k**2, w, level)
        self.model[rows], self.whole[rows], self.seen[rows] = model, whole, len(self.rows)
        scale = self.opening.ridge * self.opening.variances(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.maximum(model, whole) / scale
        return 1.0 + np.where(scale > 0, share, 0.0)  # a known value cannot be off


def _weighted(squares: Matrix, w: Matrix, level: Indices) -> Vector:
    """Return the sum of each row's squares by the weights of its level."""
    if len(w) == 1:
        return np.asarray(squares @ w[0])
    return np.asarray(np.einsum("ij,ij->i", squares, w[level]))

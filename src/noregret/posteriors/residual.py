"""What a dictionary leaves out of the points told: bounds that hold for any dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, positions
from noregret.posteriors import cholesky
from noregret.posteriors.nystrom import NystromPosterior

TOGETHER = 64  # points, those of which most is left out, whose part of R is taken as a block
AT_ONCE = 1024  # points whose kernel values are summed together


@final
@dataclass(frozen=True, slots=True)
class ProjectionResidual:
    """Upper bounds on R = W^½(K − ZᵀZ)W^½/ridge over the points told; 0 if all are members."""

    largest: float = 0.0  # ρ = λ_max(R)
    log_det: float = 0.0  # log det(I + R), itself at most the trace

    @property
    def distortion(self) -> float:
        """c = √(1 + ρ/4) + √ρ/2: σ/c ≤ σ̃ ≤ cσ for every candidate."""
        return math.sqrt(1 + self.largest / 4) + math.sqrt(self.largest) / 2


def projection_residual(
    posterior: NystromPosterior, together: int = TOGETHER
) -> ProjectionResidual:
    """Return what the dictionary leaves out, kept from then on: O(n) and one block of 64 points.

    Members have no residual. Of the others, those of largest Rᵢᵢ are taken as one block, exactly;
    the rest counts by its Rᵢᵢ alone. The largest eigenvalue of a positive semidefinite matrix is at
    most the sum of those of its diagonal blocks (so at most its trace), and the determinant of
    I + R at most the product of those of its blocks (Fischer's inequality). Of an incremental
    dictionary only the trace is known.
    """
    known = posterior.kept.get("residual") if together == TOGETHER else None
    if not isinstance(known, ProjectionResidual):
        known = _projection_residual(posterior, together)
        if together == TOGETHER:
            posterior.kept["residual"] = known
    return known


def _projection_residual(posterior: NystromPosterior, together: int) -> ProjectionResidual:
    p, seen, outside = posterior, posterior.observed, _outside(posterior)
    if not outside.size:
        return ProjectionResidual()
    rounding = p.rounding[1] * p.kernel.diagonal(seen.X[outside])
    if p.incremental:  # which holds the trace alone, whose logarithms are largest if all are equal
        trace = (max(p.residual, 0.0) + float(seen.w[outside] @ rounding)) / p.ridge
        return ProjectionResidual(trace, outside.size * math.log1p(trace / outside.size))
    diagonal = seen.w[outside] * (p.observed_residuals[outside] + rounding) / p.ridge  # Rᵢᵢ
    order = np.argsort(-diagonal, kind="stable")
    block, rest = order[:together], diagonal[order[together:]]
    X, root = seen.X[outside[block]], np.sqrt(seen.w[outside[block]] / p.ridge)
    Z = p.embed(X)
    R = root[:, None] * (p.kernel(X, X) - Z.T @ Z) * root
    np.fill_diagonal(R, diagonal[block])
    eigenvalues = np.maximum(np.linalg.eigvalsh(R), 0.0)
    return ProjectionResidual(
        largest=float(eigenvalues[-1] + rest.sum()),
        log_det=float(np.log1p(eigenvalues).sum() + np.log1p(rest).sum()),
    )


def mean_shift(posterior: NystromPosterior, at_once: int = AT_ONCE) -> float:
    """Return D with |μ(x) − μ̃(x)| ≤ D·σ(x) for every candidate, μ and σ those of the exact model.

    With v = W(ȳ − μ̃) at the points that are no members, and N the residual K − ZᵀZ among them,

        D = √(vᵀNv)/ridge                                                                     (1)

    by blocks of points: √(vᵀNv) is at most the sum of that of its blocks. O(n·1024) kernel values.
    """
    seen, outside, a = posterior.observed, _outside(posterior), posterior.mean_weights()
    D = 0.0
    for at in range(0, len(outside), at_once):
        some = outside[at : at + at_once]
        X = seen.X[some]
        KS = posterior.kernel(X, posterior.members.X)
        v = seen.w[some] * (seen.y[some] - KS @ a)
        z = cholesky.solve_lower(posterior.LS, (KS.T @ v)[:, None])
        left = float(v @ posterior.kernel(X, X) @ v) - float((z**2).sum())
        scale = float(np.abs(v) @ np.sqrt(posterior.kernel.diagonal(X))) ** 2
        D += math.sqrt(max(left, 0.0) + posterior.rounding[1] * scale) / posterior.ridge
    return D


def _outside(posterior: NystromPosterior) -> Indices:
    """Return the places of the points told that are no members of the dictionary."""
    return np.flatnonzero(positions(posterior.observed.rows, posterior.members.rows) < 0)

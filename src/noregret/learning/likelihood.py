"""How likely the values told are under a kernel, a scale, a mean and a noise level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import cho_solve, cholesky

from noregret.arrays import Matrix, Rows, Vector
from noregret.learning.families import Family

LOG_2PI = math.log(2.0 * math.pi)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What is learned from: unique points with counts and averages, and replicates' scatter."""

    X: Rows  # (n, d)
    w: Vector  # (n,) counts
    y: Vector  # (n,) averages
    error: float = 0.0  # pooled variance of replicates …
    freedom: float = 0.0  # … and how many independent differences it rests on


@final
@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """The log density of all evaluations, at the cost of the n unique points.

    Parameters are θ = (log s², log ξ², those of the family). With A = s²·K + ξ²·W⁻¹ and the mean m
    at its best, m = 1ᵀA⁻¹ȳ/1ᵀA⁻¹1, r = ȳ − m,

        log p = −½ rᵀA⁻¹r − ½ log det A − n/2·log 2π − ν/2·(log ξ² + e/ξ²)                    (1)

    where e is the variance of replicates and ν their degrees of freedom: the values of one point
    scatter about its average independently of it. With e and ν as counted, (1) is the density of
    all Σw evaluations up to a constant. With α = A⁻¹r and M = ααᵀ − A⁻¹,

        ∂ log p/∂θ_j = ½ Σ_ab M_ab ∂A_ab/∂θ_j + (that of the replicates)                       (2)

    O(n³) for the inverse, O(n²d) for the rest. The mean does not move (2), being at its best.

    Source: Rasmussen & Williams (2006), Eqs. 5.8 and 5.9; counts by MINI 2022, Eq. 4.
    """

    family: Family
    sample: Sample

    def value(self, theta: Vector) -> float:
        """Return log p at θ."""
        return self._factored(theta)[0]

    def gradient(self, theta: Vector) -> tuple[float, Vector]:
        """Return log p at θ and its slopes."""
        value, L, alpha, K = self._factored(theta)
        seen, noise = self.sample, math.exp(theta[1])
        M = np.outer(alpha, alpha) - cho_solve((L, True), np.eye(len(L)))
        scale = 0.5 * float(np.vdot(M, K))
        own = 0.5 * noise * float(np.sum(np.diag(M) / seen.w))
        replicates = -0.5 * seen.freedom * (1.0 - seen.error / noise)
        inner = 0.5 * math.exp(theta[0]) * self.family.pull(theta[2:], seen.X, M)
        return value, np.concatenate([[scale, own + replicates], inner])

    def factored(self, theta: Vector) -> tuple[Matrix, Vector]:
        """Return the lower factor of A, and α = A⁻¹(ȳ − m)."""
        _, L, alpha, _ = self._factored(theta)
        return L, alpha

    def mean(self, theta: Vector) -> float:
        """Return the mean m that makes the values likeliest."""
        L, _ = self._factor(theta)
        return self._best_mean(L)

    def _factored(self, theta: Vector) -> tuple[float, Matrix, Vector, Matrix]:
        seen, noise = self.sample, math.exp(theta[1])
        L, K = self._factor(theta)
        residual = seen.y - self._best_mean(L)
        alpha = cho_solve((L, True), residual)
        fit = residual @ alpha + 2.0 * float(np.log(np.diag(L)).sum()) + len(L) * LOG_2PI
        replicates = seen.freedom * (theta[1] + seen.error / noise)
        return -0.5 * float(fit + replicates), L, alpha, K

    def _factor(self, theta: Vector) -> tuple[Matrix, Matrix]:
        """Return the factor of A, and s²K."""
        seen = self.sample
        K = math.exp(theta[0]) * self.family.gram(theta[2:], seen.X)
        A = K.copy()
        A.flat[:: len(A) + 1] += math.exp(theta[1]) / seen.w + JITTER * math.exp(theta[0])
        return cholesky(A, lower=True, check_finite=False), K

    def _best_mean(self, L: Matrix) -> float:
        ones = cho_solve((L, True), np.ones(len(L)))
        return float(ones @ self.sample.y / ones.sum())


def log_density_of_none(sample: Sample) -> float:
    """Return the log density if f were constant and all the rest noise, both at their best.

    With m = Σwȳ/Σw and Q = Σw(ȳ − m)², ξ² = (Q + νe)/(n + ν), and (1) with s² = 0.
    """
    w, y, v = sample.w, sample.y, sample.freedom
    m = float(w @ y / w.sum())
    n, Q = len(y), float(w @ (y - m) ** 2)
    noise = max((Q + v * sample.error) / (n + v), np.finfo(float).tiny)
    fit = Q / noise + n * (math.log(noise) + LOG_2PI) - float(np.log(w).sum())
    return -0.5 * (fit + v * (math.log(noise) + sample.error / noise))


JITTER = 1e-9  # of the scale: what rounding may take from the smallest eigenvalue

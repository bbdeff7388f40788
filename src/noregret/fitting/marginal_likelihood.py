"""How likely the values told are under a kernel, a scale, a mean and a noise level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import lapack

from noregret.arrays import Matrix, Rows, Vector
from noregret.fitting.kernel_families import Family, TraceGradient

LOG_2PI = math.log(2.0 * math.pi)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What is fitted: unique points with counts and averages, and replicates' scatter."""

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
        return self._factored(theta).value

    def gradient(self, theta: Vector) -> tuple[float, Vector]:
        """Return log p at θ and its slopes."""
        at, seen, noise = self._factored(theta), self.sample, math.exp(theta[1])
        M = np.outer(at.alpha, at.alpha)
        M -= at.inverse()
        scale = 0.5 * (float(np.vdot(M, at.K)) + JITTER * math.exp(theta[0]) * float(np.trace(M)))
        values = 0.5 * noise * float(np.sum(np.diag(M) / seen.w))
        replicates = -0.5 * seen.freedom * (1.0 - seen.error / noise)
        inner = 0.5 * math.exp(theta[0]) * at.trace_gradient(M)
        return at.value, np.concatenate([[scale, values + replicates], inner])

    def left_out(self, theta: Vector) -> tuple[Vector, Vector]:
        """Return α = A⁻¹(ȳ − m), and the diagonal of A⁻¹."""
        at = self._factored(theta)
        return at.alpha, np.diag(at.inverse()).copy()

    def mean(self, theta: Vector) -> float:
        """Return the mean m that makes the values likeliest."""
        return self._factored(theta).mean

    def _factored(self, theta: Vector) -> _Factored:
        seen, noise = self.sample, math.exp(theta[1])
        K, trace_gradient = self.family.gram(theta[2:], seen.X)
        K *= math.exp(theta[0])
        A = np.array(K, order="F")
        np.einsum("ii->i", A)[...] += noise / seen.w + JITTER * math.exp(theta[0])
        L, info = lapack.dpotrf(A, lower=1, clean=1, overwrite_a=1)
        if info != 0:
            raise np.linalg.LinAlgError("A has no Cholesky factor")
        both = np.stack([seen.y, np.ones(len(A))], axis=1)
        values, ones = np.asarray(lapack.dpotrs(L, both, lower=1)[0]).T
        mean = float(values.sum() / ones.sum())
        alpha: Vector = values - mean * ones
        fit = (seen.y - mean) @ alpha + 2.0 * float(np.log(np.diag(L)).sum()) + len(A) * LOG_2PI
        replicates = seen.freedom * (theta[1] + seen.error / noise)
        return _Factored(-0.5 * float(fit + replicates), mean, alpha, L, K, trace_gradient)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Factored:
    """What a step of a fit is made of: A's factor at some θ."""

    value: float  # log p
    mean: float  # m
    alpha: Vector  # A⁻¹(ȳ − m)
    L: Matrix  # lower
    K: Matrix  # s²·K
    trace_gradient: TraceGradient

    def inverse(self) -> Matrix:
        """Return A⁻¹, a third of the cost of solving for it."""
        lower = np.asarray(lapack.dpotri(self.L, lower=1)[0])
        whole: Matrix = lower + lower.T
        np.einsum("ii->i", whole)[...] *= 0.5
        return whole


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

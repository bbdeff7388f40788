"""beta schedules with a theorem behind them; for the notation see `widths.base`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

from noregret.storable import storable
from noregret.widths.base import (
    ALPHA,
    EPSILON,
    Assumption,
    Assumptions,
    ScaledWidth,
    Width,
    WidthBase,
    WidthInputs,
    dictionary_is_accurate,
    norm_is_bounded,
    posterior_is_exact,
    prior_is_right,
)


@final
@storable("RKHSWidth")
@dataclass(frozen=True, slots=True)
class RKHSWidth(WidthBase):
    """For a fixed f of bounded norm and the exact posterior: F + (ξ/√λ)·√(L + 2 log(1/δ)).

    The proof needs noise ε_s that is sub-Gaussian with ξ, given all before it. Of weights
    w_s = (ξ/ξ_s)², known before their values, √w_s·ε_s is; so it holds for the regression of
    √w_s·y_s on √w_s·φ(x_s), which is that of the weighted posterior. So do the other theorems.

    Source: MINI 2022, Theorem 4.4; Chowdhury & Gopalan 2017.

    >>> pool, width = nr.Pool.numbered(9), nr.RKHSWidth(delta=0.05)
    >>> round(nr.gp_ucb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    3.45
    """

    delta: float = 0.1
    theorem = "MINI (2022) Theorem 4.4, after Chowdhury & Gopalan (2017)"

    def beta(self, inputs: WidthInputs) -> float:
        inside = inputs.posterior.log_det + 2 * math.log(1 / self.delta)
        return inputs.norm_bound + inputs.noise_ratio * math.sqrt(max(inside, 0.0))

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (*norm_is_bounded(inputs, self), posterior_is_exact(inputs))


@final
@storable("BayesianWidth")
@dataclass(frozen=True, slots=True)
class BayesianWidth(WidthBase):
    """For f drawn from the prior over a finite pool: √(2 log(N (t+1)² π²/(6δ))).

    Source: MINI 2022, Theorem 4.5; Srinivas et al. 2010, Theorem 1.

    >>> pool, width = nr.Pool.numbered(9), nr.BayesianWidth(delta=0.05)
    >>> round(nr.gp_ucb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    3.37
    """

    delta: float = 0.1
    theorem = "MINI (2022) Theorem 4.5, after Srinivas et al. (2010)"

    def beta(self, inputs: WidthInputs) -> float:
        N, t = inputs.candidates, inputs.evaluations
        return math.sqrt(2 * math.log(N * (t + 1) ** 2 * math.pi**2 / (6 * self.delta)))

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (*prior_is_right(inputs), posterior_is_exact(inputs))


@final
@storable("EIWidth")
@dataclass(frozen=True, slots=True)
class EIWidth(WidthBase):
    """For expected improvement: β² = L + √(L·log((t+1)/δ)) + log((t+1)/δ).

    Source: MINI 2022, Theorem 4.6; Wang & de Freitas 2014.

    >>> pool, width = nr.Pool.numbered(9), nr.EIWidth(delta=0.05)
    >>> round(nr.mini_gp_ei(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    1.73
    """

    delta: float = 0.1
    theorem = "MINI (2022) Theorem 4.6, after Wang & de Freitas (2014)"

    def beta(self, inputs: WidthInputs) -> float:
        L = max(inputs.posterior.log_det, 0.0)
        log = math.log((inputs.evaluations + 1) / self.delta)
        return math.sqrt(L + math.sqrt(L * log) + log)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        p = inputs.posterior
        return (
            *norm_is_bounded(inputs, self),
            Assumption("ridge = noise_std²", math.isclose(p.ridge, p.noise_std**2)),
            posterior_is_exact(inputs),
        )


@final
@storable("BKBWidth")
@dataclass(frozen=True, slots=True)
class BKBWidth(WidthBase):
    """BKB's theorem, corrected:

    (ξ/√λ)·√(2[α(1 + log(1 + κ²Σw/λ))·Σ wσ̃²_t/λ + log(1/δ)]) + (1 + 1/√(1−ε))·F,  ε = 1/2.

    Source: BKB 2019, Theorem 2 and its proof (App. D).
    Differs: the statement's log(κ²t) is 0 at t = 1 and negative for small κ; this is the proof's
    1 + log(1 + κ²t) before that step, with the λ that the proof drops; t there is the trace of the
    weights, which it is where every evaluation has the same noise.

    >>> pool, width = nr.Pool.numbered(9), nr.BKBWidth(delta=0.05, kappa_squared=1.0)
    >>> round(nr.bkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    4.86
    """

    delta: float = 0.1
    kappa_squared: float = 1.0  # κ², the largest prior variance in the pool
    theorem = "BKB (2019) Theorem 2, with log(κ²t) corrected to 1 + log(1 + κ²t/λ)"

    def beta(self, inputs: WidthInputs) -> float:
        p = inputs.posterior
        growth = 1 + math.log1p(self.kappa_squared * inputs.weight / p.ridge)
        inside = ALPHA * growth * p.effective_dimension() + math.log(1 / self.delta)
        bias = (1 + 1 / math.sqrt(1 - EPSILON)) * inputs.norm_bound
        return inputs.noise_ratio * math.sqrt(2 * inside) + bias

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        needed = 6 * ALPHA / EPSILON**2 * math.log(4 * max(inputs.evaluations, 1) / self.delta)
        return (*norm_is_bounded(inputs, self), dictionary_is_accurate(inputs, needed))


def with_prior_variance(width: Width, largest: float) -> Width:
    """Return a width that holds for candidates of this prior variance too."""
    match width:
        case ScaledWidth(width=inner):
            return replace(width, width=with_prior_variance(inner, largest))
        case BKBWidth(kappa_squared=known):
            return replace(width, kappa_squared=max(known, largest))
        case _:
            return width


@final
@storable("BBKBWidth")
@dataclass(frozen=True, slots=True)
class BBKBWidth(WidthBase):
    """BBKB's theorem: C̃·[2(ξ/√λ)·√(Σ log(1 + 3σ̃²_stale(x_s)/λ) + log(1/δ)) + (1 + √2)·F].

    `limit` is C̃. At the start of a batch, before anything is hallucinated, the band holds without
    the factor C̃ (Proposition 5): `fresh`, which is what a certificate uses. √C̃ in place of C̃
    already suffices inside a batch, C̃ being a ratio of variances; this is the theorem as printed.

    Source: BBKB 2020, Theorem 2.

    >>> pool, width = nr.Pool.numbered(9), nr.BBKBWidth(delta=0.05, limit=2.0)
    >>> round(nr.bbkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    11.75
    """

    delta: float = 0.1
    limit: float = 1.0
    fresh: bool = False
    theorem = "BBKB (2020) Theorem 2"

    def beta(self, inputs: WidthInputs) -> float:
        inside = inputs.information.tripled + math.log(1 / self.delta)
        noise = 2 * inputs.noise_ratio * math.sqrt(inside)
        stretch = 1.0 if self.fresh else self.limit
        return stretch * (noise + (1 + math.sqrt(2)) * inputs.norm_bound)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        needed = 72 * self.limit * math.log(4 * max(inputs.evaluations, 1) / self.delta)
        return (
            *norm_is_bounded(inputs, self),
            Assumption("ridge is at least 1", inputs.posterior.ridge >= 1),
            dictionary_is_accurate(inputs, needed),
        )

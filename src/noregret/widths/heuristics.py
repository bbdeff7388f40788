"""How wide to believe: beta schedules, named by their theorem.

`beta` multiplies the standard deviation of f. Notation of every formula here: F the norm bound, ξ
the noise_std, λ the ridge, δ the failure probability, N candidates, t evaluations told,
L = log det(I + W^½ K W^½/λ).

A width that grows slowly, for models that were learned: no theorem stands behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from noregret.errors import require_at_least, require_positive, require_probability
from noregret.storable import storable
from noregret.widths.base import Assumption, Assumptions, WidthInputs, norm_is_bounded, scaled


@final
@storable("BKBExperimentsWidth")
@dataclass(frozen=True, slots=True)
class BKBExperimentsWidth:
    """As the papers' figures were run: F + (ξ/√λ)·√(log t·Σ σ̃²_t(x_s)/λ + log(1/δ)).

    >>> width = nr.BKBExperimentsWidth(delta=0.05)
    >>> opt = nr.bkb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=0.1, width=width)
    >>> round(opt.posterior.beta, 2)
    2.73
    """

    delta: float = 0.1
    theorem = "none: BKB's width without its constants, as in the papers' experiments"
    __mul__ = scaled
    __rmul__ = scaled

    def __post_init__(self) -> None:
        require_probability("BKBExperimentsWidth(delta=...)", self.delta)

    def beta(self, inputs: WidthInputs) -> float:
        log = math.log(max(inputs.evaluations, 1))
        inside = log * inputs.posterior.effective_dimension() + math.log(1 / self.delta)
        return inputs.norm_bound + inputs.noise_ratio * math.sqrt(inside)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (
            *norm_is_bounded(inputs, self),
            Assumption("the theorem's constants are not needed"),
        )


@final
@storable("BBKBExperimentsWidth")
@dataclass(frozen=True, slots=True)
class BBKBExperimentsWidth:
    """As the papers' figures were run: F + (ξ/√λ)·√(C̃·Σ log(1 + σ̃²_stale(x_s)/λ) + log(1/δ)).

    >>> width = nr.BBKBExperimentsWidth(delta=0.05, limit=2.0)
    >>> opt = nr.bbkb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=0.1, width=width)
    >>> round(opt.posterior.beta, 2)
    2.73
    """

    delta: float = 0.1
    limit: float = 1.0  # C̃
    theorem = "none: BBKB's width without its constants, as in the papers' experiments"
    __mul__ = scaled
    __rmul__ = scaled

    def __post_init__(self) -> None:
        require_probability("BBKBExperimentsWidth(delta=...)", self.delta)
        require_at_least("BBKBExperimentsWidth(limit=...)", self.limit, 1.0)

    def beta(self, inputs: WidthInputs) -> float:
        inside = self.limit * inputs.information.plain + math.log(1 / self.delta)
        return inputs.norm_bound + inputs.noise_ratio * math.sqrt(inside)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (
            *norm_is_bounded(inputs, self),
            Assumption("the theorem's constants are not needed"),
        )


@final
@storable("ConstantWidth")
@dataclass(frozen=True, slots=True)
class ConstantWidth:
    """The same beta always, chosen by hand; 1 with Thompson sampling draws from the posterior.

    >>> width = nr.ConstantWidth(2.0)
    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=0.1, width=width)
    >>> opt.posterior.beta
    2.0
    """

    value: float = 1.0
    delta: float = 0.1
    theorem = "no theorem: a constant beta"
    __mul__ = scaled
    __rmul__ = scaled

    def __post_init__(self) -> None:
        require_positive("ConstantWidth(value=...)", self.value)
        require_probability("ConstantWidth(delta=...)", self.delta)

    def beta(self, inputs: WidthInputs) -> float:
        return self.value

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (Assumption(f"beta = {self.value:g} is wide enough"),)


@final
@storable("GrowingWidth")
@dataclass(frozen=True, slots=True)
class GrowingWidth:
    """beta = factor·√(2 log(1 + t)), t values told: as a theorem's grows, but narrower.

    Steers choices only; bounds and certificates are always a theorem's.

    >>> width = nr.GrowingWidth(factor=0.5)
    >>> opt = nr.mini_gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=0.1, width=width)
    >>> opt.tell([0], means=[0.5], counts=[99])
    >>> round(opt.posterior.beta, 2)
    1.52
    """

    factor: float = 0.5
    delta: float = 0.1
    theorem = "no theorem: a width that grows with the logarithm of time"
    __mul__ = scaled
    __rmul__ = scaled

    def __post_init__(self) -> None:
        require_positive("GrowingWidth(factor=...)", self.factor)
        require_probability("GrowingWidth(delta=...)", self.delta)

    def beta(self, inputs: WidthInputs) -> float:
        return self.factor * math.sqrt(2 * math.log1p(inputs.evaluations))

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (Assumption("this width is wide enough"),)

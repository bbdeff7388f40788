"""beta schedules without a theorem; for the notation see `widths.base`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from noregret.storable import storable
from noregret.widths.base import Assumption, Assumptions, WidthBase, WidthInputs, norm_is_bounded


class WithoutConstants(WidthBase):
    """A theorem's width as the papers' figures were run."""

    __slots__ = ()

    @final
    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (
            *norm_is_bounded(inputs, self),
            Assumption("the theorem's constants are not needed"),
        )


class ChosenByHand(WidthBase):
    """A width that nothing but the user's word stands behind."""

    __slots__ = ()

    @final
    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (Assumption(f"beta = {self.beta(inputs):.3g} is wide enough"),)


@final
@storable("BKBExperimentsWidth")
@dataclass(frozen=True, slots=True)
class BKBExperimentsWidth(WithoutConstants):
    """As the papers' figures were run: F + (ξ/√λ)·√(log t·Σ σ̃²_t(x_s)/λ + log(1/δ)).

    >>> pool, width = nr.Pool.numbered(9), nr.BKBExperimentsWidth(delta=0.05)
    >>> round(nr.bkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    2.73
    """

    delta: float = 0.1
    theorem = "none: BKB's width without its constants, as in the papers' experiments"

    def beta(self, inputs: WidthInputs) -> float:
        log = math.log(max(inputs.evaluations, 1))
        inside = log * inputs.posterior.effective_dimension() + math.log(1 / self.delta)
        return inputs.norm_bound + inputs.noise_ratio * math.sqrt(inside)


@final
@storable("BBKBExperimentsWidth")
@dataclass(frozen=True, slots=True)
class BBKBExperimentsWidth(WithoutConstants):
    """As the papers' figures were run: F + (ξ/√λ)·√(C̃·Σ log(1 + σ̃²_stale(x_s)/λ) + log(1/δ)).

    >>> pool, width = nr.Pool.numbered(9), nr.BBKBExperimentsWidth(delta=0.05, limit=2.0)
    >>> round(nr.bbkb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta, 2)
    2.73
    """

    delta: float = 0.1
    limit: float = 1.0  # C̃
    theorem = "none: BBKB's width without its constants, as in the papers' experiments"

    def beta(self, inputs: WidthInputs) -> float:
        inside = self.limit * inputs.information.plain + math.log(1 / self.delta)
        return inputs.norm_bound + inputs.noise_ratio * math.sqrt(inside)


@final
@storable("ConstantWidth")
@dataclass(frozen=True, slots=True)
class ConstantWidth(ChosenByHand):
    """The same beta always, chosen by hand; 1 with Thompson sampling draws from the posterior.

    >>> pool, width = nr.Pool.numbered(9), nr.ConstantWidth(2.0)
    >>> nr.gp_ucb(pool, kernel=nr.RBF(), noise_std=1, width=width).posterior.beta
    2.0
    """

    value: float = 1.0
    delta: float = 0.1
    theorem = "no theorem: a constant beta"

    def beta(self, inputs: WidthInputs) -> float:
        return self.value


@final
@storable("GrowingWidth")
@dataclass(frozen=True, slots=True)
class GrowingWidth(ChosenByHand):
    """beta = factor·√(2 log(1 + t)), t values told: as a theorem's grows, but narrower.

    >>> pool, width = nr.Pool.numbered(9), nr.GrowingWidth(factor=0.5)
    >>> opt = nr.gp_ucb(pool, kernel=nr.RBF(), noise_std=1, width=width)
    >>> opt.tell([0], means=[0.5], counts=[99])
    >>> round(opt.posterior.beta, 2)
    1.52
    """

    factor: float = 0.5
    delta: float = 0.1
    theorem = "no theorem: a width that grows with the logarithm of time"

    def beta(self, inputs: WidthInputs) -> float:
        return self.factor * math.sqrt(2 * math.log1p(inputs.evaluations))

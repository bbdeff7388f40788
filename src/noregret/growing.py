"""A width that grows slowly, for models that were learned: no theorem stands behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from noregret.confidence import scaled
from noregret.errors import require_positive, require_probability
from noregret.standings import Assumption, Assumptions, Standing


@final
@dataclass(frozen=True, slots=True)
class GrowingWidth:
    """beta = factor·√(2 log(1 + t)), t values told: as a theorem's grows, but narrower.

    Steers choices only; bounds and certificates are always a theorem's.

    >>> import noregret as nr
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

    def beta(self, standing: Standing) -> float:
        return self.factor * math.sqrt(2 * math.log1p(standing.evaluations))

    def assumptions(self, standing: Standing) -> Assumptions:
        return (Assumption("this width is wide enough"),)

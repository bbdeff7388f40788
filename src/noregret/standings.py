"""Where a run stands, and what a theorem assumes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, final

from noregret.posteriors import Posterior


@final
@dataclass(frozen=True, slots=True)
class Information:
    """Running sums over evaluations, each with its variance when its batch was opened.

    `plain` = Σ log(1 + σ̃²_stale(x_s)/λ),  `tripled` = Σ log(1 + 3σ̃²_stale(x_s)/λ): bounds on L
    that need no n × n matrix (BBKB 2020, proof of Theorem 2).
    """

    plain: float = 0.0
    tripled: float = 0.0

    def plus(self, leverage: float, *, times: int) -> Information:
        """Add `times` evaluations of σ̃²_stale/λ = leverage each."""
        return Information(
            self.plain + times * math.log1p(leverage),
            self.tripled + times * math.log1p(3 * leverage),
        )

    def at_most(self, bound: float, *, least: Information) -> Information:
        """Return the sums, or another bound on L where that is lower; never less than `least`."""
        return Information(
            min(self.plain, max(bound, least.plain)), min(self.tripled, max(bound, least.tripled))
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where a run stands when a width is asked for."""

    posterior: Posterior
    candidates: int  # N
    evaluations: int  # t
    norm_bound: float  # F
    information: Information

    @property
    def noise_ratio(self) -> float:
        """ξ/√λ."""
        return self.posterior.noise_std / math.sqrt(self.posterior.ridge)


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition of a theorem; `holds` is None where only the user can know."""

    statement: str
    holds: bool | None = None


Assumptions: TypeAlias = tuple[Assumption, ...]

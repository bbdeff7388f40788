"""How F, the bound on the RKHS norm of f, is had."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, final

from noregret.errors import require_positive
from noregret.storable import storable
from noregret.widths.base import Assumption, Assumptions, Width, WidthInputs, is_refuted


class NormBound(Protocol):
    """Says what F is before the first batch and at every later one."""

    @property
    def start(self) -> float: ...
    def update(self, inputs: WidthInputs, band: Width) -> float:
        """Return F for the next batch, given the standing with the last F."""
        ...

    def assumptions(self, inputs: WidthInputs) -> Assumptions: ...


@final
@storable("KnownNorm")
@dataclass(frozen=True, slots=True)
class KnownNorm:
    """F is given and stays."""

    start: float = 1.0

    def __post_init__(self) -> None:
        require_positive("norm_bound", self.start)

    def update(self, inputs: WidthInputs, band: Width) -> float:
        return inputs.norm_bound

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return ()  # the widths that use the bound say so


@final
@storable("GuessAndDouble")
@dataclass(frozen=True, slots=True)
class GuessAndDouble:
    """F is guessed, and doubled as long as what was seen contradicts the guess.

    So F never exceeds twice the truth (or its start), with the probability of the band; nothing
    says that it reaches the truth, and a certificate that rests on a guess says so.

    Source: "standard guess-and-double techniques", BKB 2019, §4.
    """

    start: float = 1.0

    def __post_init__(self) -> None:
        require_positive("GuessAndDouble(start=...)", self.start)

    def update(self, inputs: WidthInputs, band: Width) -> float:
        while is_refuted(inputs, band):
            inputs = replace(inputs, norm_bound=2 * inputs.norm_bound)
        return inputs.norm_bound

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        F = inputs.norm_bound
        return (Assumption(f'norm_bound = {F:g}, by norm_bound="double", is large enough'),)

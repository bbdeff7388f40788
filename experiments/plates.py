"""A plate: one figure of a paper, what the paper says of it, and what we found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from experiments.settings import Sweep
from experiments.store import Store
from experiments.summary import Band

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, what was measured, and whether they agree."""

    says: str
    found: str
    agrees: bool


@final
@dataclass(frozen=True, slots=True)
class Plate:
    """A figure made of runs: which ones, how it is drawn, what is claimed of it."""

    name: str  # such as bbkb-fig2
    runs: str  # the settings' table, such as bbkb-fig1
    title: str
    quantities: tuple[str, ...]  # in its JSON; the first is in its table too
    draw: Callable[[Sweep, Store], Figure]
    claims: Callable[[Sweep, Store], list[Claim]]

    @property
    def paper(self) -> str:
        return self.name.split("-", 1)[0]


def reads(curves: Mapping[str, Band], labels: Sequence[str], step: int | None = None) -> str:
    """Return the values of some methods in words, at the end or at a step."""
    parts = []
    for label in labels:
        if label in curves:
            mean, half = curves[label].last if step is None else curves[label].at(step)
            parts.append(f"{label} {number(mean, half)}")
    return ", ".join(parts)


def number(mean: float, half: float) -> str:
    """Return a mean with its half-width, to the digits that mean something."""
    if half != half:  # one repetition
        return f"{mean:.3g}"
    return f"{mean:.3g} ± {half:.1g}"


def ends(curves: Mapping[str, Band], step: int | None = None) -> dict[str, float]:
    """Return every method's mean at the end, or at a step."""
    return {
        label: (curve.last if step is None else curve.at(step))[0]
        for label, curve in curves.items()
    }


def ascending(values: Mapping[str, float]) -> list[str]:
    """Return the methods in order of their values."""
    return sorted(values, key=values.__getitem__)

"""A plate: one figure of a paper, what the paper says of it, and what we found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from evaluation.papers.settings import Sweep
from evaluation.papers.summary import Band
from evaluation.runs.cells import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, what was measured, and whether they agree.

    What is said of BBKB or of MINI holds if the better of its two variants has it, unless the paper
    says both. A statement that is `ours`, not the paper's, is marked so and not counted.
    """

    says: str
    found: str
    agrees: bool
    ours: bool = False


@final
@dataclass(frozen=True, slots=True)
class Plate:
    """A figure: which runs it is made of, how it is drawn, what is claimed of it."""

    name: str  # such as bbkb-fig2
    runs: str  # the settings' table, such as bbkb-fig1; none where it is computed at once
    title: str
    quantities: tuple[str, ...]  # in its JSON; the first is in its table too …
    draw: Callable[[Sweep, Store], Figure]
    claims: Callable[[Sweep, Store], list[Claim]]
    step: int | None = None  # … at this step, or at the end
    histories: tuple[int, ...] = (0,)  # of these past evaluations

    @property
    def paper(self) -> str:
        return self.name.split("-", 1)[0]


def reads(curves: Mapping[str, Band], labels: Sequence[str], step: int | None = None) -> str:
    """Return the values of some methods in words, at the end or at a step."""
    return ", ".join(
        f"{label} {number(*curves[label].at(step))}" for label in labels if label in curves
    )


def number(mean: float, half: float) -> str:
    """Return a mean with its half-width, to the digits that mean something."""
    if half != half:  # one repetition
        return f"{mean:.3g}"
    return f"{mean:.3g} ± {half:.1g}"


def ends(curves: Mapping[str, Band], step: int | None = None) -> dict[str, float]:
    """Return every method's mean at the end, or at a step."""
    return {label: curve.at(step)[0] for label, curve in curves.items()}


def ascending(values: Mapping[str, float]) -> list[str]:
    """Return the methods in order of their values."""
    return sorted(values, key=values.__getitem__)

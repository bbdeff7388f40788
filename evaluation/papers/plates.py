"""A plate: one figure of a paper, what the paper says of it, and what we found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from evaluation.papers.curves import Runs

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
    draw: Callable[[Runs], Figure]
    claims: Callable[[Runs], Iterable[Claim]]
    step: int | None = None  # … at this step, or at the end
    histories: tuple[int, ...] = (0,)  # of these past evaluations

    @property
    def paper(self) -> str:
        return self.name.split("-", 1)[0]

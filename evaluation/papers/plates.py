"""A plate: one figure of a paper, what the paper says of it, and what we found."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, final

from evaluation.papers.curves import Runs
from evaluation.papers.drawing import Panel, panels
from evaluation.papers.settings import FOLDER

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


Claims: TypeAlias = Callable[[Runs], Iterable[Claim]]
Draw: TypeAlias = "Callable[[Runs], Figure]"


@final
@dataclass(frozen=True, slots=True)
class Plate:
    """A figure: which runs it is made of, how it is drawn, what is claimed of it."""

    name: str  # such as bbkb-fig2
    title: str
    draw: Draw
    claims: Claims
    runs: str = ""  # the settings' table, such as bbkb-fig1; none where it is computed at once
    quantities: tuple[str, ...] = ()  # in its JSON; the first is in its table too …
    step: int | None = None  # … at this step, or at the end
    histories: tuple[int, ...] = (0,)  # of these past evaluations

    @property
    def paper(self) -> str:
        return self.name.split("-", 1)[0]


def plates(
    paper: str, claims: Mapping[str, Claims], drawn: Mapping[str, Draw] | None = None
) -> tuple[Plate, ...]:
    """Return the figures in a paper's settings, with what is claimed of each.

    Those that are no grid of panels are drawn by functions of their own.
    """
    settings = tomllib.loads((FOLDER / paper / "settings.toml").read_text())
    made = []
    for name, table in settings["figures"].items():
        if drawn and name in drawn:
            draw = drawn[name]
        else:
            shown = [Panel(**one) for one in table["panels"]]
            look = table.get("look", {})
            draw = partial(panels, shown=shown, columns=table["columns"], **look)
        made.append(
            Plate(
                f"{paper}-{name}",
                table["title"],
                draw,
                claims[name],
                f"{paper}-{table['runs']}",
                tuple(table["quantities"]),
                table.get("step"),
                tuple(table.get("histories", [0])),
            )
        )
    return tuple(made)

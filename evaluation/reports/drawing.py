"""Empty figures, and one legend for all panels of a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from noregret.errors import require_extra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def canvas(rows: int, columns: int, *, width: float = 3.6, height: float = 2.9) -> Figure:
    """Return an empty figure for so many panels."""
    require_extra("matplotlib", extra="plot", what="python -m evaluation.papers")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def labelled(figure: Figure) -> Iterator[tuple[str, Artist]]:
    """Yield what has a label in any panel."""
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        yield from zip(labels, handles, strict=True)


def legend(figure: Figure, named: Mapping[str, Artist], columns: int = 4) -> None:
    """Put one legend under all panels."""
    figure.legend(
        named.values(),
        named,
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        frameon=False,
    )

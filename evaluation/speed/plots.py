"""Time against what grows, log-log, with the slope of each line."""

from __future__ import annotations

from pathlib import Path

from evaluation.speed.case import Case
from evaluation.speed.goals import slope
from evaluation.speed.results import Results
from evaluation.speed.series import Observations, series_of

AXES = {
    "T": "evaluations",
    "N": "candidates in the pool",
    "d": "features",
    "unique": "different candidates evaluated",
}
COLOURS, STYLES = 10, ("-", "--", ":")  # a line that has another's colour is dashed


def plot_name(case: Case) -> str:
    """Return the file name of a case's plot."""
    return f"{case.name.lower()}.png"


def plot(case: Case, results: Results, folder: Path) -> Path | None:
    """Draw a scaling case; None where nothing of it was measured."""
    lines = series_of(case, results)
    if not lines:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for at, (name, line) in enumerate(lines.items()):
        x, y = zip(*sorted(line), strict=True)
        style, label = STYLES[at // COLOURS % len(STYLES)], f"{name}{slope_text(line)}"
        axes.loglog(x, y, style, marker="o", markersize=4, label=label)
    axes.set_xlabel(AXES[case.against])
    axes.set_ylabel("seconds")
    axes.set_title(case.title, fontsize=10)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / plot_name(case)
    figure.savefig(path, dpi=130)
    return path


def slope_text(line: Observations) -> str:
    """Return the slope of a line in brackets; nothing for a single point."""
    fitted = slope(line)
    return "" if fitted is None else f" (slope {fitted:.2f})"

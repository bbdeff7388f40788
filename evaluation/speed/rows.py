"""The rows of the table, as text: for the terminal and for the report alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from evaluation.speed.case import Case
from evaluation.speed.floor import floor_seconds
from evaluation.speed.goals import Goal, judge, touched_percent
from evaluation.speed.results import Results
from evaluation.speed.subjects import Figures, Subject

COLUMNS = (
    "what",
    "N",
    "T",
    "seconds",
    "peak MB",
    "of it run",
    "unique",
    "passes",
    "touched",
    "moved GB",
    "× floor",
    "regret",
)
NONE = "–"


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A subject of a case, in COLUMNS."""

    cells: tuple[str, ...]


def rows_of(case: Case, results: Results) -> list[Row]:
    """Return a row a subject."""
    return [row_of(subject, results) for subject in case.subjects]


def row_of(subject: Subject, results: Results) -> Row:
    """Return medians over seeds, with the range of seconds; or why there are none."""
    N, T = subject.settings.get("N"), subject.settings.get("T")
    d = subject.settings.get("d")
    label = subject.label if d is None else f"{subject.label}, d = {d}"
    done = results.done(subject)
    if not done:
        blank = [NONE] * (len(COLUMNS) - 4)
        return Row((label, size(N), size(T), results.trouble(subject), *blank))
    n = N if isinstance(N, int) else 0
    return Row(
        (
            label,
            size(N),
            size(T),
            _seconds(done),
            _median(done, lambda f: f["peak"] / 1e6, "{:.0f}"),
            _median(done, lambda f: f["beyond"] / 1e6, "{:.0f}"),
            _median(done, lambda f: f.get("unique"), "{:.0f}"),
            _median(done, lambda f: passes(f, n), "{:.3g}"),
            _median(done, lambda f: touched_percent(f, n), "{:.2g} %"),
            _median(done, moved_gb, "{:.3g}"),
            _median(done, over_floor, "{:.3g}"),
            _median(done, lambda f: f.get("regret"), "{:.4f}"),
        )
    )


def goal_line(goal: Goal, results: Results) -> tuple[str, str, str]:
    """Return a goal's text with its limit, the figure found, and the verdict."""
    verdict = judge(goal, results)
    unit = f" {goal.unit}" if goal.unit else ""
    limit = "reported" if goal.limit is None else f"{goal.sense} {goal.limit:g}{unit}"
    figure = NONE if verdict.figure is None else f"{verdict.figure:.3g}{unit}"
    return f"{goal.text}: {limit}", figure, verdict.word


def passes(figures: Figures, N: int) -> float | None:
    """Return how often, in all, a row of the pool was refreshed."""
    work = figures.get("work")
    return work["refreshed"] / N if work and N else None


def moved_gb(figures: Figures) -> float | None:
    """Return the gigabytes that the library says it moved."""
    work = figures.get("work")
    return work["bytes"] / 1e9 if work else None


def over_floor(figures: Figures) -> float | None:
    """Return seconds over the least that the machine needs for the bytes and flops counted."""
    work, floor = figures.get("work"), figures.get("floor")
    if not work or not floor:
        return None
    least = floor_seconds(work, floor)
    return figures["seconds"] / least if least > 0 else None


def size(value: object) -> str:
    """Return a number of candidates or evaluations with its thousands apart."""
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else NONE


def _seconds(done: list[Figures]) -> str:
    asks = [
        figures["later" if "later" in figures else "steps"]
        for figures in done
        if "steps" in figures
    ]
    if asks:
        t, seconds = asks[0][-1]
        return f"{seconds:.3g} an ask at t = {t}"
    taken = sorted(figures["seconds"] for figures in done)
    middle = f"{statistics.median(taken):.3g}"
    return middle if len(taken) == 1 else f"{middle} ({taken[0]:.3g} to {taken[-1]:.3g})"


def _median(done: list[Figures], figure: Callable[[Figures], float | None], form: str) -> str:
    known = [value for value in map(figure, done) if value is not None]
    return form.format(statistics.median(known)) if known else NONE

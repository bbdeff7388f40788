"""The tables of a case, as text: for the terminal and for the report alike."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from evaluation.reports import markdown
from evaluation.speed.goals import GB, Case, judge, seconds, slope, touched
from evaluation.speed.machine import floor_seconds
from evaluation.speed.results import Results
from evaluation.speed.subjects import Figures, Read, Settings, Subject

NONE = "–"
Line: TypeAlias = list[tuple[float, float]]  # (what grows, seconds)


def passes(figures: Figures, settings: Settings) -> float | None:
    """Return how often, in all, a row of the pool was refreshed."""
    work = figures.get("work")
    return work["refreshed"] / settings["N"] if work and "N" in settings else None


def moved_gb(figures: Figures, _: Settings) -> float | None:
    """Return the gigabytes that the library says it moved."""
    work = figures.get("work")
    return work["bytes"] / GB if work else None


def over_floor(figures: Figures, _: Settings) -> float | None:
    """Return seconds over the least that the machine needs for the bytes and flops counted."""
    work, floor = figures.get("work"), figures.get("floor")
    least = floor_seconds(work, floor) if work and floor else 0
    return figures["seconds"] / least if least > 0 else None


COLUMNS: dict[str, tuple[Read, str]] = {
    "peak MB": (lambda figures, _: figures["peak"] / 1e6, "{:.0f}"),
    "of it run": (lambda figures, _: figures["beyond"] / 1e6, "{:.0f}"),
    "unique": (lambda figures, _: figures.get("unique"), "{:.0f}"),
    "passes": (passes, "{:.3g}"),
    "touched": (touched, "{:.2g} %"),
    "moved GB": (moved_gb, "{:.3g}"),
    "× floor": (over_floor, "{:.3g}"),
    "regret": (lambda figures, _: figures.get("regret"), "{:.4f}"),
}


def figures_table(case: Case, results: Results) -> str:
    """Return a row per subject."""
    rows = [_row(subject, results) for subject in case.subjects]
    return markdown.table(("what", "N", "T", "seconds", *COLUMNS), rows)


def _row(subject: Subject, results: Results) -> list[str]:
    """Return medians over seeds, with the range of seconds; or why there are none."""
    settings, done = results.sized(subject).settings, results.done(subject)
    label = f"{subject.label}, d = {settings['d']}" if "d" in settings else subject.label
    head = [label, size(settings.get("N")), size(settings.get("T"))]
    if not done:
        return [*head, results.trouble(subject), *[NONE] * len(COLUMNS)]
    cells = []
    for figure, form in COLUMNS.values():
        found = [figure(one, settings) for one in done]
        known = [value for value in found if value is not None]
        cells.append(form.format(statistics.median(known)) if known else NONE)
    return [*head, _seconds(done), *cells]


def _seconds(done: list[Figures]) -> str:
    if "steps" in done[0]:
        t, last = done[0].get("later", done[0]["steps"])[-1]
        return f"{last:.3g} an ask at t = {t}"
    taken = [figures["seconds"] for figures in done]
    middle = f"{statistics.median(taken):.3g}"
    return middle if len(done) == 1 else f"{middle} ({min(taken):.3g} to {max(taken):.3g})"


def goals_table(cases: Iterable[Case], results: Results) -> str:
    """Return a row per goal: its limit, the figure found, and the verdict."""
    rows = []
    for case in cases:
        for goal in case.goals:
            verdict = judge(goal, results)
            limit = "reported" if goal.limit.startswith("reported") else goal.limit
            figure = NONE if verdict.figure is None else f"{verdict.figure:.3g}{goal.unit}"
            rows.append((case.title, f"{goal.text}: {limit}", figure, verdict.word))
    return markdown.table(("case", "goal", "figure", "verdict"), rows)


def series_of(case: Case, results: Results) -> dict[str, Line]:
    """Return, for each series of a scaling case, (size, seconds) where it could run."""
    found: dict[str, Line] = {}
    for subject in case.subjects:
        line = found.setdefault(subject.series, [])
        if case.against == "unique":
            for figures in results.done(subject):
                line += [(float(t), taken) for t, taken in figures.get("later", [])]
        elif (taken := seconds(subject).of(results)) is not None:
            line.append((float(results.sized(subject).settings[case.against]), taken))
    return {name: line for name, line in found.items() if line}


def growth_table(case: Case, results: Results) -> str:
    """Return a row per series, a column per size."""
    lines = series_of(case, results)
    sizes = sorted({int(x) for line in lines.values() for x, _ in line})
    rows = []
    for name, line in lines.items():
        fitted = slope(line)
        rows.append([name, *_cells(line, sizes), NONE if fitted is None else f"{fitted:.2f}"])
    return markdown.table((case.against, *map(size, sizes), "slope"), rows)


def asks_table(case: Case, results: Results) -> str:
    """Return a row per competitor and pool, a column per number of evaluations known."""
    every = [results.sized(subject).settings for subject in case.subjects]
    ts = sorted({t for settings in every for t in settings.get("ts", [])})
    rows = []
    for subject, settings in zip(case.subjects, every, strict=True):
        for figures in results.of(subject):
            N = size(settings.get("N"))
            rows.append([subject.label, N, *_cells(figures.get("steps", []), ts)])
            if "later" in figures:
                label = f"{subject.label}, following another"
                rows.append([label, N, *_cells(figures["later"], ts)])
    return markdown.table(("ask of", "N", *(f"t = {size(t)}" for t in ts)), rows)


def _cells(line: Sequence[tuple[float, float]], sizes: Sequence[int]) -> list[str]:
    taken = dict(line)
    return [f"{taken[x]:.3g}" if x in taken else NONE for x in sizes]


def size(value: int | None) -> str:
    """Return a number of candidates or evaluations with its thousands apart."""
    return NONE if value is None else f"{value:,}".replace(",", " ")

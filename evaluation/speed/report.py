"""docs/results/benchmarks.md and its plots, written from results alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from evaluation.reports import markdown
from evaluation.reports.drawing import canvas
from evaluation.speed.goals import GB, Case, judge, seconds, slope, touched
from evaluation.speed.machine import floor_seconds
from evaluation.speed.results import Figures, Read, Results, Settings, Subject

METHOD = Path(__file__).with_name("method.md").read_text()
AXES = {
    "T": "evaluations",
    "N": "candidates in the pool",
    "d": "features",
    "unique": "different candidates evaluated",
}
COLOURS, STYLES = 10, ("-", "--", ":")  # a line that has another's colour is dashed
NONE = "–"
Line: TypeAlias = list[tuple[float, float]]  # (what grows, seconds)


def write_report(cases: Iterable[Case], results: Results, out: Path) -> Path:
    """Write benchmarks.md and its plots under `out`, for the cases that were measured."""
    shown = [case for case in cases if any(results.of(subject) for subject in case.subjects)]
    parts = ["# Benchmarks", _opening(results), "## Goals", goals_table(shown, results)]
    parts += ["## Figures", *(_case(case, results, out) for case in shown)]
    parts += ["## How it was measured", METHOD]
    path = out / "benchmarks.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n")
    return path


def _opening(results: Results) -> str:
    lines = ["Written by `make bench`; do not edit."]
    if results.quick:
        lines.append("**Quick sizes: these figures prove nothing.**")
    if results.machine:
        m = results.machine
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        lines.append(
            f"\n{m['cpu']}, {m['cores']} cores, {m['memory'] / 1e9:.0f} GB, {m['system']}, Python "
            f"{m['python']}, {results.threads} BLAS threads ({'; '.join(m['blas'])}). {versions}."
        )
    floors = [figures["floor"] for figures in results.cells.values() if "floor" in figures]
    if floors:
        read, flops = (_range([one[of] / 1e9 for one in floors]) for of in ("bandwidth", "flops"))
        lines.append(f"\nFloor: {read} GB/s read, {flops} GFLOP/s in float64.")
    return "\n".join(lines)


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _case(case: Case, results: Results, out: Path) -> str:
    parts = [f"### {case.title}", f"`python -m evaluation.speed {case.name}`", case.note]
    parts.append(case_table(case, results))
    if case.against and (drawn := plot(case, results, out / "benchmarks")) is not None:
        parts.append(f"![{case.title}](benchmarks/{drawn.name})")
    return "\n\n".join(part for part in parts if part)


def case_table(case: Case, results: Results) -> str:
    """Return the figures of a case as its kind of table."""
    if case.against:
        return growth_table(case, results)
    only_asks = any("ts" in subject.settings for subject in case.subjects) and not case.goals
    return (asks_table if only_asks else figures_table)(case, results)


def plot(case: Case, results: Results, folder: Path) -> Path | None:
    """Draw time against what grows, with the slope of each line; None if nothing was measured."""
    lines = series_of(case, results)
    if not lines:
        return None
    figure = canvas(1, 1, width=7.5, height=4.0)
    axes = figure.subplots()
    for at, (name, line) in enumerate(lines.items()):
        x, y = zip(*sorted(line), strict=True)
        fitted = slope(line)
        label = name if fitted is None else f"{name} (slope {fitted:.2f})"
        style = STYLES[at // COLOURS % len(STYLES)]
        axes.loglog(x, y, style, marker="o", markersize=4, label=label)
    axes.set_xlabel(AXES[case.against])
    axes.set_ylabel("seconds")
    axes.set_title(case.title, fontsize=10)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.name.lower()}.png"
    figure.savefig(path, dpi=130)
    return path


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
    slopes = [slope(line) for line in lines.values()]
    rows = [
        [name, *_cells(line, sizes), NONE if fitted is None else f"{fitted:.2f}"]
        for (name, line), fitted in zip(lines.items(), slopes, strict=True)
    ]
    return markdown.table((case.against, *map(size, sizes), "slope"), rows)


def asks_table(case: Case, results: Results) -> str:
    """Return a row per competitor and pool, a column per number of evaluations known."""
    every = [(one.label, results.sized(one).settings, results.of(one)) for one in case.subjects]
    ts = sorted({t for _, settings, _ in every for t in settings.get("ts", [])})
    rows = []
    for label, settings, found in every:
        N = size(settings.get("N"))
        for figures in found:
            rows.append([label, N, *_cells(figures.get("steps", []), ts)])
            if "later" in figures:
                rows.append([f"{label}, following another", N, *_cells(figures["later"], ts)])
    return markdown.table(("ask of", "N", *(f"t = {size(t)}" for t in ts)), rows)


def _cells(line: Sequence[tuple[float, float]], sizes: Sequence[int]) -> list[str]:
    taken = dict(line)
    return [f"{taken[x]:.3g}" if x in taken else NONE for x in sizes]


def size(value: int | None) -> str:
    return NONE if value is None else markdown.spaced(value)

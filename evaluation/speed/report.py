"""docs/results/benchmarks.md, written from results alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.speed.case import Case
from evaluation.speed.goals import slope
from evaluation.speed.plots import plot
from evaluation.speed.results import Results
from evaluation.speed.rows import COLUMNS, NONE, goal_line, rows_of, size
from evaluation.speed.series import series_of
from evaluation.speed.subjects import Figures, Subject

METHOD = """\
Every measurement runs in a process of its own on fixed BLAS threads. Seconds are those of the
optimiser: from making the pool to the last `tell`, the function's values being looked up. Where a
range is given it is over the seeds, and the figure is their median. Peak memory is of the whole
process, Python, NumPy and the problem included; "of it run" is how much it grew. Passes say
how often a row of the pool was refreshed, touched which share of the pool an update looked at.
The floor is the time that the machine needs at best to read the bytes, or do the flops, that the
library counted: bandwidth by reading 1 GiB, flops by a large float64 matrix product, both measured
at the start of the run. Regret is an evaluation's, on average.

The problem: standard-normal rows with d = 8, RBF with lengthscale 12.5 (Matérn-5/2: 25; a
lengthscale a feature: 6.25 to 25), f = Σ aᵢ k(cᵢ, ·) with 40 standard-normal centres and
coefficients of sum zero, scaled to RKHS norm 1, noise_std 0.05. Pool, f, seed and the noise of the
t-th evaluation are the same for every competitor. Transcriptions are the papers' pseudo-code in
vectorised NumPy with lazy UCBs (BBKB 2020, appendix A.3), and draw the same dictionaries. Molecules
are read from the folder that NOREGRET_DATA names, or from ../shared/data beside the checkout.
"""


def write_report(cases: Iterable[Case], results: Results, out: Path) -> Path:
    """Write benchmarks.md and its plots under `out`, for the cases that were measured."""
    shown = [case for case in cases if any(results.of(subject) for subject in case.subjects)]
    parts = ["# Benchmarks", _opening(results), "## Goals", _goals(shown, results)]
    parts += ["## Figures", *(_case(case, results, out) for case in shown)]
    parts += ["## How it was measured", METHOD]
    path = out / "benchmarks.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part.strip() for part in parts if part) + "\n")
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
        read = sorted(floor["bandwidth"] / 1e9 for floor in floors)
        flops = sorted(floor["flops"] / 1e9 for floor in floors)
        lines.append(f"\nFloor: {_range(read)} GB/s read, {_range(flops)} GFLOP/s in float64.")
    return "\n".join(lines)


def _range(values: Sequence[float]) -> str:
    low, high = f"{values[0]:.3g}", f"{values[-1]:.3g}"
    return low if low == high else f"{low} to {high}"


def _goals(cases: Sequence[Case], results: Results) -> str:
    rows = [(case.title, *goal_line(goal, results)) for case in cases for goal in case.goals]
    return _markdown(("case", "goal", "figure", "verdict"), rows)


def _case(case: Case, results: Results, out: Path) -> str:
    parts = [f"### {case.title}", f"`python -m evaluation.speed {case.name}`"]
    if case.note:
        parts.append(case.note)
    if case.against:
        parts.append(_grid(case, results))
        drawn = plot(case, results, out / "benchmarks")
        if drawn is not None:
            parts.append(f"![{case.title}](benchmarks/{drawn.name})")
    elif any("ts" in subject.settings for subject in case.subjects) and not case.goals:
        parts.append(_asks(case, results))
    else:
        parts.append(_markdown(COLUMNS, [row.cells for row in rows_of(case, results)]))
    return "\n\n".join(parts)


def _grid(case: Case, results: Results) -> str:
    """A row a series, a column a size."""
    lines = series_of(case, results)
    sizes = sorted({x for line in lines.values() for x, _ in line})
    rows = []
    for name, line in lines.items():
        taken = dict(line)
        cells = [f"{taken[x]:.3g}" if x in taken else NONE for x in sizes]
        fitted = slope(line)
        rows.append((name, *cells, NONE if fitted is None else f"{fitted:.2f}"))
    return _markdown((case.against, *(size(int(x)) for x in sizes), "slope"), rows)


def _asks(case: Case, results: Results) -> str:
    """A row a competitor and pool, a column a number of evaluations known."""
    ts = sorted({t for subject in case.subjects for t in _times(subject)})
    rows: list[tuple[str, ...]] = []
    for subject in case.subjects:
        N = size(subject.settings.get("N"))
        for figures in results.of(subject):
            rows.append((subject.label, N, *_steps(figures, "steps", ts)))
            if "later" in figures:
                rows.append(
                    (f"{subject.label}, following another", N, *_steps(figures, "later", ts))
                )
    return _markdown(("ask of", "N", *(f"t = {size(t)}" for t in ts)), rows)


def _times(subject: Subject) -> list[int]:
    ts = subject.settings.get("ts")
    return ts if isinstance(ts, list) else []


def _steps(figures: Figures, which: str, ts: Sequence[int]) -> list[str]:
    held = figures.get("later", []) if which == "later" else figures.get("steps", [])
    taken = dict(held)
    return [f"{taken[t]:.3g}" if t in taken else NONE for t in ts]


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(cell) for cell in line) + " |" for line in lines)


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")

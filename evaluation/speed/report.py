"""docs/results/benchmarks.md and its plots, written from results alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.speed.goals import Case, slope
from evaluation.speed.results import Results
from evaluation.speed.rows import asks_table, figures_table, goals_table, growth_table, series_of

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
AXES = {
    "T": "evaluations",
    "N": "candidates in the pool",
    "d": "features",
    "unique": "different candidates evaluated",
}
COLOURS, STYLES = 10, ("-", "--", ":")  # a line that has another's colour is dashed


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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
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

"""What is published of a plate: its picture, its numbers, and its part of the paper's page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.papers.curves import Runs, band, number
from evaluation.papers.plates import Plate
from evaluation.problems.papers import problem
from evaluation.reports.markdown import Claim, rounded, table, write_numbers
from evaluation.runs.cells import Line, Store

PAGES = Path(__file__).parents[2] / "docs" / "papers"
RESULTS = PAGES.parent / "results" / "papers"
LINK = "../results/papers"  # from a page
KEPT = 41  # steps of a curve in the JSON
WORDS = {"bandwidth_squared": "σ²"}


def publish(plate: Plate, runs: Runs, folder: Path) -> list[Claim]:
    """Write picture and numbers of a plate, all of whose lines have runs; return its claims."""
    folder.mkdir(parents=True, exist_ok=True)
    plate.draw(runs).savefig(folder / f"{plate.name}.png", dpi=110)
    claims = [*plate.claims(runs)]
    numbers = {
        "figure": plate.name,
        "title": plate.title,
        "lines": [_line(line, runs.store, plate.quantities) for line in _shown(plate, runs)],
        "claims": [
            {
                "ours" if claim.ours else "paper": claim.says,
                "measured": claim.found,
                "agrees": claim.holds,
            }
            for claim in claims
        ],
    }
    write_numbers(folder / f"{plate.name}.json", numbers)
    return claims


def _shown(plate: Plate, runs: Runs) -> list[Line]:
    return [line for line in runs.lines if line.history in plate.histories]


def _line(line: Line, store: Store, quantities: tuple[str, ...]) -> dict[str, object]:
    runs = line.runs(store)
    curves = {quantity: band(runs, quantity) for quantity in quantities}
    steps = np.array(runs[0]["steps"])
    keep = np.unique(np.linspace(0, len(steps) - 1, KEPT).round().astype(np.int64))
    return {
        "problem": line.problem,
        "method": line.label,
        "panel": line.panel,
        "history": line.history,
        "horizon": line.horizon,
        "setting": line.chosen(store),
        "repetitions": len(runs),
        "steps": steps[keep].tolist(),
        "curves": {
            quantity: {"mean": _rounded(curve.mean[keep]), "half": _rounded(curve.half[keep])}
            for quantity, curve in curves.items()
        },
    }


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else rounded(value) for value in values]


def section(plate: Plate, runs: Runs, claims: list[Claim]) -> str:
    """Return a plate's part of the page, in Markdown."""
    rows = [
        (
            f"{'(ours) ' if claim.ours else ''}{claim.says}",
            claim.found,
            "yes" if claim.holds else "**no**",
        )
        for claim in claims
    ]
    parts = [
        f"### {plate.title}",
        f"![{plate.title}]({LINK}/{plate.name}.png)",
        *([_ends(plate, runs)] if runs.lines else []),
        table(("the paper", "measured", "agree"), rows),
        f"`python -m evaluation.papers {plate.name}`; numbers in [JSON]({LINK}/{plate.name}.json).",
    ]
    return "\n\n".join(parts)


def _ends(plate: Plate, runs: Runs) -> str:
    """Return the first quantity at the end: methods by panels, with the repetitions run."""
    cells: dict[str, dict[tuple[object, ...], str]] = {}
    head: dict[tuple[object, ...], str] = {}
    for line in _shown(plate, runs):
        place = (line.problem, line.panel, line.history)
        head[place] = problem(line.problem).title
        head[place] += f", {line.panel}" if line.panel else ""
        head[place] += f", after {line.history}" if line.history else ""
        cells.setdefault(line.label, {})[place] = _end(line, runs.store, plate)
    rows = [[label, *(row.get(place, "") for place in head)] for label, row in cells.items()]
    at = "at the end" if plate.step is None else f"at step {plate.step}"
    quantity = f"*{plate.quantities[0]} {at}, mean ± 95 % (repetitions)*"
    return f"{quantity}\n\n{table(['', *head.values()], rows)}"


def _end(line: Line, store: Store, plate: Plate) -> str:
    runs = line.runs(store)
    end = number(*band(runs, plate.quantities[0]).at(plate.step))
    chosen = line.chosen(store) or {}
    tuned = {key for key in chosen if len({str(one.get(key)) for one in line.settings}) > 1}
    by = ", ".join(f"{WORDS.get(key, key)} {chosen[key]:.4g}" for key in sorted(tuned))
    return f"{end} ({len(runs)})" + (f"; {by}, tuned on {line.tuning}" if by else "")

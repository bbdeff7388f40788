"""What is published of a plate: its picture, its numbers, and its part of the paper's page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from evaluation.papers.plates import Claim, Plate, number
from evaluation.papers.settings import Sweep
from evaluation.papers.summary import band
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line

PAGES = Path(__file__).parents[2] / "docs" / "papers"
RESULTS = PAGES.parent / "results" / "papers"
LINK = "../results/papers"  # from a page
KEPT = 41  # steps of a curve in the JSON


def publish(plate: Plate, sweep: Sweep, store: Store, folder: Path) -> list[Claim]:
    """Write picture and numbers of a plate, all of whose lines have runs; return its claims."""
    folder.mkdir(parents=True, exist_ok=True)
    plate.draw(sweep, store).savefig(folder / f"{plate.name}.png", dpi=110)
    claims = plate.claims(sweep, store)
    numbers = {
        "figure": plate.name,
        "title": plate.title,
        "lines": [_line(line, store, plate.quantities) for line in _shown(plate, sweep)],
        "claims": [
            {
                "ours" if claim.ours else "paper": claim.says,
                "measured": claim.found,
                "agrees": claim.agrees,
            }
            for claim in claims
        ],
    }
    (folder / f"{plate.name}.json").write_text(json.dumps(numbers, indent=1) + "\n")
    return claims


def _shown(plate: Plate, sweep: Sweep) -> list[Line]:
    return [line for line in sweep.lines if line.history in plate.histories]


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
    return [None if np.isnan(value) else float(f"{value:.4g}") for value in values]


def section(plate: Plate, sweep: Sweep, store: Store, claims: list[Claim]) -> str:
    """Return a plate's part of the page, in Markdown."""
    parts = [f"### {plate.title}", f"![{plate.title}]({LINK}/{plate.name}.png)"]
    if sweep.lines:
        parts.append(_table(plate, sweep, store))
    rows = ["| the paper | measured | agree |", "| --- | --- | --- |"]
    rows += [
        f"| {'(ours) ' if claim.ours else ''}{claim.says} | {claim.found} "
        f"| {'yes' if claim.agrees else '**no**'} |"
        for claim in claims
    ]
    parts.append("\n".join(rows))
    parts.append(
        f"`python -m evaluation.papers {plate.name}`; numbers in [JSON]({LINK}/{plate.name}.json)."
    )
    return "\n\n".join(parts)


def _table(plate: Plate, sweep: Sweep, store: Store) -> str:
    """Return the first quantity at the end: methods by panels, with the repetitions run."""
    lines = _shown(plate, sweep)
    points = list(dict.fromkeys((line.problem, line.panel, line.history) for line in lines))
    labels = list(dict.fromkeys(line.label for line in lines))
    cells = {
        (line.label, (line.problem, line.panel, line.history)): _end(line, store, plate)
        for line in lines
    }
    head = ["", *(_place(*place) for place in points)]
    rows = [
        f"| {' | '.join([label, *(cells.get((label, place), '') for place in points)])} |"
        for label in labels
    ]
    at = "at the end" if plate.step is None else f"at step {plate.step}"
    quantity = f"*{plate.quantities[0]} {at}, mean ± 95 % (repetitions)*"
    return "\n".join([quantity, "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows])


def _place(name: str, panel: str, history: int) -> str:
    title = problem(name).title
    return title + (f", {panel}" if panel else "") + (f", after {history}" if history else "")


def _end(line: Line, store: Store, plate: Plate) -> str:
    runs = line.runs(store)
    end = number(*band(runs, plate.quantities[0]).at(plate.step))
    chosen = line.chosen(store) or {}
    tuned = {key for key in chosen if len({str(one.get(key)) for one in line.settings}) > 1}
    by = ", ".join(f"{WORDS.get(key, key)} {chosen[key]:.4g}" for key in sorted(tuned))
    return f"{end} ({len(runs)})" + (f"; {by}, tuned on {line.tuning}" if by else "")


WORDS = {"bandwidth_squared": "σ²"}


def into_page(page: Path, name: str, text: str) -> None:
    """Put a section between its markers on a page; nothing else changes."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page} has no place for {name}: {begin} and {end}.")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")

"""`python -m evaluation.papers`: run what is missing, draw, and write the pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from evaluation.data.files import VARIABLE
from evaluation.papers.bbkb import figures as bbkb
from evaluation.papers.bbkb import freezing, lemma3
from evaluation.papers.bkb import figures as bkb
from evaluation.papers.bkb import sketches
from evaluation.papers.curves import Runs, band, number
from evaluation.papers.mini import figures as mini
from evaluation.papers.plates import Plate
from evaluation.papers.settings import sweep
from evaluation.problems import nasbench101
from evaluation.problems.papers import SAMPLED, STAND_INS, problem
from evaluation.reports.markdown import (
    Claim,
    into_page,
    print_claims,
    rounded,
    table,
    write_numbers,
)
from evaluation.runs.cells import Line, Setting, Store
from evaluation.runs.options import are_known, run_missing, shared_parser, store_of, told

PLATES: dict[str, Plate] = {  # in the order of the papers
    plate.name: plate
    for plate in (
        *bkb.PLATES,
        *sketches.PLATES,
        *bbkb.PLATES,
        *lemma3.PLATES,
        *freezing.PLATES,
        *mini.PLATES,
    )
}
OUT = Path(__file__).parents[1] / "out" / "papers"
NO_OUTCOMES = (
    f"the outcomes of NAS-Bench-101, {nasbench101.OUTCOMES}, are not on this machine "
    f"(github.com/google-research/nasbench); {VARIABLE} may name the folder that holds them."
)
PAGES = Path(__file__).parents[2] / "docs" / "papers"
RESULTS = PAGES.parent / "results" / "papers"
LINK = "../results/papers"  # from a page
KEPT = 41  # steps of a curve in the JSON
WORDS = {"bandwidth_squared": "σ²"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the figures named, or all of them; return the exit status."""
    parser = shared_parser("python -m evaluation.papers", "Reproduce the figures of the papers.")
    parser.add_argument("figures", nargs="*", help="such as bbkb-fig1; all, if none is named")
    options = parser.parse_args(arguments)
    if options.list:
        for plate in PLATES.values():
            print(f"{plate.name:14} {plate.title}")
        return 0
    names = options.figures or list(PLATES)
    if not are_known("no figure", names, PLATES):
        return 2
    return told(lambda: _make([PLATES[name] for name in names], options))


def _make(plates: list[Plate], options: argparse.Namespace) -> int:
    """Run, draw and publish; a full run writes into docs, a quick one does not."""
    store = store_of(options, OUT)
    parts = [Runs(sweep(plate.runs, quick=options.quick), store) for plate in plates]
    lines = [line for runs in parts for line in runs.lines]
    problems = dict.fromkeys(line.problem for line in lines)
    if instead := [name for name in problems if name in (*SAMPLED, *STAND_INS)]:
        print(f"Run on {', '.join(instead)}: {NO_OUTCOMES}", file=sys.stderr)
    for name in problems if not options.draw else ():
        problem(name)  # so that missing data are told of before anything is run
    status = run_missing(lines, store, options)
    for plate, runs in zip(plates, parts, strict=True):
        if all(line.runs(store) for line in runs.lines):
            _publish(plate, runs, quick=options.quick)
        else:
            print(f"{plate.name}: not all methods have been run yet; not drawn.", file=sys.stderr)
    return status


def _publish(plate: Plate, runs: Runs, *, quick: bool) -> None:
    folder = OUT / "quick" if quick else RESULTS
    claims = publish(plate, runs, folder)
    theirs = [claim.holds for claim in claims if not claim.ours]
    held = f"{sum(theirs)} of {len(theirs)} claims hold"
    print_claims(f"{plate.name}: {held}; {folder / plate.name}.png", claims)
    if not quick:
        into_page(PAGES / f"{plate.paper}.md", plate.name, section(plate, runs, claims))


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
        "tuning": [
            {
                **{key: setting[key] for key in sorted(_tuned(line))},
                **_average(line, setting, store),
            }
            for setting in line.settings
            if len(line.settings) > 1
        ],
        "repetitions": len(runs),
        "steps": steps[keep].tolist(),
        "curves": {
            quantity: rounded({"mean": one.mean[keep].tolist(), "half": one.half[keep].tolist()})
            for quantity, one in curves.items()
        },
    }


def _tuned(line: Line) -> set[str]:
    """Return what the settings of a line differ by."""
    keys = line.settings[0]
    return {key for key in keys if len({str(one[key]) for one in line.settings}) > 1}


def _average(line: Line, setting: Setting, store: Store) -> dict[str, float]:
    """Return a setting's average regret, over how many runs there are of it up to `tuning`."""
    cells = [cell for cell in line.cells(setting, line.tuning) if store.holds(cell)]
    average = fmean(store.regret(cell) for cell in cells) / line.horizon
    return {"runs": len(cells), "average regret": rounded(average)}


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
    by = ", ".join(f"{WORDS.get(key, key)} {chosen[key]:.4g}" for key in sorted(_tuned(line)))
    return f"{end} ({len(runs)})" + (f"; {by}, tuned on {line.tuned_on}" if by else "")

"""`python -m evaluation.papers`: run what is missing, draw, and write the pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.data.files import VARIABLE
from evaluation.papers.bbkb import figures as bbkb
from evaluation.papers.bbkb import lemma3
from evaluation.papers.bkb import figures as bkb
from evaluation.papers.curves import Runs
from evaluation.papers.mini import figures as mini
from evaluation.papers.plates import Plate
from evaluation.papers.report import PAGES, RESULTS, publish, section
from evaluation.papers.settings import sweep
from evaluation.problems import nasbench101
from evaluation.problems.papers import problem
from evaluation.reports.markdown import into_page, print_claims
from evaluation.runs.options import are_known, run_missing, shared_parser, store_of, told

PLATES: dict[str, Plate] = {  # in the order of the papers
    plate.name: plate for plate in (*bkb.PLATES, *bbkb.PLATES, *lemma3.PLATES, *mini.PLATES)
}
OUT = Path(__file__).parents[1] / "out" / "papers"
NO_OUTCOMES = (
    f"its outcomes, {nasbench101.OUTCOMES}, are not on this machine "
    f"(github.com/google-research/nasbench); {VARIABLE} may name the folder that holds them."
)


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
    if "nasbench201" in problems:
        print(f"NAS-Bench-201 and FCNet stand in for NAS-Bench-101: {NO_OUTCOMES}", file=sys.stderr)
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

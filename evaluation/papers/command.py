"""`python -m evaluation.papers`: run what is missing, draw, and write the pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.data.files import VARIABLE
from evaluation.papers.catalogue import PLATES
from evaluation.papers.plates import Plate
from evaluation.papers.report import PAGES, RESULTS, into_page, publish, section
from evaluation.papers.settings import Sweep, sweep
from evaluation.problems import nasbench101
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line
from evaluation.runs.options import shared_parser, told
from evaluation.runs.work import share

OUT = Path(__file__).parents[1] / "out" / "papers"
NO_OUTCOMES = (
    f"its outcomes, {nasbench101.OUTCOMES}, are not on this machine "
    f"(github.com/google-research/nasbench); {VARIABLE} may name the folder that holds them."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the figures named, or all of them; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.list:
        for plate in PLATES.values():
            print(f"{plate.name:14} {plate.title}")
        return 0
    names = options.figures or list(PLATES)
    if unknown := [name for name in names if name not in PLATES]:
        print(f"no figure {', '.join(unknown)}; there are {', '.join(PLATES)}.", file=sys.stderr)
        return 2
    return told(lambda: _make([PLATES[name] for name in names], options))


def _parser() -> argparse.ArgumentParser:
    parser = shared_parser("python -m evaluation.papers", "Reproduce the figures of the papers.")
    parser.add_argument("figures", nargs="*", help="such as bbkb-fig1; all, if none is named")
    return parser


def _make(plates: list[Plate], options: argparse.Namespace) -> int:
    """Run, draw and publish; a full run writes into docs, a quick one does not."""
    store = Store(options.cells or OUT / ("quick-cells" if options.quick else "cells"))
    sweeps = {
        plate.name: sweep(plate.runs, quick=options.quick) if plate.runs else Sweep(())
        for plate in plates
    }
    lines = [line for one in sweeps.values() for line in one.lines]
    if any(line.problem == "nasbench201" for line in lines):
        print(f"NAS-Bench-201 and FCNet stand in for NAS-Bench-101: {NO_OUTCOMES}", file=sys.stderr)
    failed = _run(lines, store, options) if lines and not options.draw else 0
    for plate in plates:
        held = sweeps[plate.name]
        if any(not line.runs(store) for line in held.lines):
            print(f"{plate.name}: not all methods have been run yet; not drawn.", file=sys.stderr)
            continue
        _publish(plate, held, store, quick=options.quick)
    if failed:
        print(f"{failed} processes had runs that failed; see above.", file=sys.stderr)
    return 1 if failed else 0


def _publish(plate: Plate, held: Sweep, store: Store, *, quick: bool) -> None:
    folder = OUT / "quick" if quick else RESULTS
    claims = publish(plate, held, store, folder)
    theirs = [claim for claim in claims if not claim.ours]
    agree = sum(claim.agrees for claim in theirs)
    print(f"{plate.name}: {agree} of {len(theirs)} claims hold; {folder / plate.name}.png")
    for claim in claims:
        print(f"  {'yes' if claim.agrees else 'NO '}  {claim.says}: {claim.found}")
    if not quick:
        into_page(PAGES / f"{plate.paper}.md", plate.name, section(plate, held, store, claims))


def _run(lines: list[Line], store: Store, options: argparse.Namespace) -> int:
    """Run what is missing; return what failed."""
    for name in dict.fromkeys(line.problem for line in lines):
        problem(name)  # so that missing data are told of before anything is run
    return share(lines, store.folder, jobs=options.jobs, minutes=options.minutes)

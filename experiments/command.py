"""`python -m experiments`: run what is missing, draw, and write the pages."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.catalogue import PLATES
from experiments.data import Damaged, Missing
from experiments.lines import Line
from experiments.plates import Plate
from experiments.problems import problem
from experiments.report import PAGES, into_page, publish, section
from experiments.settings import Sweep, sweep
from experiments.store import Store
from experiments.work import left, share
from noregret.progress import Display

OUT = Path(__file__).parent / "out"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the figures named, or all of them; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.list:
        for plate in PLATES.values():
            print(f"{plate.name:12} {plate.title}")
        return 0
    names = options.figures or list(PLATES)
    if unknown := [name for name in names if name not in PLATES]:
        print(f"no figure {', '.join(unknown)}; there are {', '.join(PLATES)}.", file=sys.stderr)
        return 2
    try:
        return _make([PLATES[name] for name in names], options)
    except (Missing, Damaged) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; finished runs are kept, the same command goes on.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Reproduce the figures of the papers. Finished runs are kept, not run again; "
        "several of these commands, on one machine or on a shared folder, share the work.",
    )
    parser.add_argument("figures", nargs="*", help="such as bbkb-fig1; all, if none is named")
    parser.add_argument("--list", action="store_true", help="name the figures")
    parser.add_argument("--quick", action="store_true", help="small versions, in minutes")
    parser.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--draw", action="store_true", help="run nothing: draw what is stored")
    parser.add_argument("--cells", type=Path, default=None, help="where finished runs are kept")
    return parser


def _make(plates: list[Plate], options: argparse.Namespace) -> int:
    """Run, draw and publish; a full run writes the pages in docs/papers, a quick one does not."""
    folder = OUT / "quick" if options.quick else PAGES
    store = Store(options.cells or OUT / ("quick-cells" if options.quick else "cells"))
    sweeps = {
        plate.name: sweep(plate.runs, quick=options.quick) if plate.runs else Sweep("", ())
        for plate in plates
    }
    lines = [line for one in sweeps.values() for line in one.lines]
    if lines and not options.draw:
        _run(lines, store, options)
    sections: dict[str, list[str]] = {}
    for plate in plates:
        held = sweeps[plate.name]
        if any(not line.runs(store) for line in held.lines):
            print(f"{plate.name}: not all methods have been run yet; not drawn.", file=sys.stderr)
            continue
        claims = publish(plate, held, store, folder)
        agree = sum(claim.agrees for claim in claims)
        print(f"{plate.name}: {agree} of {len(claims)} claims hold; {folder / plate.name}.png")
        for claim in claims:
            print(f"  {'yes' if claim.agrees else 'NO '}  {claim.says}: {claim.found}")
        sections.setdefault(plate.paper, []).append(section(plate, held, store, claims))
    if not options.quick and {plate.name for plate in plates} == set(PLATES):
        for paper, parts in sections.items():
            into_page(PAGES / f"{paper}.md", parts)
    return 0


def _run(lines: list[Line], store: Store, options: argparse.Namespace) -> None:
    """Run what is missing, with a bar that shows how much there is."""
    for name in dict.fromkeys(line.problem for line in lines):
        problem(name)  # so that missing data are told of before anything is run
    total = left(lines, store)
    with Display("runs", total=total) as display:
        done = 0

        def tick(now: int) -> None:
            nonlocal done
            display.advance(max(0, total - now - done))
            done = max(done, total - now)

        until = time.time() + 60 * options.minutes
        share(lines, store.folder, jobs=options.jobs, until=until, tick=tick)


def _at_least_one(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number

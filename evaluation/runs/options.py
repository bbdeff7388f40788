"""What every command that runs cells can be told."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evaluation.data.files import Damaged, Missing
from evaluation.runs.cells import Line, Store
from evaluation.runs.work import Play, share, trial


def shared_parser(prog: str, what: str) -> argparse.ArgumentParser:
    """Return a parser of these options; a command adds its own."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description=f"{what} Finished runs are kept, not run again; several of these commands, on "
        "one machine or on a shared folder, share the work.",
    )
    parser.add_argument("--list", action="store_true", help="name what there is")
    parser.add_argument("--quick", action="store_true", help="small versions, in minutes")
    parser.add_argument("--jobs", type=_at_least_one, default=os.cpu_count() or 1, help="processes")
    forever = float("inf")
    parser.add_argument("--minutes", type=float, default=forever, help="start no more runs after")
    parser.add_argument("--draw", action="store_true", help="run nothing: draw what is stored")
    kept = "where finished runs are kept; remove it to begin again"
    parser.add_argument("--cells", type=Path, default=None, help=kept)
    return parser


def are_known(what: str, names: Sequence[str], known: Iterable[str]) -> bool:
    """Say whether all names are known; tell of those that are not, such as "no figure x"."""
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"{what} {', '.join(unknown)}; there are {', '.join(known)}.", file=sys.stderr)
    return not unknown


def store_of(options: argparse.Namespace, out: Path) -> Store:
    return Store(options.cells or out / ("quick-cells" if options.quick else "cells"))


def run_missing(
    lines: Sequence[Line], store: Store, options: argparse.Namespace, play: Play = trial
) -> int:
    """Run what is not stored, unless only to draw; return the exit status."""
    if options.draw or not lines:
        return 0
    failed = share(lines, store.folder, jobs=options.jobs, minutes=options.minutes, play=play)
    if failed:
        print(f"{failed} processes had runs that failed; see above.", file=sys.stderr)
    return 1 if failed else 0


def told(make: Callable[[], int]) -> int:
    """Do something and return its exit status; say what stopped it, if that is no fault of ours."""
    try:
        return make()
    except (Missing, Damaged) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; finished runs are kept, the same command goes on.", file=sys.stderr)
        return 130


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text}")
    return int(text)

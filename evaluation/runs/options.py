"""What every command that runs cells can be told."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from evaluation.data.files import Damaged, Missing


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
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="start no more runs after"
    )
    parser.add_argument("--draw", action="store_true", help="run nothing: draw what is stored")
    parser.add_argument(
        "--cells",
        type=Path,
        default=None,
        help="where finished runs are kept; remove it to begin anew",
    )
    return parser


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

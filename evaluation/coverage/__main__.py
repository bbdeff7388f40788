"""`python -m evaluation.coverage [case ...]`: run, count, and write the page and its numbers."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaluation.coverage import lengthscale
from evaluation.coverage.cases import CASES, DELTA, Outcome, run
from evaluation.reports.markdown import into_page, rounded, table, write_numbers
from evaluation.runs.options import are_known

RUNS, QUICK, LENGTHSCALE = 200, 3, "lengthscale"
NARROW = 0.25  # of the band: what so narrow a one would cover, for comparison
HEAD = (
    "algorithm",
    "held in all of a run",
    "a band of a quarter",
    "β",
    "certified gap",
    "true gap",
    "members",
)
Outcomes = dict[str, list[Outcome]]


def row(name: str, runs: list[Outcome]) -> list[str]:
    """Return a line of the table: shares of runs, and medians at their ends."""
    case, reach = CASES[name], np.array([one.reach for one in runs])
    held = sum(one.kept and one.reach <= 1 for one in runs)
    narrow = "–" if case.fits else f"{np.mean(reach <= NARROW):.0%}"
    middle = {key: np.median([getattr(one, key) for one in runs]) for key in COLUMNS}
    return [
        case.says,
        f"{held} of {len(runs)}",
        narrow,
        *(f"{middle[key]:.3g}" for key in ("beta", "gap", "true_gap")),
        f"{middle['dictionary']:.0%}",
    ]


COLUMNS = ("beta", "gap", "true_gap", "dictionary")


def section(found: Outcomes) -> str:
    """Return the text between the markers."""
    rows = [row(name, found[name]) for name in CASES if name in found]
    unsound = {name: sum(not one.sound for one in runs) for name, runs in found.items()}
    said = [f"{CASES[name].says}: {many}" for name, many in unsound.items() if many]
    warned = "; ".join(said) if said else "none"
    return (
        f"{table(HEAD, rows)}\n\n"
        f"Promised: {1 - DELTA:.0%}. Runs whose last certificate said NOT TO BE RELIED ON: "
        f"{warned}."
    )


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.coverage", description=__doc__)
    names = (*CASES, LENGTHSCALE)
    parser.add_argument("case", nargs="*", help=f"of {', '.join(names)}; all if none is given")
    parser.add_argument("--quick", action="store_true", help="a few runs each, nothing written")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    given = parser.parse_args(arguments)
    if not are_known("no case", given.case, names):
        return 2
    chosen = given.case or names
    cover([name for name in CASES if name in chosen], given.out, quick=given.quick)
    if LENGTHSCALE in chosen:
        guess_too_long(given.out, quick=given.quick)
    return 0


def cover(names: list[str], out: Path, *, quick: bool) -> None:
    """Run cases, and write each as soon as it is known."""
    path = out / "coverage" / "results.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    found: Outcomes = {name: [Outcome(**one) for one in runs] for name, runs in kept.items()}
    for name in names:
        found[name] = [run(CASES[name], seed) for seed in range(QUICK if quick else RUNS)]
        print(*row(name, found[name]), sep=" | ", flush=True)
        if not quick:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_numbers(path, {name: [asdict(one) for one in found[name]] for name in found})
            into_page(out / "coverage.md", "coverage", section(found))


def guess_too_long(out: Path, *, quick: bool) -> None:
    """Run on a lengthscale that is too long, by each kind of norm bound."""
    seeds = range(lengthscale.QUICK if quick else lengthscale.RUNS)
    found = {name: [lengthscale.run(name, seed) for seed in seeds] for name in lengthscale.BOUNDS}
    print(lengthscale.section(found))
    if not quick:
        path = out / "coverage" / "lengthscale.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_numbers(
            path, {name: [rounded(asdict(one)) for one in runs] for name, runs in found.items()}
        )
        into_page(out / "coverage.md", LENGTHSCALE, lengthscale.section(found))


if __name__ == "__main__":
    sys.exit(main())

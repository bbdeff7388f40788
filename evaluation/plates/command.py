"""`python -m evaluation.plates`: run what is missing, draw, and write the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from evaluation.methods.by_plate import AUTO, FILLERS, SEEDS
from evaluation.plates.report import MARK, PAGE, Results, publish, section
from evaluation.plates.summary import PLATES
from evaluation.problems.base import Problem
from evaluation.problems.by_plate import CLICKS, POOLS, problem
from evaluation.problems.large import LARGE, SMALL
from evaluation.reports.markdown import into_page, print_claims
from evaluation.runs import by_plate, timed
from evaluation.runs.archive import publish_runs, restore_runs
from evaluation.runs.by_plate import ALONE
from evaluation.runs.cells import Cell, Line, Setting
from evaluation.runs.options import are_known, run_missing, shared_parser, store_of, told

OUT = Path(__file__).parents[1] / "out" / "plates"
SIZES, LARGEST = (8, 24, 96), 512
MANY = 100_000  # candidates; with more, plates of `LARGEST` too
LONG = 40  # plates of 24, against 960 one at a time
SHOWN, BATCHES = 1000, 100  # ads of a batch, and batches
ASKS = 3  # of a large pool
QUICK_POOLS, QUICK_CLICKS = ("crossed-barrel", "direct-arylation"), ("clicks-open-bandit",)
QUICK_SIZE, QUICK_PLATES, QUICK_SEEDS, QUICK_BATCHES = 8, 3, 2, 4


@final
@dataclass(frozen=True, slots=True)
class LineUp:
    """Runs that are wanted, by what becomes of them."""

    pools: list[Line]
    clicks: list[Line]
    times: list[Line]

    @property
    def lines(self) -> list[Line]:
        return [*self.pools, *self.clicks, *self.times]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the contestants and problems named, or all of them; return the exit status."""
    prog, what = "python -m evaluation.plates", "Compare methods that fill plates."
    parser = shared_parser(prog, what)
    problems = [*POOLS, *CLICKS, *LARGE]
    parser.add_argument("--only", type=_names, default=[*FILLERS], help="such as auto,forest")
    parser.add_argument("--problems", type=_names, default=problems, help="such as gb1,oer")
    parser.add_argument("--sizes", type=_sizes, default=None, help="such as 1,24,96")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="at most so many of each")
    options = parser.parse_args(arguments)
    if options.list:
        for one in FILLERS.values():
            print(f"{one.name:16} {one.title}: {one.seeds} seeds")
        print(f"on {', '.join(problems)}")
        return 0
    if not (
        are_known("--only: no", options.only, FILLERS)
        and are_known("--problems: no", options.problems, problems)
    ):
        return 2
    return told(lambda: _make(options))


def lineup(
    *,
    quick: bool = False,
    only: Iterable[str] = tuple(FILLERS),
    problems: Iterable[str] = (*POOLS, *CLICKS, *LARGE),
    sizes: Sequence[int] | None = None,
    seeds: int = SEEDS,
) -> LineUp:
    """Return a line for every contestant, problem and size of plate that are named.

    `auto` is also run one at a time, and for more plates of 24: one run serves the fewer plates.
    """
    who, wanted = list(only), set(problems)
    seeds = min(seeds, QUICK_SEEDS) if quick else seeds
    pools = [
        _line(name, one, size, plates, seeds)
        for name in _some(POOLS, wanted, QUICK_POOLS if quick else None)
        for size in ((QUICK_SIZE,) if quick else _sizes_of(problem(name)))
        for one in who
        for plates in (QUICK_PLATES if quick else _plates(one, size),)
        if sizes is None or size in sizes
        if FILLERS[one].pools and (size > 1 or one == AUTO)
        if FILLERS[one].fills(size, plates, problem(name).candidates or 0)
    ]
    clicks = [
        _line(name, one, SHOWN, QUICK_BATCHES if quick else BATCHES, seeds)
        for name in _some(CLICKS, wanted, QUICK_CLICKS if quick else None)
        for one in who
        if FILLERS[one].clicks and (sizes is None or SHOWN in sizes)
    ]
    large = SMALL if quick else LARGE
    times = [
        _line(name, one, at.size, ASKS, 1)
        for name, at in large.items()
        for one in who
        if one in timed.ALGORITHMS and (quick or name in wanted)
        if sizes is None or at.size in sizes or quick
    ]
    return LineUp(pools, clicks, times)


def play(cell: Cell) -> Mapping[str, object]:
    """Run a cell of any kind."""
    return timed.play(cell) if cell.problem in LARGE | SMALL else by_plate.play(cell)


def _make(options: argparse.Namespace) -> int:
    """Run what is named, then publish all that is stored; a quick run leaves docs as they are."""
    store = store_of(options, OUT)
    folder = OUT / "quick" if options.quick else PAGE.with_suffix("")
    restore_runs(folder / "runs", store)
    chosen = {"only": options.only, "problems": options.problems, "sizes": options.sizes}
    named = lineup(quick=options.quick, seeds=options.seeds, **chosen)
    status = run_missing(named.lines, store, options, play)
    everything = lineup(quick=options.quick)
    results = Results.of(everything.pools, everything.clicks, everything.times, store)
    if not results.any:
        print("nothing has been run yet; nothing is drawn.", file=sys.stderr)
        return 1
    reached = publish(results, folder)
    publish_runs(everything.lines, store, folder / "runs")
    if not options.quick:
        into_page(PAGE, MARK, section(results, reached, folder.name))
    met = sum(one.holds for one in reached)
    print_claims(f"{met} of {len(reached)} goals are met; {folder}", reached)
    return status


def _line(name: str, who: str, size: int, plates: int, seeds: int) -> Line:
    setting: Setting = {"algorithm": who, "batch": size}
    return Line(name, who, (setting,), size * plates, min(FILLERS[who].seeds, seeds))


def _sizes_of(held: Problem) -> list[int]:
    """Return one, and the sizes that make sense: without noise, no more wells than candidates."""
    N = held.candidates or 0
    sizes = [1, *SIZES, *((LARGEST,) if N > MANY else ())]
    return [one for one in sizes if one <= N and (held.noise_std or one * _plates(AUTO, one) <= N)]


def _plates(who: str, size: int) -> int:
    if size == 1:
        return ALONE[-1]
    return LONG if (who, size) == (AUTO, 24) else PLATES


def _some(known: Iterable[str], wanted: set[str], quick: Sequence[str] | None) -> list[str]:
    return [one for one in known if one in wanted and (quick is None or one in quick)]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sizes(text: str) -> list[int]:
    return [int(name) for name in _names(text)]

"""`python -m evaluation.comparison`: run what is missing, draw, and write the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.comparison.report import MARK, PAGE, publish, section
from evaluation.comparison.summary import Standings
from evaluation.methods.contestants import CONTESTANTS
from evaluation.problems.comparison import PROBLEMS, problem
from evaluation.reports.markdown import into_page, print_claims
from evaluation.runs.archive import publish_runs, restore_runs
from evaluation.runs.cells import Line, Setting
from evaluation.runs.options import are_known, run_missing, shared_parser, store_of, told
from evaluation.runs.reading import play

OUT = Path(__file__).parents[1] / "out" / "comparison"
QUICK = ("crossed-barrel", "direct-arylation", "branin")
QUICK_BUDGET, QUICK_SEEDS = 50, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the contestants and problems named, or all of them; return the exit status."""
    prog, what = "python -m evaluation.comparison", "Compare methods at their default settings."
    parser = shared_parser(prog, what)
    parser.add_argument("--only", type=_names, default=[*CONTESTANTS], help="such as auto,tpe")
    parser.add_argument("--problems", type=_names, default=[*PROBLEMS], help="such as gb1,oer")
    options = parser.parse_args(arguments)
    if options.list:
        for one in CONTESTANTS.values():
            print(f"{one.name:14} {one.title}: T ≤ {one.most}, {one.seeds} seeds")
        print(f"on {', '.join(PROBLEMS)}")
        return 0
    if not (
        are_known("--only: no", options.only, CONTESTANTS)
        and are_known("--problems: no", options.problems, PROBLEMS)
    ):
        return 2
    return told(lambda: _make(options))


def lineup(
    *,
    quick: bool = False,
    only: Iterable[str] = tuple(CONTESTANTS),
    problems: Iterable[str] = tuple(PROBLEMS),
) -> list[Line]:
    """Return a line for every contestant and problem that are named.

    One run at the largest budget serves the smaller ones, since no method here looks ahead (the
    papers' δ = 1/T is that of the largest).
    """
    lines = []
    for place in [name for name in problems if not quick or name in QUICK]:
        held = problem(place)
        for one in (CONTESTANTS[name] for name in only):
            horizon, seeds = one.budgets(held)[-1], one.seeds
            if quick:
                horizon, seeds = QUICK_BUDGET, QUICK_SEEDS
            setting: Setting = {"algorithm": one.name}
            lines.append(Line(place, one.name, (setting,), horizon, seeds))
    return lines


def _make(options: argparse.Namespace) -> int:
    """Run what is named, then publish all that is stored; a quick run leaves docs as they are."""
    store = store_of(options, OUT)
    folder = OUT / "quick" if options.quick else PAGE.with_suffix("")
    restore_runs(folder / "runs", store)
    named = lineup(quick=options.quick, only=options.only, problems=options.problems)
    status = run_missing(named, store, options, play)
    everything = lineup(quick=options.quick)
    standings = Standings.of(everything, store)
    if not standings.samples:
        print("nothing has been run yet; nothing is drawn.", file=sys.stderr)
        return 1
    reached = publish(standings, folder)
    publish_runs(everything, store, folder / "runs")
    if not options.quick:
        into_page(PAGE, MARK, section(standings, reached, folder.name))
    met = sum(one.holds for one in reached)
    print_claims(f"{met} of {len(reached)} goals are met; {folder}", reached)
    return status


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]

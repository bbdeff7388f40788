"""`python -m evaluation.speed [case ...]`: measure, print tables, write results and report.

`--against OTHER/src` measures two source trees in turn, so that a busy machine slows both alike: it
prints, for each run of the library, the median seconds of either tree and the median ratio of
neighbours; below 1 this one is faster. Both are measured by the code of this one; where the other
lacks a name that a run needs, its error is shown.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

import noregret
from evaluation.runs.options import are_known
from evaluation.speed.cases import CASES
from evaluation.speed.goals import Case
from evaluation.speed.measure import RACES, measured, measured_machine
from evaluation.speed.report import case_table, goals_table, write_report
from evaluation.speed.results import Figures, Results, Subject
from noregret.progress import Display

TOO_SLOW = "a smaller size was too slow"
WIDE = 180  # columns, where there is no terminal to ask
HERE = str(Path(noregret.__file__).parents[1])
ROUNDS = 5  # of --against


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status."""
    given = _parser().parse_args(arguments)
    console = Console(stderr=True)
    if given.list:
        for case in CASES.values():
            console.print(f"{case.name:16} {case.title}", highlight=False)
        return 0
    if not are_known("no case", given.case, CASES):
        return 2
    chosen = [CASES[name] for name in given.case] or list(CASES.values())
    if given.against:
        compare(chosen, given.against, quick=given.quick, threads=given.threads)
        return 0
    if given.report is not None:
        results, out = Results.read(given.report), given.out or given.report.parent.parent
    else:
        out = given.out or Path("evaluation/out/speed" if given.quick else "docs/results")
        path = out / "benchmarks" / "results.json"
        results = Results.read(path) if path.exists() else Results(path, given.quick, given.threads)
        if (results.quick, results.threads) != (given.quick, given.threads):
            console.print(
                f"{path} holds figures of {'quick' if results.quick else 'full'} sizes on "
                f"{results.threads} threads; figures do not mix. Give another --out, or remove it."
            )
            return 2
        _measure_all(chosen, results, given.resume)
    print_tables(chosen, results)
    console.print(f"wrote {write_report(CASES.values(), results, out)}", highlight=False)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.speed", description=__doc__)
    parser.add_argument("case", nargs="*", help="cases to run; all of them if none is named")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the benchmark")
    parser.add_argument("--resume", action="store_true", help="keep what was measured before")
    parser.add_argument("--threads", type=int, default=2, help="BLAS threads (default: 2)")
    parser.add_argument("--out", type=Path, help="folder of the report (default: docs/results)")
    parser.add_argument("--report", type=Path, metavar="JSON", help="only write the report again")
    parser.add_argument("--against", metavar="SRC", help="only compare with another source tree")
    return parser


def _measure_all(cases: list[Case], results: Results, resume: bool) -> None:
    """Measure every subject at every seed, each in its own process, and keep each at once."""
    subjects = [subject for case in cases for subject in case.subjects]
    wanted: dict[str, tuple[Subject, int]] = {}
    for subject in subjects:
        for seed, key in enumerate(results.sized(subject).keys):
            wanted.setdefault(key, (subject, seed))  # cases share measurements
    todo = [key for key in wanted if not (resume and key in results.cells)]
    if not todo:
        return
    with Display("measurements", total=len(todo)) as display:
        results.machine, floor = measured_machine(results.threads)
        for key in todo:
            results.keep(key, _figures(*wanted[key], subjects, results, floor))
            display.advance()


def _figures(
    subject: Subject, seed: int, subjects: list[Subject], results: Results, floor: dict[str, float]
) -> Figures:
    """Measure, unless a smaller size of the same series was already too slow."""
    for other in subjects[: subjects.index(subject)] if subject.series else ():
        same = (other.series, other.runner) == (subject.series, subject.runner)
        if same and _grows(other, subject) and results.trouble(other):
            return {"skipped": TOO_SLOW}
    return {**measured(results.sized(subject), seed, results.threads), "floor": floor}


def _grows(smaller: Subject, larger: Subject) -> bool:
    """Tell whether one subject is the other at a larger size."""
    before, after = (
        {name: value for name, value in subject.settings.items() if isinstance(value, int)}
        for subject in (smaller, larger)
    )
    return all(before[name] <= after[name] for name in before.keys() & after.keys())


def print_tables(cases: list[Case], results: Results) -> None:
    """Print the figures of each case, and its goals with their verdicts."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    title = "medians over seeds" + " (quick sizes: goals are not judged)" * results.quick
    tables = [f"**{case.name}**: {case.title}\n\n{case_table(case, results)}" for case in cases]
    console.print(Markdown("\n\n".join([title, *tables, goals_table(cases, results)])))


def compare(cases: Iterable[Case], other: str, *, quick: bool, threads: int) -> None:
    """Print the seconds of each run of these cases in both trees, as soon as they are known."""
    console, seen = Console(), set[str]()
    console.print(f"{'here':>10} {'there':>10} {'ratio':>7}  of {HERE} and {other}", soft_wrap=True)
    for case in cases:
        for full in case.subjects:
            subject = full.quick() if quick else full
            if subject.runner in RACES or subject.key(0) in seen:
                continue
            seen.add(subject.key(0))
            taken: dict[str, list[float]] = {HERE: [], other: []}
            trouble = ""
            for turn in range(2 * ROUNDS):
                tree = (HERE, other)[(turn + turn // 2) % 2]  # here, there, there, here, …
                figures = measured(subject, 0, threads, tree)
                if trouble := figures.get("error", figures.get("skipped", "")):
                    break
                taken[tree].append(figures["seconds"])
            what = f"{case.name}: {subject.label} {dict(subject.settings)}"
            if trouble:
                told = f"{'':29}  {what}: {trouble.splitlines()[-1]}"
            else:
                here, there = map(statistics.median, taken.values())
                ratio = statistics.median(a / b for a, b in zip(*taken.values(), strict=True))
                told = f"{here:10.4g} {there:10.4g} {ratio:7.2f}  {what}"
            console.print(told, highlight=False, markup=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())

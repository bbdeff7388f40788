"""`python -m evaluation.speed [case ...]`: measure, print one table, write results and report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evaluation.speed.case import Case
from evaluation.speed.cases import all_cases
from evaluation.speed.measure import measured, measured_machine
from evaluation.speed.report import write_report
from evaluation.speed.results import Results
from evaluation.speed.subjects import Figures, Floor, Subject
from evaluation.speed.table import print_table

TOO_SLOW = "a smaller size was too slow"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status."""
    given = _parser().parse_args(arguments)
    console = Console(stderr=True)
    if given.report is not None:
        results = Results.read(given.report)
        cases = all_cases(quick=results.quick)
        return _show(
            list(cases.values()), results, given.out or given.report.parent.parent, console
        )
    cases = all_cases(quick=given.quick)
    if given.list:
        for case in cases.values():
            console.print(f"{case.name:16} {case.title}", highlight=False)
        return 0
    unknown = sorted(set(given.case) - set(cases))
    if unknown:
        console.print(f"no case is called {unknown[0]!r}; there are {', '.join(cases)}.")
        return 2
    chosen = [cases[name] for name in given.case] or list(cases.values())
    out = given.out or Path("evaluation/out/speed" if given.quick else "docs/results")
    results = _opened(out / "benchmarks" / "results.json", given.quick, given.threads)
    if (results.quick, results.threads) != (given.quick, given.threads):
        console.print(
            f"{results.path} holds figures of {'quick' if results.quick else 'full'} sizes on "
            f"{results.threads} threads; figures do not mix. Give another --out, or remove it."
        )
        return 2
    _measure_all(chosen, results, given.resume, console)
    _show(chosen, results, None, console)
    return _show([], results, out, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.speed", description=__doc__)
    parser.add_argument("case", nargs="*", help="cases to run; all of them if none is named")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the benchmark")
    parser.add_argument("--resume", action="store_true", help="keep what was measured before")
    parser.add_argument("--threads", type=int, default=2, help="BLAS threads (default: 2)")
    parser.add_argument("--out", type=Path, help="folder of the report (default: docs/results)")
    parser.add_argument("--report", type=Path, metavar="JSON", help="only write the report again")
    return parser


def _opened(path: Path, quick: bool, threads: int) -> Results:
    """Return what was measured before, or nothing."""
    return Results.read(path) if path.exists() else Results(path, quick, threads)


def _measure_all(cases: list[Case], results: Results, resume: bool, console: Console) -> None:
    """Measure every subject at every seed, each in its own process, and keep each at once."""
    subjects = [subject for case in cases for subject in case.subjects]
    wanted: dict[str, tuple[Subject, int]] = {}
    for subject in subjects:
        for seed in range(subject.seeds):
            wanted.setdefault(subject.key(seed), (subject, seed))  # cases share measurements
    todo = [key for key in wanted if not (resume and key in results.cells)]
    if not todo:
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as progress:
        task = progress.add_task("the machine", total=len(todo))
        results.machine, floor = measured_machine(results.threads)
        for key in todo:
            subject, seed = wanted[key]
            progress.update(task, description=f"{subject.label}, seed {seed}")
            results.keep(key, _figures(subject, seed, subjects, results, floor))
            progress.advance(task)


def _figures(
    subject: Subject, seed: int, subjects: list[Subject], results: Results, floor: Floor
) -> Figures:
    """Measure, unless a smaller size of the same series was already too slow."""
    if subject.series:
        for other in subjects:
            if other is subject:
                break
            same = other.series == subject.series and other.runner == subject.runner
            if same and _grows(other, subject) and results.trouble(other):
                return {"skipped": TOO_SLOW}
    return {**measured(subject, seed, results.threads), "floor": floor}


def _grows(smaller: Subject, larger: Subject) -> bool:
    """Tell whether one subject is the other at a larger size."""
    sizes = [
        (before, after)
        for name, after in larger.settings.items()
        if isinstance(after, int) and isinstance(before := smaller.settings.get(name), int)
    ]
    return all(before <= after for before, after in sizes)


def _show(cases: list[Case], results: Results, out: Path | None, console: Console) -> int:
    if cases:
        print_table(cases, results)
    if out is not None:
        every = all_cases(quick=results.quick)
        console.print(f"wrote {write_report(every.values(), results, out)}", highlight=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())

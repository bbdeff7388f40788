"""Two source trees measured in turn, so that a busy machine slows both alike.

`python -m evaluation.speed --quick --against OTHER/src [case ...]` prints, for each run of the
library, the median seconds of either tree and the median ratio of neighbours: below 1 this one is
faster. Both are measured by the code of this one; where the other lacks a name that a run needs,
its error is shown.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

import noregret
from evaluation.speed.goals import Case
from evaluation.speed.measure import RACES, measured

HERE = str(Path(noregret.__file__).parents[1])
ROUNDS = 5


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

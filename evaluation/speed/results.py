"""What is measured, and what was found so far: one JSON file, written after each measurement.

A subject is a runner with its settings, run once per seed, each time in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, final

FORMAT = 1
Settings: TypeAlias = Mapping[str, Any]

SHRINK = {  # divisor, and what is left at least, where only the benchmark itself is to be tried
    "N": (25, 400),
    "T": (25, 60),
    "n": (10, 30),
    "values": (100, 1000),
    "candidates": (100, 1000),
}
QUICK_T = 4000  # evaluations at most: BKB takes minutes for more
QUICK_SECONDS = 10.0


class Figures(TypedDict, total=False):
    """What one measurement found. Seconds are those of the optimiser alone."""

    seconds: float
    peak: int  # bytes resident at most, of the whole process
    beyond: int  # of which more than just before the run
    regret: float  # per evaluation
    evaluations: int
    unique: int
    batches: int
    marks: list[str]  # digests of ever longer prefixes of the choices
    steps: list[tuple[int, float]]  # (t, seconds of one ask)
    later: list[tuple[int, float]]  # the same for an ask that follows another
    members: int  # of the dictionary
    one_pass: float  # seconds of what a case holds its asks against
    ahead: float  # percentage of steps at which no random candidate scored higher
    agreed: float  # share of steps at which a peer chose what the library did
    stopped: int  # evaluations reached when the time was up
    skipped: str
    error: str
    work: dict[str, int] | None  # the library's own count of what it did
    floor: dict[str, float]  # what the machine could do when this was measured
    threads: int


Read: TypeAlias = Callable[[Figures, Settings], float | None]  # a figure, if it was found


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """Something to measure; a `series` of growing sizes ends at the first that is too slow."""

    label: str
    runner: str
    settings: Settings = field(default_factory=dict)
    seeds: int = 3
    most_seconds: float = 900.0
    series: str = ""

    def key(self, seed: int) -> str:
        """Return the name under which a measurement is stored."""
        return json.dumps([self.runner, dict(sorted(self.settings.items())), seed])

    @property
    def keys(self) -> list[str]:
        return [self.key(seed) for seed in range(self.seeds)]

    def quick(self) -> Subject:
        """Return the same at a small size and one seed, to try the benchmark itself."""
        small = {name: _shrunk(name, value) for name, value in self.settings.items()}
        return replace(self, settings=small, seeds=1, most_seconds=QUICK_SECONDS)


def _shrunk(name: str, value: Any) -> Any:
    if name == "ts":
        return value[:2]
    divisor, least = SHRINK.get(name, (1, 0))
    small = value if divisor == 1 else min(value, max(least, value // divisor))
    return min(small, QUICK_T) if name == "T" else small


@final
@dataclass(slots=True, eq=False)
class Results:
    """Figures by the key of a subject and seed, and the machine they were found on.

    Cases hold subjects at their full sizes; `sized` says what is measured in place of one.
    """

    path: Path
    quick: bool = False
    threads: int = 2
    machine: dict[str, Any] | None = None
    cells: dict[str, Figures] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Results:
        held = json.loads(path.read_text())
        if (found := held.pop("format", None)) != FORMAT:
            raise ValueError(f"{path} has the format {found}, not {FORMAT}.")
        return cls(path, **held)

    def keep(self, key: str, figures: Figures) -> None:
        """Take in a measurement and write the file."""
        self.cells[key] = figures
        self.write()

    def write(self) -> None:
        names = ("quick", "threads", "machine", "cells")
        held = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(held, indent=1) + "\n")
        os.replace(partial, self.path)

    def sized(self, subject: Subject) -> Subject:
        return subject.quick() if self.quick else subject

    def of(self, subject: Subject) -> list[Figures]:
        """Return the measurements of a subject that were made, one per seed."""
        return [self.cells[key] for key in self.sized(subject).keys if key in self.cells]

    def begun(self, subject: Subject) -> list[Figures]:
        """Return those of them that ran, to their end or until their time was up."""
        return [one for one in self.of(subject) if not one.keys() & {"error", "skipped"}]

    def done(self, subject: Subject) -> list[Figures]:
        """Return those of them that came to their end."""
        return [one for one in self.begun(subject) if "stopped" not in one]

    def median(self, subject: Subject, figure: Read) -> float | None:
        """Return the median over seeds; None unless every seed has the figure."""
        sized = self.sized(subject)
        found = [figure(one, sized.settings) for one in self.done(subject)]
        known = [value for value in found if value is not None]
        return statistics.median(known) if len(known) == sized.seeds else None

    def trouble(self, subject: Subject) -> str:
        """Return why a subject has no figures, in a few words."""
        for figures in self.of(subject):
            if "error" in figures:
                return figures["error"].splitlines()[0][:80] if figures["error"] else "failed"
            if "skipped" in figures:
                return figures["skipped"]
            if "stopped" in figures:
                return f"stopped at t = {figures['stopped']} after {figures['seconds']:.0f} s"
        return "" if self.of(subject) else "not run"

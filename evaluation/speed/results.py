"""What was measured so far, in one JSON file: written after each measurement, read to go on."""

from __future__ import annotations

import json
import os
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from evaluation.speed.subjects import Figures, Read, Subject

FORMAT = 1


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
        """Write the file, all or nothing."""
        names = ("quick", "threads", "machine", "cells")
        held = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(held, indent=1) + "\n")
        os.replace(partial, self.path)

    def sized(self, subject: Subject) -> Subject:
        """Return a subject of a case at the size that is measured here."""
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

    def all_done(self, subject: Subject) -> bool:
        return len(self.done(subject)) == self.sized(subject).seeds

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

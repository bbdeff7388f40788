"""What was measured so far, in one JSON file: written after every measurement, read to go on."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, final

from evaluation.speed.machine import Machine
from evaluation.speed.subjects import Figures, Subject

FORMAT = 1


@final
@dataclass(slots=True, eq=False)
class Results:
    """Figures by the key of a subject and seed, and the machine they were found on."""

    path: Path
    quick: bool = False
    threads: int = 2
    machine: Machine | None = None
    cells: dict[str, Figures] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Results:
        """Return what the file holds."""
        held = json.loads(path.read_text())
        if held.get("format") != FORMAT:
            raise ValueError(f"{path} has the format {held.get('format')}, not {FORMAT}.")
        machine, cells = (
            cast(Machine | None, held["machine"]),
            cast(dict[str, Figures], held["cells"]),
        )
        return cls(path, bool(held["quick"]), int(held["threads"]), machine, cells)

    def keep(self, key: str, figures: Figures) -> None:
        """Take in a measurement and write the file, all or nothing."""
        self.cells[key] = figures
        self.write()

    def write(self) -> None:
        held = {
            "format": FORMAT,
            "quick": self.quick,
            "threads": self.threads,
            "machine": self.machine,
            "cells": self.cells,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(held, indent=1) + "\n")
        os.replace(partial, self.path)

    def of(self, subject: Subject) -> list[Figures]:
        """Return the measurements of a subject that were made, one a seed."""
        return [self.cells[key] for key in subject.keys if key in self.cells]

    def begun(self, subject: Subject) -> list[Figures]:
        """Return those of them that ran, to their end or until their time was up."""
        return [
            figures
            for figures in self.of(subject)
            if "error" not in figures and "skipped" not in figures
        ]

    def done(self, subject: Subject) -> list[Figures]:
        """Return those of them that came to their end."""
        return [figures for figures in self.begun(subject) if "stopped" not in figures]

    def median(self, subject: Subject, figure: Callable[[Figures], float | None]) -> float | None:
        """Return the median over seeds; None unless every seed has the figure."""
        found = [figure(figures) for figures in self.done(subject)]
        known = [value for value in found if value is not None]
        return statistics.median(known) if known and len(known) == subject.seeds else None

    def trouble(self, subject: Subject) -> str:
        """Return why a subject has no figures, in a few words."""
        for figures in self.of(subject):
            if "error" in figures:
                return figures["error"].splitlines()[0][:80] if figures["error"] else "failed"
            if "skipped" in figures:
                return figures["skipped"]
            if "stopped" in figures:
                reached, seconds = figures["stopped"], figures["seconds"]
                return f"stopped at t = {reached} after {seconds:.0f} s"
        return "" if self.of(subject) else "not run"

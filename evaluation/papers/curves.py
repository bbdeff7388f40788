"""Curves of what was run: means over repetitions with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from evaluation.problems.papers import problem
from evaluation.reports.intervals import half_width
from evaluation.reports.markdown import Claim
from evaluation.runs.cells import Line, Store
from evaluation.runs.trial import Record
from noregret.arrays import Indices, Matrix, Vector


@final
@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A curve's mean over repetitions and half the width of its interval."""

    steps: Indices
    mean: Vector
    half: Vector  # NaN for one repetition
    repetitions: int

    def at(self, step: int | None = None) -> tuple[float, float]:
        """Return mean and half-width at a step, between those stored on a line; or at the end."""
        where = self.steps[-1] if step is None else step
        return (
            float(np.interp(where, self.steps, self.mean)),
            float(np.interp(where, self.steps, self.half)),
        )


def band(runs: Sequence[Record], quantity: str) -> Band:
    """Return the mean curve of some runs with its interval by Student's t."""
    curves: Matrix = np.array([QUANTITIES[quantity](run) for run in runs], dtype=np.float64)
    mean, half = curves.mean(axis=0), half_width(curves)
    return Band(np.array(runs[0]["steps"]), mean, half, len(curves))


@final
@dataclass(frozen=True, slots=True)
class Runs:
    """The lines of a figure, or of a part of it, with what has been run of them."""

    lines: tuple[Line, ...]
    store: Store

    def of(self, **which: object) -> Runs:
        """Return the part whose lines have these fields, such as a problem and a history."""
        fits = (
            line for line in self.lines if all(getattr(line, key) == which[key] for key in which)
        )
        return Runs(tuple(fits), self.store)

    def each(self, history: int = 0) -> Iterator[Runs]:
        """Yield the parts by problem."""
        return (self.of(problem=name, history=history) for name in self.names("problem"))

    def names(self, field: str) -> list[str]:
        """Return every problem, label or panel, in the order of the lines."""
        return list(dict.fromkeys(getattr(line, field) for line in self.lines))

    @property
    def title(self) -> str:
        """That of the problem, where there is one."""
        return problem(self.lines[0].problem).title

    def claim(self, says: str, found: str, holds: bool, where: str = "") -> Claim:
        """Return a claim about this part, which its problem names."""
        return Claim(f"{self.title}{where}: {says}", found, holds)

    def aside(self, says: str, found: str, holds: bool) -> Claim:
        """Return a statement of ours about this part."""
        return replace(self.claim(says, found, holds), ours=True)

    def bands(self, quantity: str) -> dict[str, Band]:
        """Return the curves by method, those that have been run."""
        found = {line.label: line.runs(self.store) for line in self.lines}
        return {label: band(runs, quantity) for label, runs in found.items() if runs}

    def ends(self, quantity: str, step: int | None = None) -> dict[str, float]:
        """Return every method's mean at the end or at a step, the lowest first."""
        found = {label: curve.at(step)[0] for label, curve in self.bands(quantity).items()}
        return dict(sorted(found.items(), key=lambda one: one[1]))

    def reads(
        self, quantity: str, labels: Sequence[str] | None = None, step: int | None = None
    ) -> str:
        """Return the values of some methods in words; of all, the lowest first."""
        found, named = self.bands(quantity), labels or self.ends(quantity, step)
        return ", ".join(f"{one} {number(*found[one].at(step))}" for one in named if one in found)


def number(mean: float, half: float) -> str:
    """Return a mean with its half-width, to the digits that mean something."""
    return f"{mean:.3g}" if math.isnan(half) else f"{mean:.3g} ± {half:.1g}"


def _batch_size(run: Record) -> Vector:
    """The last batch is cut by the horizon: it counts as large as the one before."""
    size, batch = np.array(run["batch"], dtype=np.float64), np.array(run["batches"])
    cut = batch == batch[-1]
    if not cut.all():
        size[cut] = size[~cut][-1]
    return size


def _hours(run: Record, workers: int) -> Vector:
    return np.asarray(np.array(run["total"][str(workers)]) / 3600)


QUANTITIES: dict[str, Callable[[Record], Any]] = {
    "regret ratio": lambda run: np.array(run["regret"]) / (np.array(run["steps"]) * run["uniform"]),
    "average regret": lambda run: np.array(run["regret"]) / np.array(run["steps"]),
    "simple regret": lambda run: run["simple"],
    "unique candidates": lambda run: run["unique"],
    "switches": lambda run: run["switches"],
    "batches": lambda run: run["batches"],
    "batch size": _batch_size,
    "seconds": lambda run: run["seconds"],
    "hours on 1 worker": partial(_hours, workers=1),
    **{f"hours on {P} workers": partial(_hours, workers=P) for P in (16, 128)},
}

"""What the runs say, plate by plate: regrets, hits, distinct candidates and times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, final

import numpy as np

from evaluation.methods.by_plate import FILLERS
from evaluation.reports.standings import AtBudget
from evaluation.runs.by_plate import ALONE, SECONDS, PlateReading
from evaluation.runs.cells import Line, Store
from evaluation.runs.timed import Times
from noregret.arrays import Matrix, Vector

Place: TypeAlias = tuple[str, str, int, int]  # a problem, a contestant, a plate's size, plates
PLATES = 10
MEASURES = {"regret": "cumulative regret", "simple": "simple regret", "missed": "hits missed"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Repetitions after some plates, in the order of their seeds.

    A run whose next plate was not there in time goes on as a uniform choice would, on average: it
    recommends what it did, and finds no more.
    """

    regret: Vector  # cumulative, over uniform's expected
    simple: Vector  # of the recommendation, over uniform's expected gap
    missed: Vector  # share of the top hundredth not evaluated
    distinct: Vector  # different candidates in the plate that had fewest
    seconds: Vector  # per plate
    last: Vector  # regret of the last plate, over uniform's expected; NaN where it was not there
    late: int  # runs that were not there in time
    exact: bool  # whether evaluations are without noise

    @classmethod
    def of(cls, readings: Sequence[PlateReading], size: int, plates: int) -> Self:
        """Take what was read off after so many plates, at most."""
        rows = [_row(one, size, plates) for one in readings]
        regret, simple, missed, distinct, seconds, last = np.array(rows).T
        late = sum(one["late"] and plates not in one["plates"] for one in readings)
        exact = readings[0]["noise_std"] == 0
        return cls(regret, simple, missed, distinct, seconds, last, late, exact)

    def __len__(self) -> int:
        return len(self.regret)


def _row(one: PlateReading, size: int, plates: int) -> tuple[float, ...]:
    """Return the measures of one run, in the order of `Sample`."""
    known = [at for at, done in enumerate(one["plates"]) if done <= plates]
    if not known:
        return 1.0, 1.0, 1.0, np.nan, SECONDS, np.nan
    at, uniform = known[-1], one["uniform"]
    done = one["plates"][at]
    regret = one["regret"][at] + (plates - done) * size * uniform
    since = one["plates"][at - 1] if at else 0
    before = one["regret"][at - 1] if at else 0.0
    last = (one["regret"][at] - before) / ((done - since) * size * uniform)
    spans = np.diff([0, *one["plates"][: at + 1]])
    seconds = float(spans @ np.array(one["seconds"][: at + 1]) + (plates - done) * SECONDS)
    return (
        regret / (plates * size * uniform),
        one["simple"][at] / uniform,
        1 - one["top"][at],
        min(one["distinct"][: at + 1]),
        seconds / plates,
        last if done == plates else np.nan,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """All samples there are."""

    samples: dict[Place, Sample]

    @classmethod
    def of(cls, lines: Iterable[Line], store: Store) -> Self:
        """Read what is stored; a late run is known at all plates that others were read off at."""
        samples = {}
        for line in lines:
            size = int(line.settings[0]["batch"])
            readings = _stored(line, store)
            wanted = ALONE if size == 1 else (PLATES, line.horizon // size)
            for plates in sorted({*wanted, *(done for one in readings for done in one["plates"])}):
                held = [one for one in readings if one["late"] or plates in one["plates"]]
                if held:
                    place = (line.problem, line.label, size, plates)
                    samples[place] = Sample.of(held, size, plates)
        return cls(samples)

    @property
    def sizes(self) -> list[int]:
        """The sizes of plates, without one at a time."""
        return sorted({size for _, _, size, _ in self.samples if size > 1})

    @property
    def plates(self) -> int:
        """How many there are of a size: `PLATES`, in quick runs fewer."""
        return min(PLATES, max((done for *_, size, done in self.samples if size > 1), default=0))

    def at(self, size: int, plates: int | None = None) -> AtBudget[Sample]:
        """Return the samples after so many plates of a size, or after all."""
        plates = self.plates if plates is None else plates
        held = {
            (name, who): sample
            for (name, who, one, done), sample in self.samples.items()
            if (one, done) == (size, plates)
        }
        return AtBudget(size * plates, held)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Average rates of clicks of every batch over the best rate: (seeds, batches), by world."""

    rates: dict[tuple[str, str], Matrix]  # a world and a contestant; NaN where there was no batch

    @classmethod
    def of(cls, lines: Iterable[Line], store: Store) -> Self:
        rates = {}
        for line in lines:
            size = int(line.settings[0]["batch"])
            if readings := _stored(line, store):
                found = np.full((len(readings), line.horizon // size), np.nan)
                for row, one in zip(found, readings, strict=True):
                    regrets = np.diff(one["regret"], prepend=0.0)
                    row[: len(regrets)] = 1 - regrets / (size * one["best"])
                rates[line.problem, line.label] = found
        return cls(rates)

    @property
    def worlds(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.rates))

    def of_batch(self, world: str, who: str, batch: int) -> float:
        """Return the average over seeds, 0 where a batch was not there in time."""
        return float(np.nan_to_num(self.rates[world, who])[:, batch - 1].mean())

    def so_far(self, world: str, who: str) -> Vector:
        """Return the average of all batches up to each, over seeds."""
        shown = np.nan_to_num(self.rates[world, who]).mean(axis=0)
        found: Vector = np.cumsum(shown) / np.arange(1, len(shown) + 1)
        return found


def times(lines: Iterable[Line], store: Store) -> dict[tuple[str, str], list[Times]]:
    """Return what asks took, by pool and algorithm."""
    held = {(line.problem, line.label): _stored(line, store) for line in lines}
    return {place: found for place, found in held.items() if found}


def _stored(line: Line, store: Store) -> list[Any]:
    return [store.load(cell) for cell in line.wanted(store) if store.holds(cell)]


def title(who: str) -> str:
    return FILLERS[who].title

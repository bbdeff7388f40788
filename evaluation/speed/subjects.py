"""What is measured: a runner with its settings, once per seed, each time in its own process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypedDict, final

Settings: TypeAlias = Mapping[str, Any]

SHRINK = {  # divisor, and what is left at least, where only the benchmark itself is to be tried
    "N": (25, 400),
    "T": (25, 60),
    "n": (10, 30),
    "values": (100, 1000),
    "candidates": (100, 1000),
}
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
    return value if divisor == 1 else min(value, max(least, value // divisor))

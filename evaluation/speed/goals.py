"""What must be shown: quantities computed from results, each held against a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, final

import numpy as np

from evaluation.speed.results import Results
from evaluation.speed.subjects import Figures, Subject

GB = 1e9


class Quantity(Protocol):
    """A number that results give, or do not give yet."""

    def of(self, results: Results) -> float | None: ...


@final
@dataclass(frozen=True, slots=True)
class Median:
    """A figure of a subject, the median over its seeds."""

    subject: Subject
    figure: Callable[[Figures], float | None]

    def of(self, results: Results) -> float | None:
        return results.median(self.subject, self.figure)


def seconds(subject: Subject) -> Median:
    """The time of a whole run."""
    return Median(subject, lambda figures: figures.get("seconds"))


def milliseconds_a_step(subject: Subject) -> Median:
    """The time of a run, an evaluation."""
    return Median(subject, lambda figures: 1e3 * figures["seconds"] / figures["evaluations"])


def regret(subject: Subject) -> Median:
    """The regret of a run, an evaluation."""
    return Median(subject, lambda figures: figures.get("regret"))


def peak_gb(subject: Subject) -> Median:
    """The peak memory of a run's process."""
    return Median(subject, lambda figures: figures["peak"] / GB)


def touched(subject: Subject) -> Median:
    """The percentage of the pool's rows that a ranking touched."""
    N = subject.settings["N"]
    assert isinstance(N, int)
    return Median(subject, lambda figures: touched_percent(figures, N))


def seconds_of_steps(subject: Subject, T: int) -> Median:
    """The time of T steps of which some were timed."""
    return Median(subject, lambda figures: integrated(figures.get("steps", []), T))


@final
@dataclass(frozen=True, slots=True)
class SoFar:
    """The largest figure of a subject, runs that were stopped before their end included."""

    subject: Subject
    figure: Callable[[Figures], float | None]

    def of(self, results: Results) -> float | None:
        found = [self.figure(figures) for figures in results.begun(self.subject)]
        return max((value for value in found if value is not None), default=None)

    def is_final(self, results: Results) -> bool:
        """Tell whether every run came to its end."""
        return len(results.done(self.subject)) == self.subject.seeds


def seconds_so_far(subject: Subject) -> SoFar:
    """The time of a run, at least."""
    return SoFar(subject, lambda figures: figures.get("seconds"))


def peak_gb_so_far(subject: Subject) -> SoFar:
    """The peak memory of a run's process, at least."""
    return SoFar(subject, lambda figures: figures["peak"] / GB)


@final
@dataclass(frozen=True, slots=True)
class Ratio:
    """One quantity over another."""

    above: Quantity
    below: Quantity

    def of(self, results: Results) -> float | None:
        above, below = self.above.of(results), self.below.of(results)
        return None if above is None or below is None or below == 0 else above / below


@final
@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of several quantities, once all are known."""

    quantities: tuple[Quantity, ...]

    def of(self, results: Results) -> float | None:
        found = [quantity.of(results) for quantity in self.quantities]
        known = [value for value in found if value is not None]
        return max(known) if known and len(known) == len(found) else None


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """The slope of log time against the log of a setting, over subjects."""

    subjects: tuple[Subject, ...]
    setting: str

    def of(self, results: Results) -> float | None:
        timed = [(subject, seconds(subject).of(results)) for subject in self.subjects]
        pairs = [
            (float(size), value)
            for subject, value in timed
            if value is not None and isinstance(size := subject.settings[self.setting], int)
        ]
        return slope(pairs) if len(pairs) == len(self.subjects) else None


@final
@dataclass(frozen=True, slots=True)
class SameChoices:
    """Up to which percentage of evaluations two subjects chose alike, at the worst common seed."""

    one: Subject
    other: Subject

    def of(self, results: Results) -> float | None:
        pairs = list(zip(results.done(self.one), results.done(self.other), strict=False))
        shares = [_alike(a.get("marks", []), b.get("marks", [])) for a, b in pairs]
        return min(shares) if len(shares) == min(self.one.seeds, self.other.seeds) else None


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """A quantity and the limit that it must keep; without a limit it is only reported."""

    text: str
    quantity: Quantity
    sense: Literal["≤", "≥"]
    limit: float | None
    unit: str = ""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """How a goal stands; `met` is None where it is not known."""

    figure: float | None
    met: bool | None

    @property
    def word(self) -> str:
        return "–" if self.met is None else ("met" if self.met else "missed")


def judge(goal: Goal, results: Results) -> Verdict:
    """Hold a goal against results; sizes of a quick run prove nothing."""
    figure = goal.quantity.of(results)
    if figure is None or goal.limit is None or results.quick:
        return Verdict(figure, None)
    met = figure <= goal.limit if goal.sense == "≤" else figure >= goal.limit
    if met and isinstance(goal.quantity, SoFar) and not goal.quantity.is_final(results):
        return Verdict(figure, None)  # the rest may still pass the limit
    return Verdict(figure, bool(met))


def touched_percent(figures: Figures, N: int) -> float | None:
    """Return refreshed/(rankings·N) in percent."""
    work = figures.get("work")
    if not work or not work["rankings"]:
        return None
    return 100 * work["refreshed"] / (work["rankings"] * N)


def slope(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the least-squares slope of log y against log x."""
    if len(pairs) < 2:
        return None
    x, y = np.log(np.array(pairs, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def integrated(steps: Sequence[tuple[int, float]], T: int) -> float | None:
    """Return Σ of seconds over t = 1 … T, by powers of t between the steps that were timed.

    None where the last step timed is before T: nothing is extrapolated upwards. Before the first
    one, time is taken as constant.
    """
    if not steps or steps[-1][0] < T:
        return None
    at, taken = np.array(steps, dtype=np.float64).T
    logs = np.interp(np.log(np.arange(1, T + 1)), np.log(at), np.log(taken))
    return float(np.exp(logs).sum())


def _alike(one: list[str], other: list[str]) -> float:
    alike = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        alike += 1
    return 100.0 * alike / max(len(one), 1)

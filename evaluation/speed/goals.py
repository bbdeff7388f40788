"""Cases: what is measured together, and what it must show, each figure held against a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, final

import numpy as np

from evaluation.speed.results import Figures, Read, Results, Settings, Subject

GB = 1e9
UNITS = ("s", "ms", "×", "%", "GB")


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that results give, or do not give yet."""

    of: Callable[[Results], float | None]
    is_final: Callable[[Results], bool] = lambda _: True  # else it may still grow


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """A quantity and the limit that it must keep, as "≤ 0.5 s"; or "reported s", with no limit."""

    text: str
    quantity: Quantity
    limit: str

    @property
    def unit(self) -> str:
        return "".join(f" {word}" for word in self.limit.split() if word in UNITS)


@final
@dataclass(frozen=True, slots=True)
class Case:
    """Subjects measured side by side, and what they must show."""

    name: str
    title: str
    subjects: tuple[Subject, ...]
    goals: tuple[Goal, ...] = ()
    note: str = ""
    against: str = ""  # the setting that grows along the series of a scaling case


def case(name: str, title: str, subjects: Sequence[Subject], *goals: Goal, note: str = "") -> Case:
    return Case(name, title, tuple(subjects), goals, note)


class Verdict(NamedTuple):
    """How a goal is met."""

    figure: float | None
    word: Literal["met", "missed", "–"]  # the last where it is not known


def judge(goal: Goal, results: Results) -> Verdict:
    """Hold a goal against results; sizes of a quick run prove nothing."""
    figure, (sense, *limit) = goal.quantity.of(results), goal.limit.split()
    if figure is None or sense == "reported" or results.quick:
        return Verdict(figure, "–")
    if figure > float(limit[0]) if sense == "≤" else figure < float(limit[0]):
        return Verdict(figure, "missed")
    return Verdict(figure, "met" if goal.quantity.is_final(results) else "–")


def median(subject: Subject, figure: str | Read) -> Quantity:
    """A figure of a subject, the median over its seeds."""
    read = _read(figure)
    return Quantity(lambda results: results.median(subject, read))


def so_far(subject: Subject, figure: str | Read) -> Quantity:
    """The largest figure of a subject, runs that were stopped before their end included."""
    read = _read(figure)

    def largest_yet(results: Results) -> float | None:
        found = [read(one, results.sized(subject).settings) for one in results.begun(subject)]
        return max((value for value in found if value is not None), default=None)

    known = median(subject, "seconds")  # of all seeds, once all came to their end
    return Quantity(largest_yet, lambda results: known.of(results) is not None)


def seconds(subject: Subject) -> Quantity:
    return median(subject, "seconds")


def peak_gb(figures: Figures, _: Settings) -> float:
    """The peak memory of a run's process."""
    return figures["peak"] / GB


def touched(figures: Figures, settings: Settings) -> float | None:
    """The percentage of the pool's rows that a ranking refreshed."""
    work = figures.get("work")
    if not work or not work["rankings"]:
        return None
    return 100 * work["refreshed"] / (work["rankings"] * float(settings["N"]))


def seconds_of_steps(figures: Figures, settings: Settings) -> float | None:
    """The time of all steps up to the last of those that were to be timed."""
    return integrated(figures.get("steps", []), settings["ts"][-1])


def of_all(combine: Callable[..., float | None], *quantities: Quantity) -> Quantity:
    """A function of several quantities, once all are known."""

    def of(results: Results) -> float | None:
        found = [quantity.of(results) for quantity in quantities]
        return None if None in found else combine(*found)

    return Quantity(of)


def ratio(above: Quantity, below: Quantity) -> Quantity:
    return of_all(lambda over, under: over / under if under else None, above, below)


def slope_in(setting: str, subjects: Sequence[Subject]) -> Quantity:
    """The slope of log time against the log of a setting, over subjects."""

    def of(results: Results) -> float | None:
        sizes = [results.sized(subject).settings[setting] for subject in subjects]
        fitted = of_all(lambda *taken: slope(list(zip(sizes, taken, strict=True))), *times)
        return fitted.of(results)

    times = [seconds(subject) for subject in subjects]
    return Quantity(of)


def same_choices(one: Subject, other: Subject) -> Quantity:
    """Up to which percentage of evaluations two subjects chose alike, at the worst common seed."""

    def of(results: Results) -> float | None:
        pairs = zip(results.done(one), results.done(other), strict=False)
        shares = [_alike(a.get("marks", []), b.get("marks", [])) for a, b in pairs]
        common = min(results.sized(subject).seeds for subject in (one, other))
        return min(shares) if len(shares) == common else None

    return Quantity(of)


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


def _read(figure: str | Read) -> Read:
    if isinstance(figure, str):
        return lambda figures, _: cast(float | None, figures.get(figure))
    return figure


def _alike(one: list[str], other: list[str]) -> float:
    differ = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return 100.0 * next(differ, min(len(one), len(other))) / max(len(one), 1)

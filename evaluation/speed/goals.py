"""Cases: what is measured together, and what it must show, each figure held against a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast, final

import numpy as np

from evaluation.speed.results import Results
from evaluation.speed.subjects import Figures, Subject

GB = 1e9
Read: TypeAlias = Callable[[Figures], float | None]


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that results give, or do not give yet."""

    of: Callable[[Results], float | None]
    is_final: Callable[[Results], bool] = lambda _: True  # else it may still grow


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
class Case:
    """Subjects measured side by side, and what they must show."""

    name: str
    title: str
    subjects: tuple[Subject, ...]
    goals: tuple[Goal, ...] = ()
    note: str = ""
    against: str = ""  # the setting that grows along the series of a scaling case


class Verdict(NamedTuple):
    """How a goal is met."""

    figure: float | None
    word: Literal["met", "missed", "–"]  # the last where it is not known


def judge(goal: Goal, results: Results) -> Verdict:
    """Hold a goal against results; sizes of a quick run prove nothing."""
    figure = goal.quantity.of(results)
    if figure is None or goal.limit is None or results.quick:
        return Verdict(figure, "–")
    if figure > goal.limit if goal.sense == "≤" else figure < goal.limit:
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
        found = map(read, results.begun(subject))
        return max((value for value in found if value is not None), default=None)

    return Quantity(largest_yet, lambda results: results.all_done(subject))


def seconds(subject: Subject) -> Quantity:
    """The time of a whole run."""
    return median(subject, "seconds")


def peak_gb(figures: Figures) -> float:
    """The peak memory of a run's process."""
    return figures["peak"] / GB


def touched(subject: Subject) -> Quantity:
    """The percentage of the pool's rows that a ranking touched."""

    def of(results: Results) -> float | None:
        N = results.sized(subject).settings["N"]
        return results.median(subject, lambda figures: touched_percent(figures, N))

    return Quantity(of)


def seconds_of_steps(subject: Subject) -> Quantity:
    """The time of all steps up to the last of those that were to be timed."""

    def of(results: Results) -> float | None:
        last = results.sized(subject).settings["ts"][-1]
        return results.median(subject, lambda figures: integrated(figures.get("steps", []), last))

    return Quantity(of)


def ratio(above: Quantity, below: Quantity) -> Quantity:
    """One quantity over another."""

    def of(results: Results) -> float | None:
        over, under = above.of(results), below.of(results)
        return None if over is None or not under else over / under

    return Quantity(of)


def largest(*quantities: Quantity) -> Quantity:
    """The largest of several quantities, once all are known."""

    def of(results: Results) -> float | None:
        known = [value for one in quantities if (value := one.of(results)) is not None]
        return max(known) if len(known) == len(quantities) else None

    return Quantity(of)


def slope_in(setting: str, subjects: Sequence[Subject]) -> Quantity:
    """The slope of log time against the log of a setting, over subjects."""

    def of(results: Results) -> float | None:
        pairs = [
            (float(results.sized(subject).settings[setting]), value)
            for subject in subjects
            if (value := seconds(subject).of(results)) is not None
        ]
        return slope(pairs) if len(pairs) == len(subjects) else None

    return Quantity(of)


def same_choices(one: Subject, other: Subject) -> Quantity:
    """Up to which percentage of evaluations two subjects chose alike, at the worst common seed."""

    def of(results: Results) -> float | None:
        pairs = zip(results.done(one), results.done(other), strict=False)
        shares = [_alike(a.get("marks", []), b.get("marks", [])) for a, b in pairs]
        common = min(results.sized(subject).seeds for subject in (one, other))
        return min(shares) if len(shares) == common else None

    return Quantity(of)


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


def _read(figure: str | Read) -> Read:
    if isinstance(figure, str):
        return lambda figures: cast(float | None, figures.get(figure))
    return figure


def _alike(one: list[str], other: list[str]) -> float:
    differ = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return 100.0 * next(differ, min(len(one), len(other))) / max(len(one), 1)

"""What is evaluated by the plate: the comparison's pools, a smaller library, and worlds of ads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from evaluation.problems import comparison
from evaluation.problems.base import NOISE, Problem, recorded
from evaluation.problems.clicks import WORLDS
from evaluation.problems.landscapes import LANDSCAPES


def enamine10k() -> Problem:
    return recorded("enamine10k", *comparison.enamine("10k"))


def noisy_enamine10k() -> Problem:
    title, listing, values = comparison.enamine("10k")
    title = f"{title}, noise of {NOISE:.0%}"
    return recorded("enamine10k-noisy", title, listing, values, noise=NOISE)


# Those of the comparison are loaded there, once for both.
POOLS: dict[str, Callable[[], Problem]] = {
    **{
        name: partial(comparison.problem, name)
        for name in comparison.PROBLEMS
        if name not in LANDSCAPES
    },
    **{"enamine10k": enamine10k, "enamine10k-noisy": noisy_enamine10k},
}
CLICKS: dict[str, Callable[[], Problem]] = {**WORLDS, "clicks-open-bandit": comparison.open_bandit}


@cache
def problem(name: str) -> Problem:
    """Return a problem, its data loaded once."""
    return (POOLS | CLICKS)[name]()

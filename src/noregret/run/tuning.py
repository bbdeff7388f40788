"""The best setting of a grid, by average regret over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from noregret.errors import ArgumentError
from noregret.policies import EPSILON_GRID


@final
@dataclass(frozen=True, slots=True)
class Tuned:
    """The setting of lowest average regret, and the average of every setting of the grid.

    >>> nr.tune(lambda seed, a: abs(a - 2.0), grid=[{"a": 1.0}, {"a": 2.5}], seeds=[0]).regrets
    (1.0, 0.5)
    """

    setting: dict[str, float]
    regret: float
    grid: tuple[Mapping[str, float], ...]
    regrets: tuple[float, ...]


def tune(
    regret: Callable[..., float],
    *,
    grid: Sequence[Mapping[str, float]] = EPSILON_GRID,
    seeds: Iterable[int] = range(40),
) -> Tuned:
    """Return the setting whose runs, one per seed, have the lowest average regret.

    `regret(seed=..., **setting)` makes one run and returns its regret. So were the papers'
    baselines tuned: on the regret itself, which a user cannot see. It favours them; report on other
    seeds than it was tuned on.

    Source: MINI 2022, appendix B.1 (40 seeds; the default grid is that of ε-greedy).

    >>> pool = nr.Pool([[x / 9] for x in range(10)])
    >>> def regret(seed, a, b):
    ...     result = nr.maximize(lambda x: x[0], pool, algorithm=nr.epsilon_greedy, budget=50,
    ...                          a=a, b=b, seed=seed)
    ...     return sum(1.0 - result.values)
    >>> best = nr.tune(regret, seeds=range(5))
    >>> sorted(best.setting), len(best.regrets), best.regret == min(best.regrets)
    (['a', 'b'], 12, True)
    """
    settings, numbers = tuple(dict(setting) for setting in grid), tuple(seeds)
    if not settings or not numbers:
        raise ArgumentError(
            f"tune() needs a setting and a seed at least, got {len(settings)} settings in "
            f"grid=... and {len(numbers)} seeds=...."
        )
    averages = []
    for setting in settings:
        runs = [float(regret(seed=seed, **setting)) for seed in numbers]
        if not all(map(math.isfinite, runs)):
            at = next(i for i, run in enumerate(runs) if not math.isfinite(run))
            raise ArgumentError(
                f"regret(seed={numbers[at]}, ...) of {setting} is {runs[at]}; it must be finite."
            )
        averages.append(math.fsum(runs) / len(runs))
    best = averages.index(min(averages))
    return Tuned(settings[best], averages[best], settings, tuple(averages))

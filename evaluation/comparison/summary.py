"""What the runs say: regrets over uniform's, ranks, and intervals by the bootstrap over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast, final

import numpy as np
from scipy.stats import rankdata

from evaluation.runs.cells import Store
from evaluation.runs.lines import Line
from evaluation.runs.reading import Reading
from noregret.arrays import Matrix, Vector

DRAWS = 1000  # of the bootstrap
BAND = (2.5, 97.5)  # percent
Place: TypeAlias = tuple[str, str, int]  # a problem, a contestant, a budget


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Repetitions at one budget, in the order of their seeds."""

    regret: Vector  # cumulative, over uniform's expected
    simple: Vector  # of the recommendation, over uniform's expected gap
    seconds: Vector
    unique: Vector
    covered: tuple[bool | None, ...]

    def __len__(self) -> int:
        return len(self.regret)

    def of(self, measure: str) -> Vector:
        return {"regret": self.regret, "simple": self.simple, "seconds": self.seconds}[measure]


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:  # of one run: nothing is known of others
            return f"{self.value:.3g}"
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"

    @property
    def reach(self) -> tuple[float, float]:
        """How far the interval reaches below and above; an average of draws may lie off it."""
        return max(self.value - self.low, 0.0), max(self.high - self.value, 0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """All samples there are."""

    samples: dict[Place, Sample]

    @classmethod
    def of(cls, lines: Iterable[Line], store: Store) -> Standings:
        """Read what is stored."""
        samples = {}
        for line in lines:
            cells = [cell for cell in line.wanted(store) if store.holds(cell)]
            readings = [cast(Reading, store.load(cell)) for cell in cells]
            for at, budget in enumerate(readings[0]["budgets"] if readings else ()):
                samples[line.problem, line.label, budget] = _sample(readings, at, budget)
        return cls(samples)

    @property
    def budgets(self) -> tuple[int, ...]:
        return tuple(sorted({budget for _, _, budget in self.samples}))

    def contestants(self, budget: int) -> list[str]:
        """Return who has been run at a budget."""
        return list(dict.fromkeys(who for _, who, T in self.samples if budget == T))

    def pools(self, budget: int, contestants: Sequence[str] | None = None) -> list[str]:
        """Return the problems on which all of them have been run, so that ranks compare."""
        who = self.contestants(budget) if contestants is None else contestants
        names = dict.fromkeys(name for name, _, T in self.samples if budget == T)
        return [n for n in names if all((n, one, budget) in self.samples for one in who)]

    def __getitem__(self, place: Place) -> Sample:
        return self.samples[place]

    def means(self, measure: str, budget: int, who: str, pools: Sequence[str]) -> Matrix:
        """Return means over seeds: (1 + DRAWS, pools), the first as measured, others resampled."""
        parts = [_resampled(self[name, who, budget].of(measure), name, who) for name in pools]
        return np.column_stack(parts) if parts else np.empty((1 + DRAWS, 0))


def average_ranks(standings: Standings, measure: str, budget: int) -> dict[str, Figure]:
    """Return everybody's rank by the mean over seeds, 1 the best, averaged over pools."""
    who, pools = standings.contestants(budget), standings.pools(budget)
    if not pools:
        return {}
    means = np.stack([standings.means(measure, budget, one, pools) for one in who])
    ranks = rankdata(means, axis=0).mean(axis=2)  # (contestants, 1 + DRAWS)
    return {one: figure(row) for one, row in zip(who, ranks, strict=True)}


def across(
    standings: Standings,
    measure: str,
    budget: int,
    who: str,
    pools: Sequence[str],
    statistic: Callable[[Matrix], Vector] = lambda means: np.median(means, axis=1),
) -> Figure:
    """Return a statistic over pools of means over seeds, the median unless another is given."""
    return figure(statistic(standings.means(measure, budget, who, pools)))


def quantile(
    standings: Standings, measure: str, budget: int, who: str, pools: Sequence[str], level: float
) -> float:
    """Return a quantile over all runs on some pools, each pool counting alike."""
    values = [standings[name, who, budget].of(measure) for name in pools]
    weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in values])
    flat = np.concatenate(values)
    order = np.argsort(flat, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(flat[order][np.searchsorted(reached, level - 1e-12)])


def difference(
    standings: Standings, measure: str, budget: int, name: str, pair: tuple[str, str]
) -> Figure:
    """Return by how much the first of a pair has more than the second on one pool."""
    one, other = (standings.means(measure, budget, who, [name])[:, 0] for who in pair)
    return figure(one - other)


def figure(draws: Vector) -> Figure:
    """Return the first of some draws, which is as measured, with the others' interval."""
    low, high = np.percentile(draws[1:], BAND)
    return Figure(float(draws[0]), float(low), float(high))


def _resampled(values: Vector, *names: str) -> Vector:
    """Return the mean, and means of seeds drawn with replacement; equal names draw alike."""
    rng = np.random.default_rng(list("/".join(names).encode()))
    drawn = values[rng.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    return np.append(values.mean(), drawn)


def _sample(readings: Sequence[Reading], at: int, budget: int) -> Sample:
    uniform = readings[0]["uniform"]
    return Sample(
        regret=np.array([one["regret"][at] for one in readings]) / (budget * uniform),
        simple=np.array([one["simple"][at] for one in readings]) / uniform,
        seconds=np.array([one["seconds"][at] for one in readings]),
        unique=np.array([one["unique"][at] for one in readings], dtype=np.float64),
        covered=tuple(one["covered"][at] for one in readings),
    )

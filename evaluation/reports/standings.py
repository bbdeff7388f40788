"""Who stands where at one budget: means over seeds, ranks over pools, with intervals over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, final

import numpy as np
from scipy.stats import rankdata

from evaluation.reports.intervals import DRAWS, Figure, means_drawn_again
from evaluation.reports.markdown import table
from noregret.arrays import Matrix, Vector

S = TypeVar("S")  # what was measured: a vector per measure, one entry per seed


@final
@dataclass(frozen=True, slots=True, eq=False)
class AtBudget(Generic[S]):
    """All samples at one budget, by problem and contestant."""

    T: int
    samples: dict[tuple[str, str], S]

    @property
    def contestants(self) -> list[str]:
        return list(dict.fromkeys(who for _, who in self.samples))

    @property
    def problems(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.samples))

    def pools(self, *contestants: str) -> list[str]:
        """Return the problems on which all of them, or all that there are, have been run."""
        who = contestants or self.contestants
        return [name for name in self.problems if all((name, one) in self.samples for one in who)]

    def values(self, measure: str, who: str, name: str) -> Vector:
        held: Vector = getattr(self.samples[name, who], measure)
        return held

    def means(self, measure: str, who: str, pools: Sequence[str]) -> Matrix:
        """Return means over seeds: (1 + DRAWS, pools), the first as measured, others resampled."""
        values = {name: self.values(measure, who, name) for name in pools}
        parts = [means_drawn_again(part, f"{name}/{who}") for name, part in values.items()]
        return np.column_stack(parts) if parts else np.empty((1 + DRAWS, 0))

    def on(self, measure: str, who: str, name: str) -> Figure:
        """Return a mean over seeds on one pool."""
        return Figure.of(self.means(measure, who, [name])[:, 0])

    def across(self, measure: str, who: str, pools: Sequence[str]) -> Figure:
        """Return the median over pools of means over seeds."""
        return Figure.of(np.median(self.means(measure, who, pools), axis=1))

    def ranks(self, measure: str, *contestants: str) -> dict[str, Figure]:
        """Return the ranks of some, or of everybody, by the mean over seeds, averaged over pools.

        1 is the best. Only pools that all of them have run count, or a method that was run on easy
        ones would look good.
        """
        who = contestants or self.contestants
        if not (pools := self.pools(*who)):
            return {}
        means = np.stack([self.means(measure, one, pools) for one in who])
        ranks = rankdata(means, axis=0).mean(axis=2)  # (contestants, 1 + DRAWS)
        return {one: Figure.of(row) for one, row in zip(who, ranks, strict=True)}

    def quantile(self, measure: str, who: str, pools: Sequence[str], level: float) -> float:
        """Return a quantile over all runs on some pools, each pool counting alike."""
        values = [self.values(measure, who, name) for name in pools]
        weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in values])
        flat = np.concatenate(values)
        order = np.argsort(flat, kind="stable")
        reached = np.cumsum(weights[order]) / weights.sum()
        return float(flat[order][np.searchsorted(reached, level - 1e-12)])

    def difference(self, measure: str, name: str, one: str, other: str) -> Figure:
        """Return by how much one contestant has more than another on one pool."""
        draws, others = (self.means(measure, who, [name])[:, 0] for who in (one, other))
        return Figure.of(draws - others)


def table_of_means(at: AtBudget[S], measure: str, heads: dict[str, str]) -> str:
    """Return a table of means, pools by contestants (their heads), the lowest of a pool in bold."""
    rows = []
    for name in at.problems:
        run = [one for one in heads if (name, one) in at.samples]
        means = {one: float(at.values(measure, one, name).mean()) for one in run}
        shown = {one: f"{mean:.3g}" for one, mean in means.items()}
        shown |= {one: f"**{shown[one]}**" for one in run if means[one] == min(means.values())}
        rows.append([name, *(shown.get(one, "") for one in heads)])
    return table(["", *heads.values()], rows)

"""What is optimised: a domain as a user would give it, and what its points are truly worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

import noregret as nr
from evaluation.problems.comparison.listing import Groups, Listing
from evaluation.problems.comparison.space import Space
from evaluation.problems.papers.base import GaussianNoise, Replicates, noise_level
from noregret.arrays import Indices, Matrix, Vector

Domain: TypeAlias = nr.Pool | nr.BitPool | nr.Box
Observations: TypeAlias = npt.NDArray[Any]  # rows of a pool (int64), or points of a box (float64)
BUDGETS = (50, 200, 1000, 10_000)
NOISE = 0.05  # of the range of the values, where noise is ours


class Feedback(Protocol):
    """How an evaluation of some points answers."""

    def __call__(self, points: Observations, rng: np.random.Generator, /) -> Vector: ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A domain, what its points are truly worth (more is better), and how they answer."""

    name: str
    title: str
    domain: Domain
    truth: Callable[[Observations], Vector]
    best: float  # the highest true value
    worst: float
    uniform: float  # by how much a point drawn uniformly falls short of the best, on average
    feedback: Feedback
    noise_std: float  # of one evaluation; 0 if evaluations are exact
    space: Space  # what a person would describe a candidate by
    groups: Groups | None = None  # columns that mutate together; None: to near neighbours
    order: Indices | None = None  # (N,) the candidate that each row of the pool is; None in a box

    @property
    def candidates(self) -> int | None:
        """How many there are; None in a box."""
        return None if isinstance(self.domain, nr.Box) else len(self.domain)

    @property
    def budgets(self) -> tuple[int, ...]:
        """Those that make sense: with noise any, without it at most one for every candidate."""
        if self.noise_std or self.candidates is None:
            return BUDGETS
        return tuple(budget for budget in BUDGETS if budget <= self.candidates)

    @property
    def numbers(self) -> Matrix:
        """Features of candidates as numbers, for methods that take nothing else: (N, d)."""
        if isinstance(self.domain, nr.Pool):
            return self.domain.X[np.argsort(self._order)]
        assert self.space.table is not None, "a box has no table"
        return self.space.table

    def gaps(self, points: Observations) -> Vector:
        """By how much some points fall short of the best."""
        gaps: Vector = self.best - self.truth(points)
        return gaps

    def batch(self, batch: nr.Batch) -> Observations:
        """Return what a batch of the library asks for, one point an evaluation."""
        if isinstance(self.domain, nr.Box):
            return np.repeat(batch.x, batch.repeats, axis=0)
        return self._order[batch.sequence]

    def recommended(self, best: nr.Best) -> Observations:
        """Return what the library recommends, as one point."""
        if isinstance(self.domain, nr.Box):
            return best.x[None]
        return self._order[np.array([best.id], dtype=np.int64)]

    @property
    def _order(self) -> Indices:
        assert self.order is not None, "a box has no order"
        return self.order


@final
@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The true values of a pool."""

    values: Vector  # (N,)

    def __call__(self, rows: Observations) -> Vector:
        known: Vector = self.values[rows]
        return known


def of_values(
    name: str,
    title: str,
    listing: Listing,
    values: Vector,
    *,
    feedback: Feedback,
    noise_std: float,
) -> Problem:
    """A pool whose true values are known."""
    best, worst = float(values.max()), float(values.min())
    return Problem(
        name=name,
        title=title,
        domain=listing.pool,
        truth=Known(values),
        best=best,
        worst=worst,
        uniform=best - float(values.mean()),
        feedback=feedback,
        noise_std=noise_std,
        space=listing.space,
        groups=listing.groups,
        order=listing.order,
    )


def recorded(
    name: str, title: str, listing: Listing, values: Vector, *, noisy: bool = False
) -> Problem:
    """A pool with one value a candidate, answered as it is or with Gaussian noise added."""
    std = NOISE * float(np.ptp(values)) if noisy else 0.0
    feedback = GaussianNoise(values, np.full(len(values), std))
    if noisy:
        name, title = f"{name}-noisy", f"{title}, noise of {NOISE:.0%}"
    return of_values(name, title, listing, values, feedback=feedback, noise_std=std)


def replicated(name: str, title: str, listing: Listing, runs: Matrix) -> Problem:
    """A pool with several values a candidate: one of them answers, their mean is the truth."""
    truth: Vector = np.nanmean(runs, axis=1)
    noise = noise_level(runs)
    return of_values(name, title, listing, truth, feedback=Replicates(runs), noise_std=noise)

"""What is optimised: a domain as a user would give it, and what its points are truly worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

import noregret as nr
from evaluation.problems.candidates import Groups, Listing, Space
from noregret.arrays import Indices, Matrix, Vector

Domain: TypeAlias = nr.Pool | nr.BitPool | nr.Box
Observations: TypeAlias = npt.NDArray[Any]  # rows of a pool (int64), or points of a box (float64)
Truth: TypeAlias = Callable[[Observations], Vector]
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
    truth: Truth
    best: float  # the highest true value
    worst: float
    uniform: float  # by how much a point drawn uniformly falls short of the best, on average
    feedback: Feedback
    noise_std: float  # of one evaluation; 0 if evaluations are exact
    space: Space  # what a person would describe a candidate by
    groups: Groups | None = None  # columns that mutate together; None: to near neighbours
    order: Indices | None = None  # (N,) the candidate that each row of the pool is; None in a box
    seconds: Vector | None = None  # (N,) how long one evaluation takes, where that is known

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

    @property
    def values(self) -> Vector:
        """What all candidates are truly worth: (N,)."""
        return self.truth(np.arange(len(self._order)))

    def gaps(self, points: Observations) -> Vector:
        """By how much some points fall short of the best."""
        gaps: Vector = self.best - self.truth(points)
        return gaps

    def batch(self, batch: nr.Batch) -> Observations:
        """Return what a batch of the library asks for, one point per evaluation."""
        if isinstance(self.domain, nr.Box):
            return np.repeat(batch.x, batch.repeats, axis=0)
        return self._order[batch.sequence.astype(np.int64)]

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
class GaussianNoise:
    """The truth plus Gaussian noise."""

    truth: Truth
    std: float

    def __call__(self, points: Observations, rng: np.random.Generator) -> Vector:
        values: Vector = self.truth(points) + self.std * rng.standard_normal(len(points))
        return values


@final
@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """One of a candidate's recorded runs, drawn uniformly; NaN where there is no such run."""

    runs: Matrix  # (N, r), the recorded ones first

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector:
        held = np.isfinite(self.runs[rows]).sum(axis=1)
        values: Vector = self.runs[rows, rng.integers(held)]
        return values


def of_values(
    name: str,
    title: str,
    listing: Listing,
    values: Vector,
    *,
    feedback: Feedback,
    noise_std: float,
    seconds: Vector | None = None,
) -> Problem:
    """A pool whose true values are known."""
    best, worst = float(values.max()), float(values.min())
    return Problem(
        name=name,
        title=title,
        domain=listing.pool,
        truth=values.__getitem__,
        best=best,
        worst=worst,
        uniform=best - float(values.mean()),
        feedback=feedback,
        noise_std=noise_std,
        space=listing.space,
        groups=listing.groups,
        order=listing.order,
        seconds=seconds,
    )


def recorded(
    name: str, title: str, listing: Listing, values: Vector, *, noise: float = 0.0
) -> Problem:
    """A pool with one value per candidate, and Gaussian noise of this share of their range."""
    std = noise * float(np.ptp(values))
    feedback = GaussianNoise(values.__getitem__, std)
    return of_values(name, title, listing, values, feedback=feedback, noise_std=std)


def replicated(
    name: str, title: str, listing: Listing, runs: Matrix, seconds: Vector | None = None
) -> Problem:
    """A pool with several values per candidate: one of them answers, their mean is the truth.

    `noise_std` is the 90th percentile of a candidate's standard deviation (MINI 2022, section 5).
    """
    return of_values(
        name,
        title,
        listing,
        np.nanmean(runs, axis=1),
        feedback=Replicates(runs),
        noise_std=float(np.percentile(np.nanstd(runs, axis=1, ddof=1), 90)),
        seconds=seconds,
    )

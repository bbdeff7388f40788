"""What tell() was given, checked before anything is written down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Vector, as_floats
from noregret.errors import ArgumentError, TellError
from noregret.optimizer.batch import FAILED

MOST_COUNT = 10**12  # evaluations behind one average
MOST_WEIGHT = 1e12  # of one value; 1/MOST_WEIGHT at least


@final
@dataclass(frozen=True, slots=True)
class Feedback:
    """The numbers told of some evaluations, as the user gave them."""

    values: object
    means: object = None
    counts: object = None
    noise_std: object = None  # of one evaluation each, where it is not that of the run …
    usual: float | None = None  # … which is this; None where nobody said

    @property
    def is_of_means(self) -> bool:
        """Whether averages are told, with the number of values behind each."""
        return self.values is None and self.means is not None and self.counts is not None

    def require_one_kind(self, *, of_batch: bool) -> None:
        """Raise unless these are the values of a batch, or of ids values or averages."""
        by_values = self.values is not None and self.means is None and self.counts is None
        if by_values or (self.is_of_means and not of_batch):
            return
        told = {"values": self.values, "means": self.means, "counts": self.counts}
        given = " and ".join(name for name, numbers in told.items() if numbers is not None)
        raise TellError(
            f"tell() got {'a batch' if of_batch else 'ids'} with {given or 'nothing'}. It takes a "
            "batch and its values, ids and values, or ids with means=... and counts=...: all of "
            "one of these, and nothing else."
        )

    def parsed(self, count: int, what: str) -> tuple[Vector, Mask]:
        """Return values as floats and where they failed; a single number stands for one value."""
        values = self.values
        if not isinstance(values, np.ndarray):
            listed = list(values) if isinstance(values, Iterable) else [values]
            failed = np.array([value is FAILED for value in listed], dtype=np.bool_)
            values = [0.0 if value is FAILED else value for value in listed]
        else:
            failed = np.zeros(len(np.atleast_1d(values)), dtype=np.bool_)
        try:
            numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            raise TellError(
                f"{what}: values must be numbers or noregret.FAILED, got {values!r:.80}."
            ) from None
        if numbers.shape != (count,):
            shape = "" if numbers.ndim == 1 else f" in shape {numbers.shape}"
            raise TellError(
                f"{what} holds {count} evaluations, got {numbers.size} values{shape}.\n"
                "tell() takes one value per evaluation, in the order of iterating the batch.\n"
                "If an evaluation failed, pass noregret.FAILED in its place; "
                "the point keeps its earlier count."
            )
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            raise TellError(
                f"{what}: value {bad[0]} is {numbers[bad[0]]}; values must be finite.\n"
                "If an evaluation failed, pass noregret.FAILED in its place."
            )
        return numbers, failed

    def averaged(self, ids: int) -> tuple[Vector, Indices]:
        """Return averages and how many values stand behind each."""
        try:
            averages = np.atleast_1d(as_floats("tell(means=...)", self.means))
            amounts = np.atleast_1d(as_floats("tell(counts=...)", self.counts))
        except ArgumentError as error:
            raise TellError(str(error)) from None
        if averages.shape != (ids,) or amounts.shape != (ids,):
            raise TellError(
                f"tell() got {ids} ids, {averages.size} means and {amounts.size} counts; "
                "it takes one mean and one count per id."
            )
        if ((amounts < 1) | (amounts > MOST_COUNT) | (amounts != np.floor(amounts))).any():
            raise TellError(
                f"tell(counts=...) must be whole numbers from 1 to {MOST_COUNT:g}, got "
                f"{self.counts!r:.80}."
            )
        return averages, amounts.astype(np.int64)

    def weights(self, failed: Mask, *, deterministic: bool = False) -> Vector | None:
        """Return (usual/noise_std)² per value, 1 where it failed; None where all are 1."""
        if self.noise_std is None:
            return None
        if self.usual is None:
            raise TellError(
                "tell(noise_std=...) weighs a value against one of the noise that the algorithm "
                "was given, and this algorithm was given none. Tell values without noise_std=..., "
                "or take one that is given a kernel and noise_std, such as noregret.mini_gp_ucb."
            )
        try:
            noise = np.array(self.noise_std, dtype=np.float64)
        except (TypeError, ValueError):
            raise TellError(
                "tell(noise_std=...) must be a number, or one per value, got "
                f"{self.noise_std!r:.80}."
            ) from None
        if noise.shape not in ((), failed.shape):
            raise TellError(
                f"tell() got {len(failed)} values and noise_std=... of shape {noise.shape}; it "
                "takes one number for all of them, or one per value, in their order."
            )
        if deterministic and (noise[() if noise.ndim == 0 else ~failed] != 0).any():
            raise TellError(
                "tell(noise_std=...) must be 0 where deterministic=True says that values have no "
                f"noise, got {self.noise_std!r:.80}. If they have some, leave out "
                "deterministic=True."
            )
        if deterministic:
            return None
        noise = np.where(failed, self.usual, noise)
        with np.errstate(divide="ignore", over="ignore"):
            weights: Vector = (self.usual / noise) ** 2
        wrong = ~((noise > 0) & (weights >= 1 / MOST_WEIGHT) & (weights <= MOST_WEIGHT))
        if wrong.any():
            raise TellError(
                f"tell(noise_std=...) must be above 0 and within a factor {MOST_WEIGHT**0.5:g} of "
                f"the algorithm's noise_std={self.usual:g}, got {noise[wrong][0]:g}. It is the "
                "standard deviation of one value; for one that is exact, give a hundredth of the "
                "algorithm's."
            )
        return weights


@final
@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Evaluations of one row that are told by id, in order."""

    row: int
    count: int
    counts: Indices | None = None  # evaluations behind each number …
    weights: Vector | None = None  # … and the weight of one of them; None where all weigh 1

    def first(self, count: int) -> Vector | None:
        """Return the weights of the first evaluations."""
        if self.counts is None or self.weights is None:
            return None
        first: Vector = np.repeat(self.weights, np.minimum(self.counts, count))[:count]
        return first

    def without(self, count: int) -> Report:
        """Return what is left without the first evaluations."""
        if self.counts is None:
            return Report(self.row, self.count - count)
        left = np.clip(np.cumsum(self.counts) - count, 0, self.counts)
        return Report(self.row, self.count - count, left, self.weights)

    def added_to(self, weight: float) -> float:
        """Return a weight with that of all evaluations added."""
        if self.counts is None or self.weights is None:
            return weight + self.count
        return added(weight, self.counts * self.weights)


def reports(
    rows: Indices, counts: Indices | None = None, weights: Vector | None = None
) -> Iterator[Report]:
    """Yield what is told of each row, counts and weights being 1 where not given."""
    if (weights is None and counts is None) or not len(rows):
        for row, count in tallied(rows):
            yield Report(row, count)
        return
    each = np.ones(len(rows), dtype=np.int64) if counts is None else counts
    order = np.argsort(rows, kind="stable")
    unique, first = np.unique(rows[order], return_index=True)
    for row, at in zip(unique.tolist(), np.split(order, first[1:]), strict=True):
        count = int(each[at].sum())
        yield Report(row, count) if weights is None else Report(row, count, each[at], weights[at])


def added(weight: float, more: Vector) -> float:
    """Add numbers one by one: in parts or at once, the sum has the same bits."""
    return float(np.add.accumulate(np.append(weight, more))[-1])


def tallied(runs: Indices) -> list[tuple[int, int]]:
    """Return each number with how often it stands there."""
    if len(runs) > int(runs.max(initial=0)) // 8:  # a table of all numbers beats sorting them
        table = np.bincount(runs)
        numbers = np.flatnonzero(table)
        counts = table[numbers]
    else:
        numbers, counts = np.unique(runs, return_counts=True)
    return [(int(number), int(count)) for number, count in zip(numbers, counts, strict=True)]

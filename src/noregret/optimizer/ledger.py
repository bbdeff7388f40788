"""What was told: values counted and summed, one row per candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np

from noregret.arrays import Indices, Vector, extended
from noregret.storable import storable

MOST_VALUE = 1e130  # distance of a value from the offset; squares must stay finite
no_numbers = partial(np.empty, 0, dtype=np.float64)


def no_rows() -> Indices:
    return np.empty(0, dtype=np.int64)


@final
@storable("Ledger")
@dataclass(slots=True, eq=False)
class Ledger:
    """Count, weight, sum and sum of squares of the values told, per evaluated candidate.

    A value weighs 1; one of known noise ξ_s weighs (ξ/ξ_s)², ξ being the noise of the run, and
    enters both sums with that. Candidates stand in the order of their first value. Sums are of
    distances from that value, so that nothing cancels where values are far from zero, and values
    that agree have no spread. A value costs O(1), a look at all n candidates O(n), and nothing
    depends on how many values there were. Values are added one by one in the order told, so that
    telling them in two parts gives the same bits as in one.
    """

    candidates: int
    rows: Indices = field(default_factory=no_rows)  # (n,)
    counts: Indices = field(default_factory=no_rows)  # (n,)
    firsts: Vector = field(default_factory=no_numbers)  # (n,) the first value told
    sums: Vector = field(default_factory=no_numbers)  # (n,) of distances from it
    squares: Vector = field(default_factory=no_numbers)  # (n,) of these
    entries: Indices = field(default_factory=no_rows)  # (n,) values or averages told one by one
    weights: Vector = field(default_factory=no_numbers)  # (n,) of all values together
    evaluations: int = field(init=False)  # values told
    _place: Indices = field(init=False)  # (N,) 1 + position in `rows`, 0 where never evaluated

    def __post_init__(self) -> None:
        self.rows, self.counts = self.rows.copy(), self.counts.copy()
        self.firsts, self.entries = self.firsts.copy(), self.entries.copy()
        self.sums, self.squares = self.sums.copy(), self.squares.copy()
        is_known = len(self.weights) == len(self.rows)  # else saved when all values weighed 1
        self.weights = (self.weights if is_known else self.counts).astype(np.float64)
        self.evaluations = int(self.counts.sum())
        self._place = np.zeros(
            max(self.candidates, int(self.rows.max(initial=-1)) + 1), dtype=np.int64
        )
        self._place[self.rows] = 1 + np.arange(len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def averages(self) -> Vector:
        """Average value of each candidate, by weight."""
        return self.firsts + self.sums / self.weights

    @property
    def is_weighted(self) -> bool:
        """Whether some values weigh more or less than others."""
        return not np.array_equal(self.weights, self.counts)

    def variances(self) -> Vector:
        """Return the sample variance of each candidate's values; NaN where fewer than two.

        With averages m_g of c_g values told, Σ c_g (m_g − m̄)² is ξ²·χ² with as many degrees of
        freedom as entries less one, single values being averages of one; so it is with weights in
        place of c_g.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = np.maximum(self.squares - self.sums**2 / self.weights, 0.0)
            return np.where(self.entries > 1, scatter / (self.entries - 1), np.nan)

    def add(self, rows: Indices, values: Vector, weights: Vector | None = None) -> None:
        """Add one value per row, rows in any order and with repeats."""
        self.add_means(rows, values, np.ones(len(rows), dtype=np.int64), weights)

    def add_means(
        self, rows: Indices, means: Vector, counts: Indices, weights: Vector | None = None
    ) -> None:
        """Add averages of several values, whose scatter about them is unknown.

        `weights` are those of one value of each average, 1 where not given.
        """
        self._enter(rows, means)
        w = counts.astype(np.float64) if weights is None else counts * weights
        place = self._place[rows] - 1
        apart = means - self.firsts[place]
        self.evaluations += int(counts.sum())
        np.add.at(self.counts, place, counts)
        np.add.at(self.entries, place, 1)
        np.add.at(self.weights, place, w)
        np.add.at(self.sums, place, w * apart)
        np.add.at(self.squares, place, w * apart**2)

    def first_values(self, rows: Indices) -> Vector:
        """Return the first value told of each row, NaN where there is none."""
        place = np.append(self._place, 0)[np.minimum(rows, len(self._place))]
        found: Vector = np.append(np.nan, self.firsts)[place]
        return found

    def _enter(self, rows: Indices, values: Vector) -> None:
        """Give each row not seen before a place, in the order told, with its first value."""
        beyond = int(rows.max(initial=-1)) + 1
        if beyond > len(self._place):  # a point off the pool
            self._place = np.concatenate([self._place, np.zeros(beyond, dtype=np.int64)])
        is_unseen = self._place[rows] == 0
        unseen = rows[is_unseen]
        if not unseen.size:
            return
        order = np.arange(len(unseen))
        self._place[unseen[::-1]] = order[::-1]  # the last written stays: where it stands first
        is_first = self._place[unseen] == order
        new = unseen[is_first]
        n = len(self.rows)
        self._place[new] = 1 + n + np.arange(len(new))
        self.rows = extended(self.rows, new)
        self.counts = extended(self.counts, np.zeros(len(new), dtype=np.int64))
        self.entries = extended(self.entries, np.zeros(len(new), dtype=np.int64))
        self.firsts = extended(self.firsts, values[is_unseen][is_first])
        self.sums = extended(self.sums, np.zeros(len(new)))
        self.squares = extended(self.squares, np.zeros(len(new)))
        self.weights = extended(self.weights, np.zeros(len(new)))

"""Regularised evolution: a population that ages, of which the best have children.

A child differs little from its parent: one group of features in a pool, one step in a box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Rows, Vector, chunk_rows
from noregret.errors import ArgumentError, require_count
from noregret.policies.allowance import Allowance, sample
from noregret.policies.base import Evidence, Proposal, Purpose
from noregret.policies.baselines import Baseline, singles
from noregret.pools import (
    NO_ROWS,
    BitSquares,
    Box,
    Picks,
    Points,
    Scales,
    as_numbers,
    hashed,
    numbers,
)
from noregret.posteriors import Observations
from noregret.storable import storable

Groups: TypeAlias = tuple[tuple[int, ...], ...]  # columns of each group
KEPT = 4096  # candidates whose kin is remembered
SHORTEST = -3.0  # a step in a box is 10^SHORTEST to 1 of the way across, on average


@final
class Kin:
    """Finds the candidates of a pool that one mutation leads to.

    With groups, those that differ in exactly one group of columns; where there are none, or no
    groups, the nearest rows that differ at all, features being measured in standard deviations.
    Of each group of a row a hash of 8 bytes is kept, so that a look costs one pass over those
    (O(N·groups)); the nearest rows cost a pass over the features (O(N·d)), of packed bits over
    those that are set in the row looked from. As the fittest have many children, what was found
    is remembered while no candidate is excluded.
    """

    def __init__(self, points: Points, groups: Groups | None, neighbours: int) -> None:
        self.points = points
        self._neighbours = neighbours
        self._scales: Scales | None = None
        self._rough: BitSquares | None = None
        self._found: dict[int, list[Indices]] = {}
        self._hashes = np.empty((len(groups or ()), points.candidates), dtype=np.uint64)
        if groups:
            for start, X in numbers(points):
                for hashes, columns in zip(self._hashes, groups, strict=True):
                    hashes[start : start + len(X)] = hashed(X[:, columns])

    def mutated(self, row: int, excluded: Mask, rng: np.random.Generator) -> int | None:
        """Return a row one mutation away: first its group is drawn, then the row; None if none."""
        sets = self._kin(row, excluded)
        drawn = sets[int(rng.integers(len(sets)))]
        return int(drawn[rng.integers(len(drawn))]) if drawn.size else None

    def _kin(self, row: int, excluded: Mask) -> list[Indices]:
        """Return the rows that one mutation leads to, by group; or the nearest."""
        free = not excluded.any()
        if free and row in self._found:
            return self._found[row]
        sets = [rows for rows in self.siblings(row, excluded) if rows.size]
        sets = sets or [self.nearest(row, excluded)]
        if free:
            if len(self._found) >= KEPT:
                self._found.clear()
            self._found[row] = sets
        return sets

    def siblings(self, row: int, excluded: Mask) -> list[Indices]:
        """Return for each group the rows that differ from this one in that group alone."""
        differences = np.zeros(len(excluded), dtype=np.uint16)
        for hashes in self._hashes:
            differences += hashes != hashes[row]
        rows = np.flatnonzero((differences == 1) & ~excluded)
        return [rows[hashes[rows] != hashes[row]] for hashes in self._hashes]

    def nearest(self, row: int, excluded: Mask) -> Indices:
        """Return the nearest rows that differ from this one, nearest first, ties by row."""
        if self._scales is None:
            self._scales = Scales.of(self.points)
        x = self.points.rows(np.array([row]))
        if x.dtype == np.uint8:
            squares = self._of_bits(x, excluded, self._scales)
        else:
            of_each = [self._scales.standard_squares(X, x[0]) for _, X in numbers(self.points)]
            squares = np.concatenate(of_each)
        squares[excluded | (squares == 0)] = np.inf
        few = min(self._neighbours, int(np.isfinite(squares).sum()))
        if not few:
            return NO_ROWS
        rows = np.flatnonzero(squares <= np.partition(squares, few - 1)[few - 1])
        return rows[np.argsort(squares[rows], kind="stable")[:few]]

    def _of_bits(self, x: Rows, excluded: Mask, scales: Scales) -> Vector:
        """Return squared distances to the packed row x, infinite if not among the nearest."""
        if self._rough is None:
            self._rough = BitSquares(self.points, scales)
        rough, slack = self._rough.to(x)
        alike = np.flatnonzero(rough <= slack)
        rough[alike[(self.points.rows(alike) == x).all(axis=1)]] = np.inf
        rough[excluded] = np.inf
        few = min(self._neighbours, int(np.isfinite(rough).sum()))
        squares = np.full(len(rough), np.inf)
        if few:
            edge = np.partition(rough, few - 1)[few - 1] + 2 * slack  # nobody nearer is beyond it
            near, step = np.flatnonzero(rough <= edge), chunk_rows(8 * self.points.dim)
            for start in range(0, len(near), step):
                rows = near[start : start + step]
                X = as_numbers(self.points.rows(rows))
                squares[rows] = scales.standard_squares(X, as_numbers(x)[0])
        return squares


def stepped(box: Box, u: Vector, rng: np.random.Generator) -> Matrix:
    """Return a point of the unit cube moved along one dimension, as a matrix of one row.

    The step is normal, of a deviation drawn log-uniformly so that near and far are both tried, and
    is reflected at the walls. A whole number that a short step leaves as it is moves by one.
    """
    at, size = int(rng.integers(box.dim)), 10.0 ** rng.uniform(SHORTEST, 0.0)
    moved = u.copy()
    end = abs(u[at] + size * rng.standard_normal()) % 2.0
    moved[at] = min(end, 2.0 - end)
    child = box.snapped(moved[None])
    if box.integer[at] and np.array_equal(child[0], u):
        near = box.neighbours(u)
        near = near[near[:, at] != u[at]]
        child = near[rng.integers(len(near))][None]
    return child


def as_groups(groups: object, dim: int) -> Groups:
    """Return groups of columns that a user gave, every column standing in exactly one."""
    if isinstance(groups, Mapping):  # as `Pool.groups` gives them
        groups = list(groups.values())
    if isinstance(groups, str) or not isinstance(groups, Sequence | range | np.ndarray):
        raise ArgumentError(_rule(dim, f"got {groups!r:.80}"))
    found: list[tuple[int, ...]] = []
    for group in groups:
        columns = np.atleast_1d(np.asarray(group))
        if columns.ndim != 1 or not columns.size or columns.dtype.kind not in "iu":
            raise ArgumentError(_rule(dim, f"got the group {group!r:.80}"))
        found.append(tuple(columns.tolist()))
    flat = [column for group in found for column in group]
    outside = [column for column in flat if not 0 <= column < dim]
    if outside:
        raise ArgumentError(_rule(dim, f"column {outside[0]} is not there"))
    counts = np.bincount(np.array(flat, dtype=np.int64), minlength=dim)
    if (counts != 1).any():
        wrong = int(np.flatnonzero(counts != 1)[0])
        raise ArgumentError(_rule(dim, f"column {wrong} stands in {counts[wrong]} groups"))
    return tuple(found)


def _rule(dim: int, problem: str) -> str:
    return (
        f"regularized_evolution(groups=...): {problem}. Give lists of columns that change "
        f"together, such as [[0, 1, 2], [3, 4]], each of the {dim} columns in exactly one; "
        f"range({dim}) makes every column a group."
    )


@final
@storable("Population")
@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The last evaluations, each an individual, oldest first."""

    members: Indices  # places among the points told
    counts: Vector  # evaluations of each point told that have joined

    def grown(self, told: Observations, most: int) -> Population:
        """Let what was told since then join, in the order of the ledger; the oldest leave.

        An evaluation joins when its value comes, however late or by whichever way.
        """
        before = np.zeros(len(told))
        before[: len(self.counts)] = self.counts
        new = np.minimum(told.counts - before, most).astype(np.int64)
        joined = np.repeat(np.arange(len(told)), new)
        return Population(np.concatenate([self.members, joined])[-most:], told.counts)


@final
@storable("Evolution")
@dataclass(frozen=True, slots=True)
class Evolution(Baseline):
    """The policy of `regularized_evolution`: the population is the last `population` evaluations.

    For every evaluation `sample` members are drawn with replacement, of which the one of highest
    average has a child. Evaluations under way are no members yet, and those that failed never are;
    excluded candidates have no children and are none.

    Source: Real et al., AAAI 2019, Algorithm 1 (aging evolution).
    Differs: a member's fitness is the average of all values of its candidate, not its own alone.
    """

    population: int = 100
    sample: int = 10
    groups: Groups | None = None
    neighbours: int = 10
    size: int = 1
    _kin: list[Kin] = field(default_factory=list, init=False, repr=False, compare=False)  # a cache

    def __post_init__(self) -> None:
        require_count("regularized_evolution(population=...)", self.population)
        require_count("regularized_evolution(sample=...)", self.sample)
        require_count("regularized_evolution(neighbours=...)", self.neighbours)
        require_count("regularized_evolution(batch_size=...)", self.size)

    def begin(self) -> Population:
        return Population(NO_ROWS, np.empty(0))

    def propose(
        self, state: Population, evidence: Evidence, room: int
    ) -> tuple[Proposal, Population]:
        """Draw founders until there are enough, then children of those alive."""
        state = state.grown(evidence.told, self.population)
        alive = state.members[evidence.eligible[state.members]]
        begun = evidence.evaluations + int(evidence.open_.w.sum())
        rng, born = evidence.rng(Purpose.POLICY), list[Picks]()
        allowance = None if evidence.at_most_each is None else Allowance(evidence)
        for at in range(min(self.size, room)):
            if begun + at < self.population or not alive.size:
                born.append(sample(evidence, 1, rng))
            else:
                born.append(self._child(self._parent(alive, evidence.told, rng), evidence, rng))
            if allowance is not None and allowance.take(int(born[-1].rows[0]), 1):
                if allowance.is_used_up:
                    break
                evidence = replace(evidence, excluded=evidence.closed(born[-1].rows))
        rows, X = np.concatenate([one.rows for one in born]), np.concatenate([b.X for b in born])
        return singles(Picks(rows, X), self.size, room), state

    def _parent(self, alive: Indices, told: Observations, rng: np.random.Generator) -> int:
        """Return the place of the best of a few, ties going to the lowest row."""
        drawn = alive[rng.integers(len(alive), size=self.sample)]
        best = drawn[told.y[drawn] == told.y[drawn].max()]
        return int(best[np.argmin(told.rows[best])])

    def _child(self, parent: int, evidence: Evidence, rng: np.random.Generator) -> Picks:
        points, told = evidence.points, evidence.told
        if points.box is not None:
            child = points.picks_of(stepped(points.box, told.X[parent], rng))
            return sample(evidence, 1, rng) if child.rows[0] in evidence.spent else child
        if not self._kin or self._kin[0].points is not points:
            self._kin[:] = [Kin(points, self.groups, self.neighbours)]
        row = self._kin[0].mutated(int(told.rows[parent]), evidence.unavailable, rng)
        if row is None:  # there is no other candidate
            return sample(evidence, 1, rng)
        return points.picks(np.array([row]))

"""Designs: candidates spread over the domain, evaluated before a model chooses.

A design ends when `size` different candidates are known, those told before counted in. It is a
function of the seed and of what is known: whatever is still missing (told in part, failed, cut by
`at_most`) is handed out when asked again. What is excluded is left out, and replaced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import final

import numpy as np

from noregret.acquisitions import Uncertainty
from noregret.arrays import Indices, Mask, Matrix, Vector, stacked
from noregret.errors import ArgumentError, require_count
from noregret.kernels import Kernel
from noregret.policies.base import Evidence, Purpose, stream
from noregret.policies.starts import before_values
from noregret.pools import (
    CLOUD,
    NO_ROWS,
    PER_POINT,
    Box,
    Picks,
    Points,
    Pool,
    Scales,
    as_numbers,
    numbers,
)
from noregret.search import Search
from noregret.storable import storable

MOST_SOBOL = 21_201  # dimensions of SciPy's sequence


class Design(ABC):
    """Picks `size` different candidates, whatever is known of them counted in."""

    __slots__ = ()
    size: int

    def __post_init__(self) -> None:
        require_count(f"{type(self).__name__}(size)", self.size)

    @final
    def picks(self, evidence: Evidence, room: int) -> Picks:
        """Return at most `room` of the candidates that the design still lacks."""
        N, known = evidence.points.candidates, evidence.taken
        if N:  # points off a pool are no candidates
            known = known[known < N]
        left = min(room, self.size - len(known))
        return self._more(evidence, left) if left > 0 else evidence.points.picks(NO_ROWS)

    @abstractmethod
    def _more(self, evidence: Evidence, left: int) -> Picks:
        """Return so many candidates, or as many as there are."""


@final
@storable("UniformDesign")
@dataclass(frozen=True, slots=True)
class UniformDesign(Design):
    """Start with `size` different candidates drawn uniformly.

    >>> pool = nr.Pool([[x / 100] for x in range(101)])
    >>> optimizer = nr.gp_ucb(pool, kernel=nr.RBF(0.2), noise_std=0.1, start=nr.UniformDesign(5))
    >>> len(optimizer.ask())
    5
    """

    size: int
    reason = "start: a uniform design"

    def _more(self, evidence: Evidence, left: int) -> Picks:
        points = evidence.points
        if not points.candidates:
            none, taken = evidence.excluded, evidence.taken
            return points.sample_new(none, taken, self.size, _rng(evidence))[:left]
        order = _rng(evidence).permutation(points.candidates)
        return points.picks(order[~evidence.closed(evidence.taken)[order]][:left])


@final
@storable("SobolDesign")
@dataclass(frozen=True, slots=True)
class SobolDesign(Design):
    """Start with `size` candidates spread as evenly as a quasi-random sequence.

    On a box these are scrambled Sobol points. On a pool every such point of the box that bounds it
    takes the nearest candidate (each feature in parts of its range) that none before it took.
    Costs O(N·d) a candidate and O(N) memory.

    Source: Sobol 1967; scrambled by SciPy.

    >>> box = nr.Box([(-5, 10), (0, 15)])
    >>> optimizer = nr.gp_ucb(box, kernel=nr.RBF(0.2), noise_std=0.1, start=nr.SobolDesign(8))
    >>> x = optimizer.ask().x
    >>> [int((x[:, 0] < 2.5).sum()), int((x[:, 1] < 7.5).sum())]  # one half in either half
    [4, 4]
    """

    size: int
    reason = "start: a quasi-random design"

    def _more(self, evidence: Evidence, left: int) -> Picks:
        points = evidence.points
        if points.box is not None:
            return _cloud(evidence, points.box, self.size)[:left]
        nearest = self._nearest(points, evidence.excluded.copy(), _rng(evidence))
        closed = evidence.closed(evidence.taken)
        rows = list(islice((row for row in nearest if not closed[row]), left))
        return points.picks(np.array(rows, dtype=np.int64))

    def _nearest(self, points: Points, taken: Mask, rng: np.random.Generator) -> Iterator[int]:
        """Yield the row that each quasi-random point takes, one after the other."""
        scales, size = Scales.of(points), min(self.size, len(taken))
        targets = np.tile(scales.low, (size, 1))
        varying = np.flatnonzero(scales.span > 0)
        if varying.size:
            targets[:, varying] += scales.span[varying] * sobol(len(varying), size, rng)
        squares = np.empty(len(taken))
        for target in targets:
            if taken.all():
                return
            for start, X in numbers(points):
                squares[start : start + len(X)] = scales.unit_squares(X, target)
            squares[taken] = np.inf
            row = int(squares.argmin())
            taken[row] = True
            yield row


@final
@storable("FarthestDesign")
@dataclass(frozen=True, slots=True)
class FarthestDesign(Design):
    """Start with `size` candidates, each the farthest from those before it and all that is known.

    Features are measured in standard deviations; where nothing is known the first is drawn. On a
    box the farthest of a cloud of quasi-random points is taken. Within a pool, no candidate is
    farther from the design than twice the least distance that any design of this size can reach.
    Costs O(N·d) a candidate and O(N) memory.

    Source: Gonzalez 1985.

    >>> pool = nr.Pool([[x] for x in range(101)])
    >>> optimizer = nr.gp_ucb(pool, kernel=nr.RBF(9), noise_std=0.1, start=nr.FarthestDesign(4))
    >>> optimizer.tell([0], [0.3])
    >>> optimizer.ask().ids
    array([100,  50,  25])
    """

    size: int
    reason = "start: a farthest-point design"

    def _more(self, evidence: Evidence, left: int) -> Picks:
        points = evidence.points
        if points.box is None:
            return points.picks(
                self._farthest(evidence, points, evidence.closed(evidence.taken), left)
            )
        cloud = _cloud(evidence, points.box, self.size)
        if not len(cloud):
            return cloud
        none = np.zeros(len(cloud), dtype=np.bool_)
        return cloud[self._farthest(evidence, Points(Pool(cloud.X)), none, left)]

    def _farthest(self, evidence: Evidence, among: Points, taken: Mask, left: int) -> Indices:
        """Return rows of a pool in the order of choice, ties going to the lowest."""
        scales, squares = Scales.of(evidence.points), np.full(len(taken), np.inf)

        def cover(x: Vector) -> None:
            for start, X in numbers(among):
                part = squares[start : start + len(X)]
                np.minimum(part, scales.standard_squares(X, x), out=part)

        for points in (evidence.told, evidence.open_):
            for x in as_numbers(points.X):
                cover(x)
        chosen: list[int] = []
        while len(chosen) < left and not taken.all():
            row = int(np.where(taken, -1.0, squares).argmax())
            if np.isinf(squares[row]):  # nothing is known, so that every candidate will do
                free = np.flatnonzero(~taken)
                row = int(free[_rng(evidence, part=1).integers(len(free))])
            taken[row] = True
            chosen.append(row)
            cover(as_numbers(among.rows(np.array([row])))[0])
        return np.array(chosen, dtype=np.int64)


@final
@dataclass(frozen=True, slots=True)
class UncertaintyDesign:
    """Start with `size` different candidates, each the most uncertain after those before it.

    The kernel decides, no value is needed: the greedy choice of largest information gain. On a
    pool costs O(N) a candidate and a little for those that could be the most uncertain.

    Source: uncertainty sampling, as in BBKB 2020, Algorithm 3.

    >>> pool = nr.Pool([[x] for x in range(101)])
    >>> optimizer = nr.gp_ucb(pool, kernel=nr.RBF(30), noise_std=0.1, start=nr.UncertaintyDesign(3))
    >>> optimizer.tell([0], [0.3])
    >>> optimizer.ask().ids
    array([100,  50])
    """

    size: int

    def __post_init__(self) -> None:
        require_count("UncertaintyDesign(size)", self.size)

    def under(self, search: Search, kernel: Kernel, ridge: float) -> MostUncertain:
        """Return the start that this is under a kernel."""
        return MostUncertain(self.size, search, kernel, ridge)


@final
@storable("MostUncertain")
@dataclass(frozen=True, slots=True)
class MostUncertain(Design):
    """An `UncertaintyDesign` that knows its kernel."""

    size: int
    search: Search = field(repr=False)
    kernel: Kernel
    ridge: float
    reason = "start: the most uncertain candidates"

    def _more(self, evidence: Evidence, left: int) -> Picks:
        points, taken, closed = evidence.points, evidence.taken, evidence.closed(evidence.taken)
        picks = points.picks(NO_ROWS)
        now = before_values(evidence, self.kernel, self.ridge)
        while len(picks) < left and not (points.candidates and closed.all()):
            ranking = self.search.rank(points, now, Uncertainty(), 1.0, closed)
            best = ranking.picks(np.array([ranking.best()]))
            more = stacked(picks.X, best.X)
            both = Picks(np.append(picks.rows, best.rows), more)
            if not points.candidates:  # where new points are numbered in order
                both = points.picks_of(more)
            if len(both.new(taken)) < len(both):
                break  # noise leaves it the most uncertain of the box
            picks, best = both, both[-1:]
            closed = evidence.closed(np.append(taken, picks.rows))
            now = now.hallucinate(best.rows, best.X, np.ones(1))
        return picks


def sobol(dim: int, size: int, rng: np.random.Generator) -> Matrix:
    """Return the first points of a scrambled Sobol sequence in the unit cube."""
    from scipy.stats import qmc  # loads slowly, and few need it

    if dim > MOST_SOBOL:
        raise ArgumentError(
            f"a quasi-random design has at most {MOST_SOBOL} features, got {dim}. Use "
            "FarthestDesign(size) or UniformDesign(size)."
        )
    points = qmc.Sobol(dim, rng=rng).random_base2(max(0, (size - 1).bit_length()))
    return np.asarray(points[:size])


def _rng(evidence: Evidence, part: int = 0) -> np.random.Generator:
    """The same at every step: a design is one, in however many batches it is asked for."""
    return stream(evidence.seed, Purpose.START, part)


def _cloud(evidence: Evidence, box: Box, size: int) -> Picks:
    """Return quasi-random points of a box that are new.

    So many that few whole numbers all come up, and the farthest are far.
    """
    U = sobol(box.dim, max(CLOUD, PER_POINT * size), _rng(evidence))
    return evidence.points.picks_of(box.from_uniform(U)).new(evidence.taken)

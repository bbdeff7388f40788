"""The highest point of a function on a box: many starts, followed uphill together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from noregret.arrays import Mask, Matrix, Vector
from noregret.errors import ExhaustedError
from noregret.pools import Box
from noregret.search.ties import BOX_TIE

RAW, FEWER = 2048, 256  # points of the box looked at before the best are followed, most and least
WORK = 1 << 27  # points looked at times the square of those met: 2048 of them at 256 met
NEARBY, CENTRES = 256, 4  # points around so many of the highest
STARTS = 10  # followed uphill
STEPS = 60  # of all ascents together, at most
APART = 0.05  # of the unit cube, between starts
LEAST, MOST = -3.0, -0.5  # powers of ten: how far around a point one looks
GLANCE = 256  # points looked at together for starts
ROUNDS = 8  # of moving whole numbers one by one


@cache
def spread_out(dim: int) -> Matrix:
    """Return points spread evenly over each side of the unit cube, always the same."""
    rng = np.random.default_rng(0)
    points = rng.permuted(np.tile(np.arange(RAW), (dim, 1)), axis=1).T
    spread: Matrix = (points + rng.random((RAW, dim))) / RAW
    spread.flags.writeable = False
    return spread


def around(box: Box, centres: Matrix, size: int, rng: np.random.Generator) -> Matrix:
    """Return points near some points of the unit cube, at distances of all orders."""
    centres = centres[np.arange(size) % len(centres)]
    reach = 10.0 ** rng.uniform(LEAST, MOST, (size, 1))
    moved = rng.random(centres.shape) < max(0.3, 2.0 / centres.shape[1])
    return box.snapped(centres + moved * reach * rng.standard_normal(centres.shape))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Hill:
    """A function on the unit cube whose highest point is looked for."""

    scores: Callable[[Matrix], tuple[Vector, Vector]]  # of rows; and if met before, not below that
    uphill: Callable[[Matrix], tuple[Vector, Matrix]]  # scores, and their gradients


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """Looks for the highest point by L-BFGS-B from the highest of many points.

    All starts are followed at once, as one ascent of the sum of their scores: a step then costs one
    product for all of them in place of one each.

    Starts are the highest of a Latin hypercube, of the points met before and of points around
    them, so that an ascent goes on where the last batch ended.

    A point met before is taken again where no other is better by more than rounding, or by more
    than the leeway of a score (`UCB`).
    """

    box: Box
    even: Matrix  # points spread evenly, shifted again for every point that is met
    met: Matrix  # points met before
    closed: Matrix | None = None  # points that are not to be found

    def highest(self, hill: Hill, starts: int) -> tuple[int | None, Vector]:
        """Return the highest point found, and its place among those met before if it is one."""
        rng = np.random.default_rng(len(self.met))
        some = int(np.clip(WORK // max(len(self.met), 1) ** 2, FEWER, RAW))
        shifted = (self.even[:some] + rng.random(self.box.dim)) % 1.0
        raw = np.concatenate([self.met, self.box.from_uniform(shifted)])
        known, again = hill.scores(raw)
        highest = raw[np.argsort(-known, kind="stable")[:CENTRES]]
        near = around(self.box, highest, NEARBY, rng)
        raw, known = np.concatenate([raw, near]), np.append(known, hill.scores(near)[0])
        ends = self._climbed(hill, self.starts(raw, known, starts))
        found = np.concatenate([ends, raw[len(self.met) :]])
        reached = np.append(hill.scores(ends)[0], known[len(self.met) :])
        again = again[: len(self.met)]
        if self.closed is not None and len(self.closed):
            again = np.where(_equal_any(self.closed, self.met), -np.inf, again)
            reached = np.where(_equal_any(self.closed, found), -np.inf, reached)
        at = int(np.argmax(reached))
        if not max(reached[at], again.max(initial=-np.inf)) > -np.inf:
            raise ExhaustedError(
                "no point of the box was found that may still be evaluated: all that were tried "
                "have been evaluated as often as at_most_each allows."
            )
        if len(self.met):
            room = BOX_TIE * float(known.max() - np.median(known))
            place = int(np.argmax(again))
            if float(again[place]) >= float(reached[at]) - room:
                return place, self.met[place]
        return None, found[at]

    def starts(self, raw: Matrix, known: Vector, most: int) -> Matrix:
        """Return the highest points that are not close to a higher one."""
        chosen: list[Vector] = []
        order = np.argsort(-known, kind="stable")
        for start in range(0, len(order), GLANCE):
            left = raw[order[start : start + GLANCE]]
            for one in chosen:
                left = left[np.abs(left - one).max(axis=1) > APART]
            while len(chosen) < most and len(left):
                chosen.append(left[0])
                left = left[np.abs(left - chosen[-1]).max(axis=1) > APART]
            if len(chosen) == most:
                break
        return np.array(chosen)

    def _climbed(self, hill: Hill, starts: Matrix) -> Matrix:
        """Return where L-BFGS-B ends; whole numbers are then moved one by one."""
        X = self._ascended(hill, starts, np.ones(self.box.dim, dtype=np.bool_))
        if not self.box.integer.any():
            return X
        moved = np.array([self._moved(hill, x) for x in X])
        return self._ascended(hill, moved, ~self.box.integer)

    def _moved(self, hill: Hill, x: Vector) -> Vector:
        """Return where moving whole numbers one by one ends."""
        for _ in range(ROUNDS):
            near = np.concatenate([x[None], self.box.neighbours(x)])
            better: Vector = near[int(np.argmax(hill.scores(near)[0]))]
            if np.array_equal(better, x):
                break
            x = better
        return x

    def _ascended(self, hill: Hill, starts: Matrix, free: Mask) -> Matrix:
        from scipy.optimize import minimize  # loads slowly, and only boxes need it

        def down(x: Vector) -> tuple[float, Vector]:
            values, slopes = hill.uphill(x.reshape(starts.shape))
            return -float(values.sum()), -slopes.ravel()

        low, high = np.where(free, 0.0, starts).ravel(), np.where(free, 1.0, starts).ravel()
        end = minimize(
            down,
            starts.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low.tolist(), high.tolist(), strict=True)),
            options={"maxiter": STEPS},
        )
        return self.box.snapped(np.asarray(end.x).reshape(starts.shape))


def _equal_any(closed: Matrix, X: Matrix) -> Mask:
    """Return which rows of X stand among those closed."""
    known = {x.tobytes() for x in closed + 0.0}  # −0 is 0
    return np.array([x.tobytes() in known for x in X + 0.0], dtype=np.bool_)

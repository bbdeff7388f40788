"""Which scores are ties, who is looked at first, and how long a candidate stays the best.

Scores that agree to rounding go to the lowest row, so that no choice hangs on the last bits, which
differ with the order of sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from noregret.arrays import Indices, Vector

DIGITS = 32  # binary digits, some nine decimal ones, to which scores in a ranking agree
OFFSET = 0.37  # of a cell, so that round numbers do not lie on its edge
SCORE_TIE = 1e-9  # of a score that is held against all others once
RANGE_TIE = 1e-9  # of the range of scores, where many of the highest are taken
SAMPLE_TIE = 4e-6  # of a standard deviation: sums of float32 in blocks, of any size
SAMPLE_ROUNDING = 4 * float(np.finfo(np.float32).eps)  # of a value: their features are float32
BOX_TIE = 1e-7  # of the range of scores: an ascent ends somewhere near the highest point

SAMPLED = 64  # one in so many rows is looked at to guess a bound
LOWEST = float(np.finfo(np.float64).min)  # that a row may have which is not excluded


def quantum_of(best: float) -> float:
    """Return the width of a cell, the best score being this."""
    return 2.0 ** (math.frexp(best)[1] - DIGITS) if np.isfinite(best) and best != 0 else 1.0


def cells(scores: Vector | float, quantum: float) -> Vector:
    """Return the cell of each score; those that share one are ties."""
    with np.errstate(over="ignore"):  # far below the best, where the order does not matter
        return np.floor(np.asarray(scores) / quantum + OFFSET)


def start_of(cell: float, quantum: float) -> float:
    """Return the lowest score of a cell."""
    return (cell - OFFSET) * quantum


def below_ties(score: float) -> float:
    """Return a score under all that can tie with this one in a ranking."""
    return score - 8 * 2.0**-DIGITS * abs(score) if np.isfinite(score) else score


def highest(bound: Vector, most: int) -> Indices:
    """Return the rows of highest bounds, so many or a few more."""
    sample, rank, rows = bound[::SAMPLED], 8 + 2 * most // SAMPLED, np.arange(len(bound))
    if rank < len(sample):  # a bound that some more than `most` should reach
        above = np.flatnonzero(bound >= np.partition(sample, -rank)[-rank])
        rows = above if len(above) >= most else rows
    return parted(bound, rows, most)[0]


def parted(bound: Vector, rows: Indices, most: int) -> tuple[Indices, Indices]:
    """Return the rows of highest bounds among some, and the others."""
    if len(rows) <= 2 * most:
        return rows, rows[:0]
    order = np.argpartition(-bound[rows], most)
    return rows[order[:most]], rows[order[most:]]


def highest_first(
    bound: Vector, first: Indices, most: int, floor: Callable[[], float]
) -> Iterator[Indices]:
    """Yield groups of rows, highest bounds first, until nobody else can win.

    Whoever takes a group puts true scores in place of its bounds; `floor()` is then what a bound
    of the others must reach to be looked at. After the `first` group come `most` rows, then four
    times as many each time: high ones raise the floor, which the others may not reach.
    """
    yield first
    least, known = floor(), bound[first]
    bound[first] = -np.inf
    rows = np.flatnonzero(bound >= least)
    bound[first] = known
    while len(rows):
        group, rows = parted(bound, rows, most)
        yield group
        rows = rows[bound[rows] >= floor()]
        most *= 4


def repeats_while(leads_after: Callable[[int], bool], most: int) -> int:
    """Return how often in a row a candidate is the best that is the best now; ≤ most.

    `leads_after(r)` tells whether it still is after r evaluations. Their number is doubled while
    it is, then what is left open is halved.
    """
    fine, wrong = 1, 2
    while wrong <= most and leads_after(wrong - 1):
        fine, wrong = wrong, 2 * wrong
    wrong = min(wrong, most + 1)
    while wrong - fine > 1:
        middle = (fine + wrong) // 2
        fine, wrong = (middle, wrong) if leads_after(middle - 1) else (fine, middle)
    return fine

"""Where the same candidate always has the same value: one evaluation says all there is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from noregret.arrays import Indices, Vector, positions
from noregret.errors import ArgumentError, TellError, require_count, require_flag
from noregret.optimizer.ledger import Ledger
from noregret.pools import Points

ROUNDING = 2.0**-22  # of a value, by which another of its candidate may differ: float32 …
ZERO = 1e-15  # … and of the largest value, where the two cancel


def at_most(at_most_each: object, deterministic: object) -> int | None:
    """Check what limits evaluations of one candidate, and return their number."""
    most = None if at_most_each is None else require_count("at_most_each", at_most_each)
    if not require_flag("deterministic", deterministic):
        return most
    if most is not None and most > 1:
        raise ArgumentError(
            f"deterministic=True evaluates no candidate twice, at_most_each={most} allows it. Give "
            "one of the two."
        )
    return 1


def require_same_values(
    ledger: Ledger, points: Points, rows: Indices, values: Vector, told: Callable[[Vector], Vector]
) -> None:
    """Raise where a candidate, or one of equal features, is told another value, or two at once.

    `told` turns values back into what the user said.
    """
    same = points.first_equal(rows)
    expected = ledger.first_values(rows)
    if same is not rows:  # candidates of equal features are one here
        place = positions(same, points.first_equal(ledger.rows))
        expected = np.append(ledger.firsts, np.nan)[place]
    _, first, place = np.unique(same, return_index=True, return_inverse=True)
    expected = np.where(np.isnan(expected), values[first][place], expected)
    found, before, known = told(values), told(expected), told(ledger.firsts)
    largest = max(float(np.abs(some).max(initial=0.0)) for some in (found, known))
    both = np.maximum(np.abs(found), np.abs(before))
    wrong = np.flatnonzero(np.abs(found - before) > ROUNDING * both + ZERO * largest)
    if wrong.size:
        at = int(wrong[0])
        raise TellError(
            f"value {at} told is {found[at]:.10g}, of a candidate of value {before[at]:.10g}: "
            "with deterministic=True the same candidate always has the same value. If one of the "
            "two is wrong, leave it out; if values scatter, leave out deterministic=True."
        )

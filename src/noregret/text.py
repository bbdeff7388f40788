"""Numbers in sentences."""

from __future__ import annotations

import math


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the singular or plural.

    >>> counted(1, "point"), counted(2, "point"), counted(3, "switch", "switches")
    ('1 point', '2 points', '3 switches')
    """
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def probably(delta: float) -> str:
    """Return with what probability something holds that fails with `delta`, in words.

    >>> probably(0.1), probably(0.0)
    ('with probability 0.9', 'for certain')
    """
    return f"with probability {1 - delta:g}" if delta else "for certain"


def times(count: int) -> str:
    """Return how often, in words.

    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def digits(value: float, std: float, least: int = 6) -> str:
    """Write a value with as many digits as its deviation allows, and at least `least`.

    >>> digits(0.93659, 0.34), digits(-76340.123456, 0.0002), digits(1e12, 1e-9)
    ('0.93659', '-76340.1235', '1000000000000')
    """
    wanted = least
    if 0 < std < abs(value) < math.inf:
        wanted = max(least, math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 1)
    return f"{value:.{min(wanted, 15)}g}"  # more than 15 digits a float64 does not have

"""Pools so large that the time of an ask is what matters; made up, so that no data are needed.

Features are standard normal, or 2048 bits: those of one of 200 prototypes, of which every bit is
drawn again with probability 0.1; a tenth of them are set. f is the sum of a few Gaussian hills
around rows of the pool (or of the shares of bits in common with them), and evaluations scatter by
0.05 of its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

import noregret as nr
from evaluation.problems.base import GaussianNoise, Problem
from evaluation.problems.candidates import Parameter, Space
from noregret.arrays import Vector

HILLS, PROTOTYPES, FLIPPED, SET = 5, 200, 0.1, 0.1
CHUNK = 1 << 15
Features: TypeAlias = npt.NDArray[Any]  # packed bits, or numbers of single precision
BITS = 2048


@final
@dataclass(frozen=True, slots=True)
class Large:
    """A pool that is evaluated by plates of one size, and how long an ask may take."""

    N: int
    d: int
    size: int
    goal: float  # seconds
    bits: bool = False

    @property
    def limit(self) -> float:
        """Seconds after which an ask is given up."""
        return max(60.0, 5 * self.goal)


LARGE = {
    "large-bits": Large(50_000, BITS, 96, 1.0, bits=True),
    "large-million": Large(1_000_000, 16, 512, 10.0),
    "large-five-million": Large(5_000_000, 12, 1000, 60.0),
}
SMALL = {  # for tests, and for --quick
    "small-bits": Large(300, 64, 8, 1.0, bits=True),
    "small-numbers": Large(2000, 3, 16, 10.0),
}


def features(at: Large) -> Features:
    """Draw the rows."""
    rng = np.random.default_rng(0)
    if not at.bits:
        return rng.standard_normal((at.N, at.d), dtype=np.float32)
    prototypes = rng.random((PROTOTYPES, at.d)) < SET
    packed = np.empty((at.N, at.d // 8), dtype=np.uint8)
    for start in range(0, at.N, CHUNK):
        count = min(CHUNK, at.N - start)
        rows = prototypes[rng.integers(PROTOTYPES, size=count)]
        drawn = rng.random((count, at.d), dtype=np.float32) < FLIPPED
        again = rng.random((count, at.d), dtype=np.float32) < SET
        packed[start : start + count] = np.packbits(np.where(drawn, again, rows), axis=1)
    return packed


def values(at: Large, X: Features) -> Vector:
    """Return f at all rows, a block at a time."""
    rng = np.random.default_rng(1)
    hills = X[rng.integers(at.N, size=HILLS)]
    heights, found = rng.uniform(0.5, 1.0, HILLS), np.zeros(at.N)
    for start in range(0, at.N, CHUNK):
        block = X[start : start + CHUNK]
        for hill, height in zip(hills, heights, strict=True):
            if at.bits:
                common = np.bitwise_count(block & hill).sum(axis=1)
                near = common / np.bitwise_count(block | hill).sum(axis=1)
            else:
                near = np.exp(-((block - hill) ** 2).sum(axis=1) / at.d)
            found[start : start + CHUNK] += height * near
    return found


def problem(name: str, at: Large, X: Features, f: Vector) -> Problem:
    """Return the problem as others are, but without a table of its candidates."""
    std = 0.05 * float(np.ptp(f))
    return Problem(
        name=name,
        title=name,
        domain=nr.BitPool(X, packed=True) if at.bits else nr.Pool(X),
        truth=f.__getitem__,
        best=float(f.max()),
        worst=float(f.min()),
        uniform=float(f.max() - f.mean()),
        feedback=GaussianNoise(f.__getitem__, std),
        noise_std=std,
        space=Space((Parameter("x", 0.0, 1.0),)),
        order=np.arange(at.N),
    )

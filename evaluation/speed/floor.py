"""What the machine can do at best: no program can move the same bytes in less time."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from evaluation.speed.subjects import Floor, Work

READ_BYTES = 1 << 30
PRODUCT = 3072  # rows and columns of the matrices multiplied
REPEATS = 5


def measure_floor(threads: int, *, read_bytes: int = READ_BYTES, product: int = PRODUCT) -> Floor:
    """Return what the machine can do on so many threads, each the best of a few repetitions."""
    return Floor(bandwidth=_bandwidth(threads, read_bytes), flops=_flops(product))


def _bandwidth(threads: int, read_bytes: int) -> float:
    """Return the bytes a second of a large read: sums on threads of our own, or one BLAS dot."""
    a = np.ones(read_bytes // 8)
    parts = np.array_split(a, threads)
    with ThreadPoolExecutor(threads) as pool:
        by_sum = best_of(lambda: list(pool.map(np.sum, parts)))
    return a.nbytes / min(by_sum, best_of(lambda: float(a @ a)))


def _flops(product: int) -> float:
    """Return the float64 operations a second of a matrix product."""
    A = np.random.default_rng(0).standard_normal((product, product))
    B = A.copy()
    return 2.0 * product**3 / best_of(lambda: A @ B)


def best_of(work: Callable[[], object]) -> float:
    """Return the least seconds of a few repetitions, after one that is not counted."""
    work()
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def floor_seconds(work: Work, floor: Floor) -> float:
    """Return the seconds below which this work cannot be done: by its bytes or by its flops."""
    return max(work["bytes"] / floor["bandwidth"], work["flops"] / floor["flops"])

"""The machine that was measured, without which figures mean nothing, and what it can do at best."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ["noregret", "numpy", "scipy", "torch", "botorch", "gpytorch", "scikit-learn", "optuna"]
READ_BYTES = 1 << 30
PRODUCT = 3072  # rows and columns of the matrices multiplied
REPEATS = 5


def describe() -> dict[str, Any]:
    """Return this machine; called where NumPy is loaded, so that BLAS can be seen."""
    sees = hasattr(os, "sched_getaffinity")
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if sees else os.cpu_count() or 1,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),  # bytes
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": _blas(),  # library, version and threads of each that is loaded
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _blas() -> list[str]:
    import scipy.linalg
    from threadpoolctl import threadpool_info

    assert scipy.linalg  # loaded, so that its BLAS is listed
    return sorted(
        {
            f"{pool['internal_api']} {pool.get('version') or ''} "
            f"({pool.get('architecture') or 'any'}), {pool['num_threads']} threads"
            for pool in threadpool_info()
        }
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def measure_floor(
    threads: int, *, read_bytes: int = READ_BYTES, product: int = PRODUCT
) -> dict[str, float]:
    """Return bytes read per second and float64 operations per second, the best of some tries.

    A large read is by sums on threads of our own or by one BLAS dot, whichever is faster.
    """
    a = np.ones(read_bytes // 8)
    parts = np.array_split(a, threads)
    with ThreadPoolExecutor(threads) as pool:
        reading = min(_best_of(lambda: list(pool.map(np.sum, parts))), _best_of(lambda: a @ a))
    A = np.random.default_rng(0).standard_normal((product, product))
    B = A.copy()
    return {"bandwidth": a.nbytes / reading, "flops": 2 * product**3 / _best_of(lambda: A @ B)}


def _best_of(work: Callable[[], object]) -> float:
    """Return the least seconds of a few repetitions, after one that is not counted."""
    taken = []
    for _ in range(1 + REPEATS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken[1:])


def floor_seconds(work: dict[str, int], floor: dict[str, float]) -> float:
    """Return the seconds below which this work cannot be done: by its bytes or by its flops."""
    return max(work["bytes"] / floor["bandwidth"], work["flops"] / floor["flops"])

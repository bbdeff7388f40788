"""The machine that is measured on, what it can do at best, and what a stretch of work takes."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, final

import numpy as np

from evaluation.speed.results import Figures

PACKAGES = ["noregret", "numpy", "scipy", "torch", "botorch", "gpytorch", "scikit-learn", "optuna"]
READ_BYTES = 1 << 30
PRODUCT = 3072  # rows and columns of the matrices multiplied
REPEATS = 5
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what Linux wants in clear_refs


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


@final
class Meter:
    """Times what happens inside `with meter:`; several stretches add up.

    Peak memory is of the process, from the first stretch on where the system can start that count
    again (Linux), else since the process began. One measurement per process makes it its own.
    """

    def __init__(self, most_seconds: float) -> None:
        self.most_seconds = most_seconds
        self.seconds = 0.0
        self._before: int | None = None
        self._peak = 0
        self._since: float | None = None

    def __enter__(self) -> Meter:
        if self._before is None:
            if CLEAR.exists() and os.access(CLEAR, os.W_OK):
                CLEAR.write_text(RESET_PEAK)
            self._before = resident("VmRSS")
        self._since = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds, self._since = self.elapsed, None
        self._peak = resident("VmHWM")

    @property
    def elapsed(self) -> float:
        """Seconds so far, the stretch under way included."""
        running = 0.0 if self._since is None else time.perf_counter() - self._since
        return self.seconds + running

    @property
    def is_over(self) -> bool:
        return self.elapsed >= self.most_seconds

    def figures(self) -> Figures:
        beyond = max(0, self._peak - (self._before or 0))
        return Figures(seconds=self.seconds, peak=self._peak, beyond=beyond)


def resident(name: str) -> int:
    """Return the bytes resident now (VmRSS) or at most (VmHWM); at most, if Linux says nothing."""
    for line in STATUS.read_text().splitlines() if STATUS.exists() else ():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

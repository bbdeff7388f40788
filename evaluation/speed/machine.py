"""The machine that was measured: figures mean nothing without it."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TypedDict

PACKAGES = (
    "noregret",
    "numpy",
    "scipy",
    "torch",
    "botorch",
    "gpytorch",
    "scikit-learn",
    "optuna",
)


class Machine(TypedDict):
    """What was measured on."""

    cpu: str
    cores: int
    memory: int  # bytes
    system: str
    python: str
    blas: list[str]  # library, version and threads of each that is loaded
    versions: dict[str, str]


def describe() -> Machine:
    """Return this machine; called where NumPy is loaded, so that BLAS can be seen."""
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        blas=_blas(),
        versions={name: _version(name) for name in PACKAGES},
    )


def _cores() -> int:
    return os.cpu_count() or 1


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
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

"""Seconds and memory of one stretch of work."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import final

from evaluation.speed.results import Figures

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what Linux wants in clear_refs


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
        """Tell whether the time is up."""
        return self.elapsed >= self.most_seconds

    def figures(self) -> Figures:
        """Return seconds and memory."""
        beyond = max(0, self._peak - (self._before or 0))
        return Figures(seconds=self.seconds, peak=self._peak, beyond=beyond)


def resident(name: str) -> int:
    """Return the bytes resident now (VmRSS) or at most (VmHWM); at most, if Linux says nothing."""
    for line in STATUS.read_text().splitlines() if STATUS.exists() else ():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

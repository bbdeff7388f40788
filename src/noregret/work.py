"""What a run has cost so far, in counts that do not depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(slots=True)
class Work:
    """Counts of one search: what benchmarks hold against the machine's own limits."""

    rankings: int = 0  # times the best candidate was sought on new feedback
    refreshed: int = 0  # rows whose mean and variance were computed, in all
    scanned: int = 0  # rows whose old bound was looked at, in all
    bytes: int = 0  # read or written in passes over rows
    flops: int = 0  # in passes over rows

    def product(self, rows: int, inner: int, columns: int) -> None:
        """Count a product of (rows × inner) by (inner × columns), its left side read once."""
        self.flops += 2 * rows * inner * columns
        self.bytes += 8 * rows * (inner + columns)

    def add(self, other: Work) -> None:
        """Take in what was counted elsewhere: by another thread."""
        self.refreshed += other.refreshed
        self.bytes += other.bytes
        self.flops += other.flops

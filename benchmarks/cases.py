"""Every case, by name."""

from __future__ import annotations

from benchmarks.boxes import box_cases
from benchmarks.breadth import breadth_cases
from benchmarks.case import Case
from benchmarks.kernels import kernel_cases
from benchmarks.refits import refit_cases
from benchmarks.scaling import scaling_cases
from benchmarks.side_by_side import side_by_side_cases
from benchmarks.subjects import Sizes
from benchmarks.targets import target_cases


def all_cases(*, quick: bool = False) -> dict[str, Case]:
    """Return every case in the order in which they are run: those with goals first."""
    sizes = Sizes(quick)
    cases = [
        *target_cases(sizes),
        *kernel_cases(sizes),
        *box_cases(sizes),
        *breadth_cases(sizes),
        *refit_cases(sizes),
        *scaling_cases(sizes),
        *side_by_side_cases(sizes),
    ]
    return {case.name: case for case in cases}

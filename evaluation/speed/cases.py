"""Every case, by name."""

from __future__ import annotations

from evaluation.speed.boxes import box_cases
from evaluation.speed.breadth import breadth_cases
from evaluation.speed.case import Case
from evaluation.speed.kernels import kernel_cases
from evaluation.speed.refits import refit_cases
from evaluation.speed.scaling import scaling_cases
from evaluation.speed.side_by_side import side_by_side_cases
from evaluation.speed.subjects import Sizes
from evaluation.speed.targets import target_cases


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

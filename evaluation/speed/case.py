"""A case: what is measured together, and what it must show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from evaluation.speed.goals import Goal
from evaluation.speed.subjects import Subject


@final
@dataclass(frozen=True, slots=True)
class Case:
    """Subjects measured side by side, and what they must show."""

    name: str
    title: str
    subjects: tuple[Subject, ...]
    goals: tuple[Goal, ...] = ()
    note: str = ""
    against: str = ""  # the setting that grows along the series of a scaling case

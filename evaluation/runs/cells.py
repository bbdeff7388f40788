"""One run of an experiment: a method with its settings on a problem, once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TypeAlias, final

Setting: TypeAlias = dict[str, str | int | float]  # an algorithm and what it is given, as in a TOML


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """What is run once and stored: equal cells of two figures are one run."""

    problem: str
    setting: tuple[tuple[str, str | int | float], ...]  # sorted
    horizon: int  # T, evaluations asked for
    history: int  # evaluations known before the first ask, drawn uniformly
    repetition: int

    @classmethod
    def of(
        cls, problem: str, setting: Setting, *, horizon: int, repetition: int, history: int = 0
    ) -> Cell:
        return cls(problem, tuple(sorted(setting.items())), horizon, history, repetition)

    @property
    def method(self) -> Setting:
        return dict(self.setting)

    @property
    def key(self) -> str:
        """A name for its file: readable, and different for different cells."""
        text = json.dumps(self.as_dict(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{self.problem}-{self.method['algorithm']}-{self.repetition}-{digest}"

    def as_dict(self) -> dict[str, object]:
        return {
            "problem": self.problem,
            "setting": self.method,
            "horizon": self.horizon,
            "history": self.history,
            "repetition": self.repetition,
        }

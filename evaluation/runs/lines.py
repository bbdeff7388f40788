"""A line of a figure: a method on a problem, repeated, its hyper-parameters tuned on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import final

from evaluation.runs.cells import Cell, Setting, Store
from evaluation.runs.trial import Record


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Repeated runs of one method on one problem.

    Where there are several settings, each is run `tuning` times first, and the one of lowest mean
    regret at the horizon is repeated: the papers' way to choose hyper-parameters.
    """

    problem: str
    label: str
    settings: tuple[Setting, ...]
    horizon: int
    repetitions: int
    tuning: int = 1
    history: int = 0
    panel: str = ""  # which of a problem's panels, where there are several

    def wanted(self, store: Store) -> list[Cell]:
        """Return the cells to be run, as far as that is known by what is stored."""
        chosen = self.chosen(store)
        if chosen is None:
            return [cell for setting in self.settings for cell in self._cells(setting, self.tuning)]
        return self._cells(chosen, self.repetitions)

    def chosen(self, store: Store) -> Setting | None:
        """Return the setting of lowest regret, or None while some have not been run."""
        if len(self.settings) == 1:
            return self.settings[0]
        regrets = []
        for setting in self.settings:
            cells = self._cells(setting, self.tuning)
            if not all(store.holds(cell) for cell in cells):
                return None
            regrets.append(fmean(store.regret(cell) for cell in cells))
        return self.settings[regrets.index(min(regrets))]

    def runs(self, store: Store) -> list[Record]:
        """Return the finished repetitions of the chosen setting."""
        chosen = self.chosen(store)
        if chosen is None:
            return []
        cells = self._cells(chosen, self.repetitions)
        return [store.load(cell) for cell in cells if store.holds(cell)]

    def _cells(self, setting: Setting, repetitions: int) -> list[Cell]:
        where = {"horizon": self.horizon, "history": self.history}
        return [Cell.of(self.problem, setting, repetition=r, **where) for r in range(repetitions)]

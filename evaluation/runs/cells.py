"""Cells: a method with its settings on a problem, once; and lines: cells repeated, and tuned.

Finished cells are kept on disk: a run goes on where the last stopped, and processes share the work.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, final

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

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "setting": self.method}


@final
@dataclass(frozen=True, slots=True)
class Store:
    """A folder with one JSON file a cell, complete or absent.

    A cell being run is claimed by a lock on a file of its own, which the system lets go when the
    process ends, however it ends: nothing has to be cleaned up after a crash.
    """

    folder: Path
    _regrets: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def holds(self, cell: Cell) -> bool:
        return self._path(cell).exists()

    def load(self, cell: Cell) -> Any:
        """Return what a cell gave, whatever kind of record that is."""
        return json.loads(self._path(cell).read_text())["record"]

    def regret(self, cell: Cell) -> float:
        """Return the regret of a finished run at its horizon, read once."""
        if cell.key not in self._regrets:
            self._regrets[cell.key] = self.load(cell)["regret"][-1]
        return self._regrets[cell.key]

    def write(self, cell: Cell, record: Mapping[str, object]) -> None:
        """Store what a cell gave; a reader sees all of it or nothing."""
        path = self._path(cell)
        scratch = path.with_suffix(f".{os.getpid()}.part")
        with scratch.open("w") as out:
            json.dump({"cell": cell.as_dict(), "record": record}, out)
            out.flush()
            os.fsync(out.fileno())
        scratch.replace(path)

    @contextmanager
    def claim(self, cell: Cell) -> Iterator[bool]:
        """Yield whether the cell is ours to run: not finished, and nobody else runs it."""
        locks = self.folder / "claims"
        locks.mkdir(parents=True, exist_ok=True)
        path = locks / cell.key
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            # Another process may have finished it between our look and our lock.
            yield not self.holds(cell)
            path.unlink(missing_ok=True)

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Repeated runs of one method on one problem.

    Where there are several settings, each is run `tuning` times first, and the one of lowest mean
    regret at the horizon is repeated: the papers' way to choose hyper-parameters. `rounds` come
    before that, of fewer repetitions: after each the better third goes on, which spares most runs.
    """

    problem: str
    label: str
    settings: tuple[Setting, ...]
    horizon: int
    repetitions: int
    tuning: int = 1
    rounds: tuple[int, ...] = ()
    history: int = 0
    panel: str = ""  # which of a problem's panels, where there are several

    @property
    def tuned_on(self) -> int:
        """How many repetitions decided: fewer than `tuning` where a round before left one."""
        left, decided = len(self.settings), 0
        for repetitions in (*self.rounds, self.tuning):
            decided = repetitions if left > 1 else decided
            left = ceil(left / 3)
        return decided

    def wanted(self, store: Store) -> list[Cell]:
        """Return the cells to be run, as far as that is known by what is stored."""
        left, repetitions = self._race(store)
        return [cell for setting in left for cell in self.cells(setting, repetitions)]

    def chosen(self, store: Store) -> Setting | None:
        """Return the setting of lowest regret, or None while that is not known."""
        left, _ = self._race(store)
        return left[0] if len(left) == 1 else None

    def _race(self, store: Store) -> tuple[list[Setting], int]:
        """Return the settings still in the running, and how often each is to be run."""
        left = [*self.settings]
        for repetitions in (*self.rounds, self.tuning):
            cells = [self.cells(setting, repetitions) for setting in left]
            if len(left) == 1 or not all(store.holds(cell) for those in cells for cell in those):
                break
            regrets = [fmean(store.regret(cell) for cell in those) for those in cells]
            last = repetitions == self.tuning
            stay = sorted(range(len(left)), key=regrets.__getitem__)
            left = [left[i] for i in stay[: 1 if last else ceil(len(left) / 3)]]
        return left, self.repetitions if len(left) == 1 else repetitions

    def runs(self, store: Store) -> list[Any]:
        """Return the finished repetitions of the chosen setting."""
        chosen = self.chosen(store)
        if chosen is None:
            return []
        cells = self.cells(chosen, self.repetitions)
        return [store.load(cell) for cell in cells if store.holds(cell)]

    def cells(self, setting: Setting, repetitions: int) -> list[Cell]:
        """Return the first repetitions of a setting."""
        where = {"horizon": self.horizon, "history": self.history}
        return [Cell.of(self.problem, setting, repetition=r, **where) for r in range(repetitions)]

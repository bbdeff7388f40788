"""Finished cells on disk: a run goes on where the last stopped, and processes share the work."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, final

from evaluation.runs.cells import Cell
from evaluation.runs.records import Record


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

    def read(self, cell: Cell) -> Record:
        return cast(Record, self.load(cell))

    def load(self, cell: Cell) -> object:
        """Return what a cell gave, whatever kind of record that is."""
        return json.loads(self._path(cell).read_text())["record"]

    def regret(self, cell: Cell) -> float:
        """Return the regret of a finished run at its horizon, read once."""
        if cell.key not in self._regrets:
            self._regrets[cell.key] = self.read(cell)["regret"][-1]
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

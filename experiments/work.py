"""Run what is wanted and not yet stored, in several processes that share a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path

from experiments.cells import Cell
from experiments.lines import Line
from experiments.problems import problem
from experiments.store import Store
from experiments.trial import run

PAUSE = 1.0  # seconds between looks at what others are doing


def missing(lines: Sequence[Line], store: Store) -> list[Cell]:
    """Return the cells not stored yet, those of low repetitions first."""
    wanted = {cell.key: cell for line in lines for cell in line.wanted(store)}
    cells = [cell for cell in wanted.values() if not store.holds(cell)]
    return sorted(cells, key=lambda cell: cell.repetition)


def left(lines: Sequence[Line], store: Store) -> int:
    """Return how many runs are to come, those among them whose setting is not known yet."""
    unknown = sum(line.repetitions - line.tuning for line in lines if line.chosen(store) is None)
    return len(missing(lines, store)) + unknown


def work(lines: Sequence[Line], folder: Path, until: float = float("inf")) -> None:
    """Run cells until all are stored, by us or by others, or the clock says stop.

    Which setting is repeated is known only once its grid has been run, so we look again.
    """
    store = Store(folder)
    while time.time() < until and (cells := missing(lines, store)):
        if not any(_run_if_free(cell, store) for cell in cells if time.time() < until):
            time.sleep(PAUSE)


def _run_if_free(cell: Cell, store: Store) -> bool:
    with store.claim(cell) as ours:
        if ours:
            store.write(cell, run(cell, problem(cell.problem)))
        return ours


def share(
    lines: Sequence[Line], folder: Path, *, jobs: int, until: float, tick: Callable[[int], None]
) -> None:
    """Let `jobs` processes work; `tick` is told how many runs are left, every second or so."""
    store = Store(folder)
    context = get_context("spawn")
    crew = [context.Process(target=work, args=(lines, folder, until)) for _ in range(jobs)]
    for worker in crew:
        worker.start()
    try:
        while any(worker.is_alive() for worker in crew):
            tick(left(lines, store))
            time.sleep(PAUSE)
    finally:
        for worker in crew:
            worker.terminate()  # a no-op for those that are done; the others' claims go with them
            worker.join()
    if failed := [worker.exitcode for worker in crew if worker.exitcode]:
        raise RuntimeError(f"{len(failed)} of {jobs} workers failed; what they said is above.")

"""Run what is wanted and not yet stored, in several processes that share a folder."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from evaluation.problems.papers import problem
from evaluation.runs.cells import Cell, Line, Store
from evaluation.runs.trial import run
from noregret.progress import Display

PAUSE = 1.0  # seconds between looks at what others are doing
Play: TypeAlias = Callable[[Cell], Mapping[str, object]]  # a module's function: processes share it


def trial(cell: Cell) -> Mapping[str, object]:
    return run(cell, problem(cell.problem))


def missing(lines: Sequence[Line], store: Store) -> list[Cell]:
    """Return the cells not stored yet, those of low repetitions first."""
    wanted = {cell.key: cell for line in lines for cell in line.wanted(store)}
    cells = [cell for cell in wanted.values() if not store.holds(cell)]
    return sorted(cells, key=lambda cell: cell.repetition)


def left(lines: Sequence[Line], store: Store) -> int:
    """Return how many runs are to come, those among them whose setting is not known yet."""
    unknown = sum(line.repetitions - line.tuning for line in lines if line.chosen(store) is None)
    return len(missing(lines, store)) + unknown


def work(
    lines: Sequence[Line], folder: Path, until: float = float("inf"), play: Play = trial
) -> int:
    """Run cells until all are stored, by us or by others, or the clock says stop.

    Which setting is repeated is known only once its grid has been run, so we look again. A cell
    that fails is told of and left; the number of those is returned.
    """
    store, failed = Store(folder), set[str]()
    while time.time() < until:
        cells = [cell for cell in missing(lines, store) if cell.key not in failed]
        if not cells:
            break
        taken = False
        for cell in cells:
            if time.time() >= until:
                break
            try:
                taken |= _run_if_free(cell, store, play)
            except Exception:
                failed.add(cell.key)
                print(f"{cell.as_dict()} failed:", file=sys.stderr)
                traceback.print_exc()
        if not taken:
            time.sleep(PAUSE)
    return len(failed)


def _run_if_free(cell: Cell, store: Store, play: Play) -> bool:
    with store.claim(cell) as ours:
        if ours:
            store.write(cell, play(cell))
        return ours


def _crew_member(lines: Sequence[Line], folder: Path, until: float, play: Play) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, who then ends us
    Thread(target=_end_with_parent, daemon=True).start()
    sys.exit(1 if work(lines, folder, until, play) else 0)


def _end_with_parent() -> None:
    """A parent that was killed cannot end us; what we claimed goes with us."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def share(
    lines: Sequence[Line], folder: Path, *, jobs: int, minutes: float, play: Play = trial
) -> int:
    """Let `jobs` processes work, with a bar that shows how many runs are left.

    Returns how many of them failed in something.
    """
    store, until = Store(folder), time.time() + 60 * minutes
    context = get_context("spawn")
    given = (lines, folder, until, play)
    crew = [context.Process(target=_crew_member, args=given) for _ in range(jobs)]
    total, done = left(lines, store), 0
    with Display("runs", total=total) as display:
        for worker in crew:
            worker.start()
        try:
            while any(worker.is_alive() for worker in crew):
                now = total - left(lines, store)
                display.advance(max(0, now - done))
                done = max(done, now)
                time.sleep(PAUSE)
        finally:
            for worker in crew:
                worker.terminate()  # a no-op for those done; the others' claims go with them
                worker.join()
    return sum(worker.exitcode != 0 for worker in crew)

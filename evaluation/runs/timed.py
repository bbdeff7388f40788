"""A cell of times: plates of a large pool, in a process of its own that is ended when it is late.

`python -m evaluation.runs.timed NAME ALGORITHM SEED PLATES` is that process. It writes a line per
plate, and ends with the one that started it.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import IO, Any, TypedDict

import numpy as np

import noregret as nr
from evaluation.methods.players import OursByPlate
from evaluation.problems.base import Problem
from evaluation.problems.large import LARGE, SMALL, Large, features, problem, values
from evaluation.runs import THREADS
from evaluation.runs.cells import Cell

CORES = "2"
START = 600.0  # seconds to make a pool
ALGORITHMS: dict[str, Callable[[Problem, Large, int], nr.Optimizer]] = {
    "auto": lambda held, at, seed: nr.auto(held.domain, workers=at.size, seed=seed),
    "gp-bucb": lambda held, at, seed: nr.gp_bucb(
        held.domain, rule=nr.FixedSize(at.size), seed=seed, **_model(held, at)
    ),
    "thompson": lambda held, at, seed: nr.batch_thompson(
        held.domain, batch_size=at.size, seed=seed, **_model(held, at)
    ),
}


class Times(TypedDict):
    """What the plates of a run took, one entry each."""

    seconds: list[float]  # of the clock, to tell the last plate's values and to ask for this one
    processor: list[float]  # seconds of all cores
    distinct: list[int]  # different candidates
    memory: list[float]  # bytes beyond the features, at most so far
    late: float | None  # after so many seconds the next plate was not there


def play(cell: Cell) -> Times:
    """Run a cell in a process that is killed if a plate takes longer than its limit."""
    at = (LARGE | SMALL)[cell.problem]
    plates = cell.horizon // at.size
    asked = (cell.problem, str(cell.method["algorithm"]), str(cell.repetition), str(plates))
    found = Times(seconds=[], processor=[], distinct=[], memory=[], late=None)
    with subprocess.Popen(
        [sys.executable, "-m", "evaluation.runs.timed", *asked],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **dict.fromkeys(THREADS, CORES)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        lines = queue.Queue[str]()
        assert process.stdout is not None, "a pipe was asked for"
        Thread(target=_pass_on, args=(process.stdout, lines), daemon=True).start()
        ready = False
        try:
            ready = bool(_line(lines, START))
            for _ in range(plates):
                line = _line(lines, at.limit)
                found["seconds"].append(line["seconds"])
                found["processor"].append(line["processor"])
                found["distinct"].append(line["distinct"])
                found["memory"].append(line["memory"])
        except queue.Empty:
            if not ready:
                raise RuntimeError(f"the pool was not there after {START:g} s.") from None
            found["late"] = at.limit
        finally:
            process.kill()
    return found


def _pass_on(out: IO[str], lines: queue.Queue[str]) -> None:
    for line in out:
        lines.put(line)
    lines.put("")


def _line(lines: queue.Queue[str], seconds: float) -> dict[str, Any]:
    """Return what the process says next; raise if it ended, or says nothing for so long."""
    text = lines.get(timeout=seconds)
    if not text:
        raise RuntimeError("the process ended before its last plate; it says why above.")
    said: dict[str, Any] = json.loads(text)
    return said


def _model(held: Problem, at: Large) -> dict[str, Any]:
    """Return what a user who knows this world would tell: scales, spread and noise are true."""
    spread = float(held.truth(np.arange(at.N)).std())
    kernel = nr.Tanimoto() if at.bits else nr.Matern(nu=2.5, lengthscale=at.d**0.5 / 2)
    offset = held.best - held.uniform
    return {"kernel": spread**2 * kernel, "noise_std": held.noise_std, "offset": offset}


def main(name: str, algorithm: str, seed: int, plates: int) -> None:
    """Fill plates, telling on a line of its own what each took."""
    at = (LARGE | SMALL)[name]
    X = features(at)
    f = values(at, X)
    known = _peak()
    held = problem(name, at, X, f)
    rng = np.random.default_rng([seed, 1])
    _say(ready=True)
    began, worked = time.perf_counter(), time.process_time()
    player = OursByPlate(held, ALGORITHMS[algorithm](held, at, seed))
    for _ in range(plates):
        player.ask(at.size)
        took = time.perf_counter() - began, time.process_time() - worked
        rows = player.points()
        distinct = len(np.unique(rows))
        _say(seconds=took[0], processor=took[1], distinct=distinct, memory=_peak() - known)
        told = held.feedback(rows, rng)
        began, worked = time.perf_counter(), time.process_time()
        player.tell(told)


def _peak() -> float:
    """Return the most bytes that this process ever held."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _say(**line: float) -> None:
    print(json.dumps(line), flush=True)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))

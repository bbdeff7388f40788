"""One measurement in a process: `python -m evaluation.speed.measure TASK`, a JSON object."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import cast

from evaluation.speed.machine import Machine, describe
from evaluation.speed.subjects import Figures, Floor, Settings, Subject

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
GRACE = 600.0  # seconds for setting up, beyond what a measurement may take
TAIL = 400  # characters of an error that are kept


def measured(subject: Subject, seed: int, threads: int) -> Figures:
    """Return the figures of a subject at a seed; an error is a figure too."""
    task = {
        "runner": subject.runner,
        "settings": dict(subject.settings),
        "seed": seed,
        "most_seconds": subject.most_seconds,
    }
    found = cast(Figures, _spawn(task, threads, 2 * subject.most_seconds + GRACE))
    if found.get("threads", 0) > threads:
        return {"error": f"ran on {found['threads']} threads in place of {threads}"}
    return found


def measured_machine(threads: int) -> tuple[Machine, Floor]:
    """Return what the machine is and what it can do."""
    found = _spawn({"runner": "machine", "threads": threads}, threads, GRACE)
    if "error" in found:
        raise RuntimeError(f"the machine could not be measured: {found['error']}")
    return cast(Machine, found["machine"]), cast(Floor, found["floor"])


def _spawn(task: dict[str, object], threads: int, timeout: float) -> dict[str, object]:
    """Run a task in a fresh interpreter, whose BLAS threads are fixed before NumPy is loaded."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    command = [sys.executable, "-m", "evaluation.speed.measure", json.dumps(task)]
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {timeout:.0f} s"}
    lines = run.stdout.strip().splitlines()
    if run.returncode or not lines:
        return {"error": f"exit {run.returncode}: {run.stderr[-TAIL:]}"}
    return cast(dict[str, object], json.loads(lines[-1]))


def _run(task: dict[str, object]) -> object:
    if task["runner"] == "machine":
        from evaluation.speed.floor import measure_floor

        return {"machine": describe(), "floor": measure_floor(cast(int, task["threads"]))}
    from evaluation.speed.meter import Meter

    runner = _runners()[cast(str, task["runner"])]
    meter = Meter(cast(float, task["most_seconds"]))
    figures = runner(cast(Settings, task["settings"]), cast(int, task["seed"]), meter)
    return {**figures, "threads": _threads()}


def _threads() -> int:
    """Return the most threads that a loaded BLAS or OpenMP may use."""
    from threadpoolctl import threadpool_info

    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=0)


def _runners() -> dict[str, Callable[..., Figures]]:
    from evaluation.speed import boxes, breadth, races, refits, runs

    return {
        "loop": runs.loop,
        "distinct": runs.distinct,
        "transcription": runs.transcription,
        "asks": runs.asks,
        "tell": runs.one_tell,
        "counts": runs.counts,
        "imports": runs.imports,
        "box": boxes.box,
        "thompson": breadth.thompson,
        "history": breadth.history,
        "refits": refits.refits,
        "peer asks": races.peer_asks,
        "same steps": races.same_steps,
        "race": races.race,
    }


def main() -> None:
    """Do the task given on the command line and print what was found."""
    from evaluation.data.files import Missing

    try:
        found = _run(json.loads(sys.argv[1]))
    except Missing as missing:
        found = {"skipped": str(missing)}
    except Exception as error:
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {error}"[:TAIL]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

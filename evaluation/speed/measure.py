"""One measurement in a process: `python -m evaluation.speed.measure TASK`, a JSON object."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from importlib import import_module
from typing import Any, cast

from evaluation.speed.machine import describe, measure_floor
from evaluation.speed.meter import Meter
from evaluation.speed.results import Figures, Subject

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
GRACE = 600.0  # seconds for setting up, beyond what a measurement may take
TAIL = 400  # characters of an error that are kept
RACES = ("transcription", "peer asks", "same steps", "race")  # of no code of the library


def measured(subject: Subject, seed: int, threads: int, source: str = "") -> Figures:
    """Return the figures of a subject at a seed; an error is a figure too.

    The package is imported from `source`, a folder, if one is given.
    """
    task = {
        "runner": subject.runner,
        "settings": dict(subject.settings),
        "seed": seed,
        "most_seconds": subject.most_seconds,
    }
    found = cast(Figures, _spawn(task, threads, 2 * subject.most_seconds + GRACE, source))
    if found.get("threads", 0) > threads:
        return {"error": f"ran on {found['threads']} threads in place of {threads}"}
    return found


def measured_machine(threads: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Return what the machine is and what it can do."""
    found = _spawn({"runner": "machine", "threads": threads}, threads, GRACE)
    if "error" in found:
        raise RuntimeError(f"the machine could not be measured: {found['error']}")
    return found["machine"], found["floor"]


def _spawn(
    task: dict[str, object], threads: int, timeout: float, source: str = ""
) -> dict[str, Any]:
    """Run a task in a fresh interpreter, whose BLAS threads are fixed before NumPy is loaded."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    if source:
        environment["PYTHONPATH"] = source
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
    return cast(dict[str, Any], json.loads(lines[-1]))


def _run(task: dict[str, Any]) -> object:
    name = task["runner"]
    if name == "machine":
        return {"machine": describe(), "floor": measure_floor(task["threads"])}
    module = import_module(f"evaluation.speed.{'races' if name in RACES else 'runs'}")
    runner = getattr(module, name.replace(" ", "_"))
    meter = Meter(task["most_seconds"])
    return {**runner(task["settings"], task["seed"], meter), "threads": _threads()}


def _threads() -> int:
    """Return the most threads that a loaded BLAS or OpenMP may use."""
    from threadpoolctl import threadpool_info

    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=0)


def main() -> None:
    """Do the task given on the command line and print what was found."""
    try:
        found = _run(json.loads(sys.argv[1]))
    except Exception as error:
        kind = type(error).__name__
        if kind == "Missing":  # of data; by its name, for another source tree may not import it
            found = {"skipped": str(error)}
        else:
            traceback.print_exc()
            found = {"error": f"{kind}: {error}"[:TAIL]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""One measurement in a process: `python -m evaluation.speed.measure TASK`, a JSON list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from importlib import import_module
from typing import Any, cast

from evaluation.speed.machine import Meter, describe, measure_floor
from evaluation.speed.results import Figures, Settings, Subject

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
GRACE = 600.0  # seconds for setting up, beyond what a measurement may take
TAIL = 400  # characters of an error that are kept
RACES = ("transcription", "peer asks", "same steps", "race")  # of no code of the library


def measured(subject: Subject, seed: int, threads: int, source: str = "") -> Figures:
    """Return the figures of a subject at a seed; an error is a figure too.

    The interpreter is a fresh one, whose BLAS threads are fixed before NumPy is loaded; it imports
    the package from `source`, a folder, if one is given.
    """
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    if source:
        environment["PYTHONPATH"] = source
    task = [subject.runner, dict(subject.settings), seed, subject.most_seconds]
    command = [sys.executable, "-m", "evaluation.speed.measure", json.dumps(task)]
    timeout = 2 * subject.most_seconds + GRACE
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {timeout:.0f} s"}
    lines = run.stdout.strip().splitlines()
    if run.returncode or not lines:
        return {"error": f"exit {run.returncode}: {run.stderr[-TAIL:]}"}
    found = cast(Figures, json.loads(lines[-1]))
    if found.get("threads", 0) > threads:
        return {"error": f"ran on {found['threads']} threads in place of {threads}"}
    return found


def measured_machine(threads: int) -> tuple[dict[str, Any], dict[str, float]]:
    found: dict[str, Any] = {**measured(Subject("", "machine", {"threads": threads}), 0, threads)}
    if "error" in found:
        raise RuntimeError(f"the machine could not be measured: {found['error']}")
    return found["machine"], found["floor"]


def _run(name: str, settings: Settings, seed: int, most_seconds: float) -> object:
    if name == "machine":
        return {"machine": describe(), "floor": measure_floor(settings["threads"])}
    module = import_module(f"evaluation.speed.{'races' if name in RACES else 'runs'}")
    runner = getattr(module, name.replace(" ", "_"))
    return {**runner(settings, seed, Meter(most_seconds)), "threads": _threads()}


def _threads() -> int:
    """Return the most threads that a loaded BLAS or OpenMP may use."""
    from threadpoolctl import threadpool_info

    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=0)


def main() -> None:
    """Do the task given on the command line and print what was found."""
    try:
        found = _run(*json.loads(sys.argv[1]))
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

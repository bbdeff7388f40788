"""Runs of the library and of the transcriptions: set up, then measured by a meter."""

from __future__ import annotations

import hashlib
import statistics
import subprocess
import sys
import time

import numpy as np

import noregret as nr
from evaluation.methods import transcriptions
from evaluation.methods.library import make_optimizer, work_of
from evaluation.problems.docking import make_molecules
from evaluation.problems.speed import Problem, make_problem
from evaluation.speed.meter import Meter
from evaluation.speed.subjects import Figures, Setting, Settings
from noregret.arrays import Indices, Vector

MARKS = 20  # prefixes of the choices whose digests are kept
LATER = 5  # asks averaged for the time of one that follows another
FRESH = 7  # interpreters started to time an import


def problem_of(settings: Settings, seed: int) -> Problem:
    """Return the problem that the settings name."""
    if settings.get("kernel") == "tanimoto":
        return make_molecules(integer(settings["N"]), seed=seed)
    return make_problem(
        integer(settings["N"]),
        d=integer(settings.get("d", 8)),
        kernel=str(settings.get("kernel", "rbf")),
        seed=seed,
    )


def integer(value: Setting) -> int:
    assert isinstance(value, int)
    return value


def integers(value: Setting) -> list[int]:
    assert isinstance(value, list)
    return value


def loop(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell until T evaluations are spent, from making the pool to the last tell."""
    problem, T = problem_of(settings, seed), integer(settings["T"])
    noise, chosen = problem.noise(T), []
    with meter:
        opt = make_optimizer(str(settings["algorithm"]), problem)
        while opt.spent < T and not meter.is_over:
            t = opt.spent
            batch = opt.ask(at_most=T - t)
            rows = np.repeat(batch.ids, batch.repeats)
            opt.tell(batch, problem.f[rows] + noise[t : t + len(rows)])
            chosen.append(rows)
    return _of_run(problem, np.concatenate(chosen), opt, meter, T)


def distinct(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Evaluate T different candidates, each told as soon as it is asked for, then excluded."""
    problem, T = problem_of(settings, seed), integer(settings["T"])
    rows, opt = distinct_rows(problem, str(settings["algorithm"]), T, meter)
    return _of_run(problem, rows, opt, meter, T)


def distinct_rows(
    problem: Problem, algorithm: str, T: int, meter: Meter
) -> tuple[Indices, nr.Optimizer]:
    noise, chosen = problem.noise(T), []
    with meter:
        opt = make_optimizer(algorithm, problem)
        while opt.spent < T and not meter.is_over:
            batch = opt.ask(at_most=1)
            opt.tell(batch, problem.f[batch.ids] + noise[opt.spent])
            opt.exclude(batch.ids)
            chosen.append(int(batch.ids[0]))
    return np.array(chosen, dtype=np.int64), opt


def transcription(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Run a paper's pseudo-code."""
    problem, T = problem_of(settings, seed), integer(settings["T"])
    runs = {
        "bkb": lambda: transcriptions.bkb(problem, T),
        "bbkb global": lambda: transcriptions.bbkb(problem, T),
        "bbkb local": lambda: transcriptions.bbkb(problem, T, local=True),
        "mini_gp_ucb": lambda: transcriptions.mini_gp_ucb(problem, T),
    }
    with meter:
        rows = runs[str(settings["algorithm"])]()
    return _of_run(problem, rows, None, meter, T)


def asks(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time asks after t different candidates were told: the first, and those that follow it."""
    problem, ts = problem_of(settings, seed), integers(settings["ts"])
    rows, values = told(problem, max(ts))
    opt = make_optimizer(str(settings["algorithm"]), problem)
    figures, have = Figures(steps=[], later=[]), 0
    for t in ts:
        opt.tell(rows[have:t], values[have:t])
        have = t
        taken = []
        for _ in range(1 + LATER):
            start = time.perf_counter()
            with meter:
                batch = opt.ask(at_most=1)
                opt.tell(batch, problem.f[batch.ids])
            taken.append(time.perf_counter() - start)
        figures["steps"].append((t, taken[0]))
        figures["later"].append((t, statistics.median(taken[1:])))
        if meter.is_over:
            break
    figures["work"] = work_of(opt)
    return {**figures, **meter.figures()}


def told(problem: Problem, most: int) -> tuple[Indices, Vector]:
    """Return different rows, drawn, with a noisy value each: a history for whoever is timed."""
    rng = np.random.default_rng(np.random.SeedSequence(problem.seed, spawn_key=(2,)))
    rows = rng.permutation(len(problem.X))[:most].astype(np.int64)
    return rows, problem.f[rows] + problem.noise(len(rows))


def one_tell(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell many values of some candidates at once."""
    problem, many = problem_of(settings, seed), integer(settings["values"])
    n = integer(settings["n"])
    rows = np.random.default_rng(seed).integers(n, size=many)
    values = problem.f[rows] + problem.noise(many)
    opt = make_optimizer(str(settings["algorithm"]), problem)
    with meter:
        opt.tell(rows, values)
    return {"evaluations": opt.evaluations, "unique": opt.unique, **meter.figures()}


def counts(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell the same n candidates T values in all, then ask and tell a little: T alone grows."""
    problem, T = problem_of(settings, seed), integer(settings["T"])
    n = integer(settings["n"])
    rows = np.repeat(told(problem, n)[0], T // n)
    values = problem.f[rows] + problem.noise(len(rows))
    with meter:
        opt = make_optimizer(str(settings["algorithm"]), problem)
        opt.tell(rows, values)
        for _ in range(20):
            batch = opt.ask(at_most=1)
            opt.tell(batch, problem.f[batch.ids])
    return _of_run(problem, rows, opt, meter, len(rows))


def imports(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time `import noregret` beyond numpy and scipy.linalg, in fresh interpreters."""
    del settings, seed  # nothing to choose
    code = (
        "import time, numpy, scipy.linalg; start = time.perf_counter(); import noregret;"
        "print(time.perf_counter() - start)"
    )
    taken = []
    with meter:
        for _ in range(FRESH):
            run = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            taken.append(float(run.stdout))
    return {**meter.figures(), "seconds": statistics.median(taken)}


def _of_run(
    problem: Problem, rows: Indices, opt: nr.Optimizer | None, meter: Meter, T: int
) -> Figures:
    figures: Figures = {
        **meter.figures(),
        "regret": problem.regret(rows) / len(rows),
        "evaluations": len(rows),
        "unique": len(np.unique(rows)),
        "marks": marks_of(rows, T),
    }
    if opt is not None:
        figures["batches"] = opt.batches
        figures["work"] = work_of(opt)
    if len(rows) < T:
        figures["stopped"] = len(rows)
    return figures


def marks_of(rows: Indices, T: int) -> list[str]:
    """Return digests of ever longer prefixes, which tell how long two runs chose alike."""
    digest, marks, start = hashlib.sha256(), [], 0
    for i in range(1, MARKS + 1):
        stop = i * T // MARKS
        digest.update(np.ascontiguousarray(rows[start:stop], dtype="<i8").tobytes())
        marks.append(digest.hexdigest()[:8])
        start = stop
    return marks

"""How much of `auto`'s time goes into learning its model anew."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import numpy as np

import noregret as nr
from evaluation.problems.speed import make_problem
from evaluation.speed.case import Case
from evaluation.speed.goals import Goal, Median
from evaluation.speed.meter import Meter
from evaluation.speed.subjects import Figures, Settings, Sizes, Subject
from noregret.automatic import policy
from noregret.fitting import FittedModel, learn

RUNS = (
    ("small", 1000, 200),
    ("short", 20_640, 200),
    ("large", 100_000, 200),
    ("long", 20_640, 10**4),
)


def refits(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell with nothing told of the model; time what `learn` takes of it."""
    N, T = settings["N"], settings["T"]
    assert isinstance(N, int)
    assert isinstance(T, int)
    problem, spent = make_problem(N, seed=seed), 0.0
    noise = problem.noise(T)

    def timed(*args: Any, **named: Any) -> FittedModel:
        nonlocal spent
        began = time.perf_counter()
        fitted = learn(*args, **named)
        spent += time.perf_counter() - began
        return fitted

    with patch.object(policy, "learn", timed), meter:
        opt = nr.auto(nr.Pool(problem.X), seed=seed)
        while opt.spent < T and not meter.is_over:
            t = opt.spent
            batch = opt.ask(at_most=T - t)
            rows = batch.sequence.astype(np.int64)
            opt.tell(batch, problem.f[rows] + noise[t : t + len(rows)])
    figures: Figures = {
        **meter.figures(),
        "evaluations": opt.evaluations,
        "unique": opt.unique,
        "batches": opt.batches,
        "one_pass": spent,
    }
    if opt.spent < T:
        figures["stopped"] = opt.spent
    return figures


def refit_cases(sizes: Sizes) -> list[Case]:
    """Return the case of the time that learning takes."""
    runs = [
        (name, sizes.subject(f"auto, N = {N}, T = {T}", "refits", N=N, T=T)) for name, N, T in RUNS
    ]
    goals = (
        Goal(f"time spent on learning, {name}", _share(run), "≤", 20, "%") for name, run in runs
    )
    return [
        Case(
            "refits",
            "what learning the model takes of auto's time",
            tuple(run for _, run in runs),
            tuple(goals),
            note="The first fit of a process loads what SciPy climbs with, 0.1 s of each run.",
        )
    ]


def _share(subject: Subject) -> Median:
    return Median(subject, lambda figures: 100.0 * figures["one_pass"] / figures["seconds"])

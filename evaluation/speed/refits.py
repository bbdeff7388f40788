"""How much of `auto`'s time goes into fitting its model."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

from evaluation.speed.meter import Meter
from evaluation.speed.runs import of_run, problem_of, run
from evaluation.speed.subjects import Figures, Settings
from noregret.automatic import policy
from noregret.fitting import FittedModel, learn


def refits(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell with nothing told of the model; time what `learn` takes of it."""
    problem, T, spent = problem_of(settings, seed), settings["T"], 0.0

    def timed(*args: Any, **named: Any) -> FittedModel:
        nonlocal spent
        began = time.perf_counter()
        fitted = learn(*args, **named)
        spent += time.perf_counter() - began
        return fitted

    with patch.object(policy, "learn", timed):
        opt, rows = run("auto", problem, T, meter)
    return {**of_run(problem, rows, meter, T, opt), "one_pass": spent}

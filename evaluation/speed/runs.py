"""Runs of the library: set up, then measured by a meter."""

from __future__ import annotations

import hashlib
import statistics
import subprocess
import sys
import time
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import noregret as nr
from evaluation.methods.library import make_optimizer, work_of
from evaluation.problems.landscapes import LANDSCAPES, Landscape
from evaluation.problems.speed import (
    NOISE_STD,
    Problem,
    exact_posterior,
    make_molecules,
    make_problem,
)
from evaluation.speed.machine import Meter
from evaluation.speed.results import Figures, Settings
from noregret.arrays import Indices, Matrix, Vector
from noregret.widths import WidthInputs

MARKS = 20  # prefixes of the choices whose digests are kept
LATER = 5  # asks averaged for the time of one that follows another
FRESH = 7  # interpreters started to time an import
IMPORT = (
    "import time, numpy, scipy.linalg; start = time.perf_counter(); import noregret;"
    "print(time.perf_counter() - start)"
)
PIECE = 2048  # rows of the pass that asks are held against
CANDIDATES = 100_000  # in a box, that what is found uphill is held against
BOX_NOISE_STD = 0.01  # f has mean 0 and standard deviation 1 over the box
EVERY = 5  # steps, at which scores are held against those of random candidates
TOGETHER = 4096  # candidates scored together


def problem_of(settings: Settings, seed: int) -> Problem:
    N, kernel = settings["N"], settings.get("kernel", "rbf")
    if kernel == "tanimoto":
        return make_molecules(N, seed=seed)
    return make_problem(N, d=settings.get("d", 8), kernel=kernel, seed=seed)


def run(
    algorithm: str, problem: Problem, T: int, meter: Meter, *, distinct: bool = False
) -> tuple[nr.Optimizer, Indices]:
    """Ask and tell until T evaluations are spent, from making the pool to the last tell.

    If they are to be `distinct`, each is told as soon as it is asked for, then excluded.
    """
    noise, chosen = problem.noise(T), []
    with meter:
        opt = make_optimizer(algorithm, problem)
        while opt.spent < T and not meter.is_over:
            t = opt.spent
            batch = opt.ask(at_most=1 if distinct else T - t)
            rows = np.repeat(batch.ids, batch.repeats)
            opt.tell(batch, problem.f[rows] + noise[t : t + len(rows)])
            if distinct:
                opt.exclude(batch.ids)
            chosen.append(rows)
    return opt, np.concatenate(chosen).astype(np.int64)


def loop(settings: Settings, seed: int, meter: Meter, *, distinct: bool = False) -> Figures:
    """Let an algorithm of the library spend T evaluations."""
    problem, T = problem_of(settings, seed), settings["T"]
    opt, rows = run(settings["algorithm"], problem, T, meter, distinct=distinct)
    return of_run(problem, rows, meter, T, opt)


distinct = partial(loop, distinct=True)


def thompson(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell with functions drawn from the posterior; then time one plain pass over it."""
    from noregret.threads import parallel_map, single_threaded_blas

    problem, T = problem_of(settings, seed), settings["T"]
    opt, rows = run("mini thompson", problem, T, meter)
    known = opt.evaluated
    posterior = exact_posterior(known, known.x, problem.kernel, NOISE_STD)
    parts = [slice(at, at + PIECE) for at in range(0, len(problem.X), PIECE)]
    with single_threaded_blas():
        began = time.perf_counter()
        parallel_map(lambda part: posterior.marginals(problem.X[part]), parts)
        one_pass = time.perf_counter() - began
    return {**of_run(problem, rows, meter, T, opt), "one_pass": one_pass}


def refits(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell with nothing told of the model; time what `learn` takes of it."""
    from noregret.automatic import model
    from noregret.fitting import FittedModel, learn

    problem, T, spent = problem_of(settings, seed), settings["T"], 0.0

    def timed(*args: Any, **named: Any) -> FittedModel:
        nonlocal spent
        began = time.perf_counter()
        fitted = learn(*args, **named)
        spent += time.perf_counter() - began
        return fitted

    with patch.object(model, "learn", timed):
        opt, rows = run("auto", problem, T, meter)
    return {**of_run(problem, rows, meter, T, opt), "one_pass": spent}


def steered(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell by the width that certifies a dictionary; time what the width takes of it."""
    problem, T, spent, beta = problem_of(settings, seed), settings["T"], 0.0, nr.NystromWidth.beta
    noise = problem.noise(T)

    def timed(width: nr.NystromWidth, inputs: WidthInputs) -> float:
        nonlocal spent
        began = time.perf_counter()
        found = beta(width, inputs)
        spent += time.perf_counter() - began
        return found

    with patch.object(nr.NystromWidth, "beta", timed), meter:
        width = 2**0.5 * nr.NystromWidth()
        pool, kernel = nr.Pool(problem.X), problem.kernel
        opt = nr.bbkb(pool, kernel=kernel, noise_std=NOISE_STD, width=width, seed=seed)
        while opt.spent < T and not meter.is_over:
            t = opt.spent
            batch = opt.ask(at_most=T - t)
            rows = np.asarray(batch.sequence, dtype=np.int64)
            opt.tell(batch, problem.f[rows] + noise[t : t + len(rows)])
    figures = meter.figures()
    return {
        **figures,
        "evaluations": opt.evaluations,
        "unique": opt.unique,
        "one_pass": spent,
    }


def history(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell past evaluations, half of them off the pool, and ask for a first batch."""
    N = settings["N"]
    n = min(settings["n"], 2 * N)
    whole = make_problem(N + n // 2, seed=seed)
    X, f, off = whole.X[:N], whole.f, np.arange(N, N + n // 2)
    inside = np.arange(n - n // 2)
    noise = whole.noise(n)
    with meter:
        opt = nr.bbkb(nr.Pool(X), kernel=whole.kernel, noise_std=NOISE_STD, seed=seed)
        opt.tell(inside, f[inside] + noise[: len(inside)])
        opt.tell(whole.X[off], f[off] + noise[len(inside) :])
        batch = opt.ask()
    began = time.perf_counter()
    opt.tell(batch, f[batch.sequence.astype(np.int64)])
    opt.ask()
    return {
        **meter.figures(),
        "evaluations": opt.evaluations,
        "unique": opt.unique,
        "members": int(opt.trace["dictionary"][-1]),
        "one_pass": time.perf_counter() - began,
    }


def asks(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time asks after t different candidates were told: the first, and those that follow it."""
    problem, ts = problem_of(settings, seed), settings["ts"]
    rows, values = told(problem, max(ts))
    opt = make_optimizer(settings["algorithm"], problem)
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


def tell(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell many values of some candidates at once."""
    problem, many = problem_of(settings, seed), settings["values"]
    rows = np.random.default_rng(seed).integers(settings["n"], size=many)
    values = problem.f[rows] + problem.noise(many)
    opt = make_optimizer(settings["algorithm"], problem)
    with meter:
        opt.tell(rows, values)
    return {"evaluations": opt.evaluations, "unique": opt.unique, **meter.figures()}


def counts(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell the same n candidates T values in all, then ask and tell a little: T alone grows."""
    problem, n = problem_of(settings, seed), settings["n"]
    rows = np.repeat(told(problem, n)[0], settings["T"] // n)
    values = problem.f[rows] + problem.noise(len(rows))
    with meter:
        opt = make_optimizer(settings["algorithm"], problem)
        opt.tell(rows, values)
        for _ in range(20):
            batch = opt.ask(at_most=1)
            opt.tell(batch, problem.f[batch.ids])
    return of_run(problem, rows, meter, len(rows), opt)


def imports(_settings: Settings, _seed: int, meter: Meter) -> Figures:
    """Time `import noregret` beyond numpy and scipy.linalg, in fresh interpreters."""
    command = [sys.executable, "-c", IMPORT]
    with meter:
        taken = [
            float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(FRESH)
        ]
    return {**meter.figures(), "seconds": statistics.median(taken)}


def box(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Evaluate one point at a time on a box; regret is that of the recommendation."""
    landscape, T = LANDSCAPES[settings["function"]], settings["T"]
    f, best = landscape.scaled()
    rng = np.random.default_rng(seed)
    opt = nr.gp_ei(
        nr.Box(landscape.bounds),
        kernel=nr.Matern(2.5, landscape.lengthscale),
        noise_std=BOX_NOISE_STD,
        width=nr.ConstantWidth(1.0),  # expected improvement as everybody has it
        seed=seed,
    )
    count = settings.get("candidates")  # drawn per step, where nothing is searched uphill
    ahead: list[bool] = []
    while opt.spent < T and not meter.is_over:
        with meter:
            X = opt.ask().x if count is None else _best_drawn(landscape, opt, count)
        if count is None and opt.spent and opt.spent % EVERY == 0:
            ahead.append(_is_ahead(landscape, opt, X))
        with meter:
            opt.tell(X, f(X) + BOX_NOISE_STD * rng.standard_normal(len(X)))
    figures: Figures = {
        **meter.figures(),
        "regret": best - float(f(opt.best().x[None])[0]),
        "evaluations": opt.evaluations,
        "unique": opt.unique,
    }
    if ahead:
        figures["ahead"] = 100 * float(np.mean(ahead))
    if opt.spent < T:
        figures["stopped"] = opt.spent
    return figures


def _drawn(landscape: Landscape, opt: nr.Optimizer, count: int) -> Matrix:
    """Return points drawn uniformly, others at each step, behind those evaluated before."""
    low, high = np.array(landscape.bounds).T
    drawn = np.random.default_rng(opt.spent).uniform(low, high, (count, len(low)))
    return np.concatenate([opt.evaluated.x, drawn])


def _best_drawn(landscape: Landscape, opt: nr.Optimizer, count: int) -> Matrix:
    """Return the point of highest expected improvement, the first of equals."""
    X = _drawn(landscape, opt, count)
    return X[[int(np.argmax(_scores(landscape, opt, X)))]]


def _scores(landscape: Landscape, opt: nr.Optimizer, X: Matrix) -> Vector:
    """Return expected improvements over the highest mean of these points."""
    known, kernel = opt.evaluated, nr.Matern(2.5, landscape.lengthscale)
    posterior = exact_posterior(known, landscape.unit(known.x), kernel, BOX_NOISE_STD)
    U = landscape.unit(X)
    parts = [posterior.marginals(U[at : at + TOGETHER]) for at in range(0, len(U), TOGETHER)]
    mean, variance = map(np.concatenate, zip(*parts, strict=True))
    return nr.ExpectedImprovement().score(mean, variance, 1.0, float(mean.max()))


def _is_ahead(landscape: Landscape, opt: nr.Optimizer, found: Matrix) -> bool:
    """Tell whether what is found uphill scores as high as the best of random candidates."""
    drawn = _drawn(landscape, opt, CANDIDATES)
    scores = _scores(landscape, opt, np.concatenate([found, drawn]))
    return bool(scores[0] >= scores.max() - 1e-9)


def of_run(
    problem: Problem, rows: Indices, meter: Meter, T: int, opt: nr.Optimizer | None = None
) -> Figures:
    """Return the figures of a run that chose these rows, and was to choose T."""
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
    digest, marks = hashlib.sha256(), []
    for i in range(MARKS):
        part = rows[i * T // MARKS : (i + 1) * T // MARKS]
        digest.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
        marks.append(digest.hexdigest()[:8])
    return marks

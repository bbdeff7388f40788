"""Functions drawn over a million candidates, and a hundred thousand past evaluations."""

from __future__ import annotations

import time

import numpy as np

import noregret as nr
from evaluation.problems.speed import NOISE_STD, Problem, exact_posterior, make_problem
from evaluation.speed.case import Case
from evaluation.speed.goals import Goal, Median, Ratio, seconds
from evaluation.speed.meter import Meter
from evaluation.speed.subjects import Figures, Settings, Sizes, Subject
from noregret.threads import parallel_map, single_threaded_blas

PIECE = 2048  # rows of the pass that asks are held against


def thompson(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Ask and tell with functions drawn from the posterior; then time one plain pass over it."""
    N, T = settings["N"], settings["T"]
    assert isinstance(N, int)
    assert isinstance(T, int)
    problem = make_problem(N, seed=seed)
    noise, chosen = problem.noise(T), []
    with meter:
        opt = nr.mini(
            nr.Pool(problem.X),
            kernel=problem.kernel,
            noise_std=NOISE_STD,
            acquisition=nr.Thompson(),
            seed=seed,
        )
        while opt.spent < T and not meter.is_over:
            t = opt.spent
            batch = opt.ask(at_most=T - t)
            rows = batch.sequence.astype(np.int64)
            opt.tell(batch, problem.f[rows] + noise[t : t + len(rows)])
            chosen.append(rows)
    rows = np.concatenate(chosen)
    figures: Figures = {
        **meter.figures(),
        "regret": problem.regret(rows) / len(rows),
        "evaluations": opt.evaluations,
        "unique": opt.unique,
        "batches": opt.batches,
        "one_pass": _one_pass(opt, problem),
    }
    if opt.spent < T:
        figures["stopped"] = opt.spent
    return figures


def _one_pass(opt: nr.Optimizer, problem: Problem) -> float:
    """Return the seconds of mean and variance at every row, on the last posterior."""
    known = opt.evaluated
    posterior = exact_posterior(known, known.x, problem.kernel, NOISE_STD)
    parts = [slice(at, at + PIECE) for at in range(0, len(problem.X), PIECE)]
    with single_threaded_blas():
        began = time.perf_counter()
        parallel_map(lambda part: posterior.marginals(problem.X[part]), parts)
        return time.perf_counter() - began


def history(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Tell past evaluations, half of them off the pool, and ask for a first batch."""
    N, n = settings["N"], settings["n"]
    assert isinstance(N, int)
    assert isinstance(n, int)
    n = min(n, 2 * N)
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


def breadth_cases(sizes: Sizes) -> list[Case]:
    """Return the cases of drawn functions and of history."""
    million = 10**6
    drawn = sizes.subject("mini(Thompson())", "thompson", seeds=1, N=million, T=100_000)
    past = sizes.subject("bbkb, n = 10⁵ told at once", "history", N=100_000, n=100_000)
    return [
        Case(
            "thompson",
            "Thompson sampling, N = 10⁶, T = 10⁵",
            (drawn,),
            (
                Goal("seconds", seconds(drawn), "≤", None, "s"),
                Goal("seconds an ask", _of_ask(drawn), "≤", None, "s"),
                Goal("an ask over one pass", Ratio(_of_ask(drawn), _pass(drawn)), "≤", 5, "×"),
            ),
            note="A pass computes mean and variance at every row on the last posterior.",
        ),
        Case(
            "history",
            "BBKB after 10⁵ past evaluations, N = 10⁵",
            (past,),
            (
                Goal("seconds to tell and to ask", seconds(past), "≤", 10, "s"),
                Goal("members of the dictionary", _members(past), "≤", None),
                Goal("seconds of the next batch", _pass(past), "≤", None, "s"),
            ),
            note="Half of them in the pool, half off it, all different.",
        ),
    ]


def _of_ask(subject: Subject) -> Median:
    return Median(subject, lambda figures: figures["seconds"] / figures["batches"])


def _pass(subject: Subject) -> Median:
    return Median(subject, lambda figures: figures.get("one_pass"))


def _members(subject: Subject) -> Median:
    return Median(subject, lambda figures: figures.get("members"))

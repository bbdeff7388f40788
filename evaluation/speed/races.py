"""Runs of the papers' pseudo-code, and of the peers: single asks, and whole races."""

from __future__ import annotations

import time

import numpy as np

from evaluation.methods import transcriptions
from evaluation.methods.peers import PEERS, Peer, rkhs_beta
from evaluation.problems.speed import Problem
from evaluation.speed.machine import Meter
from evaluation.speed.results import Figures, Settings
from evaluation.speed.runs import of_run, problem_of, run, told
from noregret.arrays import Indices, Vector

WARM_UP = 12  # evaluations known to a first ask that is not timed: it loads and sets up much


def transcription(settings: Settings, seed: int, meter: Meter) -> Figures:
    problem, T = problem_of(settings, seed), settings["T"]
    with meter:
        rows = transcriptions.ALGORITHMS[settings["algorithm"]](problem, T)
    return of_run(problem, rows, meter, T)


def peer_asks(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time one ask of a peer after each of several numbers of evaluations, until time is up."""
    problem = problem_of(settings, seed)
    rows, values = told(problem, max(*settings["ts"], WARM_UP))
    return _steps(settings, problem, rows, values, meter)


def same_steps(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time a peer at some steps of the library's own run, and see whether it would choose alike."""
    problem, steps = problem_of(settings, seed), max(settings["ts"]) + 1
    _, rows = run("gp_ucb", problem, steps, Meter(meter.most_seconds), distinct=True)
    values = problem.f[rows] + problem.noise(len(rows))
    return _steps(settings, problem, rows, values, meter, follow=True)


def _steps(
    settings: Settings,
    problem: Problem,
    rows: Indices,
    values: Vector,
    meter: Meter,
    *,
    follow: bool = False,
) -> Figures:
    """Time asks after growing parts of a run; if it is to `follow`, among what is not in them."""
    peer, figures = _warmed_up(settings, problem, rows, values), Figures(steps=[])
    agreed = []
    for t in settings["ts"]:
        peer.load(rows[:t], values[:t])
        allowed = np.setdiff1d(np.arange(len(problem.X)), rows[:t]) if follow else None
        chosen, seconds = _asked(peer, problem, rows[:t], meter, allowed)
        figures["steps"].append((t, seconds))
        agreed.append(follow and chosen == rows[t])
        if meter.is_over:
            break
    if follow:
        figures["agreed"] = float(np.mean(agreed))
    return {**figures, **meter.figures()}


def race(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Let a peer choose T evaluations one by one; only its own asks and tells are timed."""
    problem, T = problem_of(settings, seed), settings["T"]
    peer = _warmed_up(settings, problem, *told(problem, WARM_UP))
    peer.load(np.empty(0, dtype=np.int64), np.empty(0))
    noise, rows = problem.noise(T), [transcriptions.first_row(problem)]
    while True:
        with meter:
            peer.tell(rows[-1], float(problem.f[rows[-1]] + noise[len(rows) - 1]))
        if len(rows) == T or meter.is_over:
            break
        rows.append(_asked(peer, problem, np.array(rows), meter)[0])
    return of_run(problem, np.array(rows, dtype=np.int64), meter, T)


def _warmed_up(settings: Settings, problem: Problem, rows: Indices, values: Vector) -> Peer:
    peer = PEERS[settings["peer"]](problem)
    peer.load(rows[:WARM_UP], values[:WARM_UP])
    peer.ask(2.0, np.arange(min(100, len(problem.X))))
    return peer


def _asked(
    peer: Peer, problem: Problem, known: Indices, meter: Meter, allowed: Indices | None = None
) -> tuple[int, float]:
    """Return the row that a peer chooses, and the seconds of its ask."""
    beta = rkhs_beta(problem.kernel, problem.X[known])
    start = time.perf_counter()
    with meter:
        peer.ask(beta, allowed)
    seconds = time.perf_counter() - start
    return peer.row(), seconds

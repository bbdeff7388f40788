"""Runs of the peers: single asks after a given history, and whole races."""

from __future__ import annotations

import time

import numpy as np

from evaluation.methods.peers import PEERS, Optuna, Peer, rkhs_beta
from evaluation.problems.speed import Problem
from evaluation.speed.meter import Meter
from evaluation.speed.runs import distinct_rows, integer, integers, problem_of, told
from evaluation.speed.subjects import Figures, Settings
from noregret.arrays import Indices, Vector

WARM_UP = 12  # evaluations known to a first ask that is not timed: it loads and sets up much


def peer_asks(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time one ask of a peer after each of several numbers of evaluations, until time is up."""
    problem, ts = problem_of(settings, seed), integers(settings["ts"])
    peer = PEERS[str(settings["peer"])](problem)
    rows, values = told(problem, max(*ts, WARM_UP))
    _warm_up(peer, problem, rows, values)
    figures = Figures(steps=[])
    for t in ts:
        peer.load(rows[:t], values[:t])
        figures["steps"].append(
            (t, _timed(peer, rkhs_beta(problem.kernel, problem.X[rows[:t]]), None, meter)[1])
        )
        if meter.is_over:
            break
    return {**figures, **meter.figures()}


def same_steps(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Time a peer at some steps of the library's own run, and see whether it would choose alike."""
    problem, ts = problem_of(settings, seed), integers(settings["ts"])
    peer = PEERS[str(settings["peer"])](problem)
    rows, _ = distinct_rows(problem, "gp_ucb", max(ts) + 1, Meter(meter.most_seconds))
    values = problem.f[rows] + problem.noise(len(rows))
    _warm_up(peer, problem, rows, values)
    figures, agreed = Figures(steps=[]), []
    for t in ts:
        peer.load(rows[:t], values[:t])
        beta = rkhs_beta(problem.kernel, problem.X[rows[:t]])
        allowed = np.setdiff1d(np.arange(len(problem.X)), rows[:t])
        chosen, seconds = _timed(peer, beta, allowed, meter)
        figures["steps"].append((t, seconds))
        agreed.append(chosen == rows[t])
        if meter.is_over:
            break
    return {**figures, "agreed": float(np.mean(agreed)), **meter.figures()}


def race(settings: Settings, seed: int, meter: Meter) -> Figures:
    """Let a peer choose T evaluations one by one; only its own asks and tells are timed."""
    problem, T = problem_of(settings, seed), integer(settings["T"])
    peer = PEERS[str(settings["peer"])](problem)
    _warm_up(peer, problem, *told(problem, WARM_UP))
    peer.load(np.empty(0, dtype=np.int64), np.empty(0))
    noise, rows = problem.noise(T), [problem.first_row()]
    while True:
        with meter:
            peer.tell(rows[-1], float(problem.f[rows[-1]] + noise[len(rows) - 1]))
        if len(rows) == T or meter.is_over:
            break
        rows.append(_timed(peer, rkhs_beta(problem.kernel, problem.X[rows]), None, meter)[0])
    chosen = np.array(rows, dtype=np.int64)
    figures: Figures = {
        **meter.figures(),
        "regret": problem.regret(chosen) / len(chosen),
        "evaluations": len(chosen),
        "unique": len(np.unique(chosen)),
    }
    if len(chosen) < T:
        figures["stopped"] = len(chosen)
    return figures


def _warm_up(peer: Peer, problem: Problem, rows: Indices, values: Vector) -> None:
    peer.load(rows[:WARM_UP], values[:WARM_UP])
    peer.ask(2.0, np.arange(min(100, len(problem.X))))


def _timed(peer: Peer, beta: float, allowed: Indices | None, meter: Meter) -> tuple[int, float]:
    start = time.perf_counter()
    with meter:
        row = peer.ask(beta, allowed)
    seconds = time.perf_counter() - start
    return (peer.snapped() if isinstance(peer, Optuna) else row), seconds

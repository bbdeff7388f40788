"""Small problems of every kind, and how a contestant plays them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import noregret as nr
from evaluation.methods.contestants import Contestant
from evaluation.methods.players import Advice, Player
from evaluation.problems import base
from evaluation.problems.base import NOISE, Observations, Problem, recorded
from evaluation.problems.candidates import Listing, framed, measured
from evaluation.problems.comparison import problem
from evaluation.runs import reading
from evaluation.runs.cells import Cell
from evaluation.runs.reading import Reading, play
from noregret.arrays import Vector

BUDGETS = (6, 20)


def table(*, noise: float = 0.0) -> Problem:
    """Two categories and a number; nine of the twelve members are there."""
    rows = [(salt, base_, heat) for salt in "uvw" for base_ in "kl" for heat in (20.0, 80.0)][:9]
    words, others, heat = zip(*rows, strict=True)
    listing = framed({"salt": list(words), "base": list(others), "heat": np.array(heat)})
    return recorded("small", "Small", listing, np.arange(9.0), noise=noise)


def numeric(*, noise: float = 0.0) -> Problem:
    X = np.random.default_rng(0).random((40, 2)) * [1.0, 1000.0]
    values = -((X[:, 0] - 0.3) ** 2) - (X[:, 1] / 1000 - 0.6) ** 2
    return recorded("small", "Small", measured(("x", "y"), X), values, noise=noise)


def bits() -> Problem:
    rng = np.random.default_rng(1)
    described = measured(("weight",), rng.random((30, 1))).space
    pool = nr.BitPool(rng.integers(2, size=(30, 16)))
    listing = Listing(pool, described, np.arange(30))
    return recorded("small", "Small", listing, rng.random(30), noise=NOISE)


PROBLEMS = {
    "table": table(noise=NOISE),
    "exact table": table(),
    "numbers": numeric(noise=NOISE),
    "exact numbers": numeric(),
    "bits": bits(),
    "box": problem("branin"),
}


class Scripted:
    """Asks for rows that are known beforehand, in batches of three."""

    def __init__(self, rows: Sequence[int], advice: Advice) -> None:
        self.rows, self.advice = list(rows), advice
        self.asked, self.told = list[int](), list[float]()

    def ask(self, at_most: int) -> None:
        self.size = min(3, at_most)

    def points(self) -> Observations:
        taken, self.rows = self.rows[: self.size], self.rows[self.size :]
        self.asked.append(len(taken))
        return np.array(taken)

    def tell(self, values: Vector) -> None:
        self.told.extend(values.tolist())

    def advise(self) -> Advice:
        return self.advice


def played(
    monkeypatch: pytest.MonkeyPatch,
    held: Problem,
    who: str | Scripted,
    horizon: int = 20,
    budgets: tuple[int, ...] = BUDGETS,
) -> Reading:
    """Let a contestant, known by name, or a script play a problem up to a horizon."""
    monkeypatch.setattr(base, "BUDGETS", budgets)
    monkeypatch.setattr(reading, "problem", lambda _: held)
    name = who if isinstance(who, str) else "x"
    if isinstance(who, Scripted):
        known = {"x": Contestant("x", "X", lambda *_: who)}
        monkeypatch.setattr(reading, "CONTESTANTS", known)
    return play(Cell.of("small", {"algorithm": name}, horizon=horizon, repetition=3))


def evaluated(player: Player, held: Problem, count: int) -> list[int]:
    """Return the rows that a player asks for, one by one, told their true values."""
    rows = []
    for _ in range(count):
        player.ask(1)
        points = player.points()
        player.tell(held.truth(points))
        rows.append(int(points[0]))
    return rows

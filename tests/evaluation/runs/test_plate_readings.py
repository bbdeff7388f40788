"""Plates are filled, read off, and given up when they take too long."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from evaluation.methods.by_plate import FILLERS, Filler
from evaluation.methods.players import Advice, Player
from evaluation.problems.base import Problem, recorded
from evaluation.problems.candidates import in_order
from evaluation.runs import by_plate, limits
from evaluation.runs.by_plate import PlateReading, marks, play, top
from evaluation.runs.cells import Cell, Setting
from noregret.arrays import Vector
from small_readings import PROBLEMS, Scripted, table


class Slow:
    """Needs for ever to fill the plate after some."""

    def __init__(self, plates: int) -> None:
        self.left = plates

    def ask(self, at_most: int) -> None:
        self.size = at_most
        while not self.left:
            sum(range(1000))
        self.left -= 1

    def points(self) -> Vector:
        return np.zeros(self.size, dtype=np.int64)

    def tell(self, values: Vector) -> None: ...

    def advise(self) -> Advice:
        return Advice(np.array([0]))


def played(
    monkeypatch: pytest.MonkeyPatch,
    held: Problem,
    who: str | Player,
    size: int,
    plates: int,
) -> PlateReading:
    monkeypatch.setattr(by_plate, "problem", lambda _: held)
    if not isinstance(who, str):
        monkeypatch.setattr(by_plate, "FILLERS", {"x": Filler("x", "X", lambda *_: who)})
    setting: Setting = {"algorithm": who if isinstance(who, str) else "x", "batch": size}
    return play(Cell.of("small", setting, horizon=size * plates, repetition=3))


def test_plates_are_read_off_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: values are 0 to 8, so that row r falls short by 8 − r, and 8 is the top."""
    player = Scripted([0, 0, 7, 8, 8, 7], Advice(np.array([7]), 6.5, 7.5))
    found = played(monkeypatch, table(), player, 3, 2)
    assert player.asked == [3, 3]
    assert player.told == [0, 0, 7, 8, 8, 7]
    assert found == {
        **{"plates": [1, 2], "regret": [17.0, 18.0], "simple": [1.0, 1.0], "top": [0.0, 1.0]},
        **{"distinct": [2.0, 2.0], "seconds": found["seconds"], "late": False},
        **{"uniform": 4.0, "best": 8.0, "noise_std": 0.0},
    }


@pytest.mark.parametrize("plates", [0, 2])
def test_a_plate_that_takes_too_long_ends_the_run(
    plates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One method that never comes back must not stop the others."""
    monkeypatch.setattr(by_plate, "SECONDS", 0.2)
    found = played(monkeypatch, table(), Slow(plates), 4, 5)
    assert found["late"]
    assert found["plates"] == list(range(1, plates + 1))


def test_a_limit_ends_with_what_it_limits() -> None:
    with limits.at_most_seconds(0.05):
        pass
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    with pytest.raises(limits.Late), limits.at_most_seconds(0.05):
        catch_everything()


def catch_everything() -> None:
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "box"])
@pytest.mark.parametrize(
    "who", ["auto", "forest", "exploring-forest", "boosting", "evolution", "uniform"]
)
def test_a_contestant_fills_plates(who: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(played(monkeypatch, PROBLEMS[name], who, 3, 3), PROBLEMS[name], 3, 3)


@pytest.mark.parametrize("name", ["numbers", "bits"])
@pytest.mark.parametrize("who", ["gp-bucb", "thompson"])
def test_those_told_a_kernel_fill_plates(
    who: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(played(monkeypatch, PROBLEMS[name], who, 4, 3), PROBLEMS[name], 4, 3)


def check(found: PlateReading, held: Problem, size: int, plates: int) -> None:
    """What must hold of every reading."""
    assert found["plates"] == list(range(1, plates + 1))
    assert not found["late"]
    spans = np.diff(found["regret"], prepend=0.0)
    assert np.all((spans >= -1e-12) & (spans <= size * (held.best - held.worst) + 1e-12))
    assert np.all(np.diff(found["top"]) >= 0)
    assert all(1 <= one <= size for one in found["distinct"])
    assert all(0 <= one <= held.best - held.worst for one in found["simple"])


def test_runs_one_at_a_time_are_read_off_where_plates_are() -> None:
    assert marks(1, 960) == [240, 960]
    assert marks(24, 3) == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [(range(250), [247, 248, 249]), ([*range(96), 99, 99, 99, 98], [96, 97, 98])],
)
def test_the_top_is_a_hundredth_and_what_equals_its_last(
    values: Sequence[float], wanted: list[int]
) -> None:
    truth = np.array(values, dtype=np.float64)
    held = recorded("some", "Some", in_order(truth[:, None]), truth)
    assert top(held).tolist() == wanted


def test_who_is_limited_is_left_out_where_it_would_not_end() -> None:
    assert FILLERS["q-log-nei"].fills(24, 10, 4000)
    assert not FILLERS["q-log-nei"].fills(96, 10, 4000)
    assert not FILLERS["q-log-nei"].fills(8, 10, 10_000)
    assert FILLERS["tpe"].fills(96, 10, 10**6)
    assert not FILLERS["tpe"].fills(512, 10, 10**6)
    assert not FILLERS["auto"].limited

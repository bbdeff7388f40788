"""Designs on boxes, and at the edge of what they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.errors import ArgumentError
from small_designs import DESIGNS, POOL, SCALED, build, every_design

BOXES = {
    "real": nr.Box([(-5, 10), (1e-3, 1e3)], log=[1]),
    "mixed": nr.Box([(0, 1), (1, 4)], integer=[1]),
    "whole": nr.Box([(0, 3), (1, 4)], integer=[0, 1]),
}


@every_design
@pytest.mark.parametrize("kind", BOXES)
def test_designs_on_boxes(name: str, kind: str, tmp_path: Path) -> None:
    """Different points, inside, in parts as a whole, and the same after a night on disk."""
    box = BOXES[kind]
    batch = build(name, 10, box).ask()
    points = [tuple(x) for x in batch.x.tolist()]
    assert len(points) == len(set(points)) <= 10
    assert len(points) == 10 or (name == "uncertainty" and kind == "whole")
    box.read("x", batch.x)  # raises outside

    optimizer, got = build(name, 10, box), list[tuple[float, ...]]()
    optimizer.tell([[0.5, 2.0]] if kind == "mixed" else [[1, 2]], [0.1])
    for _ in range(20):
        optimizer.save(tmp_path / "run")
        optimizer = nr.load(tmp_path / "run", pool=box)
        part = optimizer.ask(at_most=3)
        if not part.reason.startswith("start"):
            break
        optimizer.tell(part, np.zeros(len(part)))
        got += [tuple(x) for x in part.x.tolist()]
    assert len(got) == len(set(got)) <= 9
    if name in ("uniform", "sobol"):
        assert set(got) <= set(points) | {(1.0, 2.0)}


def test_a_box_of_few_points_is_soon_exhausted() -> None:
    box = nr.Box([(0, 1), (0, 3)], integer=[0, 1])
    for name in ("uniform", "sobol", "farthest"):
        optimizer, seen = build(name, 50, box), set()
        for _ in range(5):
            batch = optimizer.ask()
            if not batch.reason.startswith("start"):
                break
            seen |= {tuple(x) for x in batch.x.tolist()}
            optimizer.tell(batch, np.zeros(len(batch)))
        assert len(seen) == 8


def test_farthest_points_of_a_box_reach_its_corners() -> None:
    """Spread by a cloud: the five points of a square lie far apart."""
    x = build("farthest", 5, nr.Box([(0, 1), (0, 1)]), seed=1).ask().x
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(5, 1)]
    assert gaps.min() > 0.45


class Ends:
    """Somebody else's start: both ends of the pool."""

    reason = "start: the ends"

    def picks(self, evidence: nr.policies.Evidence, room: int) -> nr.pools.Picks:
        rows = np.setdiff1d([0, evidence.points.candidates - 1], evidence.told.rows)
        return evidence.points.picks(rows[:room])


def test_a_start_of_ones_own() -> None:
    optimizer = nr.gp_ucb(POOL, kernel=SCALED, noise_std=0.3, start=Ends())
    assert optimizer.ask().ids.tolist() == [0, 89]


@every_design
@pytest.mark.parametrize("bad", [0, -3, 2.5, True, "ten", None])
def test_sizes_must_be_counts(name: str, bad: object) -> None:
    """Named as the user wrote it."""
    with pytest.raises(ArgumentError, match=r"Design\(size\) must be"):
        DESIGNS[name](bad)  # type: ignore[arg-type]  # on purpose


@every_design
def test_a_class_is_not_a_design(name: str) -> None:
    """A forgotten pair of brackets."""
    with pytest.raises(ArgumentError, match=r"such as \w+Design\(8\), got the class"):
        nr.gp_ucb(POOL, kernel=SCALED, noise_std=0.3, start=DESIGNS[name])  # type: ignore[arg-type]  # on purpose


def test_points_off_the_pool_do_not_end_a_design() -> None:
    pool = nr.Pool(np.linspace(0, 1, 40)[:, None])
    optimizer = nr.gp_ucb(pool, kernel=nr.RBF(0.3), noise_std=0.1, start=nr.SobolDesign(8))
    optimizer.tell(np.linspace(2, 3, 8)[:, None], np.zeros(8))
    assert len(optimizer.ask()) == 8

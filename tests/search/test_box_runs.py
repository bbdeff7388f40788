"""Runs on boxes: what they find, and how their points are numbered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.errors import PoolError

BOX = nr.Box([(-2.0, 2.0), (1, 9)], integer=[1])
ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "mini_gp_ucb": nr.mini_gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb": partial(nr.gp_bucb, rule="local"),
    "bkb": nr.bkb,
    "bbkb": nr.bbkb,
    "bbkb-local": partial(nr.bbkb, rule="local"),
    "thompson": partial(nr.batch_thompson, batch_size=3),
    "mini-thompson": partial(nr.mini, acquisition=nr.Thompson()),
}


def bowl(X: Matrix) -> Vector:
    return np.asarray(-((X[:, 0] - 0.5) ** 2) - 0.02 * (X[:, 1] - 4) ** 2)


def start(name: str, seed: int = 0) -> nr.Optimizer:
    kernel = nr.Matern(2.5, 0.4)
    return ALGORITHMS[name](BOX, kernel=kernel, noise_std=0.1, seed=seed)


def go_on(optimizer: nr.Optimizer, turns: int, seed: int) -> list[list[float]]:
    rng, seen = np.random.default_rng(seed), []
    for _ in range(turns):
        batch = optimizer.ask(at_most=6)
        x = np.repeat(batch.x, batch.repeats, axis=0)
        optimizer.tell(batch, bowl(x) + 0.1 * rng.standard_normal(len(x)))
        seen.extend(x.tolist())
    return seen


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_on_a_box_finds_the_top(name: str, tmp_path: Path) -> None:
    """And one that was saved on the way goes on as the unbroken one."""
    optimizer = start(name)
    go_on(optimizer, 5, 1)
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=BOX)
    assert go_on(optimizer, 7, 2) == go_on(again, 7, 2)
    best = optimizer.best()
    assert bowl(best.x[None])[0] > -0.25
    assert best.x[1] == round(best.x[1])
    certificate = optimizer.certificate()
    assert any("many starts" in a.statement for a in certificate.assumptions)


def test_a_policy_used_again_numbers_points_by_its_own_run() -> None:
    """Composing an optimizer from the parts of another must not mix up their points."""
    first = start("gp_ei")
    assert isinstance(first.policy, nr.Bandit)
    go_on(first, 3, 1)
    other = nr.Optimizer(BOX, replace(first.policy, batching=nr.FixedSize(2)))
    go_on(other, 6, 2)
    assert other.unique > 8


def test_a_point_told_again_is_the_same_point() -> None:
    """Near-copies would fill the model with rows that say the same."""
    optimizer = start("gp_ei")
    batch = optimizer.ask()
    optimizer.tell(batch, [0.0] * len(batch))
    optimizer.tell(batch.x, [1.0])
    assert (optimizer.unique, optimizer.evaluations) == (1, 2)
    optimizer.tell([[0.25, 3]], means=[0.5], counts=[4])
    optimizer.tell([[0.25, 3]], [0.5])
    assert (optimizer.unique, optimizer.evaluations) == (2, 7)


def test_mini_on_a_box_keeps_few_points() -> None:
    rng = np.random.default_rng(0)
    result = nr.maximize(
        lambda x: float(bowl(x[None])[0] + 0.3 * rng.standard_normal()),
        BOX,
        algorithm=nr.mini_gp_ucb,
        budget=1000,
        kernel=nr.RBF(0.5),
        noise_std=0.3,
        progress=False,
    )
    assert result.optimizer.unique < 60
    assert bowl(result.best().x[None])[0] > -0.1


def test_points_given_come_first() -> None:
    optimizer = nr.gp_ucb(
        BOX, kernel=nr.RBF(0.3), noise_std=0.1, start=[[0.0, 5], [1.0, 2], [0.0, 5]]
    )
    batch = optimizer.ask()
    assert batch.x.tolist() == [[0.0, 5.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: nr.Box([]), "pairs"),
        (lambda: nr.Box([1, 2]), "pairs"),
        (lambda: nr.Box({"rate": (0, 1)}), "without names"),
        (lambda: nr.Box([(0, 1, 2)]), "pairs"),
        (lambda: nr.Box([(1, 0)]), "smaller"),
        (lambda: nr.Box([(0, 0)]), "smaller"),
        (lambda: nr.Box([(0, float("nan"))]), "finite"),
        (lambda: nr.Box([(0, 1)], log=[0]), "above 0"),
        (lambda: nr.Box([(0.5, 2)], integer=[0]), "whole"),
        (lambda: nr.Box([(0, 1)], log=[1]), "from 0 to 0"),
        (lambda: nr.Box([(0, 2**40)], integer=[0]), "so many whole numbers cannot"),
        (lambda: nr.Box([(1, 10**9)], integer=[0], log=[0]), "so many whole numbers cannot"),
        (lambda: nr.Box([(-1e308, 1e308)]), "too wide for"),
        (lambda: nr.Box([(1e-200, 1e200)], log=[0]), "too wide for"),
        (lambda: nr.Box([(0, 1)], integer=[True]), "by number"),
    ],
)
def test_a_bad_box_is_refused(make: Callable[[], object], match: str) -> None:
    with pytest.raises(PoolError, match=match):
        make()


def test_bad_points_are_refused_and_change_nothing() -> None:
    optimizer = start("gp_ei")
    for bad, match in (
        ([[3.0, 2]], "goes from -2 to 2 in this box"),
        ([[0.0, 2.5]], "whole"),
        ([[0.0]], "columns"),
        ([[np.nan, 2]], "finite"),
        ([7], "outside the 0 points"),
        (["a"], "by their numbers"),
    ):
        with pytest.raises(nr.NoRegretError, match=match):
            optimizer.tell(bad, [0.0])
    with pytest.raises(nr.NoRegretError, match="no candidates to exclude"):
        optimizer.exclude([0])
    assert optimizer.evaluations == optimizer.unique == 0

"""auto on odd pools, on boxes and on bits."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr


@pytest.mark.parametrize("pool", [nr.Pool([[0.5]]), nr.Pool([[1.0]] * 4), nr.BitPool([[0, 1]])])
def test_tiny_pools_will_do(pool: nr.Pool | nr.BitPool) -> None:
    opt = nr.auto(pool)
    for value in (1.0, 2.0, 1.5, 1.2, 1.7, 1.1, 1.9, 1.3, 1.4):
        batch = opt.ask(at_most=1)
        opt.tell(batch, [value])
    assert opt.best().evaluations >= 1
    assert 0.9 < opt.best().mean < 2.1


def test_a_box_is_searched_too() -> None:
    result = nr.minimize(
        lambda x: float((x[0] - 3) ** 2 + x[1] ** 2), nr.Box([(-5, 10), (-4, 4)]), budget=60
    )
    assert result.best().mean < 1.0


def test_bits_are_searched_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(300, 64))
    worth = X[:, :8].sum(axis=1) / 8
    opt = nr.auto(nr.BitPool(X))
    while opt.spent < 120:
        batch = opt.ask(at_most=120 - opt.spent)
        ids = batch.sequence.astype(int)
        opt.tell(batch, worth[ids] + 0.05 * rng.standard_normal(len(ids)))
    assert worth[opt.best().id] >= np.sort(worth)[-10]


def test_features_that_never_change_do_not_matter() -> None:
    """A lengthscale nobody can learn is short by its prior alone."""
    x = np.linspace(0, 1, 60)
    X = np.column_stack([np.full(60, 500.0), x, np.tile([1.0, 0.0], (60, 1))])
    opt = nr.auto(nr.Pool(X))
    opt.tell(np.arange(0, 60, 2), np.sin(9 * x[::2]))
    said = opt.account()
    assert "changes most along (over so much of their ranges): feature 1 " in said
    assert "feature 0" not in said
    assert "features 2 to 3" not in said

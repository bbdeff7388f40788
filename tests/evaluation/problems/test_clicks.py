"""Worlds of ads are made as they say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evaluation.data.files import Missing
from evaluation.problems import clicks
from evaluation.problems.base import Problem
from evaluation.problems.by_plate import CLICKS, POOLS
from evaluation.problems.clicks import HIGH, LOW
from evaluation.problems.comparison import PROBLEMS
from evaluation.problems.landscapes import LANDSCAPES

MADE: dict[str, Callable[[], Problem]] = {
    "linear": lambda: clicks.linear(3000),
    "crossed": lambda: clicks.crossed(3),
    "niches": lambda: clicks.niches(3000),
}


@pytest.fixture(scope="module", params=MADE)
def held(request: pytest.FixtureRequest) -> Problem:
    return MADE[request.param]()


def test_rates_go_from_the_lowest_to_the_highest(held: Problem) -> None:
    rates = held.values
    assert (rates.min(), rates.max()) == pytest.approx((LOW, HIGH))
    assert LOW < rates.mean() < 0.3 * HIGH
    assert held.best == rates.max()


def test_every_showing_is_clicked_or_not(held: Problem) -> None:
    best = np.full(20_000, held.values.argmax())
    shown = held.feedback(best, np.random.default_rng(0))
    assert set(shown) == {0.0, 1.0}
    assert shown.mean() == pytest.approx(HIGH, abs=0.02)
    assert held.noise_std == pytest.approx(
        np.percentile(np.sqrt(held.values * (1 - held.values)), 90)
    )


def test_a_linear_world_is_linear() -> None:
    held = MADE["linear"]()
    X = np.column_stack([held.numbers, np.ones(len(held.values))])
    weights, *_ = np.linalg.lstsq(X, np.log(held.values), rcond=None)
    assert X @ weights == pytest.approx(np.log(held.values))
    assert weights[:12] / weights[0] == pytest.approx(1 / np.arange(1, 13))


def test_a_crossed_world_has_every_combination_and_effects_of_pairs() -> None:
    """Without a third level's effect: what two categories do together adds up over pairs."""
    held = MADE["crossed"]()
    assert held.space.table is not None
    assert len(np.unique(held.space.table, axis=0)) == 1000
    log = np.log(held.values).reshape(10, 10, 10)
    thirds = np.diff(np.diff(np.diff(log, axis=0), axis=1), axis=2)
    assert np.abs(thirds).max() < 1e-9
    assert np.abs(np.diff(np.diff(log, axis=0), axis=1)).max() > 0.1


def test_niches_are_hills() -> None:
    """The best ad lies near the middle of one, far ones have the lowest rate."""
    held = MADE["niches"]()
    X, rates = held.numbers, held.values
    apart = np.linalg.norm(X - X[rates.argmax()], axis=1)
    near = apart < 0.2
    assert rates[near].mean() > 3 * rates[~near].mean()


def test_plates_are_of_every_pool_of_the_comparison() -> None:
    assert set(POOLS) - set(PROBLEMS) == {"enamine10k", "enamine10k-noisy"}
    assert set(PROBLEMS) - set(POOLS) == set(LANDSCAPES)
    assert [*CLICKS] == [*(f"clicks-{name}" for name in MADE), "clicks-open-bandit"]


def test_the_smaller_library_is_another() -> None:
    try:
        held, noisy = POOLS["enamine10k"](), POOLS["enamine10k-noisy"]()
    except Missing as error:
        pytest.skip(str(error))
    assert held.candidates == noisy.candidates == 10_449
    assert held.best == pytest.approx(9.9)
    assert held.noise_std == 0
    assert noisy.noise_std == pytest.approx(0.05 * (9.9 - 4.5))

"""When auto fits a model, and what it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.automatic import AutoConstants
from small_auto import GRID, chosen, fitted_of, hill, model_of, run


def test_the_posterior_is_where_the_values_are() -> None:
    """The learned mean is taken out for the model, and given back to the user."""
    opt = run(nr.auto(nr.Pool(GRID)), 80, f=lambda X: 50 + hill(X))
    best = opt.best()
    assert opt.posterior.mean(best.x[None])[0] == pytest.approx(best.mean)
    assert opt.explain(best.id).mean == pytest.approx(best.mean)
    assert 50 < best.mean < 52
    assert 50 < opt.certificate().guaranteed + 5 < opt.certificate().reachable + 5


def test_models_are_fitted_on_a_geometric_schedule() -> None:
    """Refits are few: as the logarithm of the points, or of the values."""
    opt = run(nr.auto(nr.Pool(GRID)), 400)
    most = 2 + math.log(400 / 5) / math.log(1.1) + math.log2(400)
    assert 3 < fitted_of(opt).number < most
    seldom = run(chosen(AutoConstants(growth=2.0, surprised_growth=2.0), nr.Pool(GRID)), 400)
    assert 3 < fitted_of(seldom).number < 2 + 2 * math.log2(400)


def test_a_model_is_fitted_only_when_a_batch_opens() -> None:
    opt = run(nr.auto(nr.Pool(GRID)), 60)
    before = fitted_of(opt)
    opt.tell(np.arange(50), hill(GRID[:50]))
    opt.best()
    assert fitted_of(opt) is before
    opt.ask()
    assert fitted_of(opt).number == before.number + 1


def test_noise_is_learned() -> None:
    opt = run(nr.auto(nr.Pool(GRID)), 300, noise=0.2)
    assert fitted_of(opt).estimate.noise_std == pytest.approx(0.2, rel=0.2)


def test_noise_is_learned_of_averages_too() -> None:
    """Averages of ten values scatter by a third of what values do."""
    rng = np.random.default_rng(0)
    opt = nr.auto(nr.Pool(GRID))
    for _ in range(6):
        ids = np.arange(0, 225, 5)
        means = hill(GRID[ids]) + 0.3 / math.sqrt(10) * rng.standard_normal(len(ids))
        opt.tell(ids, means=means, counts=np.full(len(ids), 10))
    opt.ask()
    assert fitted_of(opt).estimate.noise_std == pytest.approx(0.3, rel=0.15)


def test_a_model_that_is_sure_and_wrong_is_left() -> None:
    """A narrow peak far from a broad hill, of which no evaluation near the hill tells anything."""
    line = np.linspace(0, 1, 60)[:, None]

    def peak(X: Matrix) -> Vector:
        far, near = X[:, 0] - 0.9, X[:, 0] - 0.2
        f: Vector = 0.5 - 0.3 * near**2 + np.exp(-0.5 * (far / 0.03) ** 2)
        return f

    found = [
        run(nr.auto(nr.Pool(line), seed=seed), 250, noise=0.02, f=peak, seed=seed).best().x[0]
        for seed in range(12)
    ]
    assert sum(abs(x - 0.9) < 0.02 for x in found) >= 10


def test_many_points_are_seen_through_a_dictionary() -> None:
    opt = run(chosen(AutoConstants(exact_points=40), nr.Pool(GRID)), 60)
    opt.tell(np.arange(0, 225, 3), hill(GRID[::3]))
    run(opt, 300)
    assert model_of(opt).is_sparse
    assert "dictionary" in opt.account()
    assert opt.trace["dictionary"][-1] < opt.unique
    assert hill(opt.best().x[None])[0] > 0.9


def test_histories_of_any_length_come_first() -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(225, size=5000)
    opt = nr.auto(nr.Pool(GRID))
    opt.tell(ids, hill(GRID[ids]) + 0.3 * rng.standard_normal(5000))
    assert "design" not in opt.ask().reason
    assert hill(opt.best().x[None])[0] > 0.9

"""Boxes: gradients, what is found, points recognised, units."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import Acquisition, Mean, Uncertainty
from noregret.arrays import Vector
from noregret.kernels import Kernel, diagonal_slopes, slopes
from noregret.pools import Points
from noregret.posteriors import ExactPosterior, Observations, Posterior
from noregret.search import BoxSearch
from noregret.search.box import of_acquisition
from noregret.search.box_ascent import APART, Ascent
from slow_search import swapped
from strategies import Scene, no_rng, scenes

BOX = nr.Box([(-2.0, 2.0), (1, 9)], integer=[1])
NOBODY = np.zeros(0, dtype=np.bool_)
HOW: tuple[Acquisition, ...] = (
    *(nr.UCB(), nr.ExpectedImprovement(), Uncertainty(), Mean()),
    *(nr.KnowledgeGradient(ahead=50.0), nr.KnowledgeGradient(ahead=50.0, noise=0.1)),
)


def differences(f: Callable[[Vector], float], x: Vector, step: float = 1e-5) -> Vector:
    """The gradient of f at x, by moving each coordinate."""
    steps = step * np.eye(len(x))
    return np.array([(f(x + s) - f(x - s)) / (2 * step) for s in steps])


@pytest.mark.parametrize(
    "kernel",
    [
        nr.RBF(0.5),
        nr.RBF((0.5, 1.0, 2.0)),
        nr.Matern(0.5, 0.8),
        nr.Matern(1.5, (0.5, 1.0, 2.0)),
        nr.Matern(2.5, 0.8),
        nr.Linear(0.3),
        2.0 * nr.RBF(0.5) + nr.Linear(0.1),
        nr.RBF(0.6) * nr.Matern(2.5, 1.0),
        nr.FunctionKernel(nr.RBF(0.7)),  # which does not know its gradients
    ],
    ids=repr,
)
def test_a_kernel_knows_its_gradient(kernel: Kernel) -> None:
    """A wrong slope sends every ascent astray, quietly."""
    rng = np.random.default_rng(3)
    X, Z, C = rng.random((4, 3)), rng.random((7, 3)), rng.standard_normal((4, 7))
    (values, gradient_of), half = slopes(kernel, X, Z), diagonal_slopes(kernel, X)
    gradient = gradient_of(C)
    np.testing.assert_allclose(values, kernel(X, Z), rtol=1e-12)
    for i in range(4):

        def one(u: Vector, i: int = i) -> float:
            return float(C[i] @ kernel(u[None], Z)[0])

        np.testing.assert_allclose(gradient[i], differences(one, X[i]), rtol=1e-6, atol=1e-8)
        own = differences(lambda u: float(kernel.diagonal(u[None])[0]), X[i])
        np.testing.assert_allclose(half[i], own / 2, rtol=1e-6, atol=1e-8)


@given(st.integers(0, 2**20), st.integers(1, 900), st.integers(1, 40), st.integers(1, 3))
def test_starts_are_the_highest_that_are_apart(seed: int, n: int, most: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    raw, known = rng.random((n, dim)), rng.integers(0, 50, n).astype(np.float64)
    ascent = Ascent(nr.Box([(0, 1)] * dim), raw, raw)
    wanted: list[Vector] = []
    for x in raw[np.argsort(-known, kind="stable")]:
        if len(wanted) < most and all(np.abs(x - one).max() > APART for one in wanted):
            wanted.append(x)
    np.testing.assert_array_equal(ascent.starts(raw, known, most), wanted)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_slopes_at_a_point_met_are_zero(nu: float) -> None:
    """An ascent starts at points met before, where distances are zero."""
    X = np.array([[0.3, 0.4], [0.9, 0.1]])
    gradient = slopes(nr.Matern(nu, 0.5), X, X)[1](np.eye(2))
    np.testing.assert_allclose(gradient, 0.0, atol=1e-15)


@given(scenes(), st.integers(0, len(HOW) - 1), st.booleans())
def test_gradients_are_those_of_the_score(scene: Scene, which: int, sparse: bool) -> None:
    """L-BFGS stops early, or never, on a gradient that is not that of its function."""
    posterior: Posterior = scene.nystrom(3) if sparse else scene.exact()
    acquisition, X = HOW[which], scene.pool[-2:]
    best_mean = float(posterior.mean(scene.pool).max()) + 0.1
    hill = of_acquisition(posterior, acquisition, 1.7, best_mean)
    values, gradients = hill.uphill(X)
    np.testing.assert_allclose(values, hill.scores(X)[0], rtol=1e-6, atol=1e-9)
    for x, slope in zip(X, gradients, strict=True):
        expected = differences(lambda u: float(hill.scores(u[None])[0][0]), x, 1e-4)
        scale = 1e-4 * (1 + np.abs(expected).max())
        np.testing.assert_allclose(slope, expected, rtol=2e-3, atol=scale)


def told(box: nr.Box, n: int, kernel: Kernel, seed: int) -> ExactPosterior:
    rng = np.random.default_rng(seed)
    X = box.sample(n, rng)
    points = Observations(np.arange(n), X, np.ones(n), rng.standard_normal(n))
    prior = ExactPosterior.prior(kernel, noise_std=0.1, ridge=0.01, dim=box.dim)
    return prior.condition(points, Observations.none(box.dim), no_rng())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", [nr.UCB(), nr.ExpectedImprovement()], ids=["ucb", "ei"])
def test_what_is_found_is_as_high_as_a_fine_grid(how: Acquisition, seed: int) -> None:
    """The search of a box promises nothing, but must find what a patient eye would."""
    box = nr.Box([(0, 1), (0, 1)])
    posterior = told(box, 12, nr.RBF(0.2), seed)
    ranking = BoxSearch().rank(Points(box, posterior.observed.X), posterior, how, 2.0, NOBODY)
    line = np.linspace(0, 1, 201)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    best_mean = float(posterior.mean(grid).max())
    best = how.score(*posterior.marginals(grid), 2.0, best_mean).max()
    found = how.score(
        *posterior.marginals(ranking.picks(np.array([ranking.best()])).X), 2.0, best_mean
    )
    assert float(found[0]) >= best - 1e-3 * abs(best)


@pytest.mark.parametrize("seed", range(3))
def test_asking_how_often_a_point_stays_best_changes_no_later_choice(seed: int) -> None:
    """What is found on the way must not count as met: the next search would start elsewhere."""
    box = nr.Box([(0, 1), (0, 1)])
    posterior = told(box, 6, 0.03 * nr.RBF(0.2), seed)
    points = Points(box, posterior.observed.X)
    one, other = (BoxSearch().rank(points, posterior, nr.UCB(), 20.0, NOBODY) for _ in range(2))
    for _ in range(6):
        row = one.best()
        assert one.repeats_while_best(row, 9) == one.repeats_while_best(row, 9)
        assert other.best() == row
        one.shrink(row, 1)
        other.shrink(row, 1)
        x, z = one.picks(np.array([row])).X, other.picks(np.array([row])).X
        np.testing.assert_array_equal(x, z)


@given(st.integers(0, 2**20), st.sampled_from([0.05, 0.3, 1.0]))
def test_a_point_met_is_taken_again_within_its_leeway(seed: int, leeway: float) -> None:
    """Never where its bound, widened, is below one that was found: that is what regret rests on."""
    box, beta = nr.Box([(0, 1), (0, 1)]), 1.5
    posterior = told(box, 40, 0.01 * nr.RBF(0.5), seed)  # as small as the noise
    search, points = BoxSearch(), Points(box, posterior.observed.X)
    free, bound = (
        search.rank(points, posterior, how, beta, NOBODY) for how in (nr.UCB(), nr.UCB(leeway))
    )
    highest, row = free.score(free.best()), bound.best()
    mean, variance = posterior.marginals(posterior.observed.X)
    wider = mean + (1 + leeway) * beta * np.sqrt(variance)
    if wider.max() >= highest + 1e-9:
        assert row == int(np.argmax(wider))
    elif wider.max() < highest - 1e-3:
        assert row == free.best()


def test_points_of_a_box_do_not_pile_up_within_a_leeway() -> None:
    """Two hundred evaluations of a smooth hill, as noisy as it is high."""
    unique = []
    for leeway in (0.0, 0.05):
        optimizer = nr.gp_ucb(BOX, kernel=nr.RBF(0.3), noise_std=0.5)
        optimizer = swapped(optimizer, acquisition=nr.UCB(leeway))
        rng = np.random.default_rng(5)
        for _ in range(200):
            batch = optimizer.ask(at_most=1)
            optimizer.tell(batch, np.sin(3 * batch.x[:, 0]) + 0.5 * rng.standard_normal(1))
        unique.append(optimizer.unique)
    assert unique[1] < 0.6 * unique[0]
    with pytest.raises(nr.NoRegretError, match="leeway"):
        nr.UCB(leeway=-1.0)


def test_a_box_of_whole_numbers_is_a_pool() -> None:
    """Every point of it can be enumerated, so the best one is known."""
    box = nr.Box([(0, 6), (1, 5), (-2, 2)], integer=[0, 1, 2])
    every = np.array(list(itertools.product(range(7), range(1, 6), range(-2, 3))))
    X = box.read("X", every)
    for seed in range(8):
        posterior = told(box, 9, nr.Matern(2.5, 0.4), seed)
        ranking = BoxSearch().rank(Points(box), posterior, nr.UCB(), 2.0, NOBODY)
        x = ranking.picks(np.array([ranking.best()])).X
        scores = nr.UCB().score(*posterior.marginals(X), 2.0, 0.0)
        assert float(nr.UCB().score(*posterior.marginals(x), 2.0, 0.0)[0]) == pytest.approx(
            float(scores.max()), rel=1e-9
        )


@given(st.integers(0, 2**20))
def test_units_go_there_and_back(seed: int) -> None:
    """A value told at batch.x must be that of the point that was asked for."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-100, 100, 4)
    low[1], low[3] = abs(low[1]) + 1e-3, round(float(low[3]))
    high = low + rng.uniform(0.1, 1000, 4)
    high[3] = low[3] + int(rng.integers(1, 50))
    box = nr.Box(np.stack([low, high], axis=1), log=[1], integer=[3])
    U = box.sample(20, rng)
    shown = box.shown(U)
    assert ((shown >= low) & (shown <= high)).all()
    assert (shown[:, 3] == np.round(shown[:, 3])).all()
    assert np.array_equal(box.read("X", shown), U)
    assert np.array_equal(box.snapped(U), U)


def test_a_log_scale_puts_the_geometric_mean_in_the_middle() -> None:
    box = nr.Box([(1e-4, 1e-2)], log=[0])
    assert box.shown(np.array([[0.5]]))[0, 0] == pytest.approx(1e-3)
    assert box.read("X", [[1e-3]])[0, 0] == pytest.approx(0.5)


def test_whole_numbers_are_drawn_alike() -> None:
    """Rounding a uniform number would give the ends half their share."""
    box = nr.Box([(0, 3)], integer=[0])
    drawn = box.shown(box.sample(4000, np.random.default_rng(0)))[:, 0]
    assert np.bincount(drawn.astype(int), minlength=4).min() > 850


@final
@dataclass(frozen=True)
class OwnScore:
    """A score of a user's making, which does not know its derivatives."""

    uses_best_mean = False

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        return mean + beta * np.sqrt(variance) + 0.0 * best_mean

    def ceiling(
        self, mean: Vector, std: Vector, gain: Vector, beta: float, best_mean: float
    ) -> Vector:
        return mean + np.sqrt(gain + beta**2) * std + 0.0 * best_mean


def test_a_score_of_ones_own_runs_on_boxes_and_pools() -> None:
    """Its slopes are found by differences, and what is found is what UCB finds."""
    posterior = told(nr.Box([(0, 1), (0, 1)]), 10, nr.RBF(0.3), 1)
    one, other = (of_acquisition(posterior, how, 2.0, 0.0).uphill for how in (OwnScore(), nr.UCB()))
    X = np.array([[0.37, 0.81], [0.9, 0.2]])
    np.testing.assert_allclose(one(X)[1], other(X)[1], rtol=1e-5)
    for domain in (BOX, nr.Pool(np.linspace(0, 1, 30)[:, None])):
        settings: dict[str, Any] = {"kernel": nr.RBF(0.3), "noise_std": 0.1}
        assert len(nr.mini(domain, acquisition=OwnScore(), **settings).ask()) >= 1

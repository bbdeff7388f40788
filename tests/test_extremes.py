"""Odd but honest problems, and extremes of counts, noise, distance and length: all must work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from noregret.errors import NumericalWarning
from noregret.kernels import Kernel
from slow_search import pool_of
from strategies import DESCRIBED_ANYHOW, MODELS

every_model = pytest.mark.parametrize("name", MODELS)
BASELINES: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": partial(nr.uniform, batch_size=3),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=3),
    "random_search": partial(nr.random_search, batch_size=3),
    "evolution": partial(nr.regularized_evolution, batch_size=3, population=5),
}
every_algorithm = pytest.mark.parametrize("name", [*MODELS, *BASELINES])
LINE = np.linspace(0, 1, 25)[:, None]
CLOSE = np.repeat(np.linspace(0, 1, 6), 4) + 1e-9 * np.tile(np.arange(4), 6)


def build(
    name: str,
    pool: nr.Pool,
    *,
    kernel: Kernel | None = None,
    noise_std: float = 0.1,
    goal: Literal["max", "min"] = "max",
    offset: float = 0.0,
    **settings: Any,
) -> nr.Optimizer:
    if name in BASELINES:
        return BASELINES[name](pool, goal=goal, offset=offset, seed=3)
    given = {"goal": goal, "offset": offset, "seed": 3, **settings}
    kernel = nr.RBF(0.2) if kernel is None else kernel
    return MODELS[name](pool, kernel=kernel, noise_std=noise_std, **given)


def run(optimizer: nr.Optimizer, f: Callable[[Vector], float], budget: int) -> nr.Best:
    """Spend the budget exactly, then look at all there is to look at."""
    while optimizer.spent < budget:
        batch = optimizer.ask(at_most=budget - optimizer.spent)
        optimizer.tell(batch, [f(x) for x in batch])
    assert optimizer.evaluations == budget
    best = optimizer.best()
    assert np.isfinite(best.mean)
    if not np.isnan(best.std):
        certificate = optimizer.certificate()
        assert best.lower <= best.mean <= best.upper
        assert np.isfinite(certificate.beta)
        assert 0 <= certificate.gap < np.inf
    return best


def shrunk(average: float, count: int, ridge: float, prior: float = 1.0) -> float:
    """Posterior mean of a single point: its average, pulled to 0 by one prior's worth."""
    return average * count * prior / (count * prior + ridge)


@every_algorithm
@pytest.mark.parametrize(("goal", "offset", "value"), [("max", 0.0, 0.7), ("min", 5.0, 4.0)])
def test_a_pool_of_one(name: str, goal: Literal["max", "min"], offset: float, value: float) -> None:
    """A filter upstream left one molecule: measure it, and say so, with its sign."""
    optimizer = build(name, nr.Pool([[0.4, 2.0]]), goal=goal, offset=offset)
    best = run(optimizer, lambda _: value, budget=12)
    assert (best.id, best.evaluations) == (0, 12)
    expected = value if name in BASELINES else offset + shrunk(value - offset, 12, 0.01)
    assert best.mean == pytest.approx(expected, rel=1e-9)
    if name in MODELS:
        assert best.std == pytest.approx((0.01 / 12.01) ** 0.5, rel=1e-6)
        assert best.lower < best.mean < best.upper


@every_algorithm
def test_all_rows_equal(name: str) -> None:
    """Features that say nothing: every choice is as good, and ties go to the lowest row."""
    optimizer = build(name, nr.Pool(np.full((8, 2), 0.5)))
    best = run(optimizer, lambda _: 0.3, budget=20)
    if name in BASELINES:
        assert best.mean == pytest.approx(0.3, rel=1e-12)
        return
    assert best.mean == pytest.approx(shrunk(0.3, 20, 0.01), rel=1e-6)
    np.testing.assert_allclose(
        optimizer.posterior.mean(pool_of(optimizer).rows(np.arange(8))), best.mean
    )
    assert optimizer.unique <= 2  # the uniform start, then the lowest row


@every_algorithm
def test_duplicate_rows(name: str) -> None:
    """The same molecule twice in the table: one function value, so one belief."""
    pool = nr.Pool(np.repeat(np.linspace(0, 1, 8), 3)[:, None])
    optimizer = build(name, pool)
    best = run(optimizer, lambda x: float(np.sin(3 * x[0])), budget=24)
    if name in BASELINES:
        assert best.mean == pytest.approx(np.sin(3 * best.x[0]), rel=1e-12)
        return
    mean = optimizer.posterior.mean(pool.X).reshape(8, 3)
    np.testing.assert_allclose(mean, mean[:, :1] * np.ones(3), rtol=1e-12, atol=1e-12)
    assert best.mean == pytest.approx(np.sin(3 * best.x[0]), abs=0.1)


@every_algorithm
@pytest.mark.parametrize("value", [0.0, 0.3, -2.0])
def test_constant_values(name: str, value: float) -> None:
    """An instrument that is switched off; no width may collapse to NaN."""
    best = run(build(name, nr.Pool(LINE)), lambda _: value, budget=20)
    expected = value if name in BASELINES else shrunk(value, best.evaluations, 0.01)
    off = 0.05 * abs(value) if "incremental" in name else 0.02  # it may leave the best out
    assert best.mean == pytest.approx(expected, abs=off)


@every_algorithm
@pytest.mark.parametrize("goal", ["max", "min"])
def test_values_near_a_million(name: str, goal: Literal["max", "min"]) -> None:
    """Counts per second on a large background: the digits that matter are the last ones."""
    rng = np.random.default_rng(0)
    kernel = 25.0 * nr.RBF(0.2)
    optimizer = build(name, nr.Pool(LINE), kernel=kernel, noise_std=1.0, goal=goal, offset=1e6)

    def f(x: Vector) -> float:
        return 1e6 + 5 * float(np.sin(6 * x[0]))

    best = run(optimizer, lambda x: f(x) + rng.standard_normal(), budget=30)
    # Four standard errors of the average; the model moves a single value by 1/26 of 5 more.
    assert best.mean == pytest.approx(f(best.x), abs=4 / best.evaluations**0.5 + 0.2, rel=0)


@every_algorithm
def test_a_point_without_variance(name: str) -> None:
    """A linear model knows f = 0 at the origin; σ = 0 must not divide."""
    pool = nr.Pool(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, -0.5]]))
    optimizer = build(name, pool, kernel=nr.Linear())
    optimizer.tell([0], [0.1])
    best = run(optimizer, lambda x: float(x @ [0.3, 0.8]), budget=20)
    assert best.id == 2
    if name in MODELS:
        assert optimizer.posterior.variance(pool.X)[0] == 0.0
        assert optimizer.posterior.mean(pool.X)[0] == 0.0
        assert best.mean == pytest.approx(0.8, abs=0.1)


@every_algorithm
def test_no_point_has_variance(name: str) -> None:
    """All is known beforehand: then any number of evaluations is as good as one."""
    optimizer = build(name, nr.Pool(np.zeros((3, 2))), kernel=nr.Linear())
    best = run(optimizer, lambda _: 0.2, budget=12)
    if name in MODELS:
        assert best.mean == pytest.approx(0.0, abs=1e-15)  # of values of 0.2
        assert best.std == 0.0
        assert optimizer.certificate().gap == pytest.approx(0.0, abs=1e-15)  # as the mean


@every_algorithm
@pytest.mark.parametrize(
    ("X", "noise_std", "within"),
    [(CLOSE, 0.1, 0.1), (CLOSE, 1e-4, 0.05), (CLOSE, 1e-6, 0.05), (LINE[:, 0], 1e-6, 1e-5)],
    ids=["replicates", "little noise", "hardly any", "a simulation"],
)
def test_little_noise(name: str, X: Vector, noise_std: float, within: float) -> None:
    """Replicates a billionth apart, on a very good balance; Gram matrices at the edge."""
    optimizer = build(name, nr.Pool(X[:, None]), kernel=nr.RBF(0.3), noise_std=noise_std)
    best = run(optimizer, lambda x: float(np.sin(3 * x[0])), budget=30)
    assert best.mean == pytest.approx(np.sin(3 * best.x[0]), abs=within)
    assert best.mean > 0.9 or name in BASELINES


def coinciding(name: str) -> nr.Optimizer:
    """Replicates told, their Gram matrix of rank 6 to within 1e-16, and a ridge of 1e-18."""
    pool = nr.Pool(CLOSE[:, None])
    optimizer = build(name, pool, kernel=nr.RBF(0.3), noise_std=1e-9)
    optimizer.tell(range(24), np.sin(3 * CLOSE))
    return optimizer


@every_algorithm
@pytest.mark.filterwarnings("ignore:evaluated candidates nearly coincide")
def test_a_history_that_nearly_coincides(name: str) -> None:
    """Old records told at once, noise below all rounding."""
    best = run(coinciding(name), lambda x: float(np.sin(3 * x[0])), budget=30)
    assert best.mean == pytest.approx(np.sin(3 * best.x[0]), abs=1e-4)
    assert best.mean > 0.9


def test_digits_lost_are_told() -> None:
    """Who measures replicates without noise must learn that rounding was repaired."""
    optimizer = coinciding("gp_ucb")
    with pytest.warns(NumericalWarning, match="nearly coincide at this noise"):
        optimizer.ask()


@every_algorithm
def test_noise_far_above_the_signal(name: str) -> None:
    """A thousand times the prior: nothing is learnt in 30 evaluations, and none may be faked."""
    rng = np.random.default_rng(0)
    optimizer = build(name, nr.Pool(LINE), noise_std=1e3)
    best = run(optimizer, lambda _: float(1e3 * rng.standard_normal()), budget=30)
    if name in MODELS:
        assert best.std == pytest.approx(1.0, abs=30 / 1e6)
        assert abs(best.mean) < 30 * 4e3 / 1e6


@every_algorithm
def test_a_budget_of_one(name: str) -> None:
    """One shot still gives an answer."""
    optimizer = build(name, nr.Pool(LINE))
    best = run(optimizer, lambda x: float(x[0]), budget=1)
    assert best.evaluations == 1
    assert optimizer.batches == 1
    expected = best.x[0] if name in BASELINES else shrunk(best.x[0], 1, 0.01)
    assert best.mean == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", DESCRIBED_ANYHOW)
def test_features_far_from_zero(name: str) -> None:
    """Years as a feature: 2000 to 2024 must be as far apart as 0 to 24."""
    near, far = (
        build(name, nr.Pool(shift + 24 * LINE), kernel=nr.RBF(5.0)) for shift in (0.0, 2000.0)
    )
    a = run(near, lambda x: float(np.sin(x[0] / 4)), budget=20)
    b = run(far, lambda x: float(np.sin((x[0] - 2000) / 4)), budget=20)
    assert a.mean == pytest.approx(b.mean, abs=1e-6)
    assert a.id == b.id

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
from noregret.posterior_caches import ExactCache, Work
from noregret.posteriors import ExactPosterior
from slow_search import pool_of, searched_fully
from strategies import MODELS, Diary, equals_refactorised, exact_prior, rounding

BASELINES: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": partial(nr.uniform, batch_size=3),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=3),
    "random_search": partial(nr.random_search, batch_size=3),
    "evolution": partial(nr.regularized_evolution, batch_size=3, population=5),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_algorithm = pytest.mark.parametrize("name", [*MODELS, *BASELINES])
LINE = np.linspace(0, 1, 25)[:, None]
MILLION = 10**6
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
    assert best.mean == pytest.approx(expected, abs=0.02)


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
    """Replicates told, their Gram matrix of rank 6 to within 1e-16, and a ridge of 1e-18.

    What an incremental dictionary once left out does not come back, so nothing must be.
    """
    settings: dict[str, Any] = {"oversample": 100.0} if "incremental" in name else {}
    pool = nr.Pool(CLOSE[:, None])
    optimizer = build(name, pool, kernel=nr.RBF(0.3), noise_std=1e-9, **settings)
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


@every_model
def test_features_far_from_zero(name: str) -> None:
    """Years as a feature: 2000 to 2024 must be as far apart as 0 to 24."""
    near, far = (
        build(name, nr.Pool(shift + 24 * LINE), kernel=nr.RBF(5.0)) for shift in (0.0, 2000.0)
    )
    a = run(near, lambda x: float(np.sin(x[0] / 4)), budget=20)
    b = run(far, lambda x: float(np.sin((x[0] - 2000) / 4)), budget=20)
    assert a.mean == pytest.approx(b.mean, abs=1e-6)
    assert a.id == b.id


@pytest.mark.parametrize("tells", [1, 7, 1000])
@pytest.mark.parametrize("noise_std", [1.0, 0.1, 0.01])
def test_a_million_repeats_in_one_tell_or_in_many(tells: int, noise_std: float) -> None:
    """A counter that runs all night.

    Next to other points, the variance v before shrinks by the harmonic sum 1/(1/v + B/ridge), about
    a millionth of the noise variance. What is left of k(x, x) = 1 after subtraction is right to
    n·eps, so that much is allowed for.
    """
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=nr.RBF(0.3), noise_std=noise_std)
    optimizer.tell(np.arange(10), rng.standard_normal(10))
    before = optimizer.posterior.variance(X[[4]])[0]
    mean = optimizer.posterior.mean(X[[4]])[0]
    counts = np.full(tells, MILLION // tells)
    counts[0] += MILLION - counts.sum()
    for count in counts:
        optimizer.tell([4], means=[0.25], counts=[int(count)])
        if rng.random() < 0.05 or tells < 10:
            optimizer.ask()
    ridge = noise_std**2
    expected = 1 / (1 / before + MILLION / ridge)
    assert optimizer.posterior.variance(X[[4]])[0] == pytest.approx(expected, rel=1e-9, abs=1e-14)
    assert expected == pytest.approx(ridge / MILLION, rel=1e-3)
    pulled = mean + (0.25 - mean) * (1 - expected / before)
    assert optimizer.posterior.mean(X[[4]])[0] == pytest.approx(pulled, rel=0, abs=1e-9)


def test_a_million_told_by_mini_itself() -> None:
    """Asked for by the rule: a run of a million evaluations at the cost of its switches."""
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    f = np.sin(5 * X[:, 0]) + X[:, 1]
    optimizer = nr.mini_gp_ucb(nr.Pool(X), kernel=nr.RBF(0.3), noise_std=3.0)
    while optimizer.spent < MILLION:
        batch = optimizer.ask(at_most=MILLION - optimizer.spent)
        optimizer.tell(batch.ids, means=f[batch.ids], counts=batch.repeats)
    assert optimizer.evaluations == MILLION
    posterior = optimizer.look().posterior
    assert isinstance(posterior, ExactPosterior)
    equals_refactorised(posterior, X, most=1e-6)
    assert optimizer.best().id == int(np.argmax(f))


def same_choices(one: nr.Optimizer, f: Vector, noise_std: float, steps: int, most: int) -> None:
    """Run an optimizer beside its twin that looks at everything, and compare each batch."""
    other, rng = searched_fully(one), np.random.default_rng(3)
    for _ in range(steps):
        a, b = one.ask(at_most=most), other.ask(at_most=most)
        assert a.sequence.tolist() == b.sequence.tolist()
        values = f[a.sequence.astype(np.int64)] + noise_std * rng.standard_normal(len(a))
        one.tell(a, values)
        other.tell(b, values)
    X = pool_of(one).rows(np.arange(len(f)))
    assert np.isfinite([one.posterior.mean(X), one.posterior.variance(X)]).all()
    assert np.isfinite(one.certificate().gap)


@every_model
@pytest.mark.parametrize("noise_std", [1e-6, 1e-4, 1e-2, 1.0, 1e1, 1e3])
@pytest.mark.parametrize("kernel", [nr.RBF(0.2), nr.Matern(1.5, (0.3, 0.6))])
@pytest.mark.filterwarnings("ignore:evaluated candidates nearly coincide")
def test_noise_from_a_millionth_to_a_thousand_of_the_signal(
    name: str, noise_std: float, kernel: Kernel
) -> None:
    """A simulation and a poll: the same code, finite, with the choices of a full search."""
    rng = np.random.default_rng(4)
    X = rng.random((90, 2))
    f = np.sin(6 * X[:, 0]) * X[:, 1]
    optimizer = MODELS[name](nr.Pool(X), kernel=kernel, noise_std=noise_std, seed=1)
    same_choices(optimizer, f, noise_std, steps=25, most=30)


@pytest.mark.parametrize(
    "name", ["mini_gp_ucb", "mini_gp_ei", "gp_ucb", "gp_bucb-local", "bbkb-global"]
)
@pytest.mark.parametrize("noise_std", [1e-3, 0.1])
@pytest.mark.filterwarnings("ignore:evaluated candidates nearly coincide")
def test_rows_a_billionth_apart_in_a_long_run(name: str, noise_std: float) -> None:
    """Replicates that differ in the last digit of a balance: ties that are none, by the hundred."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.random((12, 2)), 5, axis=0)
    X += 1e-9 * rng.standard_normal(X.shape)
    f = np.sin(6 * X[:, 0])
    optimizer = MODELS[name](nr.Pool(X), kernel=nr.RBF(0.3), noise_std=noise_std, seed=2)
    same_choices(optimizer, f, noise_std, steps=120, most=5)


def long_run(updates: int, noise_std: float) -> None:
    rng = np.random.default_rng(6)
    X = rng.random((100, 2))
    kernel = nr.Matern(2.5, 0.3)
    diary, cache = Diary(X), ExactCache(nr.Pool(X), Work())
    posterior = exact_prior(kernel, noise_std**2)
    for step in range(updates):
        row = int(rng.integers(100)) if rng.random() < 0.3 else int(rng.integers(10))
        diary.add(row, int(rng.integers(1, 4)), float(np.sin(6 * X[row, 0])))
        posterior = diary.believed(posterior)
        cache.follow(posterior)
        cache.refresh(rng.integers(0, 100, size=5))
        if step % (updates // 10) == 0 or step == updates - 1:
            equals_refactorised(posterior, X, most=1e-6)
    cache.refresh(np.arange(100))
    fresh, off = posterior.rebuilt(posterior.observed), rounding(posterior)
    # Each of up to n columns since a row was last refreshed adds n·eps of rounding.
    atol = min(off, 1e-6)
    np.testing.assert_allclose(cache.variance, fresh.variance(X), rtol=0, atol=atol)
    np.testing.assert_allclose(cache.mean, fresh.mean(X), rtol=0, atol=off)


@pytest.mark.parametrize("noise_std", [1.0, 1e-2])
def test_nothing_drifts(noise_std: float) -> None:
    """Carried for hundreds of updates, compared with sums made from the start."""
    long_run(400, noise_std)


@pytest.mark.slow
@pytest.mark.parametrize("noise_std", [1.0, 1e-2, 1e-4])
def test_nothing_drifts_over_thousands_of_updates(noise_std: float) -> None:
    """A campaign that runs for years."""
    long_run(5000, noise_std)

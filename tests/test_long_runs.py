"""A million repeats, thousands of updates, noise of any size: nothing drifts."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from noregret.kernels import Kernel
from noregret.posterior_caches import ExactCache, Work
from noregret.posteriors import ExactPosterior
from slow_search import pool_of, searched_fully
from strategies import MODELS, Diary, equals_refactorised, exact_prior, rounding

every_model = pytest.mark.parametrize("name", MODELS)
MILLION = 10**6


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

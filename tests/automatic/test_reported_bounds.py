"""What a run without knobs says of itself while it knows little."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

import noregret as nr
from noregret.automatic import AutoView
from noregret.errors import TellError

POOL = nr.Pool(np.random.default_rng(0).random((300, 2)))


def wave(x: np.ndarray) -> float:
    return float(np.sin(5 * x[0]) * x[1])


def run(noise: float, evaluations: int, seed: int) -> nr.Optimizer:
    """A run so short that nothing tells noise from structure yet."""
    optimizer, rng = nr.auto(POOL, seed=seed), np.random.default_rng(100 + seed)
    while optimizer.spent < evaluations:
        batch = optimizer.ask(at_most=evaluations - optimizer.spent)
        optimizer.tell(batch, [wave(x) + noise * rng.standard_normal() for x in batch])
    return optimizer


@pytest.mark.parametrize("noise", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("evaluations", [3, 6, 8, 12])
def test_bounds_hold_before_noise_is_known(noise: float, evaluations: int) -> None:
    """They were promised nine times in ten, and held once in ten after six evaluations."""
    held = 0
    for seed in range(20):
        best = run(noise, evaluations, seed).best()
        held += best.lower <= wave(best.x) <= best.upper
    assert held >= 18


@pytest.mark.parametrize("noise", [1.0, 5.0])
def test_luck_is_no_target(noise: float) -> None:
    """No candidate reaches 1.5; the first values often pass it."""
    ended = 0
    for seed in range(20):
        best = run(noise, 6, seed).best()
        ended += best.mean - 2 * best.std >= 1.5
    assert ended <= 1


def test_what_may_be_noise_reaches_to_the_average() -> None:
    """Six values of noise: the model calls some of it structure, the bounds do not."""
    optimizer = nr.auto(POOL, seed=0)
    values = np.random.default_rng(0).standard_normal(6)
    optimizer.tell(range(6), values)
    best, certificate = optimizer.best(), optimizer.certificate()
    error = stats.t.ppf(0.975, 5) * values.std(ddof=1) / math.sqrt(6)
    assert best.lower <= values.mean() - error + 1e-9
    assert best.upper >= values.mean() + error - 1e-9
    assert best.std >= abs(best.mean - values.mean()) * (1 - 1e-9)
    assert certificate.guaranteed == pytest.approx(best.lower)
    assert certificate.gap == pytest.approx(certificate.reachable - certificate.guaranteed)


def test_replicates_count_as_what_they_are() -> None:
    """Averages of several values say how much one value scatters, as single values do."""
    values = np.random.default_rng(1).standard_normal((5, 8))
    one, many = nr.auto(POOL), nr.auto(POOL)
    one.tell(np.repeat(np.arange(5), 8), values.ravel())
    many.tell(range(5), means=values.mean(axis=1), counts=[8] * 5)
    error = stats.t.ppf(0.975, 39) * values.std(ddof=1) / math.sqrt(40)
    assert one.best().lower <= values.mean() - error + 1e-9
    spread = 8 * float(((values.mean(axis=1) - values.mean()) ** 2).sum()) / 4
    error = stats.t.ppf(0.975, 4) * math.sqrt(spread / 40)
    assert many.best().lower <= values.mean() - error + 1e-9


@pytest.mark.parametrize("points", [2, 6, 30, 200])
def test_few_points_widen_what_was_learned_from_them(points: int) -> None:
    """The true deviation is below so many times the one of n normal values, 19 times in 20."""
    optimizer = nr.auto(POOL)
    rows = np.arange(points)
    optimizer.tell(rows, [wave(x) for x in POOL.rows(rows)])
    view = optimizer.look()
    assert isinstance(view, AutoView)
    fitted = view.model.fitted
    spreads = np.random.default_rng(2).standard_normal((20_000, points)).std(axis=1, ddof=1)
    assert np.mean(spreads * fitted.small_sample_factor >= 1) == pytest.approx(0.95, abs=0.006)
    expected = math.sqrt((points - 1) / stats.chi2.ppf(0.05, points - 1))
    assert fitted.small_sample_factor == pytest.approx(expected, rel=1e-9)


def test_a_value_beyond_the_floor_is_explained() -> None:
    """Its belief lies far above its average: whoever reads both must be told why."""
    optimizer = nr.auto(nr.Pool(np.linspace(0, 1, 30)[:, None]))
    optimizer.tell(range(12), [1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.1, 1.0, 0.9, 1.0, -50.0, 1.1])
    low, high = optimizer.explain(10), optimizer.explain(3)
    assert low.counts_as > -2
    assert f"its average counts as {low.counts_as:.4g}" in str(low)
    assert np.isnan(high.counts_as)
    assert "counts as" not in str(high)
    assert f"counts as {low.counts_as:.4g}" in optimizer.account()


def test_what_failed_is_said() -> None:
    """Nobody should have to guess what a failure counts as."""
    optimizer = nr.auto(nr.Pool(np.linspace(0, 1, 30)[:, None]))
    optimizer.tell([3, 3, 5], [nr.FAILED, nr.FAILED, nr.FAILED])
    assert "No value was told yet" in optimizer.account()
    assert "3 evaluations failed; 2 candidates never had a value" in optimizer.account()
    optimizer.tell([5, 6, 7], [0.5, 0.6, 0.8])
    said = "3 evaluations failed; 1 candidate never had a value, and is taken to be like"
    assert said in optimizer.account()
    optimizer.tell([8], [nr.FAILED])
    said = "4 evaluations failed; 2 candidates never had a value, and are taken to be like"
    assert said in optimizer.account()
    assert "Failed twice." in str(optimizer.explain(3))
    assert "Never evaluated." not in str(optimizer.explain(3))
    assert "Evaluated once, average 0.5. Failed once." in str(optimizer.explain(5))


@pytest.mark.parametrize("told", [[4], [4, 2], range(9)])
def test_equal_values_leave_everything_open(told: Sequence[int]) -> None:
    """They tell nothing of the scale; and infinity is no answer to how far off an estimate is."""
    optimizer = nr.auto(nr.Pool(np.linspace(0, 1, 9)[:, None]))
    optimizer.tell(told, [2.0] * len(told))
    best, why, certificate = optimizer.best(), optimizer.explain(0), optimizer.certificate()
    for bounds in (best, why):
        assert (bounds.std, bounds.lower, bounds.upper) == (math.inf, -math.inf, math.inf)
    assert why.leader is not None
    assert why.leader.std == math.inf
    assert not certificate.is_sound
    for said in (str(best), str(why), str(certificate)):
        assert "not known yet" in said
        assert "inf" not in said


def test_replicates_that_agree_and_those_that_should() -> None:
    """Who need not evaluate anything twice should know; told the word, equal values say nothing."""
    rows, values = np.repeat(np.arange(8), 3), np.repeat(np.arange(8.0), 3)
    plain, sure = nr.auto(POOL), nr.auto(POOL, deterministic=True)
    plain.tell(rows, values)
    sure.tell(rows, values)
    assert "deterministic=True evaluates nothing twice" in plain.account()
    assert "deterministic=True" not in sure.account()
    assert sure.evaluations == 8
    with pytest.raises(TellError, match="deterministic=True the same candidate always has"):
        sure.tell([3, 3, 3], [3.0, 2.0, 9.0])


def test_bounds_far_from_zero_show_where_they_differ() -> None:
    optimizer = nr.auto(POOL)
    optimizer.tell(range(40), [-76340.1234 + 0.01 * wave(x) for x in POOL.rows(np.arange(40))])
    low, high = str(optimizer.best()).partition("between ")[2].partition(")")[0].split(" and ")
    assert low != high


def test_the_budget_may_stand_third() -> None:
    assert len(nr.maximize(wave, POOL, 7, progress=False).values) == 7
    assert len(nr.minimize(wave, POOL, 7, progress=False).values) == 7
    with pytest.raises(nr.NoRegretError, match=r"found by noregret\.minimize"):
        nr.maximize(wave, POOL, 7, goal="min")

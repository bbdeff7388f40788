"""auto: nothing to tune, and nothing that bad luck or bad input can break."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.automatic import AutoConstants, AutoModel, AutoPolicy, AutoSettings, AutoView
from noregret.automatic.exploration import pause
from noregret.errors import ExhaustedError, NothingToldError
from noregret.fitting import FittedModel

GRID = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 15)]), axis=-1).reshape(-1, 2)


def hill(X: Matrix) -> Vector:
    """Highest at (0.7, 0.3), with a lower hill far from it."""
    high = np.exp(-20 * ((X - [0.7, 0.3]) ** 2).sum(axis=1))
    low = 0.6 * np.exp(-20 * ((X - [0.2, 0.8]) ** 2).sum(axis=1))
    f: Vector = high + low
    return f


def run(
    opt: nr.Optimizer,
    budget: int,
    *,
    noise: float = 0.1,
    f: Callable[[Matrix], Vector] = hill,
    seed: int = 0,
) -> nr.Optimizer:
    """Evaluate until the budget is spent, noise coming in the order of evaluations; NaN fails."""
    rng = np.random.default_rng(seed)
    rng.standard_normal(opt.spent)
    while opt.spent < budget:
        batch = opt.ask(at_most=budget - opt.spent)
        values = f(np.array(list(batch))) + noise * rng.standard_normal(len(batch))
        opt.tell(batch, [nr.FAILED if math.isnan(value) else value for value in values])
    return opt


def crashing(x: Vector) -> Any:
    """Rises towards where nothing has a value."""
    return nr.FAILED if x[0] > 0.6 else float(0.3 * x[0] - ((x - [0.55, 0.3]) ** 2).sum())


def half_a_hill(X: Matrix) -> Vector:
    """Fails where it is highest."""
    return np.where(X[:, 0] > 0.6, np.nan, hill(X))


def chosen(constants: AutoConstants, pool: nr.Pool) -> nr.Optimizer:
    """`nr.auto` with other numbers."""
    policy = AutoPolicy.of(pool, AutoSettings(enumerates=True, constants=constants))
    return nr.Optimizer(pool, policy)


def looked(opt: nr.Optimizer) -> AutoView:
    view = opt.look()
    assert isinstance(view, AutoView)
    return view


def model_of(opt: nr.Optimizer) -> AutoModel:
    return looked(opt).model


def fitted_of(opt: nr.Optimizer) -> FittedModel:
    return model_of(opt).fitted


def policy_of(opt: nr.Optimizer) -> AutoPolicy:
    assert isinstance(opt.policy, AutoPolicy)
    return opt.policy


@pytest.mark.parametrize("seed", range(6))
def test_it_finds_the_highest_hill(seed: int) -> None:
    opt = run(nr.auto(nr.Pool(GRID), seed=seed), 200, seed=seed)
    assert hill(opt.best().x[None])[0] > 0.9


@pytest.mark.slow
def test_the_lower_hill_holds_it_seldom() -> None:
    """Of 40 runs; 4 stayed there while all explorations were of its flank."""
    low = [
        hill(run(nr.auto(nr.Pool(GRID), seed=seed), 150, noise=0.05, seed=seed).best().x[None])[0]
        < 0.9
        for seed in range(40)
    ]
    assert sum(low) <= 2


def test_greed_settles_sooner() -> None:
    """It finds a hill, not always the highest, and tries less on the way."""
    greedy = run(nr.auto(nr.Pool(GRID), attitude="greedy"), 200)
    assert policy_of(greedy).settings.attitude == "greedy"
    assert hill(greedy.best().x[None])[0] > 0.5
    assert greedy.unique < run(nr.auto(nr.Pool(GRID)), 200).unique


def test_a_candidate_is_worth_what_it_gains_in_thrice_the_evaluations_and_fifty() -> None:
    """As far as points left out bear that out; in a box an upper bound."""
    opt = run(nr.auto(nr.Pool(GRID)), 60)
    model = model_of(opt)
    how = policy_of(opt).builder.bandit(model, 60).acquisition
    noise = model.fitted.estimate.noise_std**2
    assert how == nr.KnowledgeGradient(3.0 * model.fitted.optimism * (60 + 50), noise)
    box = run(nr.auto(nr.Box([(0, 1), (0, 1)])), 30)
    assert "by knowledge gradient" in str(opt.explain(0))
    assert "knowledge gradient" not in str(box.explain(box.best().id))
    assert isinstance(policy_of(box).builder.bandit(model_of(box), 30).acquisition, nr.UCB)


def test_where_values_end_it_stops_looking_for_more() -> None:
    """Of values cut off above, but for digits that differ, most evaluations are of the best."""
    values = 2.0 * hill(GRID) + 0.3 * np.random.default_rng(8).normal(size=len(GRID))
    values = np.minimum(values, 0.7) + 1e-4 * np.arange(len(GRID)) / len(GRID)
    f = dict(zip(map(tuple, GRID.tolist()), values.tolist(), strict=True))
    opt = nr.auto(nr.Pool(GRID))
    run(opt, 150, noise=0.0, f=lambda X: np.array([f[tuple(x)] for x in X.tolist()]))
    assert fitted_of(opt).optimism < 0.1
    assert "the gains that it expects are multiplied by" in opt.account()
    assert opt.unique < 110
    evaluated = opt.evidence.told
    assert evaluated.w[evaluated.y > 0.7].sum() > 90
    for other in (nr.auto(nr.Pool(GRID), attitude="safe"), nr.auto(nr.Box([(0, 1), (0, 1)]))):
        run(other, 40, f=lambda X: np.minimum(hill(X), 0.1))
        assert "the gains that it expects" not in other.account()


def test_where_all_may_be_noise_optimism_stays() -> None:
    """Clicks are rare, and one of 60 items has three times as many as others."""
    opt, rng, tentative = nr.auto(nr.Pool(np.eye(60)), seed=1), np.random.default_rng(1), 0
    while opt.spent < 2000:
        batch = opt.ask(at_most=2000 - opt.spent)
        rates = np.where(np.array(batch.sequence) == 17, 0.06, 0.02)
        opt.tell(batch, (rng.random(len(batch)) < rates).astype(np.float64))
        if opt.spent > 100 and fitted_of(opt).is_tentative:
            assert fitted_of(opt).optimism == 1.0
            tentative += 1
    assert tentative > 100
    assert fitted_of(opt).optimism_found < 0.5
    counts = opt.evidence.told.w
    assert np.sort(counts)[-2] > 100  # not the first that was clicked alone


def test_safe_explores_by_a_theorem_and_goes_wide() -> None:
    """Its width is the band's own, and it spends more on exploring."""
    safe = run(nr.auto(nr.Pool(GRID), attitude="safe"), 150)
    balanced = run(nr.auto(nr.Pool(GRID)), 150)
    assert safe.posterior.beta > 2 * balanced.posterior.beta
    assert safe.unique > balanced.unique
    assert safe.certificate().beta == pytest.approx(safe.posterior.beta)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(scale: float) -> None:
    """Volts, microvolts: the same hill is found, at its height."""
    opt = run(nr.auto(nr.Pool(GRID)), 150, noise=0.05 * scale, f=lambda X: scale * (5 + hill(X)))
    best = opt.best()
    assert hill(best.x[None])[0] > 0.9
    assert best.lower <= scale * (5 + hill(best.x[None])[0]) <= best.upper


def test_the_posterior_is_where_the_values_are() -> None:
    """The learned mean is taken out for the model, and given back to the user."""
    opt = run(nr.auto(nr.Pool(GRID)), 80, f=lambda X: 50 + hill(X))
    best = opt.best()
    assert opt.posterior.mean(best.x[None])[0] == pytest.approx(best.mean)
    assert opt.explain(best.id).mean == pytest.approx(best.mean)
    assert 50 < best.mean < 52
    assert 50 < opt.certificate().guaranteed + 5 < opt.certificate().reachable + 5


@pytest.mark.parametrize("f", [hill, half_a_hill])
def test_a_saved_run_goes_on_bit_for_bit(f: Callable[[Matrix], Vector], tmp_path: Path) -> None:
    pool = nr.Pool(GRID)
    unbroken, part = (run(chosen(AutoConstants(first=9), pool), 70, f=f) for _ in range(2))
    part.save(tmp_path / "run")
    again = run(nr.load(tmp_path / "run", pool=pool), 160, f=f)
    run(unbroken, 160, f=f)
    np.testing.assert_array_equal(again.sequence, unbroken.sequence)
    assert again.best().mean == unbroken.best().mean
    assert policy_of(again).settings == policy_of(part).settings


@pytest.mark.parametrize(
    ("domain", "workers", "budget"),
    [(nr.Pool(GRID), 1, 120), (nr.Pool(GRID), 8, 64), (nr.Box([(0, 1), (0, 1)]), 1, 40)],
)
def test_deterministic_values_are_never_evaluated_twice(
    domain: nr.Pool | nr.Box, workers: int, budget: int
) -> None:
    opt = run(nr.auto(domain, deterministic=True, workers=workers), budget, noise=0.0)
    assert opt.unique == opt.evaluations == budget
    if budget == 120:
        assert opt.best().mean == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("domain", "count", "f"),
    [
        (nr.Pool(GRID[:20]), 20, lambda x: float(hill(x[None])[0])),
        (nr.Box([(0, 5), (1, 3)], integer=[0, 1]), 18, lambda x: float(-((x[0] - 3) ** 2) - x[1])),
    ],
    ids=["pool", "box"],
)
def test_a_deterministic_run_ends_when_all_is_known(
    domain: nr.Pool | nr.Box, count: int, f: Callable[[Vector], float]
) -> None:
    result = nr.maximize(f, domain, budget=50, deterministic=True)
    assert result.ended == "every candidate evaluated"
    assert result.optimizer.unique == len(set(result.ids)) == len(result.values) == count
    left = "no candidate is left" if count == 20 else "no point was found"
    with pytest.raises(ExhaustedError, match=left):
        result.optimizer.ask()
    assert result.best().id == result.ids[np.argmax(result.values)]


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_batches_are_sized_to_the_workers(workers: int) -> None:
    opt = nr.auto(nr.Pool(GRID), workers=workers)
    run(opt, 70)
    sizes = opt.trace["size"]
    assert (sizes[1:] >= workers).all() or opt.spent - sizes.sum() == 0
    if workers > 1:
        assert set(sizes[1:-1].tolist()) <= {workers, 2 * workers}


def test_open_batches_of_others_do_not_stop_it() -> None:
    """Before a first value is told, and after."""
    opt = nr.auto(nr.Pool(GRID))
    for worker in range(12):
        assert len(opt.ask(worker=f"{worker}")) >= 1
    opt.tell(np.arange(8), hill(GRID[:8]))
    for worker in range(12, 20):
        assert len(opt.ask(worker=f"{worker}")) >= 1


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


def test_where_all_is_known_stays_still_grow() -> None:
    """Three candidates and loud noise: nothing left to explore, and asks must not be one each."""
    opt = run(nr.auto(nr.Pool(GRID[[0, 100, 224]])), 3000, noise=2.0)
    assert opt.batches < 600


def test_explorations_that_pay_come_sooner_again() -> None:
    """Where another candidate than before leads clearly, their count is halved; else it grows."""
    counts = []
    for other in (False, True):
        opt = run(nr.auto(nr.Pool(GRID)), 120, noise=0.01)
        told = opt.evidence.told
        worst, best = told.rows[np.argmin(told.y)], told.rows[np.argmax(told.y)]
        leader = int(worst if other else best)
        state = replace(looked(opt).state, explorations=20, idle=1000, leader=leader)
        while state.idle >= 1000:
            proposal, state = policy_of(opt).propose(state, opt.evidence, 1)
            opt.tell(proposal.rows, hill(proposal.X))
        counts.append(state.explorations)
        assert state.leader == best
    assert counts == [21, 10]


def test_explorations_become_rare() -> None:
    """Of T evaluations without news, at most 2√T explore."""
    T, spent, k = 20_000, 0.0, 0
    while True:
        spent += pause(k, AutoConstants()) + 1
        if spent > T:
            break
        k += 1
    assert 0.9 * math.sqrt(4 * T) < k + 10 <= math.sqrt(4 * T) + 10


def test_late_explorations_come_several_at_once() -> None:
    """Different candidates, counted one by one, after a pause for each of them."""
    opt, sizes = chosen(AutoConstants(together=200), nr.Pool(GRID)), []
    rng = np.random.default_rng(0)
    while opt.spent < 2000:
        before = looked(opt).state
        batch = opt.ask(at_most=2000 - opt.spent)
        opt.tell(batch, hill(np.array(list(batch))) + 0.3 * rng.standard_normal(len(batch)))
        after = looked(opt).state
        if batch.reason.startswith("exploration") and not fitted_of(opt).is_blank:
            together = 1 + model_of(opt).values // 200
            assert before.idle >= together * pause(before.explorations, AutoConstants())
            assert len(set(batch.ids)) == len(batch) == together
            paid = after.leader != before.leader >= 0
            assert after.explorations == (before.explorations + together) // (2 if paid else 1)
            sizes.append(together)
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] > 4
    assert sum(sizes) < math.sqrt(4 * 2000) + 10


def test_the_certificate_says_what_it_rests_on() -> None:
    opt = run(nr.auto(nr.Pool(GRID), delta=0.05), 120)
    certificate = opt.certificate()
    text = str(certificate)
    assert certificate.delta == 0.05
    assert "kernel and mean, fitted" in text
    assert "norm_bound" in text
    assert certificate.guaranteed <= hill(GRID).max() <= certificate.reachable


def test_it_says_what_it_does(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="noregret"):
        opt = run(nr.auto(nr.Pool(GRID)), 60)
    assert any("Exact posterior on" in line for line in caplog.messages)
    text = opt.account()
    assert "knowledge gradient (balanced)" in text
    assert "feature 0" in text
    assert "for the choices no regret bound is" in text
    safe = run(nr.auto(nr.Pool(GRID), attitude="safe"), 30)
    assert "so is a bound on the regret of the choices" in safe.account()
    down = run(nr.auto(nr.Pool(GRID), goal="min"), 60, noise=0.0, f=lambda X: 7 - hill(X))
    assert "f has mean 6." in down.account() or "f has mean 7" in down.account()


def test_many_points_are_seen_through_a_dictionary() -> None:
    opt = run(chosen(AutoConstants(exact_points=40), nr.Pool(GRID)), 60)
    opt.tell(np.arange(0, 225, 3), hill(GRID[::3]))
    run(opt, 300)
    assert model_of(opt).is_sparse
    assert "dictionary" in opt.account()
    assert opt.trace["dictionary"][-1] < opt.unique
    assert hill(opt.best().x[None])[0] > 0.9


def test_a_switch_cost_lengthens_stays() -> None:
    """Fewer switches for the same evaluations, over some seeds."""

    def switches(cost: float) -> int:
        pool = nr.Pool(GRID)
        return sum(
            run(nr.auto(pool, switch_cost=cost, seed=s), 300, noise=0.5, seed=s).switches
            for s in range(4)
        )

    assert switches(30.0) < 0.9 * switches(0.0)


def test_histories_of_any_length_come_first() -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(225, size=5000)
    opt = nr.auto(nr.Pool(GRID))
    opt.tell(ids, hill(GRID[ids]) + 0.3 * rng.standard_normal(5000))
    assert "design" not in opt.ask().reason
    assert hill(opt.best().x[None])[0] > 0.9


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


@pytest.mark.parametrize("f", [lambda x: float(x > 0.33), lambda x: min(float(x), 0.3)])
def test_a_plateau_is_told_from_what_lies_below(f: Callable[[float], float]) -> None:
    """Where half of all values are the best one, the others must not count as much."""
    line = nr.Pool(np.linspace(0, 1, 30)[:, None])
    result = nr.maximize(lambda x: f(x[0]), line, budget=40)
    assert f(result.best().x[0]) == f(1.0)


@pytest.mark.parametrize("deterministic", [False, True])
def test_candidates_that_fail_are_given_up(deterministic: bool) -> None:
    line = nr.Pool(np.linspace(0, 1, 30)[:, None])
    result = nr.maximize(
        lambda x: nr.FAILED if x[0] > 0.8 else float(x[0]),
        line,
        budget=60 if not deterministic else 30,
        deterministic=deterministic,
    )
    assert np.isnan(result.values).sum() <= 2 * 6
    assert result.best().x[0] > 0.7


@pytest.mark.parametrize("domain", [nr.Pool(GRID), nr.Box([(0, 1), (0, 1)])])
@pytest.mark.parametrize("deterministic", [False, True])
def test_where_evaluations_fail_it_stops_looking(
    domain: nr.Pool | nr.Box, deterministic: bool
) -> None:
    """Nothing is learned of f there, and what is not known attracts: it took 19 of 20 once."""
    result = nr.maximize(crashing, domain, budget=100, deterministic=deterministic)
    if not deterministic:  # there, something new must come though the best is found
        assert np.isnan(result.values).sum() <= 35
    assert crashing(result.best().x) > 0.12  # 0.178 is the most


def test_failures_are_half_a_low_value_in_whatever_order_they_came() -> None:
    """The slow twin: a model told everything at once, failures as values of weight a half."""
    pool, rng = nr.Pool(GRID), np.random.default_rng(0)
    opt = run(nr.auto(pool), 12)
    rows: list[int] = []
    for step in range(10):
        batch = opt.ask(at_most=1)
        if step % 2:
            opt.tell(batch, [float(rng.standard_normal())] * len(batch))
        else:
            opt.fail(batch)
            rows.append(int(batch.ids[0]))
        if step == 6:
            opt.tell([rows[0]], [0.3])  # it worked in the end
    model, evidence = model_of(opt), opt.evidence
    seen = model.seen(evidence)
    assert set(evidence.lost) <= set(rows) - {rows[0]}
    assert len(seen.told) == len(evidence.told) + len(evidence.lost) > len(evidence.told)
    for row, w, y in zip(seen.told.rows, seen.told.w, seen.told.y, strict=True):
        at = np.flatnonzero(evidence.told.rows == row)
        value = evidence.told.y[at[0]] if len(at) else model.fitted.lost
        assert w == (evidence.told.w[at[0]] if len(at) else 0.5)
        assert y == max(value, model.fitted.floor) - model.fitted.estimate.mean
    now = model.belief.posterior.condition(seen.told, seen.open_, rng)
    prior = policy_of(opt).builder.prior(model.fitted, len(seen.told), 2)
    dense = prior.condition(seen.told, seen.open_, rng)
    for one, other in zip(now.marginals(GRID), dense.marginals(GRID), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    means = opt.look().means()  # in the ledger's order
    np.testing.assert_allclose(
        means, now.mean(evidence.told.X) + model.fitted.estimate.mean, atol=1e-8
    )
    assert "failed would have had low values" in str(opt.certificate().assumptions)
    assert np.isfinite(opt.explain(rows[-1]).mean)


def test_a_box_that_fails_at_first_goes_on() -> None:
    result = nr.maximize(
        lambda x: nr.FAILED if x[0] > 0.5 else float(x[0]), nr.Box([(0, 1)]), budget=40
    )
    assert result.optimizer.evaluations >= 5


def test_equal_values_end_no_run() -> None:
    """Six zeros are no certificate, and one value no target reached."""
    rare = nr.maximize(
        lambda x: float(x[0] > 0.99), nr.Pool(GRID), budget=20, stop_when=nr.GapBelow(0.01)
    )
    one = nr.maximize(lambda x: 3.0 + x[0], nr.Pool([[0.0]]), budget=10, stop_when=nr.Target(2.0))
    assert rare.ended == one.ended == "budget spent"


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


def test_before_anything_is_told_there_is_nothing_to_say() -> None:
    opt = nr.auto(nr.Pool(GRID))
    for look in (opt.best, opt.certificate, lambda: opt.posterior, lambda: opt.explain(0)):
        with pytest.raises(NothingToldError):
            look()


def test_workers_are_given_different_work() -> None:
    """What is under way elsewhere is no news."""
    opt = nr.auto(nr.Pool(GRID))
    opt.tell(np.arange(0, 225, 20), hill(GRID[::20]))
    asked = [opt.ask(worker=f"{i}", at_most=1).ids[0] for i in range(12)]
    assert len(set(asked)) >= 4


def capped(X: Matrix) -> Vector:
    """Cut off above: what lies at the top of the hills is all the same."""
    f: Vector = np.minimum(hill(X), 0.5)
    return f


def test_at_a_ceiling_only_exploration_goes_on() -> None:
    """A model expects more above what is cut off, and would evaluate all that it has not seen."""
    opt = run(nr.auto(nr.Pool(GRID)), 400, noise=0.0, f=capped)
    assert fitted_of(opt).tied >= 5
    assert "end of the scale" in opt.account()
    late = opt.sequence[200:]
    assert (capped(GRID[late]) == 0.5).mean() > 0.85
    new = len(np.unique(opt.sequence)) - len(np.unique(opt.sequence[:200]))
    assert new < 30  # explorations: 2 + k/2 evaluations apart


def test_a_ceiling_off_the_pool_is_not_chosen() -> None:
    """Points may be told that are no candidates; the highest among them must not be asked for."""
    opt = nr.auto(nr.Pool(GRID))
    opt.tell(np.array([[2.0, 2.0], [3.0, 3.0]]), [0.5, 0.5])
    run(opt, 200, noise=0.0, f=capped)
    assert fitted_of(opt).tied > 2
    assert set(opt.ask().ids) <= set(range(len(GRID)))


def test_a_ceiling_is_left_where_it_is_excluded_or_something_is_above_it() -> None:
    opt = run(nr.auto(nr.Pool(GRID)), 200, noise=0.0, f=capped)
    assert fitted_of(opt).tied
    other = copy.deepcopy(opt)
    top = [int(row) for row in np.unique(opt.sequence) if capped(GRID[[row]])[0] == 0.5]
    opt.exclude(top)
    assert not set(opt.ask().ids) & set(top)
    higher = int(np.setdiff1d(np.arange(len(GRID)), other.sequence)[0])
    other.tell([higher], [0.9])
    assert other.ask().reason != "at the ceiling"

"""auto: nothing to tune, and nothing that bad luck can break."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.automatic import AutoConstants
from noregret.automatic.exploration import pause
from noregret.errors import ExhaustedError, NothingToldError
from small_auto import GRID, chosen, fitted_of, hill, looked, model_of, policy_of, run


def half_a_hill(X: Matrix) -> Vector:
    """Fails where it is highest."""
    return np.where(X[:, 0] > 0.6, np.nan, hill(X))


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
    left = "was evaluated once" if count == 20 else "no point of the box was found"
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


def test_a_switch_cost_lengthens_stays() -> None:
    """Fewer switches for the same evaluations, over some seeds."""

    def switches(cost: float) -> int:
        pool = nr.Pool(GRID)
        return sum(
            run(nr.auto(pool, switch_cost=cost, seed=s), 300, noise=0.5, seed=s).switches
            for s in range(4)
        )

    assert switches(30.0) < 0.9 * switches(0.0)


def test_equal_values_end_no_run() -> None:
    """Six zeros are no certificate, and one value no target reached."""
    rare = nr.maximize(
        lambda x: float(x[0] > 0.99), nr.Pool(GRID), budget=20, stop_when=nr.GapBelow(0.01)
    )
    one = nr.maximize(lambda x: 3.0 + x[0], nr.Pool([[0.0]]), budget=10, stop_when=nr.Target(2.0))
    assert rare.ended == one.ended == "budget spent"


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

"""The parts by which a run looks past its model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import UCB
from noregret.automatic import AutoConstants, Exploration
from noregret.automatic.exploration import promising, without_news
from noregret.automatic.model import is_surprised
from noregret.policies import Bandit, Proposal
from noregret.pools import NO_ROWS, Points
from noregret.posteriors import ExactPosterior, Observations, sample_functions
from noregret.search import Enumeration
from slow_search import FullSearch
from strategies import Diary

X = np.random.default_rng(0).random((80, 2))
X = np.concatenate([X, X[:20]])  # some candidates are alike, and tie
POOL = nr.Pool(X)


def posterior(n: int, seed: int = 0) -> ExactPosterior:
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(X), n, replace=False)
    told = Observations(
        rows, X[rows], rng.integers(1, 9, n).astype(np.float64), rng.standard_normal(n)
    )
    prior = ExactPosterior.prior(nr.Matern(2.5, 0.3), noise_std=0.3, ridge=0.09, dim=2)
    return prior.condition(told, Observations.none(2), rng)


@given(st.integers(0, 12), st.integers(1, 120), st.floats(0, 4), st.integers(0, 50))
def test_the_highest_are_those_of_all_scores(n: int, size: int, beta: float, seed: int) -> None:
    """The slow reference scores every candidate, and sorts."""
    rng, p = np.random.default_rng(seed), posterior(n, seed)
    taken = np.append(np.flatnonzero(rng.random(len(X)) < 0.2), rng.integers(len(X), size=3))
    asked = Points(POOL), p, beta, taken, size, rng
    found, wanted = (search.highest(*asked) for search in (Enumeration(), FullSearch()))
    found_scores, wanted_scores = (
        UCB().score(*p.marginals(at.X), beta, 0.0) for at in (found, wanted)
    )
    np.testing.assert_allclose(found_scores, wanted_scores, atol=1e-8)
    assert len(set(found.rows.tolist())) == len(found)
    assert not np.isin(found.rows, taken).any()


def test_the_highest_follow_a_posterior_that_goes_on() -> None:
    """A cache that missed some updates gives the same rows as a new one."""
    search, points, diary = Enumeration(), Points(POOL), Diary(X)
    rng = np.random.default_rng(1)
    p = ExactPosterior.prior(nr.Matern(2.5, 0.3), noise_std=0.3, ridge=0.09, dim=2)
    for row in rng.choice(len(X), 12, replace=False).tolist():
        diary.add(row, 2, float(rng.standard_normal()))
        p = diary.believed(p)
        asked = points, p, 2.0, NO_ROWS, 10, rng
        found, afresh = search.highest(*asked), Enumeration().highest(*asked)
        np.testing.assert_array_equal(found.rows, afresh.rows)


def test_functions_drawn_have_the_posterior_s_moments() -> None:
    """Twenty thousand draws at thirty points, some of them the same point."""
    p, rows = posterior(6), np.r_[0:25, 80:85]
    values = sample_functions(p, X[rows], 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(values.mean(axis=1), p.mean(X[rows]), atol=0.03)
    np.testing.assert_allclose(np.cov(values), p.covariance(X[rows], X[rows]), atol=0.04)
    np.testing.assert_allclose(values[:5], values[25:], atol=1e-6)


def explored(opt: nr.Optimizer, **changes: Any) -> Exploration:
    """What may be explored after all that a run was told, its evidence changed in places."""
    bandit, evidence = opt.policy, replace(opt.evidence, **changes)
    assert isinstance(bandit, Bandit)
    return Exploration(AutoConstants(), bandit, bandit.told_all(evidence), evidence)


def run(pool: nr.Pool | nr.Box = POOL) -> nr.Optimizer:
    return nr.gp_ucb(pool, kernel=nr.Matern(2.5, 0.3), noise_std=0.3)


def told(**changes: Any) -> Exploration:
    """What may be explored in a run with some values."""
    opt, rng = run(), np.random.default_rng(0)
    opt.tell(rng.integers(len(X), size=60), rng.standard_normal(60))
    return explored(opt, **changes)


def test_drawn_candidates_are_different_and_not_known() -> None:
    other = told()
    proposal = other.by_sampled_functions(8)
    assert proposal is not None
    assert len(set(proposal.rows.tolist())) == 8
    old = np.isin(proposal.rows, other.seen.told.rows)
    assert (proposal.variances[old] >= 0.5 * other.belief.posterior.ridge).all()


def test_functions_are_drawn_where_nearly_all_is_known() -> None:
    """What is left of variances is then as small as the rounding of the prior's."""
    x = np.linspace(0, 1, 200)[:, None]
    told = Observations(np.arange(200), x, np.full(200, 1e9), np.zeros(200))
    prior = ExactPosterior.prior(900.0 * nr.RBF(0.4), noise_std=1.0, ridge=1.0, dim=1)
    p = prior.condition(told, Observations.none(1), np.random.default_rng(0))
    close = np.concatenate([x[:150] + 1e-3, x[:150] + 1e-3 + 1e-9])
    values = sample_functions(p, close, 8, np.random.default_rng(0))
    assert np.abs(values).max() < 1e-3


@pytest.mark.parametrize("whole", [(), (0, 1)])
def test_points_drawn_in_a_box_are_different_and_not_known(whole: tuple[int, ...]) -> None:
    opt = run(nr.Box([(0, 4), (0, 4)], integer=whole))
    known = np.array([(a, b) for a in range(5) for b in range(3)], dtype=np.float64)
    means = np.random.default_rng(0).standard_normal(15)
    opt.tell(known, means=means, counts=np.full(15, 9))
    other = explored(opt)
    proposal = other.by_sampled_functions(8)
    assert proposal is not None
    assert len({tuple(x) for x in proposal.X.tolist()}) == 8
    assert ((proposal.X >= 0) & (proposal.X <= 1)).all()
    assert not np.isin(proposal.rows, other.seen.told.rows).any()
    if whole:
        rest = other.by_sampled_functions(20)
        assert rest is not None
        assert len(rest.rows) == 10  # that are left


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.integers(-5, 5))
def test_promising_functions_come_first_as_drawn(highest: list[int], best: int) -> None:
    """Those above the best in the order drawn, as if others were thrown away; then by height."""
    order = promising(np.array(highest, dtype=np.float64), float(best)).tolist()
    above = [i for i, at in enumerate(highest) if at >= best]
    below = sorted((i for i, at in enumerate(highest) if at < best), key=lambda i: -highest[i])
    assert order == above + below


def test_a_promising_function_does_not_choose_beside_the_best() -> None:
    """A known peak: what is drawn at random lies on its flank, which is known to be lower."""
    line = nr.Pool(np.arange(101.0)[:, None])
    opt = nr.mini_gp_ucb(line, kernel=nr.Matern(2.5, 3.0), noise_std=0.1)
    peak = np.arange(14, 27)
    rows = peak[::2]
    opt.tell(rows, means=3.0 - 0.5 * np.abs(rows - 20.0), counts=np.full(len(rows), 50))
    beside = {1: 0, 64: 0}
    for functions in beside:
        for step in range(40):
            proposal = explored(opt, step=step).by_sampled_functions(1, functions)
            assert proposal is not None
            beside[functions] += int(np.isin(proposal.rows, peak).sum())
    assert beside[1] >= 35
    assert beside[64] <= 10


@given(st.integers(0, 200))
def test_a_leader_stays_until_another_is_clearly_better(seed: int) -> None:
    """Against the two compared by hand."""
    other = told()
    seen = other.seen.told
    mean, variance = other.belief.posterior.marginals(seen.X)
    best, was = int(np.argmax(mean)), seed % len(seen)
    clear = mean[best] - mean[was] > 2.0 * (variance[best] + variance[was]) ** 0.5
    assert other.leader(int(seen.rows[was])) == seen.rows[best if clear else was]
    assert other.leader(-1) == seen.rows[best]


def test_where_all_is_known_there_is_nothing_to_draw() -> None:
    assert told(excluded=np.ones(len(X), dtype=np.bool_)).by_sampled_functions(1) is None


def test_chance_takes_what_was_never_evaluated() -> None:
    other = told()
    proposal, later = other.by_chance(5), told(step=other.seen.step + 1).by_chance(5)
    assert proposal is not None
    assert later is not None
    assert not np.isin(proposal.rows, other.seen.told.rows).any()
    assert not np.array_equal(proposal.rows, later.rows)


def test_only_known_candidates_bring_no_news() -> None:
    evidence = told().seen
    row, new = evidence.told.rows[0], np.setdiff1d(np.arange(len(X)), evidence.told.rows)[0]
    rows, repeats = np.array([row, row, new]), np.array([3, 4, 5])
    proposal = Proposal(rows, X[rows], repeats, np.array([0.01, 0.9, 0.01]), "")
    assert without_news(proposal, evidence, known=0.5) == 3


def test_switch_costs_prolong_exploration_within_the_bound() -> None:
    rows, variances = np.arange(4), 0.09 * np.array([0.1, 1.0, 2.9, 9.0])
    proposal = Proposal(rows, X[rows], np.ones(4, dtype=np.int64), variances, "")
    other = told()
    stays = other.prolonged(proposal, switch_cost=4.5, room=100)
    assert stays.repeats.tolist() == [5, 3, 1, 1]
    cut = other.prolonged(proposal, switch_cost=4.5, room=6)
    assert cut.repeats.tolist() == [5, 1]
    assert cut.rows.tolist() == [0, 1]


@pytest.mark.parametrize(("value", "surprised"), [(0.0, False), (9.0, True), (-9.0, False)])
def test_a_value_far_too_high_is_a_surprise(value: float, surprised: bool) -> None:
    """Too low is no reason to look again: the best is what is wanted."""
    opt = run()
    opt.tell(np.arange(10), np.zeros(10))
    belief = explored(opt).belief
    assert not is_surprised(belief, opt.evidence, 4.0)
    opt.tell([3, 40], [value, 0.0])
    assert is_surprised(belief, opt.evidence, 4.0) is surprised

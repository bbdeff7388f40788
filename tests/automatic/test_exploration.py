"""Doubt: the parts by which a run looks past its own model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.acquisitions import UCB
from noregret.automatic import exploration
from noregret.policies import Bandit, Belief, Evidence, Proposal
from noregret.pools import NO_ROWS, Points
from noregret.posteriors import ExactPosterior, Observations, sample_functions
from noregret.search import Enumeration
from slow_references import FullSearch

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
def test_the_top_is_that_of_all_scores(n: int, size: int, beta: float, seed: int) -> None:
    """The slow twin scores every candidate, and sorts."""
    rng, p = np.random.default_rng(seed), posterior(n, seed)
    excluded, taken = rng.random(len(X)) < 0.2, rng.integers(len(X), size=3)
    asked = Points(POOL), p, UCB(), beta, excluded, taken, size, rng
    found, wanted = (search.highest(*asked) for search in (Enumeration(), FullSearch()))
    found_scores, wanted_scores = (
        UCB().score(*p.marginals(at.X), beta, 0.0) for at in (found, wanted)
    )
    np.testing.assert_allclose(found_scores, wanted_scores, atol=1e-8)
    assert len(set(found.rows.tolist())) == len(found)
    closed = np.append(np.flatnonzero(excluded), taken)
    assert not np.isin(found.rows, closed).any()


def test_the_top_follows_a_posterior_that_goes_on() -> None:
    """A survey that missed some updates gives the same rows as a new one."""
    search, points, none = Enumeration(), Points(POOL), np.zeros(len(X), dtype=np.bool_)
    rng = np.random.default_rng(1)
    p = posterior(1)
    for row in rng.choice(len(X), 12, replace=False):
        told = p.observed
        if row in told.rows:
            continue
        p = p.condition(
            Observations(
                np.append(told.rows, row),
                np.concatenate([told.X, X[row : row + 1]]),
                np.append(told.w, 2.0),
                np.append(told.y, rng.standard_normal()),
            ),
            Observations.none(2),
            rng,
        )
        asked = points, p, UCB(), 2.0, none, NO_ROWS, 10, rng
        found, afresh = search.highest(*asked), Enumeration().highest(*asked)
        np.testing.assert_array_equal(found.rows, afresh.rows)


def test_functions_drawn_have_the_posterior_s_moments() -> None:
    """Twenty thousand draws at thirty points, some of them the same point."""
    p, rows = posterior(6), np.r_[0:25, 80:85]
    values = sample_functions(p, X[rows], 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(values.mean(axis=1), p.mean(X[rows]), atol=0.03)
    np.testing.assert_allclose(np.cov(values), p.covariance(X[rows], X[rows]), atol=0.04)
    np.testing.assert_allclose(values[:5], values[25:], atol=1e-6)


def learned() -> tuple[Bandit, Belief, Evidence]:
    """A run with some values, and what its bandit believes."""
    opt = nr.gp_ucb(POOL, kernel=nr.Matern(2.5, 0.3), noise_std=0.3)
    rng = np.random.default_rng(0)
    opt.tell(rng.integers(len(X), size=60), rng.standard_normal(60))
    bandit, evidence = opt.policy, opt.evidence
    assert isinstance(bandit, Bandit)
    return bandit, bandit.told_all(evidence), evidence


def test_drawn_candidates_are_different_and_not_known() -> None:
    bandit, belief, evidence = learned()
    proposal = exploration.by_sampled_function(bandit, belief, evidence, 8)
    assert proposal is not None
    assert len(set(proposal.rows.tolist())) == 8
    old = np.isin(proposal.rows, evidence.told.rows)
    assert (proposal.variances[old] >= exploration.KNOWN * belief.posterior.ridge).all()


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
    box = nr.Box([(0, 4), (0, 4)], integer=whole)
    opt = nr.gp_ucb(box, kernel=nr.Matern(2.5, 0.3), noise_std=0.3)
    rng = np.random.default_rng(0)
    known = np.array([(a, b) for a in range(5) for b in range(3)], dtype=np.float64)
    opt.tell(known, means=rng.standard_normal(15), counts=np.full(15, 9))
    bandit, evidence = opt.policy, opt.evidence
    assert isinstance(bandit, Bandit)
    belief = bandit.told_all(evidence)
    proposal = exploration.by_sampled_function(bandit, belief, evidence, 8)
    assert proposal is not None
    assert len({tuple(x) for x in proposal.X.tolist()}) == 8
    assert ((proposal.X >= 0) & (proposal.X <= 1)).all()
    assert not np.isin(proposal.rows, evidence.told.rows).any()
    if whole:  # ten points are left
        assert exploration.by_sampled_function(bandit, belief, evidence, 20).rows.size == 10  # type: ignore[union-attr]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.integers(-5, 5))
def test_functions_that_promise_more_come_first_as_drawn(tops: list[int], best: int) -> None:
    """Those above the best in the order drawn, as if others were thrown away; then by height."""
    order = exploration.promising(np.array(tops, dtype=np.float64), float(best)).tolist()
    above = [i for i, top in enumerate(tops) if top >= best]
    below = sorted((i for i, top in enumerate(tops) if top < best), key=lambda i: -tops[i])
    assert order == above + below


def test_a_function_that_promises_more_is_not_spent_beside_the_best() -> None:
    """A known peak: what is drawn at random lies on its flank, which is known to be lower."""
    line = nr.Pool(np.arange(101.0)[:, None])
    opt = nr.mini_gp_ucb(line, kernel=nr.Matern(2.5, 3.0), noise_std=0.1)
    peak = np.arange(14, 27)
    told = peak[::2]
    opt.tell(told, means=3.0 - 0.5 * np.abs(told - 20.0), counts=np.full(len(told), 50))
    bandit, evidence = opt.policy, opt.evidence
    assert isinstance(bandit, Bandit)
    belief = bandit.told_all(evidence)
    beside = {1: 0, exploration.PROMISES: 0}
    for promises in beside:
        for step in range(40):
            proposal = exploration.by_sampled_function(
                bandit, belief, replace(evidence, step=step), 1, promises
            )
            assert proposal is not None
            beside[promises] += int(np.isin(proposal.rows, peak).sum())
    assert beside[1] >= 35
    assert beside[exploration.PROMISES] <= 10


@given(st.integers(0, 200))
def test_a_leader_stays_until_another_is_clearly_better(seed: int) -> None:
    """Against the two compared by hand."""
    _, belief, evidence = learned()
    told, p = evidence.told, belief.posterior
    mean, variance = p.marginals(told.X)
    best, was = int(np.argmax(mean)), seed % len(told)
    clear = mean[best] - mean[was] > exploration.CLEAR * (variance[best] + variance[was]) ** 0.5
    expected = told.rows[best if clear else was]
    assert exploration.leading(p, int(told.rows[was])) == expected
    assert exploration.leading(p, -1) == told.rows[best]


def test_where_all_is_known_there_is_nothing_to_draw() -> None:
    bandit, belief, evidence = learned()
    nothing = replace(evidence, excluded=np.ones(len(X), dtype=np.bool_))
    assert exploration.by_sampled_function(bandit, belief, nothing, 1) is None


def test_chance_takes_what_was_never_evaluated() -> None:
    _, belief, evidence = learned()
    proposal = exploration.by_chance(belief.posterior, evidence, 5)
    assert proposal is not None
    assert not np.isin(proposal.rows, evidence.told.rows).any()
    later = exploration.by_chance(belief.posterior, replace(evidence, step=evidence.step + 1), 5)
    assert later is not None
    assert not np.array_equal(proposal.rows, later.rows)


def test_only_known_candidates_bring_no_news() -> None:
    _, _, evidence = learned()
    row, new = evidence.told.rows[0], np.setdiff1d(np.arange(len(X)), evidence.told.rows)[0]
    rows, repeats = np.array([row, row, new]), np.array([3, 4, 5])
    proposal = Proposal(rows, X[rows], repeats, np.array([0.01, 0.9, 0.01]), "")
    assert exploration.without_news(proposal, evidence, ridge=1.0) == 3


def test_switch_costs_prolong_doubt_within_the_bound() -> None:
    rows = np.arange(4)
    proposal = Proposal(
        rows, X[rows], np.ones(4, dtype=np.int64), np.array([0.1, 1.0, 2.9, 9.0]), ""
    )
    stays = exploration.prolonged(proposal, 1.0, switch_cost=4.5, room=100)
    assert stays.repeats.tolist() == [5, 3, 1, 1]
    cut = exploration.prolonged(proposal, 1.0, switch_cost=4.5, room=6)
    assert cut.repeats.tolist() == [5, 1]
    assert cut.rows.tolist() == [0, 1]


@pytest.mark.parametrize(("value", "surprised"), [(0.0, False), (9.0, True), (-9.0, False)])
def test_a_value_far_too_high_is_a_surprise(value: float, surprised: bool) -> None:
    """Too low is no reason to look again: the best is what is wanted."""
    opt = nr.gp_ucb(POOL, kernel=nr.Matern(2.5, 0.3), noise_std=0.3)
    opt.tell(np.arange(10), np.zeros(10))
    bandit = opt.policy
    assert isinstance(bandit, Bandit)
    belief = bandit.told_all(opt.evidence)
    assert not exploration.is_surprised(belief, opt.evidence)
    opt.tell([3, 40], [value, 0.0])
    assert exploration.is_surprised(belief, opt.evidence) is surprised

"""Dictionaries thinned and added to: their law, who is in them, and what is carried."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstest

import noregret as nr
from noregret.arrays import Indices, Vector
from noregret.kernels import Kernel
from noregret.posteriors import NystromPosterior, Observations, Oversample, subset
from noregret.posteriors.incremental import point_numbers
from slow_references import DenseGP, repeated
from strategies import close, exact_prior

NONE = Observations.none(1)
ROUGH = nr.Matern(nu=0.5, lengthscale=1.0)  # no digits are lost in its Gram matrices
ODDS = 1e-7  # that a right law fails


def prior(q: float, ridge: float, kernel: Kernel = ROUGH) -> NystromPosterior:
    return NystromPosterior.prior(
        kernel, noise_std=1.0, ridge=ridge, dim=1, oversample=Oversample(q), incremental=True
    )


def test_numbers_are_hashes_of_features_and_key() -> None:
    """A slip in the shifts would make numbers of neighbouring points alike."""
    key, most = 0x0123456789ABCDEF, 1 << 64

    def mix(z: int) -> int:
        z = (z + 0x9E3779B97F4A7C15) % most
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % most
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % most
        return z ^ (z >> 31)

    def number(x: Vector) -> float:
        words = [int.from_bytes(np.float64(v).tobytes(), "little") for v in x]
        whole = mix(sum(mix(word ^ mix(at)) for at, word in enumerate(words)) % most)
        return (mix(whole ^ key) >> 11) / 2.0**53

    X = np.random.default_rng(0).standard_normal((5, 3))
    assert point_numbers(X, key).tolist() == [number(x) for x in X]
    assert point_numbers(np.array([[-0.0]]), key) == point_numbers(np.array([[0.0]]), key)
    line = np.arange(20_000)[:, None] / 7.0
    for other in (1, 2, key):
        numbers = point_numbers(line, other)
        assert kstest(numbers, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 4 / np.sqrt(20_000)
    one, two = point_numbers(line, 5), point_numbers(line, 6)
    assert abs(np.corrcoef(one, two)[0, 1]) < 4 / np.sqrt(20_000)


def test_points_are_in_as_often_as_their_probability_says() -> None:
    """BKB §3.2: kept with p̃_{t+1}/p̃_t, a point is in with p̃_{t+1}; and who is out stays out.

    A hundred groups that tell nothing of each other: in each a point evaluated once, and beside it
    one that is evaluated ever more, so that the score of the first falls. The second is always in;
    the scores of the first, while it is in, are those of the exact posterior on both.
    """
    groups, q, ridge, more = 100, 2.0, 4.0, (0, 20, 60, 400, 4000)
    first, beside = 100.0 * np.arange(groups), 100.0 * np.arange(groups) + 0.8
    X = np.concatenate([first, beside])[:, None]

    def told(w: int) -> Observations:
        n = groups if not w else 2 * groups
        counts = np.concatenate([np.ones(groups), np.full(n - groups, float(w))])
        return Observations(np.arange(n), X[:n], counts, np.zeros(n))

    def score(w: int) -> float:
        """p̃ once this was told, by dense algebra."""
        some, counts = np.array([[0.0], [0.8]]), np.array([1.0, float(w)])
        seen = Observations(np.arange(2), some, counts, np.zeros(2))
        gp = DenseGP(nr.RBF(1.0), ridge, *repeated(seen))
        return min(1.0, q * float(gp.variance(some[:1])[0]) / ridge)

    probabilities = [q / ridge, *(score(w) for w in more[:-1])]  # by variances before it was told
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[-1] < 0.75 * probabilities[0]
    inside = np.zeros((len(more), 0), dtype=bool)
    for seed in range(12):
        p, who = prior(q, ridge, nr.RBF(1.0)), []
        for step, w in enumerate(more):
            p = p.condition(told(w), NONE, np.random.default_rng([seed, step]))
            who.append(np.isin(np.arange(groups), p.members.rows))
            assert not w or np.isin(np.arange(groups, 2 * groups), p.members.rows).all()
        assert all((after <= before).all() for before, after in pairwise(who))
        inside = np.concatenate([inside, np.array(who)], axis=1)
    counts, trials = inside.sum(axis=1), inside.shape[1]
    for step, chance in enumerate(probabilities):
        assert likely(int(counts[step]), trials, chance), (step, chance, counts[step] / trials)
        if step:  # of those that were in, so many stay
            kept = chance / probabilities[step - 1]
            assert likely(int(counts[step]), int(counts[step - 1]), kept), (step, kept)


def likely(count: int, trials: int, chance: float) -> bool:
    low, high = (float(binom.ppf(at, trials, chance)) for at in (ODDS / 2, 1 - ODDS / 2))
    return low <= count <= high


@st.composite
def histories(draw: st.DrawFn) -> tuple[NystromPosterior, list[Observations], int]:
    """A prior, and what is told one after the other: new points, and old ones again."""
    seed = draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    p = prior(draw(st.sampled_from([0.3, 1.0, 5.0])), draw(st.sampled_from([0.05, 1.0, 5.0])))
    X = 3.0 * rng.random((60, 1))
    w, total = np.zeros(60), np.zeros(60)
    order: list[int] = []
    told = []
    for _ in range(draw(st.integers(2, 12))):
        for row in rng.integers(0, 60, size=int(rng.integers(1, 5))).tolist():
            count = int(rng.integers(1, 9))
            w[row], total[row] = w[row] + count, total[row] + count * rng.standard_normal()
            order += [] if row in order else [row]
        rows = np.array(order)
        told.append(Observations(rows, X[rows], w[rows], total[rows] / w[rows]))
    return p, told, seed


@given(histories())
def test_what_is_carried_is_what_is_rebuilt(
    history: tuple[NystromPosterior, list[Observations], int],
) -> None:
    """Sums carried through a run must not drift away from the posterior they stand for."""
    p, told, seed = history
    X = np.linspace(-0.5, 3.5, 17)[:, None]
    for step, known in enumerate(told):
        p = p.condition(known, NONE, np.random.default_rng([seed, step]))
        fresh = p.rebuilt(known, p.members)
        assert fresh.members.rows.tolist() == p.members.rows.tolist()
        scale = 1.0 + float(np.abs(known.y).max())
        close(p.mean(X) / scale, fresh.mean(X) / scale, 1e-7)
        close(p.variance(X), fresh.variance(X), 1e-7)
        near = partial(pytest.approx, rel=1e-7, abs=1e-9)
        assert p.effective_dimension() == near(fresh.effective_dimension())
        assert p.most_log_det == near(fresh.most_log_det)
        assert p.log_det == near(fresh.log_det)


@given(histories())
def test_who_is_left_out_comes_back_when_told_or_when_members_left(
    history: tuple[NystromPosterior, list[Observations], int],
) -> None:
    """The paper's law while probabilities fall; where they rise, all points are looked at."""
    p, told, seed = history
    for step, known in enumerate(told):
        before = p
        p = p.condition(known, NONE, np.random.default_rng([seed, step]))
        rows, risen = expected(before, known, p.key)
        assert set(p.members.rows.tolist()) == set(rows.tolist())
        assert p.risen == pytest.approx(risen, rel=1e-6, abs=1e-8)
        assert p.key == before.key or not step


def expected(before: NystromPosterior, known: Observations, key: int) -> tuple[Indices, float]:
    """Return who is in, and what probabilities may have risen by, with nothing carried on."""
    q, numbers = before.oversample.at(0), point_numbers(known.X, key)
    counts = np.zeros(len(known))
    counts[: len(before.observed)] = before.observed.w
    looked = (known.w != counts) | np.isin(known.rows, before.members.rows)
    p = np.minimum(1.0, q * known.w * before.variance(known.X) / before.ridge)
    kept = looked & (numbers < p)
    if not kept.any():
        kept[np.argmax(np.where(looked, p, -1.0))] = True
    for again in (looked, np.ones(len(known), dtype=bool)):  # who leaves, then all
        old = np.flatnonzero(kept & (counts > 0))
        rest = before.rebuilt(before.observed, subset(known, old))
        risen = before.risen + q * max(left_out(rest) - left_out(before), 0.0) / before.ridge
        if risen <= 0.1 * kept.sum():
            return known.rows[kept], risen
        p = np.minimum(1.0, q * known.w * rest.variance(known.X) / before.ridge)
        kept |= again & (numbers < p)
    return known.rows[kept], 0.0


def left_out(p: NystromPosterior) -> float:
    """Return Σ w(k − ‖z‖²), by dense algebra."""
    X, S = p.observed.X, p.members.X
    explained = p.kernel(X, S) @ np.linalg.pinv(p.kernel(S, S)) @ p.kernel(S, X)
    return float(p.observed.w @ (p.kernel.diagonal(X) - np.diag(explained)))


def test_a_long_history_is_thinned_by_what_bless_saw() -> None:
    """Thousands of points at once: by prior variances each would be a member."""
    rng = np.random.default_rng(3)
    n = 3000
    told = Observations(np.arange(n), 20 * rng.random((n, 1)), np.ones(n), rng.standard_normal(n))
    p = prior(2.0, 1.0, nr.RBF(1.0)).condition(told, NONE, rng)
    fresh = replace(prior(2.0, 1.0, nr.RBF(1.0)), incremental=False).condition(told, NONE, rng)
    assert 0.5 * len(fresh.members) < len(p.members) < 2 * len(fresh.members) < 400
    again = p.condition(told, NONE, rng)  # nothing was told: only members are looked at
    assert set(again.members.rows.tolist()) <= set(p.members.rows.tolist())
    assert len(again.members) > 0.7 * len(p.members)


@pytest.mark.parametrize("weights", [0.0, 1.5], ids=["alike", "of all kinds"])
@pytest.mark.parametrize("seed", range(3))
def test_a_short_history_told_at_once_is_seen_as_by_a_fresh_dictionary(
    seed: int, weights: float
) -> None:
    """All its points are in, and all are thinned at once, each while the others explain it.

    What was left out then did not come back: variances were off by 10⁴, certificates thirtyfold.
    """
    bands: dict[str, list[float]] = {}
    off: dict[str, list[float]] = {}
    for dictionary in ("fresh", "incremental"):
        rng = np.random.default_rng(seed)
        X = rng.random((400, 2))
        f = np.sin(5 * X[:, 0]) * X[:, 1]
        optimizer = nr.bbkb(
            nr.Pool(X), kernel=nr.RBF(1.0), noise_std=0.1, dictionary=dictionary, seed=seed
        )
        noise = 0.1 * 10 ** rng.uniform(-weights, weights, 200)
        told = f[:200] + noise * rng.standard_normal(200)
        optimizer.tell(range(200), told, noise_std=noise if weights else None)
        bands[dictionary], off[dictionary] = [], []
        for _ in range(8):
            batch = optimizer.ask(at_most=20)
            rows = np.asarray(batch.sequence, dtype=np.int64)
            optimizer.tell(batch, f[rows] + 0.1 * rng.standard_normal(len(rows)))
            view = optimizer.look()
            exact = exact_prior(nr.RBF(1.0), 0.01).condition(
                optimizer.evidence.told, Observations.none(2), rng
            )
            ratio = view.posterior.variance(X) / exact.variance(X)
            off[dictionary].append(max(ratio.max(), 1 / ratio.min()))
            bands[dictionary].append(view.guarantee().beta)
    assert np.median(bands["incremental"]) < 1.25 * np.median(bands["fresh"])
    assert max(bands["incremental"]) < 1.5 * max(bands["fresh"])
    assert np.median(off["incremental"]) < 3  # the factor of BKB 2019, Theorem 1
    assert max(off["incremental"]) < 1.5 * max(3.0, *off["fresh"])


@pytest.mark.parametrize("seed", range(4))
def test_variances_stay_within_the_factor_of_the_theorem_in_runs(seed: int) -> None:
    """The paper leaves it open: a run may choose what its dictionary does not see.

    BKB 2019, Theorem 1, has a factor of 3 at ε = 1/2, for a far larger q̄ than 2.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((600, 2))
    f = np.sin(5 * X[:, 0]) * X[:, 1]
    optimizer = nr.bbkb(
        nr.Pool(X), kernel=nr.RBF(0.2), noise_std=0.3, dictionary="incremental", seed=seed
    )
    while optimizer.spent < 500:
        batch = optimizer.ask(at_most=500 - optimizer.spent)
        rows = np.asarray(batch.sequence, dtype=np.int64)
        optimizer.tell(batch, f[rows] + 0.3 * rng.standard_normal(len(rows)))
    told = optimizer.evidence.told
    exact = exact_prior(nr.RBF(0.2), 0.09).condition(told, Observations.none(2), rng)
    ratio = optimizer.posterior.variance(X) / exact.variance(X)
    assert optimizer.trace["dictionary"][-1] < 0.7 * optimizer.unique
    assert ratio.min() > 1 / 3
    assert ratio.max() < 3

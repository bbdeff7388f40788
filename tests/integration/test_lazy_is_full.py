"""Whole runs by lazy search against runs that look at every row for every single evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import ExhaustedError
from noregret.kernels import Kernel
from noregret.search import Enumeration, pool_ranking
from slow_search import FullSearch, searched_fully, swapped
from strategies import MODELS, kernels, whole_runs

every_algorithm = pytest.mark.parametrize("name", MODELS)


@dataclass(frozen=True)
class Story:
    """A pool with duplicates, a function on it, and the seed of all that happens."""

    X: Matrix
    values: Vector
    kernel: Kernel
    noise_std: float
    limit: float
    seed: int

    def measure(self, rows: Indices, rng: np.random.Generator) -> Vector:
        return self.values[rows] + self.noise_std * rng.standard_normal(len(rows))

    def optimizer(self, name: str, **settings: int) -> nr.Optimizer:
        without = ("gp_ucb", "gp_ei", "bkb", "bkb-incremental", "thompson-three")
        limit = {} if name in without else {"limit": self.limit}
        return MODELS[name](
            nr.Pool(self.X),
            kernel=self.kernel,
            noise_std=self.noise_std,
            seed=self.seed,
            **limit,
            **settings,
        )


@st.composite
def stories(draw: st.DrawFn) -> Story:
    dim, candidates = draw(st.integers(1, 3)), draw(st.integers(3, 90))
    seed = draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    kernel = draw(kernels(dim))
    X = rng.standard_normal((candidates, dim))
    copies = rng.integers(0, candidates, size=draw(st.integers(0, candidates // 2)))
    X = np.vstack([X, X[copies]])[rng.permutation(candidates + len(copies))]
    C = rng.standard_normal((6, dim))
    values = kernel(X, C) @ rng.standard_normal(6)
    noise_std = 10.0 ** draw(st.floats(-3, 1))
    limit = draw(st.sampled_from([1.13, 2.03, 5.03]))  # which 1 + 1/n, without noise, is not
    return Story(X, values, kernel, noise_std, limit, seed)


def together(story: Story, one: nr.Optimizer, other: nr.Optimizer, steps: int) -> None:
    """Live through the same run twice: two workers, late and unasked values, exclusions."""
    rng = np.random.default_rng(story.seed)
    for _ in range(steps):
        event, some = rng.random(), rng.integers(0, len(story.X), size=int(rng.integers(1, 4)))
        if event < 0.04:
            if (~one.evidence.excluded).sum() > len(some):
                one.exclude(some)
                other.exclude(some)
        elif event < 0.12:
            told = story.measure(some, rng)
            one.tell(some, told)
            other.tell(some, told)
        else:
            most, worker = int(rng.integers(1, 40)), ("a", "b")[int(rng.integers(2))]
            a, b = asked(one, most, worker), asked(other, most, worker)
            if a is None or b is None:  # every candidate was evaluated as often as it may be
                assert a is b
                continue
            assert a.sequence.tolist() == b.sequence.tolist()
            assert a.reason == b.reason
            if event < 0.7:  # else the other worker may ask while this is under way
                told = story.measure(np.asarray(a.sequence, dtype=np.int64), rng)
                one.tell(a.sequence, told)
                other.tell(b.sequence, told)


def asked(optimizer: nr.Optimizer, most: int, worker: str) -> nr.Batch | None:
    try:
        return optimizer.ask(at_most=most, worker=worker)
    except ExhaustedError:
        return None


@every_algorithm
@whole_runs
@given(stories(), st.sampled_from([1, 2, 5, 64]), st.sampled_from([0, 2, 8, 1000]))
def test_lazy_runs_are_full_runs(name: str, story: Story, few: int, columns: int) -> None:
    """A choice that laziness changed would void the guarantees, and no one would see it.

    With room for the kernel values of no point, of a few, or of all of them; with rows looked at
    together so few that small pools know all the roads of large ones.
    """
    plain = story.optimizer(name)
    search = Enumeration(memory=columns * 8 * len(story.X))
    one = swapped(plain, search=search)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool_ranking, "FEW", few)
        together(story, one, searched_fully(plain), steps=25)


@every_algorithm
@whole_runs
@given(stories(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 64]))
def test_lazy_runs_under_a_cap_are_full_runs(name: str, story: Story, most: int, few: int) -> None:
    """Whoever is closed in the middle of a batch must neither win again nor hide the next best."""
    plain = story.optimizer(name, at_most_each=most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool_ranking, "FEW", few)
        together(story, swapped(plain, search=Enumeration()), searched_fully(plain), steps=25)


@every_algorithm
@whole_runs
@given(stories())
def test_looking_changes_no_later_choice(name: str, story: Story) -> None:
    """A dashboard that shows best() and the certificate must not steer the run it shows.

    In between values, where the posterior that is looked at is never the one that a batch opens on.
    """
    watched, other = story.optimizer(name), story.optimizer(name)
    rng, watch = np.random.default_rng(story.seed), np.random.default_rng([story.seed, 1])
    for _ in range(15):
        most = int(rng.integers(1, 12))
        a, b = watched.ask(at_most=most), other.ask(at_most=most)
        assert a.sequence.tolist() == b.sequence.tolist()
        for row in np.asarray(a.sequence, dtype=np.int64):
            told = story.measure(np.array([row]), rng)
            watched.tell([row], told)
            other.tell([row], told)
            if watch.random() < 0.4:
                watched.best()
                highest = watched.certificate().reachable
                assert highest == pytest.approx(highest_of_all(watched), rel=1e-9, abs=1e-12)


def highest_of_all(optimizer: nr.Optimizer) -> float:
    """Return the largest upper bound of the pool, looking at every row."""
    bandit, state = optimizer.policy, optimizer.state
    assert isinstance(bandit, nr.Bandit)
    full = replace(bandit, search=FullSearch())
    return full.look(state, optimizer.evidence).highest_bound(0)


def test_two_runs_may_share_a_policy() -> None:
    """One policy, many seeds: what one run was told must not leak into another.

    Both start with the same candidates, so that their searches look alike but for the values.
    """
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    make = partial(nr.gp_ucb, nr.Pool(X), kernel=nr.RBF(0.3), noise_std=0.1, start=[3, 7, 20])
    for trial in range(10):
        shared = make().policy
        runs = [nr.Optimizer(nr.Pool(X), shared, seed=0) for _ in range(2)]
        alone = [searched_fully(make()) for _ in range(2)]
        noise = np.random.default_rng(trial).standard_normal((2, 20))
        for step in range(20):
            for run, twin, told in zip(runs, alone, noise[:, step], strict=True):
                a, b = run.ask(), twin.ask()
                assert a.sequence.tolist() == b.sequence.tolist()
                run.tell(a, [told] * len(a))
                twin.tell(b, [told] * len(b))

"""Designs against brute force, in parts and whole, on odd pools and boxes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

import noregret as nr
from noregret import arrays
from noregret.arrays import Matrix
from noregret.errors import ArgumentError
from noregret.policies import Purpose, stream
from noregret.policies.designs import sobol
from slow_references import DenseGP
from small_designs import DESIGNS, POOL, SCALED, build, every_design, farthest, whole


def nearest_to_sobol(X: Matrix, taken: set[int], size: int, seed: int) -> list[int]:
    """Each quasi-random point takes the nearest row that is free, one after the other."""
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    points = qmc.Sobol(X.shape[1], rng=stream(seed, Purpose.START, 0)).random_base2(7)[:size]
    chosen: list[int] = []
    for q in points:
        gap = ((((X - low) / span) - q) ** 2).sum(axis=1)
        free = [row for row in range(len(X)) if row not in taken and row not in chosen]
        chosen.append(min(free, key=lambda row: (gap[row], row)))
    return chosen


def most_uncertain(X: Matrix, taken: set[int], size: int) -> list[int]:
    """The largest posterior variance, from scratch after each choice."""
    chosen: list[int] = []
    while len(chosen) < size:
        now = DenseGP(SCALED, 0.09, X[chosen], np.zeros(len(chosen)))
        variance = np.round(now.variance(X), 9)  # ties by the lowest row
        free = [row for row in range(len(X)) if row not in taken and row not in chosen]
        chosen.append(max(free, key=lambda row: (variance[row], -row)))
    return chosen


@pytest.mark.parametrize("chunk", [1, arrays.CHUNK_BYTES])
def test_designs_are_what_brute_force_finds(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CHUNK_BYTES", chunk)
    gone = [3, 17, 50, 51, 88]
    ids = {}
    for name in DESIGNS:
        optimizer = build(name, 60, seed=6)
        optimizer.exclude(gone)
        ids[name] = optimizer.ask().sequence.tolist()
        assert len(set(ids[name])) == 60
        assert not set(ids[name]) & set(gone)
    first = ids["farthest"][0]
    assert ids["farthest"][1:] == farthest(POOL.X, [first], set(gone), 59)
    assert ids["sobol"] == nearest_to_sobol(POOL.X, set(gone), 60, 6)
    assert ids["uncertainty"] == most_uncertain(POOL.X, set(gone), 60)


@given(st.integers(0, 2**20), st.integers(1, 7), st.integers(1, 3))
def test_farthest_points_cover_within_twice_the_least_radius(seed: int, k: int, d: int) -> None:
    """Gonzalez's guarantee, against every design of that size."""
    X = np.random.default_rng(seed).random((8, d))
    optimizer = build("farthest", k, nr.Pool(X), seed=seed)
    chosen = optimizer.ask().ids.tolist()
    Z = X / X.std(axis=0)
    distances = np.linalg.norm(Z[:, None, :] - Z[None, :, :], axis=2)
    least = min(
        distances[:, list(some)].min(axis=1).max() for some in itertools.combinations(range(8), k)
    )
    assert distances[:, chosen].min(axis=1).max() <= 2 * least * (1 + 1e-9)


@every_design
def test_a_design_in_parts_is_the_design(name: str) -> None:
    """Cut by at_most, told in part, failed, shared by workers: the same candidates in the end."""
    expected = whole(name, 12)
    optimizer, got = build(name, 12), list[int]()
    for step in itertools.count():
        batch = optimizer.ask(at_most=1 + step % 4)
        if not batch.reason.startswith("start"):
            break
        part = batch[: max(1, len(batch) - 1)]
        optimizer.tell(part, np.zeros(len(part)))
        got += part.sequence.tolist()
        optimizer.fail(batch[len(part) :])
    assert sorted(got) == sorted(expected)
    assert got[:3] == expected[:3]

    shared = build(name, 12)
    batches = [shared.ask(at_most=5, worker=str(i)) for i in range(4)]
    assert [len(batch) for batch in batches[:3]] == [5, 5, 2]
    assert [row for batch in batches[:3] for row in batch.sequence.tolist()] == expected
    assert not batches[3].reason.startswith("start")


@every_design
def test_what_is_told_before_counts_and_is_not_asked_for(name: str) -> None:
    """A design of ten with four candidates known, one of them many times, has six to go."""
    history = [*whole(name, 10)[2:4], 70, 71]
    optimizer = build(name, 10)
    optimizer.tell(history, [0.1, 0.2, 0.3, 0.4])
    optimizer.tell([70], means=[0.3], counts=[1000])
    batch = optimizer.ask()
    assert len(batch) == 6
    assert not set(batch.ids.tolist()) & set(history)
    optimizer.tell(batch, np.zeros(6))
    assert not optimizer.ask().reason.startswith("start")
    enough = build(name, 3)
    enough.tell([1, 2, 3], [0.0, 0.0, 0.0])
    assert not enough.ask().reason.startswith("start")


def test_points_off_the_pool_are_centres_too() -> None:
    """Where something was measured already, nothing near it is needed."""
    pool = nr.Pool(np.linspace(0, 1, 11)[:, None])
    optimizer = build("farthest", 3, pool)
    optimizer.tell([[0.01]], [0.5])
    assert optimizer.ask().ids.tolist()[:2] == [10, 5]


@every_design
def test_exclusion_in_the_middle_is_made_up_for(name: str) -> None:
    optimizer = build(name, 8)
    first = optimizer.ask(at_most=3)
    optimizer.tell(first, np.zeros(3))
    coming = [row for row in whole(name, 8) if row not in first.ids.tolist()]
    optimizer.exclude(coming[:2])
    rest = optimizer.ask()
    assert len(rest) == 5
    assert not set(rest.ids.tolist()) & {*coming[:2], *first.ids.tolist()}


@every_design
def test_the_seed_decides(name: str) -> None:
    assert whole(name, 9, seed=2) == whole(name, 9, seed=2)
    assert (whole(name, 9, seed=2) != whole(name, 9, seed=3)) == (name != "uncertainty")


@every_design
@pytest.mark.parametrize(
    "X",
    [
        [[1.0]],
        [[0.0], [1.0], [2.0]],
        [[2.0, 5.0]] * 5,
        [[0.0, 7.0], [1.0, 7.0], [0.0, 7.0], [3.0, 7.0]],
        [[1e150, -1e-150], [-1e150, 1e-150], [0.0, 0.0]],
    ],
    ids=["one row", "three rows", "all alike", "some alike and a constant", "far scales"],
)
def test_pools_smaller_than_the_design(name: str, X: list[list[float]]) -> None:
    kernel = nr.RBF(1e150)
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=kernel, noise_std=0.3, start=DESIGNS[name](20))
    batch = optimizer.ask()
    assert sorted(batch.sequence.tolist()) == list(range(len(X)))
    optimizer.tell(batch, np.zeros(len(batch)))
    assert not optimizer.ask().reason.startswith("start")


def test_uniform_designs_are_uniform() -> None:
    pool = nr.Pool(np.arange(20.0)[:, None])
    counts = np.zeros(20)
    for seed in range(400):
        counts[build("uniform", 5, pool, seed=seed).ask().ids.astype(np.int64)] += 1
    variance = 400 * 0.25 * 0.75
    assert ((counts - 100) ** 2).sum() / variance < 20 + 4 * np.sqrt(40)


def test_quasi_random_designs_are_more_even_than_uniform_ones() -> None:
    X = np.random.default_rng(0).random((4000, 2))
    pool = nr.Pool(X)

    def uneven(name: str) -> list[float]:
        return [
            float(qmc.discrepancy(X[build(name, 32, pool, seed=s).ask().ids.astype(np.int64)]))
            for s in range(10)
        ]

    even, drawn = uneven("sobol"), uneven("uniform")
    assert max(even) < min(drawn), (even, drawn)


@every_design
def test_a_minimum_batch_comes_after_the_design(name: str) -> None:
    optimizer = nr.gp_bucb(
        POOL,
        kernel=SCALED,
        noise_std=1.0,
        rule="global",
        start=DESIGNS[name](4),
        min_batch=3,
    )
    reasons = []
    for _ in range(40):
        batch = optimizer.ask()
        reasons.append(batch.reason)
        if not batch.reason.startswith("start"):
            assert len(batch) >= 3
            break
        optimizer.tell(batch, np.zeros(len(batch)))
    assert len(reasons) == 3
    assert "minimum batch" in reasons[1]
    assert "minimum batch" not in reasons[0]


def test_uncertainty_designs_on_wide_noise_take_each_once() -> None:
    """Where noise leaves the same candidate the most uncertain, the next one is taken."""
    X = np.array([[0.0], [0.001], [5.0], [5.001]])
    optimizer = nr.gp_ucb(
        nr.Pool(X), kernel=nr.RBF(1.0), noise_std=30.0, start=nr.UncertaintyDesign(4)
    )
    assert sorted(optimizer.ask().ids.tolist()) == [0, 1, 2, 3]


def test_sobol_sequences_begin_alike() -> None:
    """Asking for more points must not move the first."""
    for size in (1, 2, 3, 8, 9):
        points = sobol(3, size, np.random.default_rng(0))
        assert points.shape == (size, 3)
        np.testing.assert_array_equal(points, sobol(3, 40, np.random.default_rng(0))[:size])
    with pytest.raises(ArgumentError, match="at most 21201 features, got 30000"):
        sobol(30_000, 2, np.random.default_rng(0))

"""Regularised evolution, against the loop of its paper."""

from __future__ import annotations

import itertools
from collections import deque

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.policies import Purpose, stream
from noregret.policies.evolution import Population
from noregret.posteriors import Observations
from slow_search import nearest, siblings

GRID = np.array(list(itertools.product(range(4), repeat=3)), dtype=np.float64)
ONE_HOT = np.eye(4)[GRID.astype(np.int64)].reshape(len(GRID), -1)
SCATTERED = np.random.default_rng(5).standard_normal((70, 3))
VALUES = np.sin(np.arange(70.0) * 1.7)  # all different


def papers_loop(
    X: Matrix,
    values: Vector,
    groups: tuple[tuple[int, ...], ...] | None,
    *,
    cycles: int,
    population: int,
    sample: int,
    seed: int,
) -> list[int]:
    """Real et al. 2019, Algorithm 1, with the draws of our streams."""
    alive: deque[int] = deque()
    history: list[int] = []
    none = np.zeros(len(X), dtype=np.bool_)
    while len(history) < cycles:
        rng = stream(seed, Purpose.POLICY, len(history))
        if len(history) < population:
            child = int(rng.integers(len(X), size=1)[0])
        else:
            drawn = [alive[at] for at in rng.integers(len(alive), size=sample)]
            parent = max(drawn, key=lambda row: values[row])
            sets = [rows for rows in siblings(X, groups, parent, none) if rows] if groups else []
            sets = sets or [nearest(X, parent, none, 5)]
            rows = sets[int(rng.integers(len(sets)))]
            child = rows[int(rng.integers(len(rows)))]
        alive.append(child)
        history.append(child)
        if len(alive) > population:
            alive.popleft()
    return history


@pytest.mark.parametrize(
    ("X", "groups"),
    [
        (GRID, ((0,), (1,), (2,))),
        (ONE_HOT, ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))),
        (SCATTERED, None),
    ],
    ids=["codes", "one-hot", "nearest"],
)
@pytest.mark.parametrize(("population", "sample"), [(8, 3), (1, 1), (20, 40)])
def test_it_is_the_papers_loop(
    X: Matrix, groups: tuple[tuple[int, ...], ...] | None, population: int, sample: int
) -> None:
    optimizer = nr.regularized_evolution(
        nr.Pool(X), population=population, sample=sample, groups=groups, neighbours=5, seed=4
    )
    values, chosen = VALUES[: len(X)], []
    for _ in range(60):
        batch = optimizer.ask()
        chosen.append(int(batch.ids[0]))
        optimizer.tell(batch, values[batch.ids.astype(np.int64)])
    expected = papers_loop(
        X, values, groups, cycles=60, population=population, sample=sample, seed=4
    )
    assert chosen == expected


def points(*counts: int) -> Observations:
    n = len(counts)
    return Observations(np.arange(n), np.zeros((n, 1)), np.array(counts, dtype=float), np.zeros(n))


def test_members_join_when_their_values_come_and_the_oldest_leave() -> None:
    """A candidate evaluated again is young again; a value told late joins late."""
    nobody = Population(np.empty(0, dtype=np.int64), np.empty(0))
    first = nobody.grown(points(1, 2), 4)
    assert first.members.tolist() == [0, 1, 1]
    assert first.grown(points(1, 2), 4).members.tolist() == [0, 1, 1]
    second = first.grown(points(2, 2, 1), 4)
    assert second.members.tolist() == [1, 1, 0, 2]
    assert second.grown(points(2, 10**9, 1), 4).members.tolist() == [1, 1, 1, 1]


def test_workers_wait_for_nobody() -> None:
    """Founders under way count as founders; with no value at all everything is drawn."""
    optimizer = nr.regularized_evolution(nr.Pool(SCATTERED), population=2, sample=3, neighbours=3)
    batches = [optimizer.ask(worker=str(i)) for i in range(4)]
    optimizer.tell(batches[3], [1.0])  # the last comes first
    parent = int(batches[3].ids[0])
    children = {int(optimizer.ask(worker=f"w{i}").ids[0]) for i in range(12)}
    assert children <= set(nearest(SCATTERED, parent, np.zeros(70, dtype=np.bool_), 3))
    for batch in batches[:3]:
        optimizer.fail(batch)
    assert optimizer.best().id == parent


def test_failures_are_founded_again() -> None:
    optimizer = nr.regularized_evolution(nr.Pool(GRID), population=5, groups=range(3), sample=1)
    optimizer.tell([0] * 4, [0.0] * 4)
    for _ in range(6):
        optimizer.fail(optimizer.ask())
    founders = set()
    for _ in range(40):
        batch = optimizer.ask()
        founders.add(int(batch.ids[0]))
        optimizer.fail(batch)
    assert len(founders) > 15  # not the nine siblings of row 0
    optimizer.tell([0], [0.0])
    children = [int(optimizer.ask(worker=str(i)).ids[0]) for i in range(30)]
    assert ((GRID[children] != 0).sum(axis=1) == 1).all()


def test_the_excluded_have_no_children_and_are_none() -> None:
    for groups in (range(3), None):
        optimizer = nr.regularized_evolution(
            nr.Pool(GRID), population=6, sample=6, groups=groups, neighbours=3, seed=2
        )
        optimizer.tell([63, 0], [9.0, 1.0])
        gone = [63, *range(1, 20)]
        optimizer.exclude(gone)
        for _ in range(40):
            batch = optimizer.ask()
            assert int(batch.ids[0]) not in gone
            optimizer.tell(batch, [0.0])


@pytest.mark.parametrize("X", [[[1.0]], [[2.0], [2.0]], [[0.0], [1.0]]])
def test_tiny_pools(X: list[list[float]]) -> None:
    optimizer = nr.regularized_evolution(nr.Pool(X), population=2, batch_size=3, groups=[0])
    for _ in range(4):
        optimizer.tell(optimizer.ask(), np.zeros(3))
    assert optimizer.best().mean == 0.0


def test_points_off_the_pool_are_no_parents() -> None:
    """They are evidence, not candidates; nothing in the pool is one mutation away from them."""
    optimizer = nr.regularized_evolution(nr.Pool(GRID), population=2, sample=50, groups=range(3))
    optimizer.tell([[9.0, 9.0, 9.0]], [100.0])
    optimizer.tell([0], [0.0])
    children = [int(optimizer.ask(worker=str(i)).ids[0]) for i in range(20)]
    assert ((GRID[children] != 0).sum(axis=1) == 1).all()


def test_a_box_evolves() -> None:
    box = nr.Box([(-1, 1), (1e-3, 1e3), (0, 9)], log=[1], integer=[2])

    def hill(x: Vector) -> float:
        return float(-((x[0] - 0.3) ** 2) - 0.1 * np.log10(x[1] / 30) ** 2 - 0.1 * abs(x[2] - 7))

    ends = []
    for algorithm in (nr.regularized_evolution, nr.uniform):
        best = [
            nr.maximize(hill, box, algorithm=algorithm, budget=300, seed=seed).best().mean
            for seed in range(5)
        ]
        ends.append(np.mean(best))
    assert ends[0] > -0.02 > ends[1]


def test_it_beats_uniform_where_neighbours_are_alike() -> None:
    """Ten seeds on a smooth hill of 4⁵ codes; the sum of values is what regret counts."""
    X = np.array(list(itertools.product(range(4), repeat=5)), dtype=np.float64)
    values = -((X - [3, 0, 2, 1, 3]) ** 2).sum(axis=1)

    def total(optimizer: nr.Optimizer) -> float:
        ids = []
        while optimizer.spent < 300:
            batch = optimizer.ask()
            ids.append(int(batch.ids[0]))
            optimizer.tell(batch, values[ids[-1:]])
        return float(values[ids].sum())

    pool = nr.Pool(X)
    evolved = [
        total(nr.regularized_evolution(pool, population=30, groups=range(5), seed=seed))
        for seed in range(10)
    ]
    drawn = [total(nr.uniform(pool, seed=seed)) for seed in range(10)]
    assert min(evolved) > max(drawn), (evolved, drawn)


def test_groups_of_a_table_and_of_bits() -> None:
    """A table knows its groups; a fingerprint has as many columns as bits."""
    import pyarrow

    table = pyarrow.table({"salt": ["KF", "CsF", "KF"], "heat": [20, 40, 80]})
    pool = nr.Pool.from_frame(table)
    own, given = nr.regularized_evolution(pool), nr.regularized_evolution(pool, groups=pool.groups)
    assert own.policy == given.policy
    bits = nr.BitPool(np.random.default_rng(0).integers(0, 2, (12, 30)))
    optimizer = nr.regularized_evolution(bits, groups=range(30), population=4, sample=2)
    assert len(optimizer.ask()) == 1

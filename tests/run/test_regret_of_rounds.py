"""Regret of rounds, held against the best under each context."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Vector
from small_rounds import MODEL, POOL, N, f, run, truth


@given(
    st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, 5), st.booleans()), max_size=25),
    st.booleans(),
    st.booleans(),
)
def test_regret_is_held_against_the_best_of_each_context(
    story: list[tuple[int, int, bool]], by_name: bool, up: bool
) -> None:
    """By a walk over all candidates in each round; the best on average may be no one's best."""
    rng = np.random.default_rng(len(story))
    table, contexts = rng.standard_normal((6, N)), np.linspace(-1, 1, 6)
    optimizer = nr.gp_ucb(POOL, goal="max" if up else "min", **MODEL)
    optimizer.tell([0], [0.1], context={"age": 0.5} if by_name else [0.5])
    ids = np.array([row for row, _, _ in story], dtype=np.int64)
    values = np.array([np.nan if lost else 0.0 for _, _, lost in story])
    met = np.array([[contexts[j]] for _, j, _ in story]).reshape(-1, 1)
    found = nr.Result(optimizer, ids, values, "budget spent", 0, met)
    called = list[float]()

    def true(c: Any) -> list[float]:
        called.append(float(c["age"] if by_name else c[0]))
        return table[contexts.tolist().index(called[-1])].tolist()  # type: ignore[no-any-return]

    expected = []
    for row, j, lost in story:
        best = table[j][0]
        for other in range(N):
            best = max(best, table[j][other]) if up else min(best, table[j][other])
        expected.append(np.nan if lost else abs(best - table[j][row]))
    np.testing.assert_array_equal(found.regret(true), expected)
    assert sorted(called) == sorted({contexts[j] for _, j, _ in story})  # once each


def test_regret_without_contexts_is_against_one_best() -> None:
    F = truth([0.2, 0.4])
    found = nr.maximize(
        lambda i: nr.FAILED if i == 3 else float(F[i]),
        POOL,
        25,
        algorithm=nr.uniform,
        by_id=True,
        progress=False,
    )
    expected = [np.nan if i == 3 else F.max() - F[i] for i in found.ids]
    np.testing.assert_array_equal(found.regret(F), expected)
    with pytest.raises(nr.NoRegretError, match="is a function of the context, and this run has no"):
        found.regret(truth)
    with pytest.raises(nr.NoRegretError, match="one true value per candidate, 20 of them"):
        found.regret(F[:3])
    box = nr.minimize(lambda x: x[0], nr.Box([(0, 1)]), 3, algorithm=nr.uniform, progress=False)
    with pytest.raises(nr.NoRegretError, match="a box has none"):
        box.regret([1.0])


def test_true_values_of_contexts_are_checked() -> None:
    found = run(budget=4)
    with pytest.raises(nr.NoRegretError, match="must be a function where there are contexts"):
        found.regret(truth([0.1, 0.2]))
    with pytest.raises(nr.NoRegretError, match=r"under the context array.*20 of them, got shape"):
        found.regret(lambda c: truth(c)[:5])
    with pytest.raises(nr.NoRegretError, match=r"under the context .* must be finite"):
        found.regret(lambda c: np.nan * truth(c))


def test_contexts_pay() -> None:
    """Regret per round falls where contexts are seen; one candidate for all goes on losing."""
    rng = np.random.default_rng(0)
    stream = rng.integers(0, 4, (240, 2)) / 4

    def noisy(x: Vector, c: Vector) -> float:
        return f(x, c) + 0.4 * float(rng.standard_normal())

    greedy = partial(nr.gp_ucb, width=nr.ConstantWidth(1.5), **MODEL)
    seeing = run(f=noisy, contexts=stream, budget=240, algorithm=greedy).regret(truth)
    every = np.array([truth(c) for c in stream])
    one = int(every.mean(axis=0).argmax())  # the best that one candidate for all can be
    blind = every.max(axis=1) - every[:, one]
    assert seeing[120:].sum() < 0.5 * seeing[:120].sum()
    assert seeing[120:].sum() < 0.4 * blind[120:].sum(), (seeing[120:].sum(), blind[120:].sum())

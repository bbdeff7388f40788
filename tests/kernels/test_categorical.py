"""The Hamming kernel and the candidate effect, against rows compared one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Rows
from noregret.errors import ArgumentError
from noregret.kernels import CandidateEffect, WithEffect, categorical, slopes
from noregret.kernels.categorical import COMPARED
from slow_references import slow_hamming

seeds = st.integers(0, 2**20)
CODES = np.array([0.0, 1.0, 2.0, -7.5, 1e300])  # only equality counts


@given(seeds, st.integers(1, 6), st.integers(1, 8), st.integers(1, 8))
def test_it_is_its_formula(seed: int, features: int, n: int, m: int) -> None:
    """Weight by weight, whatever the codes are called."""
    rng = np.random.default_rng(seed)
    X, Z = (CODES[rng.integers(0, 5, (count, features))] for count in (n, m))
    w = rng.random(features) * (rng.random(features) < 0.8)
    K = nr.Categorical(weights=tuple(w.tolist()))(X, Z)
    np.testing.assert_allclose(K, slow_hamming(X, Z, w), rtol=1e-14)
    same = nr.Categorical(weights=0.7)(X, Z)
    np.testing.assert_allclose(same, slow_hamming(X, Z, np.full(features, 0.7)), rtol=1e-14)


@given(seeds, st.lists(st.integers(2, 6), min_size=1, max_size=4))
def test_one_hot_blocks_are_their_codes(seed: int, levels: list[int]) -> None:
    """Whether a table was encoded before or not must not matter."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, level, 9) for level in levels]).astype(np.float64)
    hot = np.hstack([np.eye(level)[codes[:, g].astype(int)] for g, level in enumerate(levels)])
    weights = tuple(rng.random(len(levels)).tolist())
    K = nr.Categorical(weights)(codes, codes)
    np.testing.assert_array_equal(nr.Categorical(weights, groups=tuple(levels))(hot, hot), K)
    # A level that was dropped, all zeros, is a level too; and codes may stand beside blocks.
    dropped = np.hstack([codes[:, :1], hot[:, levels[0] + 1 :]])
    widths = (1, *([levels[1] - 1, *levels[2:]] if len(levels) > 1 else []))
    kernel = nr.Categorical(weights, groups=widths)
    np.testing.assert_array_equal(kernel(dropped, dropped), K)


def test_large_blocks_are_cut_without_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass over a block goes piece by piece."""
    monkeypatch.setattr(categorical, "CACHED", 100)
    rng = np.random.default_rng(2)
    X, Z = (rng.integers(0, 3, (count, 4)).astype(np.float64) for count in (60, 30))
    expected = slow_hamming(X, Z, np.ones(4))
    np.testing.assert_allclose(nr.Categorical()(X, Z), expected, rtol=1e-14)


ANY: Any = nr.Categorical


def test_settings_are_kept_as_numbers() -> None:
    """So that equal kernels are equal, and a saved run holds them."""
    assert ANY(np.array([1, 2])).weights == (1.0, 2.0)
    assert ANY(groups=[np.int64(3), 1]) == nr.Categorical(1.0, (3, 1))


X3 = np.array([[0.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ANY(-1.0), r"Categorical\(weights=...\) must be at least 0.*-1.0"),
        (lambda: ANY((1.0, np.nan)), r"weights=...\) must be a finite number"),
        (lambda: ANY(()), r"weights=...\) must not be empty"),
        (lambda: ANY("a"), "finite number, got 'a'"),
        (lambda: ANY(groups=3), "must list the widths of blocks, got 3"),
        (lambda: ANY(groups=()), r"groups=...\) must not be empty"),
        (lambda: ANY(groups=(2, 0)), r"groups=...\) must be at least 1, got 0"),
        (lambda: ANY(groups=(2, 1.5)), r"groups=...\) must be a whole number, got 1.5"),
        (lambda: ANY(groups=(60,)), "60 columns is wider than 52"),
        (lambda: ANY((1.0, 2.0))(X3, X3), "2 entries for 3 features"),
        (lambda: ANY((1.0, 2.0, 3.0), groups=(1, 2))(X3 * 0, X3 * 0), "3 entries for 2 features"),
        (lambda: ANY(groups=(2, 2))(X3, X3), "4 columns in all, the candidates have 3"),
        (lambda: ANY(groups=(1, 2))(X3, X3), "columns of a block must hold 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object], match: str) -> None:
    """A silent broadcast would optimise something else."""
    with pytest.raises(ArgumentError, match=match):
        make()


def drawn(rng: np.random.Generator, shape: tuple[int, int], packed: bool) -> Rows:
    """Few different numbers, so that rows agree."""
    X = rng.integers(-1, 2, shape)
    return np.abs(X).astype(np.uint8) if packed else (0.5 * X).astype(np.float64)


@pytest.mark.parametrize("packed", [False, True])
@given(st.integers(0, 2**20))
def test_one_where_rows_are_the_same(packed: bool, seed: int) -> None:
    """Whether they are few and compared, or many and hashed."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    for n in (3, 40):
        m = COMPARED // (n * d) + 1 if n == 40 else 5
        A, B = drawn(rng, (n, d), packed), drawn(rng, (m, d), packed)
        if not packed:
            A[A == 0] = -0.0
        expected = [[float((x == z).all()) for z in B[:5]] for x in A]
        np.testing.assert_array_equal(CandidateEffect()(A, B)[:, :5], expected)
        np.testing.assert_array_equal(CandidateEffect().diagonal(A), 1.0)


def test_a_kernel_with_effects_is_the_sum_of_both() -> None:
    """To the last bit: runs saved with the sum go on with the same choices."""
    shared, rng = 2.0 * nr.Matern(1.5, 0.4), np.random.default_rng(0)
    one, other = WithEffect(shared, 0.3), nr.Sum(shared, nr.Scaled(CandidateEffect(), 0.3))
    A, C = rng.random((6, 2)), rng.standard_normal((6, 9))
    B = np.concatenate([A[:4], rng.random((5, 2))])
    np.testing.assert_array_equal(one(A, B), other(A, B))
    np.testing.assert_array_equal(one.diagonal(A), other.diagonal(A))
    (values, gradient), (expected, expected_gradient) = slopes(one, A, B), slopes(other, A, B)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(gradient(C), expected_gradient(C))

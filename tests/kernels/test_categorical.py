"""The Hamming kernel against a loop over pairs and features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import ArgumentError
from noregret.kernels import categorical, probe
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


@given(seeds, st.integers(1, 5), st.floats(0.0, 10.0))
def test_it_is_a_covariance_with_its_own_diagonal(seed: int, features: int, weight: float) -> None:
    """A product of kernels, one a feature."""
    X = np.random.default_rng(seed).integers(0, 3, (12, features)).astype(np.float64)
    kernel = nr.Categorical(weight)
    probe(kernel, X)
    K = kernel(X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), kernel.diagonal(X))
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_large_blocks_are_cut_without_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass over a block goes piece by piece."""
    monkeypatch.setattr(categorical, "CACHED", 100)
    rng = np.random.default_rng(2)
    X, Z = (rng.integers(0, 3, (count, 4)).astype(np.float64) for count in (60, 30))
    expected = slow_hamming(X, Z, np.ones(4))
    np.testing.assert_allclose(nr.Categorical()(X, Z), expected, rtol=1e-14)
    assert nr.Categorical()(X[:0], Z).shape == (0, 30)
    assert nr.Categorical(groups=(1, 3))(np.eye(4), Z[:0]).shape == (4, 0)


def test_settings_are_kept_as_numbers() -> None:
    """So that equal kernels are equal, and a saved run holds them."""
    weights: Any = np.array([1, 2])
    assert nr.Categorical(weights).weights == (1.0, 2.0)
    groups: Any = [np.int64(3), 1]
    assert nr.Categorical(groups=groups) == nr.Categorical(1.0, (3, 1))


ANY: Any = nr.Categorical
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

"""Kernel values that are kept are those computed, whatever was asked before."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix
from noregret.kernels import WithEffect
from noregret.posterior_caches.exact import LEAST, KeptValues
from noregret.posteriors import Observations


@given(st.integers(0, 2**20), st.sampled_from([0, 20_000, 60_000, 1 << 20]), st.integers(1, 150))
def test_values_are_those_of_the_kernel(seed: int, memory: int, most: int) -> None:
    """Rows by chance, while points are added, replaced, scaled again and outgrow the memory."""
    rng = np.random.default_rng(seed)
    X = rng.random((30, 2))
    X[7] = X[3]  # the same candidate twice
    kernel: nr.Kernel = nr.RBF(0.3)
    plain, kept, n = kernel, KeptValues(nr.Pool(X), memory), 0
    at = rng.integers(0, len(X), size=400)
    for _ in range(10):
        what = rng.random()
        if what < 0.2:
            plain = kernel = nr.RBF(float(rng.uniform(0.1, 1.0)))
        elif what < 0.5:
            kernel = nr.Scaled(plain, float(rng.uniform(0.1, 5.0)))
        elif what < 0.7:
            scale, effect = rng.uniform(0.1, 5.0, size=2).tolist()
            kernel = nr.Scaled(WithEffect(nr.Scaled(plain, scale), effect), 2.0)
        if rng.random() < 0.3:  # others from some place on, as after a speculation
            place = int(rng.integers(0, n + 1))
            at[place:] = rng.integers(0, len(X), size=len(at) - place)
            n = place
        n = min(n + int(rng.integers(0, most + 1)), len(at))
        points = Observations(at[:n].copy(), X[at[:n]], np.ones(n), np.zeros(n))
        rows = rng.permutation(len(X))[: int(rng.integers(1, len(X) + 1))]
        kept.follow(kernel, points)
        np.testing.assert_allclose(kept.of(rows), kernel(X[rows], points.X), rtol=1e-12)


def test_points_are_recognised_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while rows were looked through: effects of candidates must not be lost."""
    X = np.random.default_rng(3).random((20, 2))
    kernel = WithEffect(nr.RBF(0.3), 2.0)
    kept = KeptValues(nr.Pool(X), 1 << 20)

    def follow(n: int) -> Observations:
        points = Observations(np.arange(n), X[:n], np.ones(n), np.zeros(n))
        kept.follow(kernel, points)
        return points

    follow(3)
    with monkeypatch.context() as patch:
        patch.setattr(np, "isin", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            follow(6)
    points, rows = follow(8), np.arange(20)
    np.testing.assert_allclose(kept.of(rows), kernel(X, points.X), rtol=1e-12)


def test_a_value_is_computed_once() -> None:
    """A row that comes again asks the kernel for what is new, and a known one for nothing."""
    X, asked = np.arange(200.0)[:, None], list[tuple[int, int]]()

    def product(A: Matrix, B: Matrix) -> Matrix:
        asked.append((len(A), len(B)))
        return np.asarray(A @ B.T)

    kernel = nr.FunctionKernel(product, diagonal=lambda A: (A**2).sum(axis=1))
    kept = KeptValues(nr.Pool(X), 1 << 20)
    for n, rows in ((3, [0, 1, 2]), (3, [2, 0]), (5, [1, 9]), (LEAST + 3, [1, 9])):
        points = Observations(np.arange(n), X[:n], np.ones(n), np.zeros(n))
        scaled = nr.Scaled(kernel, 1.0 + n)
        kept.follow(scaled, points)
        found = kept.of(np.array(rows))
        np.testing.assert_array_equal(found, (1.0 + n) * (X[rows] @ X[:n].T))
    assert asked == [(3, 3), (1, 5), (1, 2), (2, LEAST - 2)]

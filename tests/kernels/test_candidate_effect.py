"""The kernel of what is each candidate's own, against rows compared one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Rows
from noregret.kernels import CandidateEffect, WithEffect, probe, slopes
from noregret.kernels.categorical import COMPARED


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
    probe(CandidateEffect(), A)


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

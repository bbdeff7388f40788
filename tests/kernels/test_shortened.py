"""Kernels of shorter lengthscales, and by how much norms grow with them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.kernels import Kernel, shortened

SEVERAL: list[Kernel] = [
    nr.RBF(0.7),
    nr.RBF((0.4, 1.3)),
    nr.Matern(nu=0.5, lengthscale=0.8),
    nr.Matern(nu=1.5, lengthscale=(0.5, 2.0)),
    3.0 * nr.Matern(nu=2.5, lengthscale=0.6),
    nr.RBF(0.3) + 0.5 * nr.Matern(nu=1.5, lengthscale=(0.6, 0.9)),
    nr.RBF((0.4, 2.0)) * nr.Matern(nu=0.5, lengthscale=(2.0, 0.7)),
]
kernels = st.sampled_from(SEVERAL)


@given(kernels, st.floats(1.0, 9.0), st.integers(0, 2**20))
def test_lengthscales_shrink_as_features_stretch(kernel: Kernel, by: float, seed: int) -> None:
    """θ/g is the same as g·x, in every part of a sum or product."""
    X, Z = np.random.default_rng(seed).standard_normal((2, 5, 2))
    short = shortened(kernel, by)
    np.testing.assert_allclose(short(X, Z), kernel(by * X, by * Z), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(short.diagonal(X), kernel.diagonal(X))


def norm_squared_on(kernel: Kernel, Z: Matrix, f: Vector) -> float:
    """‖f‖² of the least function with these values: at most that of f, and near it on many Z."""
    K = kernel(Z, Z) + 1e-9 * np.eye(len(Z))  # more of it makes the number smaller
    return float(f @ np.linalg.solve(K, f))


@given(kernels, st.floats(1.0, 6.0), st.integers(0, 2**20))
def test_norms_grow_by_no_more_than_half_a_power_a_feature(
    kernel: Kernel, by: float, seed: int
) -> None:
    """Of functions of known norm, finite expansions: a bound too small certifies nonsense."""
    rng = np.random.default_rng(seed)
    centres, weights = rng.standard_normal((5, 2)), rng.standard_normal(5)
    square = weights @ kernel(centres, centres) @ weights
    Z = np.concatenate([centres, rng.standard_normal((60, 2))])
    grown = norm_squared_on(shortened(kernel, by), Z, kernel(Z, centres) @ weights)
    assert grown <= by**2 * square * (1 + 1e-6)  # the square by g^d, d = 2


@pytest.mark.parametrize("by", [2.0, 5.0])
def test_half_a_power_a_feature_is_needed(by: float) -> None:
    """Of one section of an RBF kernel in one dimension the new norm is known.

    (2π)^(−½)·g·√(π/(1 − 1/(2g²))), from the ratio of two Gaussian densities: of order g.
    """
    Z = np.linspace(-6, 6, 400)[:, None]
    f = nr.RBF(1.0)(Z, np.zeros((1, 1)))[:, 0]
    found = norm_squared_on(shortened(nr.RBF(1.0), by), Z, f)
    expected = by * math.sqrt(math.pi / (1 - 1 / (2 * by**2))) / math.sqrt(2 * math.pi)
    assert found == pytest.approx(expected, rel=1e-3)
    assert found >= by / math.sqrt(2)  # so that no smaller power would do


@pytest.mark.parametrize(
    "kernel",
    [
        nr.Linear(),
        nr.Polynomial(2),
        nr.Tanimoto(),
        nr.Categorical((1.0,), groups=(2,)),
        nr.FunctionKernel(lambda X, Z: X @ Z.T),
        nr.RBF() + nr.Linear(),
        2.0 * (nr.RBF() * nr.Linear(1.0)),
    ],
)
def test_where_lengthscales_say_nothing_of_norms_it_is_refused(kernel: Kernel) -> None:
    with pytest.raises(nr.NoRegretError, match=r'norm_bound="grow" shrinks lengthscales'):
        shortened(kernel, 2.0)

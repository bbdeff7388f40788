"""The triangular solve that lets other threads run is SciPy's own, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import blas

from noregret.posteriors import cholesky
from noregret.posteriors.cholesky import solve_lower_in_place


@pytest.mark.parametrize(("n", "k"), [(1, 2), (1, 1), (3, 7), (65, 130), (40, 0), (0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_scipys(n: int, k: int, order: str) -> None:
    """A wrong leading dimension would read past the end of a factor."""
    rng = np.random.default_rng(n + k)
    A = rng.standard_normal((n, n))
    L = np.asfortranarray(np.linalg.cholesky(A @ A.T + np.eye(n)))
    B = np.array(rng.standard_normal((n, k)), order="C" if order == "C" else "F")
    before = B.copy()
    solved = cholesky.solve_lower(L, B)
    assert np.array_equal(B, before), "what was given is left alone"
    if n and k:
        expected = blas.dtrsm(1.0, L, B, lower=1)
        np.testing.assert_allclose(solved, expected, rtol=1e-13, atol=1e-13)
    assert solved.shape == (n, k)


def test_only_what_fortran_can_read_is_taken() -> None:
    """Memory in another order would be solved into nonsense."""
    with pytest.raises(AssertionError):
        solve_lower_in_place(np.eye(3, order="F"), np.ones((3, 2), order="C"))
    with pytest.raises(AssertionError):
        solve_lower_in_place(np.eye(4, order="F"), np.ones((3, 2), order="F"))

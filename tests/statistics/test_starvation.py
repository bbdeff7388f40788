"""Variance starvation: a sparse posterior must not be sure of what it has never seen."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.policies import Purpose, stream
from noregret.posteriors import Observations
from slow_references import DenseNystrom
from strategies import exact_prior, nystrom_prior, told

# BKB 2019, Fig. 1, has a "Gaussian kernel with bandwidth σ² = 100" on [0, 1]. A lengthscale of 10
# would make f constant there, so 100 is taken as the factor in exp(−100·|x − z|²/2).
KERNEL = nr.RBF(0.1)
RIDGE = 0.01


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("t", [6, 63, 215])  # as in the figure
def test_far_from_all_data_the_sparse_posterior_keeps_the_prior_variance(t: int, seed: int) -> None:
    """An optimizer sure of the unexplored half would never look there.

    BKB 2019, Fig. 1: evaluations in [0, 0.5], dictionary redrawn at every step. A subset of
    regressors, λ·z(x)ᵀV⁻¹z(x) without the residual k − zᵀz, starves.
    """
    rng = np.random.default_rng([seed, t])
    X, y = 0.5 * rng.random((t, 1)), rng.standard_normal(t)
    sparse = nystrom_prior(KERNEL, RIDGE, dim=1)
    for n in range(1, t + 1):
        points = Observations(np.arange(n), X[:n], np.ones(n), y[:n])
        rng = stream(seed, Purpose.DICTIONARY, n)
        sparse = sparse.condition(points, Observations.none(1), rng)
    exact = told(exact_prior(KERNEL, RIDGE, dim=1), points)
    regressors = DenseNystrom(KERNEL, RIDGE, sparse.members.X, X, y)

    far, near = np.linspace(0.85, 1.0, 40)[:, None], np.linspace(0.0, 0.5, 40)[:, None]
    truth = exact.variance(far)
    assert truth.min() > 0.99  # nothing is known there
    assert np.all(sparse.variance(far) >= 0.9 * truth)
    assert np.all(np.diag(regressors.model_covariance(far, far)) <= 0.1 * truth)
    ratio = sparse.variance(near) / exact.variance(near)
    assert ratio.max() < 3  # and what is known is not forgotten
    assert ratio.min() > 1 / 3
    assert t == 6 or 2 * len(sparse.members) < t

"""Expected improvement under a band: MINI 2022, Eq. 5, for any posterior that has one.

Let |f(x) − μ(x)| ≤ s(x) = βσ(x) everywhere, μ⁺ = max μ over the candidates, u = (μ − μ⁺)/s ≤ 0 and
τ(u) = uΦ(u) + φ(u), so that EI = sτ(u). If x is chosen, its regret is at most

    s(x)·[C·τ(u) + 1 − u],            C = sup (v + 1)/τ(v) over −1 ≤ v ≤ 0 = 2.6244…        (1)
    ≤ βσ(x)·[2.05 + √(2 log(σ(x)/σ(x⁺)))] ≤ βσ(x)·[2.05 + √log(κ²/k(x⁺)·(1 + tκ²/λ))]      (2)

x⁺ being a candidate of mean μ⁺. The proof stands in docs/papers/bbkb.md.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

import noregret as nr
from noregret.arrays import Vector
from noregret.posteriors import Posterior
from strategies import RTOL, Scene, one, scenes


def tau(u: Vector | float) -> Vector:
    return np.asarray(u * norm.cdf(u) + norm.pdf(u))


C = 1 / float(norm.cdf(brentq(lambda v: norm.pdf(v) - norm.cdf(v), -1.0, 0.0)))


def test_the_constant_is_the_supremum() -> None:
    """A smaller one would promise a regret that is not proven."""
    v = np.linspace(-1.0, 0.0, 100_001)
    assert ((v + 1) / tau(v)).max() == pytest.approx(C, rel=1e-8)
    assert C * tau(0.0) + 1 < 2.05


@given(
    scenes(),
    st.booleans(),
    st.floats(0.1, 20.0),
    st.lists(st.integers(0, 9), max_size=4),
)
def test_regret_of_expected_improvement_is_bounded_by_the_deviation_it_takes(
    scene: Scene, sparse: bool, beta: float, pending: list[int]
) -> None:
    """If false, `bbkb(acquisition=ExpectedImprovement())` could be lost for ever without a trace.

    f is the worst of the band; inside a batch the band is that of the stale posterior, and β is
    widened by the root of the ratio of variances, as BBKB's C̃ does.
    """
    X = scene.pool
    stale: Posterior = scene.nystrom(4) if sparse else scene.exact()
    now = stale
    for row in pending:
        now = now.hallucinate(*one(row % len(X), scene))
    mean, before = stale.marginals(X)
    variance = np.maximum(now.variance(X), 1e-300)
    wide = beta * float(np.sqrt(np.maximum(before / variance, 1.0).max()))
    s, best = wide * np.sqrt(variance), float(mean.max())
    x = int(np.argmax(nr.ExpectedImprovement().score(mean, variance, wide, best)))

    band = beta * np.sqrt(before)
    assert np.all(band <= s * (1 + RTOL))
    f = mean + band
    f[x] = mean[x] - band[x]
    regret, u = float(f.max() - f[x]), float((mean[x] - best) / s[x])
    first = s[x] * (C * float(tau(u)) + 1 - u)
    top = int(np.argmax(mean))
    second = s[x] * (2.05 + np.sqrt(np.log(variance[x] / variance[top])))
    prior, told = scene.kernel.diagonal(X), float(scene.points.w.sum()) + len(pending)
    kappa = float(max(prior.max(), scene.kernel.diagonal(scene.points.X).max()))
    ratio = kappa / prior[top] * (1 + told * kappa / scene.ridge)
    third = s[x] * (2.05 + np.sqrt(np.log(ratio)))
    slack = RTOL * (1.0 + float(np.abs(mean).max()))
    assert regret <= first + slack
    assert first <= second + slack
    assert second <= third + slack

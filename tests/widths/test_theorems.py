"""Every width against its formula, recomputed from all evaluations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.posteriors import Observations
from noregret.widths import GuessAndDouble, Information, KnownNorm, ScaledWidth, Width, WidthInputs
from noregret.widths.base import is_refuted
from slow_references import DenseGP, repeated
from strategies import Scene, scenes

REL = 1e-8


def standing_of(scene: Scene, F: float, noise: float, sparse: bool = False) -> WidthInputs:
    posterior = scene.nystrom(len(scene.points)) if sparse else scene.exact()
    posterior = replace(posterior, noise_std=noise)
    t = int(scene.points.w.sum())
    information = Information()
    for k, variance in enumerate(scene.kernel.diagonal(scene.points.X)):
        information = information.plus(float(variance) / scene.ridge, times=k + 1)
    return WidthInputs(posterior, 500, t, F, information)


def single(ridge: float, y: float = 1.0, count: int = 1) -> Scene:
    """One point and its average."""
    x, w = np.zeros((1, 1)), np.array([float(count)])
    return Scene(nr.RBF(1.0), ridge, Observations(np.array([0]), x, w, np.array([y])), x)


@given(scenes(), st.floats(0.1, 5), st.floats(0.05, 2), st.floats(0.01, 0.9))
def test_widths_are_their_formulas(scene: Scene, F: float, noise: float, delta: float) -> None:
    """A slip here is a guarantee that does not hold, or exploration without end."""
    s = standing_of(scene, F, noise)
    dense = DenseGP(scene.kernel, scene.ridge, *repeated(scene.points))
    L, t, lam = dense.log_det(), s.evaluations, scene.ridge
    ratio, log = noise / math.sqrt(lam), math.log(1 / delta)
    d_eff = dense.effective_dimension()
    kappa2 = float(scene.kernel.diagonal(scene.pool).max())
    stale = np.repeat(scene.kernel.diagonal(scene.points.X) / lam, np.arange(len(scene.points)) + 1)
    plain, tripled = np.log1p(stale).sum(), np.log1p(3 * stale).sum()
    te = math.log((t + 1) / delta)
    bkb = 2 * (3 * (1 + math.log(1 + kappa2 * t / lam)) * d_eff + log)
    expected: dict[Width, float] = {
        nr.RKHSWidth(delta): F + ratio * math.sqrt(L + 2 * log),
        nr.BayesianWidth(delta): math.sqrt(
            2 * math.log(500 * (t + 1) ** 2 * math.pi**2 / (6 * delta))
        ),
        nr.EIWidth(delta): math.sqrt(L + math.sqrt(L * te) + te),
        nr.BKBWidth(delta, kappa2): ratio * math.sqrt(bkb) + (1 + math.sqrt(2)) * F,
        nr.BBKBWidth(delta, 2.5): 2.5
        * (2 * ratio * math.sqrt(tripled + log) + (1 + math.sqrt(2)) * F),
        nr.BBKBWidth(delta, 2.5, fresh=True): 2 * ratio * math.sqrt(tripled + log)
        + (1 + math.sqrt(2)) * F,
        nr.BBKBExperimentsWidth(delta, 2.5): F + ratio * math.sqrt(2.5 * plain + log),
        nr.BKBExperimentsWidth(delta): F + ratio * math.sqrt(math.log(t) * d_eff + log),
    }
    for width, beta in expected.items():
        assert width.beta(s) == pytest.approx(beta, rel=REL), width
        assert ScaledWidth(width, 0.1).beta(s) == pytest.approx(0.1 * beta, rel=REL)
        assert width.delta == ScaledWidth(width, 2).delta == delta


def test_at_one_evaluation_every_width_is_positive() -> None:
    """log(κ²t) of BKB's theorem as printed is 0 at t = 1: no exploration at all."""
    s = replace(standing_of(single(1.0), 1e-9, 1.0), evaluations=1)
    for width in (nr.BKBWidth(0.999, 1.0), nr.EIWidth(0.999), nr.RKHSWidth(0.999)):
        assert width.beta(s) > 0.5


@given(st.integers(1, 400), st.floats(1e-4, 5))
def test_repeats_told_without_an_ask_count_once_with_their_number(B: int, variance: float) -> None:
    """log(1 + Bσ²) is what B evaluations of one point can teach; B·log(1 + σ²) overstates it."""
    together = Information().plus(B * variance, times=1)
    apart = Information().plus(variance, times=B)
    assert together.plain <= apart.plain * (1 + 1e-12)
    assert together.tripled == pytest.approx(math.log1p(3 * B * variance))
    assert apart.tripled == pytest.approx(B * math.log1p(3 * variance))


@given(scenes(), st.floats(0.5, 2))
def test_doubling_stops_at_the_first_guess_that_is_not_refuted(scene: Scene, noise: float) -> None:
    """F grows only on evidence, and by no more than the evidence says."""
    p = scene.points
    loud = Scene(scene.kernel, scene.ridge, replace(p, y=1e3 * p.y), scene.pool)
    s = standing_of(loud, 1.0, noise)
    band = nr.RKHSWidth(0.1)
    F = GuessAndDouble().update(s, band)
    assert not is_refuted(replace(s, norm_bound=F), band)
    if F > 1:
        assert is_refuted(replace(s, norm_bound=F / 2), band)
        assert math.log2(F) == int(math.log2(F))
    assert KnownNorm(3.0).update(replace(s, norm_bound=3.0), band) == 3.0


def test_a_norm_bound_that_the_data_contradict_is_said_not_to_hold() -> None:
    """Values of 20 under a unit prior refute a norm of 1; the certificate must not stay silent."""
    for y, holds in ((20.0, False), (0.8, None)):
        s = standing_of(single(1.0, y, count=50), 1.0, 1.0)
        assert nr.RKHSWidth(0.1).assumptions(s)[0].holds is holds


def test_assumptions_are_checked_where_they_can_be() -> None:
    """A certificate that rests on sand must say so."""
    s = standing_of(single(0.25), 1.0, 0.5, sparse=True)
    fresh = [a.statement for a in nr.BBKBWidth(0.1, 4.0, fresh=True).assumptions(s)]
    needed = f"oversample is at least {72 * 4 * math.log(4 * s.evaluations / 0.1):.0f}"
    assert next(text for text in fresh if "over" in text).startswith(needed)
    by_statement = {a.statement: a.holds for a in nr.BBKBWidth(0.1).assumptions(s)}
    assert by_statement["ridge is at least 1"] is False
    assert [h for text, h in by_statement.items() if text.startswith("oversample")] == [False]
    assert [a.holds for a in nr.BayesianWidth(0.1).assumptions(s)] == [None, None, True, False]
    exact = standing_of(single(0.25), 1.0, 0.5)
    assert [a.holds for a in nr.BKBWidth(0.1).assumptions(exact)][-1] is True
    assert (0.5 * nr.RKHSWidth(0.1)).assumptions(exact)[-1].holds is False

"""The schedule of norm and lengthscale, against a loop over all evaluations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.kernels import shortened
from noregret.widths import (
    Assumption,
    Assumptions,
    GrowthSchedule,
    Information,
    StagedWidth,
    Width,
    WidthInputs,
    at_stage,
)
from strategies import Scene


def by_hand(t: int, d: int, start: float) -> tuple[int, int, float, float]:
    """Stage, its end, g and B after t evaluations, by doubling 16 as often as t allows."""
    stage, end = 0, 16
    while t >= end:
        stage, end = stage + 1, 2 * end
    g = stage + 1
    return stage, end, g, math.sqrt(g) * math.sqrt(g) ** d * start


@given(st.integers(0, 10**7), st.integers(1, 12), st.floats(0.1, 9.0))
def test_the_schedule_is_its_formulas(t: int, d: int, start: float) -> None:
    schedule = GrowthSchedule(d, start)
    stage, end, g, B = by_hand(t, d, start)
    assert schedule.stage(t) == stage
    assert schedule.end(stage) == end
    assert schedule.shrink_factor(stage) == g
    assert schedule.norm_bound(stage) == pytest.approx(B)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_norms_grow_lengthscales_shrink_and_steps_double(d: int) -> None:
    """Steps by a factor are few: thirty in ten billion evaluations."""
    schedule = GrowthSchedule(d)
    assert schedule.shrink_factor(0) == schedule.norm_bound(0) == 1.0
    for s in range(30):
        assert schedule.shrink_factor(s + 1) > schedule.shrink_factor(s)
        assert schedule.norm_bound(s + 1) > schedule.norm_bound(s)
        assert schedule.stage(schedule.end(s)) == schedule.stage(schedule.end(s) - 1) + 1 == s + 1


@given(st.floats(1.0, 6.0), st.floats(0.1, 3.0), st.integers(0, 2**20), st.integers(1, 2))
def test_the_bound_holds_from_the_evaluation_on_that_is_said(
    r: float, scale: float, seed: int, d: int
) -> None:
    """f has norm B at lengthscales θ₀/r: once t ≥ 8·2^(⌈m⌉ − 1), B_t bounds it for good."""
    rng = np.random.default_rng(seed)
    given_, schedule = nr.RBF(1.0), GrowthSchedule(d)
    centres, weights = rng.standard_normal((4, d)), scale * rng.standard_normal(4)
    true = shortened(given_, r)
    B = math.sqrt(weights @ true(centres, centres) @ weights)
    m = math.ceil(max(r, B**2 / r**d) - 1e-12)
    t = 8 * 2 ** (m - 1) if m > 1 else 0
    first = schedule.stage(t)
    assert first == m - 1
    Z = np.concatenate([centres, rng.standard_normal((50, d))])
    f = true(Z, centres) @ weights
    for stage in range(first, first + 3):
        kernel = shortened(given_, schedule.shrink_factor(stage))
        K = kernel(Z, Z) + 1e-9 * np.eye(len(Z))
        assert f @ np.linalg.solve(K, f) <= schedule.norm_bound(stage) ** 2 * (1 + 1e-6)
    if first:  # the stage before has not passed r, or not the norm
        bound = schedule.norm_bound(first - 1)
        assert schedule.shrink_factor(first - 1) < r or bound < (
            schedule.shrink_factor(first - 1) / r
        ) ** (d / 2) * B * (1 + 1e-9)


def test_all_stages_together_fail_no_more_often_than_one() -> None:
    """Each stage has a kernel and a band of its own; their failures must add up to delta."""
    shares = [at_stage(nr.RKHSWidth(0.2), stage).delta for stage in range(5000)]
    assert 0.199 < sum(shares) < 0.2
    assert shares[1] == pytest.approx(shares[0] / 4)


@pytest.mark.parametrize("width", [nr.RKHSWidth(0.2), nr.EIWidth(0.2), 0.5 * nr.RKHSWidth(0.2)])
def test_a_staged_width_is_the_width_with_its_share(width: Width) -> None:
    """It says the whole probability, of which it spends its part."""
    scene = Scene.drawn(0, 30, 9)
    inputs = WidthInputs(scene.exact(), 30, 9, 2.0, Information())
    staged = StagedWidth(width, 3)
    own = at_stage(width, 3)
    assert own.delta == pytest.approx(0.2 * 6 / (math.pi * 4) ** 2)
    assert staged.beta(inputs) == own.beta(inputs) > width.beta(inputs)
    assert staged.delta == 0.2
    assert staged.assumptions(inputs) == own.assumptions(inputs)
    assert width.theorem in staged.theorem


def test_a_width_without_a_probability_stays() -> None:
    class WithoutProbability:
        delta, theorem = 0.1, "none"

        def beta(self, inputs: WidthInputs) -> float:
            return float(inputs.evaluations)

        def assumptions(self, inputs: WidthInputs) -> Assumptions:
            return (Assumption(f"{inputs.evaluations}"),)

    width = WithoutProbability()
    assert at_stage(width, 4) is width
    constant = nr.ConstantWidth(2.0, 0.1)
    scene = Scene.drawn(0, 30, 9)
    inputs = WidthInputs(scene.exact(), 30, 9, 2.0, Information())
    assert at_stage(constant, 4).beta(inputs) == 2.0
    assert replace(constant, delta=at_stage(constant, 4).delta) == at_stage(constant, 4)

"""No regret: cumulative regret grows slower than time, and sparsity costs little of it.

Functions of known norm in the RKHS, horizon 4000. Medians over seeds; a failure prints the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from strategies import MODELS, RKHSProblem, drive, rkhs_problem

T = 4000
NOISE = 0.1
CHECKPOINTS = np.array([500, 707, 1000, 1414, 2000, 2828, 4000])
Algorithm = Callable[..., nr.Optimizer]

pytestmark = pytest.mark.slow


def problem(seed: int, norm: float = 1.0) -> RKHSProblem:
    return rkhs_problem(seed, candidates=250, noise_std=NOISE, norm=norm)


def run(algorithm: Algorithm, p: RKHSProblem, seed: int, **settings: object) -> Vector:
    """Return the cumulative regret at the checkpoints."""
    optimizer = algorithm(
        p.pool, kernel=p.kernel, noise_std=NOISE, horizon=T, seed=seed, **settings
    )
    regret: Vector = p.regret(drive(optimizer, p, T, seed))[CHECKPOINTS - 1]
    return regret


def slope(regret: Vector) -> float:
    """Return the exponent of t with which the regret grows, by least squares."""
    return float(np.polyfit(np.log(CHECKPOINTS), np.log(regret), 1)[0])


def by_chance(p: RKHSProblem) -> float:
    """Return the expected regret at T of drawing uniformly."""
    return T * float(p.values.max() - p.values.mean())


def report(**samples: list[float]) -> str:
    return "\n".join(f"{name}: {np.round(sample, 2)}" for name, sample in samples.items())


NAMES = (
    *("gp_ucb", "gp_ei", "gp_bucb-product", "bkb", "bbkb-global", "bbkb-local"),
    *("mini_gp_ucb", "mini_gp_ei"),
)


@pytest.mark.parametrize("name", NAMES)
def test_regret_grows_slower_than_time_and_stays_far_below_chance(name: str) -> None:
    """An algorithm that keeps paying for exploration never turns a profit.

    Slope 1 is linear regret, that of uniform choices; the theorems give about 1/2.
    """
    problems = [problem(seed) for seed in range(5)]
    regrets = [run(MODELS[name], p, seed) for seed, p in enumerate(problems)]
    slopes = [slope(regret) for regret in regrets]
    final = [float(regret[-1]) for regret in regrets]
    chance = [by_chance(p) for p in problems]
    assert np.median(slopes) < 0.9, report(slopes=slopes, regret=final)
    assert np.median(np.divide(chance, final)) > 3, report(regret=final, chance=chance)


def test_uniform_choices_have_linear_regret() -> None:
    """The test above would mean nothing if choosing at random passed it."""
    p = problem(0)
    optimizer = nr.uniform(p.pool, batch_size=100, seed=0)
    regret = p.regret(drive(optimizer, p, T, 0))[CHECKPOINTS - 1]
    assert slope(regret) > 0.97
    assert regret[-1] == pytest.approx(by_chance(p), rel=0.1)


@pytest.mark.parametrize(
    ("norm", "settings"),
    [(10.0, {"norm_bound": 10.0}), (1.0, {"width": nr.RKHSWidth(1 / T)})],
    ids=["own widths", "same width"],
)
def test_sparse_regret_is_at_most_half_more_than_exact(
    norm: float, settings: dict[str, object]
) -> None:
    """BKB and BBKB are worth their speed only if they find as much.

    Each with the width of its own, on functions of norm 10 with the norm known: 100 deviations of
    the noise. The claim is about such functions only. Where noise and not the norm makes the width,
    BKB's log t and BBKB's C̃ widen it, and regret with it: at norm 1 the medians are 1.59 and 1.65
    times that of GP-UCB, at norm 10 they are 1.30 and 1.24 (of ten seeds; of the six here, 1.19 and
    1.22).

    With the same width, at norm 1: what is lost by the dictionary and by stale feedback alone.
    """
    samples: dict[str, list[float]] = {}
    for name, algorithm in (("gp_ucb", nr.gp_ucb), ("bkb", nr.bkb), ("bbkb", nr.bbkb)):
        regrets = [run(algorithm, problem(seed, norm), seed, **settings) for seed in range(6)]
        samples[name] = [float(regret[-1]) for regret in regrets]
    exact = np.median(samples["gp_ucb"])
    assert np.median(samples["bkb"]) <= 1.5 * exact, report(**samples)
    assert np.median(samples["bbkb"]) <= 1.5 * exact, report(**samples)

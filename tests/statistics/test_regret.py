"""No regret: cumulative regret grows slower than time, and sparsity costs little of it.

Functions of known norm in the RKHS, horizon 4000. Medians over seeds; a failure prints the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Vector
from strategies import RKHSProblem, drive, rkhs_problem

T = 4000
NOISE = 0.1
CHECKPOINTS = np.array([500, 707, 1000, 1414, 2000, 2828, 4000])
Algorithm = Callable[..., nr.Optimizer]

pytestmark = pytest.mark.slow


def easy(seed: int) -> RKHSProblem:
    return rkhs_problem(seed, candidates=250, noise_std=NOISE)


def steep(seed: int) -> RKHSProblem:
    return rkhs_problem(seed, candidates=250, noise_std=NOISE, norm=10.0)


def run(algorithm: Algorithm, problem: RKHSProblem, seed: int, **settings: object) -> Vector:
    """Return the cumulative regret at the checkpoints."""
    optimizer = algorithm(
        problem.pool, kernel=problem.kernel, noise_std=NOISE, horizon=T, seed=seed, **settings
    )
    regret: Vector = problem.regret(drive(optimizer, problem, T, seed))[CHECKPOINTS - 1]
    return regret


def slope(regret: Vector) -> float:
    """Return the exponent of t with which the regret grows, by least squares."""
    return float(np.polyfit(np.log(CHECKPOINTS), np.log(regret), 1)[0])


def by_chance(problem: RKHSProblem) -> float:
    """Return the expected regret at T of drawing uniformly."""
    return T * float(problem.values.max() - problem.values.mean())


def report(**samples: list[float]) -> str:
    return "\n".join(f"{name}: {np.round(sample, 2)}" for name, sample in samples.items())


SETTINGS: dict[str, tuple[Algorithm, dict[str, object]]] = {
    "gp_ucb": (nr.gp_ucb, {}),
    "gp_ei": (nr.gp_ei, {}),
    "gp_bucb": (nr.gp_bucb, {}),
    "bkb": (nr.bkb, {}),
    "bbkb, global": (nr.bbkb, {"rule": "global"}),
    "bbkb, local": (nr.bbkb, {"rule": "local"}),
    "mini_gp_ucb": (nr.mini_gp_ucb, {}),
    "mini_gp_ei": (nr.mini_gp_ei, {}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_regret_grows_slower_than_time_and_stays_far_below_chance(name: str) -> None:
    """An algorithm that keeps paying for exploration never turns a profit.

    Slope 1 is linear regret, that of uniform choices; the theorems give about 1/2.
    """
    algorithm, settings = SETTINGS[name]
    problems = [easy(seed) for seed in range(5)]
    regrets = [run(algorithm, p, seed, **settings) for seed, p in enumerate(problems)]
    slopes = [slope(regret) for regret in regrets]
    final = [float(regret[-1]) for regret in regrets]
    chance = [by_chance(problem) for problem in problems]
    assert np.median(slopes) < 0.9, report(slopes=slopes, regret=final)
    assert np.median(np.divide(chance, final)) > 3, report(regret=final, chance=chance)


def test_uniform_choices_have_linear_regret() -> None:
    """The test above would mean nothing if choosing at random passed it."""
    problem = easy(0)
    optimizer = nr.uniform(problem.pool, batch_size=100, seed=0)
    regret = problem.regret(drive(optimizer, problem, T, 0))[CHECKPOINTS - 1]
    assert slope(regret) > 0.97
    assert regret[-1] == pytest.approx(by_chance(problem), rel=0.1)


def test_sparse_regret_is_at_most_half_more_than_exact() -> None:
    """BKB and BBKB are worth their speed only if they find as much.

    Each with the width of its own, on functions of norm 10 with the norm known: 100 deviations of
    the noise. The claim is about such functions only. Where noise and not the norm makes the width,
    BKB's log t and BBKB's C̃ widen it, and regret with it: at norm 1 the medians are 1.59 and 1.65
    times that of GP-UCB, at norm 10 they are 1.30 and 1.24.
    """
    samples: dict[str, list[float]] = {}
    for name, algorithm in (("gp_ucb", nr.gp_ucb), ("bkb", nr.bkb), ("bbkb", nr.bbkb)):
        samples[name] = [
            float(run(algorithm, steep(seed), seed, norm_bound=10.0)[-1]) for seed in range(10)
        ]
    exact = np.median(samples["gp_ucb"])
    assert np.median(samples["bkb"]) <= 1.5 * exact, report(**samples)
    assert np.median(samples["bbkb"]) <= 1.5 * exact, report(**samples)


def test_given_the_same_width_sparsity_and_batches_cost_at_most_half_more() -> None:
    """What is lost by the dictionary and by stale feedback alone, whatever the widths."""
    width = nr.RKHSWidth(1 / T)
    samples: dict[str, list[float]] = {}
    for name, algorithm in (("gp_ucb", nr.gp_ucb), ("bkb", nr.bkb), ("bbkb", nr.bbkb)):
        samples[name] = [
            float(run(algorithm, easy(seed), seed, width=width)[-1]) for seed in range(10)
        ]
    exact = np.median(samples["gp_ucb"])
    assert np.median(samples["bkb"]) <= 1.5 * exact, report(**samples)
    assert np.median(samples["bbkb"]) <= 1.5 * exact, report(**samples)

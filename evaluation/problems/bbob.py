"""Four functions of the BBOB suites on a grid: what MINI (ICML 2022) tries in appendix B.2.

Functions are minimised in the suite and maximised here: a candidate's truth is −f, shifted and
scaled so that the grid's worst is 0 and its best is 1.

Sources: Finck, Hansen, Ros and Auger, "Real-parameter black-box optimization benchmarking 2009:
noiseless functions definitions" (INRIA RR-6829), and Hansen, Finck, Ros and Auger, "… noisy
functions definitions" (INRIA RR-6869). x_opt, f_opt and the rotations are those of instance 1,
kept in bbob.json.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from evaluation.problems.base import Problem, of_values
from evaluation.problems.candidates import in_order
from noregret.arrays import Indices, Matrix, Vector
from noregret.errors import require_choice

DIM = 3
POINTS = 22  # a coordinate, evenly spaced on [−5, 5]
MODERATE, SEVERE = 0.01, 1.0  # β of the suite's Gaussian noise

RAMP = np.linspace(0.0, 1.0, DIM)  # (i − 1) / (D − 1)
TEN = np.sqrt(10.0) ** RAMP  # the diagonal of Λ¹⁰


@final
@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """Where a function has its optimum, how much it is worth, and how its axes are turned."""

    x_opt: Vector  # (d,)
    f_opt: float
    rotations: tuple[Matrix, ...]  # R, or R and Q: (d, d)


def oscillated(X: Matrix) -> Matrix:
    """T_osz: x ↦ sign(x) exp(x̂ + 0.049 (sin c₁x̂ + sin c₂x̂)), where x̂ = log|x|."""
    log = np.log(np.where(X == 0, 1.0, np.abs(X)))
    c1, c2 = np.where(X > 0, 10.0, 5.5), np.where(X > 0, 7.9, 3.1)
    waves = np.sin(c1 * log) + np.sin(c2 * log)
    return np.asarray(np.sign(X) * np.exp(log + 0.049 * waves))


def skewed(X: Matrix, *, beta: float) -> Matrix:
    """T_asy^β: xᵢ ↦ xᵢ^(1 + β (i − 1)/(D − 1) √xᵢ) where xᵢ > 0; others stay."""
    above = np.maximum(X, 0.0)
    return np.where(X > 0, above ** (1 + beta * RAMP * np.sqrt(above)), X)


def rosenbrock(X: Matrix, at: Instance) -> Vector:
    """Σ 100 (zᵢ² − zᵢ₊₁)² + (zᵢ − 1)², where z = max(1, √D/8)(x − x_opt) + 1."""
    Z = max(1.0, DIM**0.5 / 8) * (X - at.x_opt) + 1
    a, b = Z[:, :-1], Z[:, 1:]
    return np.asarray((100 * (a**2 - b) ** 2 + (a - 1) ** 2).sum(axis=1))


def ellipsoid(X: Matrix, at: Instance) -> Vector:
    """Σ 10^(4 (i − 1)/(D − 1)) zᵢ², where z = T_osz(R(x − x_opt))."""
    (R,) = at.rotations
    return np.asarray(oscillated((X - at.x_opt) @ R.T) ** 2 @ 10 ** (4 * RAMP))


def schaffer(X: Matrix, at: Instance) -> Vector:
    """(mean of √sᵢ (1 + sin² 50 sᵢ^0.2))², where sᵢ² = zᵢ² + zᵢ₊₁².

    Here z = Λ¹⁰ Q T_asy^0.5(R(x − x_opt)).
    """
    R, Q = at.rotations
    Z = skewed((X - at.x_opt) @ R.T, beta=0.5) @ Q.T * TEN
    s = np.hypot(Z[:, :-1], Z[:, 1:])
    return np.asarray((np.sqrt(s) * (1 + np.sin(50 * s**0.2) ** 2)).mean(axis=1) ** 2)


def rastrigin(X: Matrix, at: Instance) -> Vector:
    """10 (D − Σ cos 2πzᵢ) + ‖z‖², where z = Λ¹⁰ T_asy^0.2(T_osz(x − x_opt))."""
    Z = TEN * skewed(oscillated(X - at.x_opt), beta=0.2)
    return np.asarray((10 * (1 - np.cos(2 * np.pi * Z)) + Z**2).sum(axis=1))


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianModel:
    """The suite's Gaussian noise: it multiplies what a candidate lacks of the optimum.

    With g = f − f_opt and ξ ~ N(0, 1), one evaluation gives

        f_opt + g exp(βξ),        with standard deviation  g √(e^β² (e^β² − 1))              (1)

    (log-normal), here under the same linear map as the truth. On average it is worse than the
    truth by g (e^(β²/2) − 1), so the best candidate stays the best.
    """

    # Differs: the suite adds 1.01e-8 to a noisy value, and has no noise within 1e-8 of f_opt. No
    # point of the grid is so near, and the shift is lost beside the range of f.

    lacks: Vector  # (N,) g
    beta: float

    @property
    def truth(self) -> Vector:
        return self._scaled(self.lacks)

    @property
    def std(self) -> Vector:
        """The standard deviation of one evaluation of each row: (N,)."""
        square = self.beta**2
        factor = np.sqrt(np.exp(square) * np.expm1(square))  # (1)
        return np.asarray(self.lacks * factor / np.ptp(self.lacks))

    def __call__(self, rows: Indices, rng: np.random.Generator) -> Vector:
        factors = np.exp(self.beta * rng.standard_normal(len(rows)))
        return self._scaled(self.lacks[rows] * factors)  # (1)

    def _scaled(self, values: Vector) -> Vector:
        return np.asarray((self.lacks.max() - values) / np.ptp(self.lacks))


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A function of the suite and how noisy it is."""

    number: int
    title: str
    f: Callable[[Matrix, Instance], Vector]
    beta: float = MODERATE


# Differs: the paper says that all noise is moderate; in the suite that of f116 and f122 is severe.
# So there are both. f3 is noise-free in the suite; here it is as noisy as the others.
SETTINGS = {
    "f104": Setting(104, "Rosenbrock", rosenbrock),
    "f116": Setting(116, "ellipsoid", ellipsoid),
    "f122": Setting(122, "Schaffer", schaffer),
    "rastrigin": Setting(3, "Rastrigin", rastrigin),
    "f116-severe": Setting(116, "ellipsoid, severe noise", ellipsoid, SEVERE),
    "f122-severe": Setting(122, "Schaffer, severe noise", schaffer, SEVERE),
}


def instance(number: int) -> Instance:
    """Return instance 1 of a function of the suite, in three dimensions."""
    held = json.loads(Path(__file__).with_name("bbob.json").read_text())[f"f{number}"]
    rotations = tuple(np.array(rotation) for rotation in held["rotations"])
    return Instance(np.array(held["x_opt"]), held["f_opt"], rotations)


def grid() -> Matrix:
    """Return the 22³ candidates. The suite's penalty, 100 Σ max(0, |xᵢ| − 5)², is 0 on them."""
    return np.array(list(itertools.product(np.linspace(-5.0, 5.0, POINTS), repeat=DIM)))


def bbob(name: str) -> Problem:
    """Return one of the synthetic problems.

    Algorithms are told the 90th percentile, over the grid, of the noise's standard deviation.

    >>> problem = bbob("f104")
    >>> problem.numbers.shape
    (10648, 3)
    >>> problem.numbers[problem.values.argmax()].round(2)
    array([0.24, 0.24, 1.67])
    """
    setting = SETTINGS[require_choice("bbob(name)", name, tuple(SETTINGS))]
    X = grid()
    noise = GaussianModel(setting.f(X, instance(setting.number)), setting.beta)
    told = float(np.percentile(noise.std, 90))
    return of_values(name, setting.title, in_order(X), noise.truth, feedback=noise, noise_std=told)

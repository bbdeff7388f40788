"""What BKB says it improves on: linear bandits on a sketch of fixed size, random Fourier features.

Own code from the formulas of the papers named, in plain NumPy; all start at the library's row, and
meet the same noise, so that choices can be held against the library's row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np

from evaluation.methods.transcriptions import first_row
from evaluation.problems.speed import DELTA, NOISE_STD, NORM_BOUND, RIDGE, Problem
from noregret.arrays import Indices, Matrix, Vector

WIDTH = math.sqrt(RIDGE) * NORM_BOUND  # √λ·F


@final
@dataclass(slots=True, eq=False)
class FrequentDirections:
    """A sketch S of m rows with 0 ≼ XᵀX − SᵀS ≼ ρ·I, whatever rows x are added to X.

    One row more than m is decomposed, and its smallest square taken from all; with as many rows as
    features nothing is ever taken, and SᵀS is XᵀX.

    Source: Ghashami et al. 2016.
    """

    size: int
    values: Vector  # (m,) singular values of S …
    directions: Matrix  # (m, d) … and its right singular vectors
    removed: float = field(default=0.0)  # ρ

    @classmethod
    def empty(cls, size: int, features: int) -> FrequentDirections:
        m = min(size, features)
        return cls(m, np.zeros(m), np.zeros((m, features)))

    def add(self, x: Vector) -> None:
        rows = np.vstack([self.values[:, None] * self.directions, x])
        _, values, directions = np.linalg.svd(rows, full_matrices=False)
        cut = float(values[self.size] ** 2) if len(values) > self.size else 0.0
        self.values = np.sqrt(np.maximum(values[: self.size] ** 2 - cut, 0.0))
        self.directions = directions[: self.size]
        self.removed += cut

    def solved(self, X: Matrix) -> Matrix:
        """Return (SᵀS + λI)⁻¹x for each row x: O(m·d) a row."""
        shares = self.values**2 / (self.values**2 + RIDGE)
        coordinates = X @ self.directions.T  # (rows, m)
        return np.asarray((X - (coordinates * shares) @ self.directions) / RIDGE)

    def log_det(self) -> float:
        """log det((SᵀS + λI)/λ)."""
        return float(np.log1p(self.values**2 / RIDGE).sum())


def sketched_radius(sketch: FrequentDirections, features: int, *, theorem: bool) -> float:
    """Return the radius of the ellipsoid around θ in the norm of Ṽ = SᵀS + λI.

    ξ√(log det(Ṽ/λ) + 2 log(1/δ)) + √λ·F, as OFUL's with Ṽ in place of V. The theorem's is

        ξ√r·√(log det(Ṽ/λ) + d log r + 2 log(1/δ)) + √λ·F·r,        r = 1 + ρ/λ               (1)

    since V ≼ r·Ṽ and the error of θ̃ without noise, (XᵀX − SᵀS − λI)θ, is at most (ρ + λ)·‖θ‖.
    """
    r = 1.0 + sketch.removed / RIDGE if theorem else 1.0
    inside = sketch.log_det() + features * math.log(r) + 2 * math.log(1 / DELTA)
    return NOISE_STD * math.sqrt(r * inside) + WIDTH * r


def soful(problem: Problem, T: int, *, size: int, theorem: bool = False) -> Indices:
    """Linear UCB through frequent directions: O(N·m + m²·d) a step.

    Source: Kuzborskij, Cella & Cesa-Bianchi 2019 (SOFUL, the variant by confidence bounds).
    """
    X, noise = problem.X, problem.noise(T)
    features = X.shape[1]
    sketch, b = FrequentDirections.empty(size, features), np.zeros(features)
    chosen, row = list[int](), first_row(problem)
    for eta in noise:
        chosen.append(row)
        sketch.add(X[row])
        b += (problem.f[row] + eta) * X[row]
        Y = sketch.solved(X)
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", X, Y), 0.0))
        row = int(np.argmax(Y @ b + sketched_radius(sketch, features, theorem=theorem) * lengths))
    return np.array(chosen, dtype=np.int64)


def fourier_features(X: Matrix, lengthscale: float, count: int, seed: int) -> Matrix:
    """Return √(2/D)·(cos ωᵀx, sin ωᵀx), D/2 of each, ω ~ N(0, lengthscale⁻²): φᵀφ ≈ RBF.

    Source: Rahimi & Recht 2007.
    """
    waves = np.random.default_rng([seed, 11]).standard_normal((X.shape[1], count // 2))
    phases = X @ waves / lengthscale
    return np.hstack([np.cos(phases), np.sin(phases)]) * math.sqrt(2 / count)


@final
@dataclass(slots=True, eq=False)
class FeatureModel:
    """Ridge regression on features φ of the pool: μ = φᵀθ, σ² = λ·φᵀV⁻¹φ, and nothing besides.

    Where φ of all candidates is known after a few evaluations σ² falls everywhere: what the
    features leave out of the kernel has no variance (variance starvation).
    """

    features: Matrix  # (N, D)
    inverse: Matrix  # (D, D) V⁻¹
    theta: Vector
    mean: Vector  # (N,)
    variance: Vector  # (N,)
    log_det: float = field(default=0.0)

    @classmethod
    def prior(cls, features: Matrix) -> FeatureModel:
        N, D = features.shape
        squares = np.einsum("ij,ij->i", features, features)
        return cls(features, np.eye(D) / RIDGE, np.zeros(D), np.zeros(N), squares)

    def tell(self, row: int, value: float) -> None:
        """Learn one value, by the formula of Sherman and Morrison: O(N·D + D²)."""
        u = self.inverse @ self.features[row]
        c, s = self.features @ u, float(self.features[row] @ u)
        surprise = (value - self.mean[row]) / (1 + s)
        self.theta += u * surprise
        self.mean += c * surprise
        self.variance = np.maximum(self.variance - RIDGE * c * c / (1 + s), 0.0)
        self.inverse -= np.outer(u, u / (1 + s))
        self.log_det += math.log1p(s)

    @property
    def beta(self) -> float:
        """The width of GP-UCB, the features taken for the kernel."""
        return NORM_BOUND + NOISE_STD / math.sqrt(RIDGE) * math.sqrt(
            self.log_det + 2 * math.log(1 / DELTA)
        )

    def sample(self, rng: np.random.Generator) -> Vector:
        """Return a function drawn from the posterior, at every candidate: O(D³)."""
        draw = np.linalg.cholesky(RIDGE * self.inverse) @ rng.standard_normal(len(self.theta))
        return np.asarray(self.features @ (self.theta + draw))


def on_features(
    problem: Problem, T: int, features: Matrix, *, thompson: bool = False
) -> tuple[Indices, FeatureModel]:
    """Choose by upper bounds, or by drawn functions; return the rows, and what is believed then."""
    model, noise = FeatureModel.prior(features), problem.noise(T)
    rng = np.random.default_rng([problem.seed, 12])
    chosen, row = list[int](), first_row(problem)
    for eta in noise:
        chosen.append(row)
        model.tell(row, float(problem.f[row] + eta))
        score = model.sample(rng) if thompson else model.mean + model.beta * np.sqrt(model.variance)
        row = int(np.argmax(score))
    return np.array(chosen, dtype=np.int64), model

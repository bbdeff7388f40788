"""Slow, obvious versions of posteriors and algorithms: dense algebra, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from noregret.arrays import Indices, Matrix, Vector
from noregret.kernels import Kernel
from noregret.posteriors import Observations


def differences(f: Callable[[Vector], float], at: Vector, step: float = 1e-6) -> Vector:
    """Return the slopes of f by what it changes by in small steps."""
    steps = step * np.eye(len(at))
    return np.array([f(at + d) - f(at - d) for d in steps]) / (2 * step)


def slow_rbf(X: Matrix, Z: Matrix, lengthscale: Vector | float) -> Matrix:
    apart = (X[:, None, :] - Z[None, :, :]) / lengthscale
    return np.asarray(np.exp(-0.5 * (apart**2).sum(axis=2)))


def slow_matern(X: Matrix, Z: Matrix, lengthscale: Vector | float, nu: float) -> Matrix:
    r = np.sqrt((((X[:, None, :] - Z[None, :, :]) / lengthscale) ** 2).sum(axis=2))
    if nu == 0.5:
        return np.asarray(np.exp(-r))
    if nu == 1.5:
        return np.asarray((1 + math.sqrt(3) * r) * np.exp(-math.sqrt(3) * r))
    return np.asarray((1 + math.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-math.sqrt(5) * r))


def slow_tanimoto(X: Matrix, Z: Matrix) -> Matrix:
    """Share of common bits of rows of 0 and 1, as sets."""
    sets = [[set(np.flatnonzero(row).tolist()) for row in side] for side in (X, Z)]
    return np.array(
        [[1.0 if not x | z else len(x & z) / len(x | z) for z in sets[1]] for x in sets[0]]
    ).reshape(len(X), len(Z))


def slow_hamming(X: Matrix, Z: Matrix, weights: Vector) -> Matrix:
    """Category by category, pair by pair."""
    apart = [[sum(weights[x != z].tolist()) for z in Z] for x in X]
    return np.exp(-np.array(apart).reshape(len(X), len(Z)))


@dataclass
class DenseGP:
    """The textbook posterior on all t evaluations, by explicit inverse.

    The noise of each has a variance of its own, so many times the ridge.
    """

    kernel: Kernel
    ridge: float
    X: Matrix  # (t, d), rows repeated
    y: Vector  # (t,)
    noise: Vector | float = 1.0  # (t,)

    def __post_init__(self) -> None:
        self.D = self.ridge * self.noise * np.eye(len(self.X))
        self.inverse = np.linalg.inv(self.kernel(self.X, self.X) + self.D)

    def mean(self, Z: Matrix) -> Vector:
        return np.asarray(self.kernel(Z, self.X) @ self.inverse @ self.y)

    def covariance(self, Z: Matrix, S: Matrix) -> Matrix:
        cross = self.kernel(Z, self.X) @ self.inverse @ self.kernel(self.X, S)
        return np.asarray(self.kernel(Z, S) - cross)

    def variance(self, Z: Matrix) -> Vector:
        return np.diag(self.covariance(Z, Z))

    def log_det(self) -> float:
        K = self.kernel(self.X, self.X)
        return float(np.linalg.slogdet(np.eye(len(K)) + np.linalg.solve(self.D, K))[1])

    def effective_dimension(self) -> float:
        return float(np.trace(self.kernel(self.X, self.X) @ self.inverse))

    def norm(self) -> float:
        alpha = self.inverse @ self.y
        return math.sqrt(float(alpha @ self.kernel(self.X, self.X) @ alpha))


@dataclass
class DenseNystrom:
    """BBKB 2020, Eqs. 1-3, as printed (corrected mean), on all t evaluations, times λ."""

    kernel: Kernel
    ridge: float
    S: Matrix  # (m, d) dictionary
    X: Matrix  # (t, d), rows repeated
    y: Vector  # (t,)
    noise: Vector | float = 1.0  # (t,) its variance, in ridges

    def __post_init__(self) -> None:
        values, vectors = np.linalg.eigh(self.kernel(self.S, self.S))
        safe = values > 1e-12 * values.max(initial=1e-300)
        roots = np.where(safe, 1 / np.sqrt(np.where(safe, values, 1.0)), 0.0)
        self.root = vectors * roots @ vectors.T  # pseudo-inverse square root of K_S
        Z, weights = self.embed(self.X), 1 / np.broadcast_to(self.noise, len(self.X))
        self.V = (Z.T * weights) @ Z + self.ridge * np.eye(len(self.S))
        self.inverse = np.linalg.inv(self.V)
        self.theta = self.inverse @ Z.T @ (weights * self.y)

    def embed(self, Q: Matrix) -> Matrix:
        return np.asarray(self.kernel(Q, self.S) @ self.root)

    def mean(self, Q: Matrix) -> Vector:
        return np.asarray(self.embed(Q) @ self.theta)

    def model_covariance(self, Q: Matrix, P: Matrix) -> Matrix:
        return np.asarray(self.ridge * self.embed(Q) @ self.inverse @ self.embed(P).T)

    def covariance(self, Q: Matrix, P: Matrix) -> Matrix:
        residual = self.kernel(Q, P) - self.embed(Q) @ self.embed(P).T
        return np.asarray(residual + self.model_covariance(Q, P))

    def variance(self, Q: Matrix) -> Vector:
        return np.diag(self.covariance(Q, Q))

    def left_out(self) -> Matrix:
        """R = (K − ZᵀZ)/λ among all t evaluations."""
        Z = self.embed(self.X)
        return np.asarray(self.kernel(self.X, self.X) - Z @ Z.T) / self.ridge

    def weights(self, Q: Matrix) -> Matrix:
        """Return a(x) with μ̃(x) = a(x)ᵀy, one row a candidate."""
        return np.asarray(self.embed(Q) @ self.inverse @ self.embed(self.X).T)


def repeated(points: Observations) -> tuple[Matrix, Vector]:
    """Return one row and one value an evaluation: each point's average, as often as its count."""
    w = points.w.astype(np.int64)
    return np.repeat(points.X, w, axis=0), np.repeat(points.y, w)


def upper(mean: Vector, var: Vector, beta: float) -> Vector:
    """MINI 2022, Eq. 2."""
    return np.asarray(mean + beta * np.sqrt(var))


def improvement(mean: Vector, var: Vector, beta: float) -> Vector:
    """MINI 2022, Eq. 3, by the normal distribution as it stands in tables."""
    scale, behind = beta * np.sqrt(var), mean - mean.max()
    return np.asarray(behind * norm.cdf(behind / scale) + scale * norm.pdf(behind / scale))


@dataclass
class StepByStepBBKB:
    """BBKB 2020, Algorithm 1, with its slips corrected, one evaluation at a time, all dense.

    `draws(step, n)` gives the uniform numbers for the dictionary of the step-th opened batch. With
    `stays`, MINI 2022, Algorithm 2, on its posterior: the first choice of a batch as often as
    line 4 says, and nothing else; no C̃ in the width. With a `number` of every row, BKB 2019, §3.2,
    "Incremental dictionary update": members and what was told since are in while it is below p̃,
    and others again once p̃ has risen by a tenth of the members in sum, because members leave.
    """

    kernel: Kernel
    ridge: float
    noise_std: float
    limit: float
    oversample: float
    norm_bound: float
    delta: float
    pool: Matrix
    draws: Callable[[int, int], Vector]
    score: Callable[[Vector, Vector, float], Vector] = upper
    stays: bool = False
    number: Callable[[int], float] | None = None

    def __post_init__(self) -> None:
        self.members: set[int] = set()
        self.counted: dict[int, float] = {}
        self.risen = 0.0

    def run(self, first: int, value_of: Callable[[int], float], T: int) -> list[list[int]]:
        """Return the batches after the first candidate was evaluated once."""
        history, values = [first], [value_of(first)]
        stale_of = [float(self.kernel.diagonal(self.pool[[first]])[0])]
        stale = DenseNystrom(self.kernel, self.ridge, self.pool[:0], self.pool[:0], np.zeros(0))
        batches, step = [], 1
        while len(history) < T:
            stale = self.resparsify(stale, history, values, step)
            gains = sum(math.log(1 + s / self.ridge) for s in stale_of)
            ratio = self.noise_std / math.sqrt(self.ridge)
            wider = 1.0 if self.stays else self.limit
            beta = self.norm_bound + ratio * math.sqrt(wider * gains + math.log(1 / self.delta))
            room = T - len(history)
            if self.stays:
                batch = self.stay(stale, beta, room)
            else:
                batch = self.fill(stale, history, beta, room)
            stale_var = stale.variance(self.pool)
            for row in batch:
                history.append(row)
                stale_of.append(float(stale_var[row]))
                values.append(value_of(row))
            batches.append(batch)
            step += 1
        return batches

    def resparsify(
        self, stale: DenseNystrom, history: list[int], values: list[float], step: int
    ) -> DenseNystrom:
        unique = list(dict.fromkeys(history))
        w = np.array([history.count(row) for row in unique], dtype=np.float64)
        if len(stale.S):
            var = stale.variance(self.pool[unique])
        else:
            var = self.kernel.diagonal(self.pool[unique])
        p = np.minimum(1, w * self.oversample * var / self.ridge)
        looked = np.arange(len(unique))
        if self.number is None:
            numbers = self.draws(step, len(unique))
        else:
            numbers = np.array([self.number(row) for row in unique])
            told = [self.counted.get(row) != w[i] for i, row in enumerate(unique)]
            again = [row in self.members for row in unique]
            looked = np.flatnonzero(np.array(told) | np.array(again))
        chosen = looked[numbers[looked] < p[looked]]
        if not len(chosen):
            chosen = looked[[np.argmax(p[looked])]]
        if self.number is not None:
            chosen = self.returned(stale, unique, w, numbers, looked, chosen)
        self.members = {unique[i] for i in chosen}
        self.counted = dict(zip(unique, w.tolist(), strict=True))
        S = self.pool[np.array(unique)[chosen]]
        return DenseNystrom(self.kernel, self.ridge, S, self.pool[history], np.array(values))

    def returned(
        self,
        stale: DenseNystrom,
        unique: list[int],
        w: Vector,
        numbers: Vector,
        looked: Indices,
        chosen: Indices,
    ) -> Indices:
        """Add who is below p̃ by what those chosen leave, where it has risen much: leavers, all."""
        for again in (looked, np.arange(len(unique))):
            seen = [unique[i] for i in chosen if unique[i] in self.counted]
            S = self.pool[np.array(seen, dtype=int)]
            rest = DenseNystrom(self.kernel, self.ridge, S, stale.X, stale.y)
            grown = float(np.trace(rest.left_out()) - np.trace(stale.left_out()))
            risen = self.risen + self.oversample * max(grown, 0.0)
            if risen <= 0.1 * len(chosen):
                self.risen = risen
                return chosen
            p = np.minimum(1, w * self.oversample * rest.variance(self.pool[unique]) / self.ridge)
            chosen = np.union1d(chosen, again[numbers[again] < p[again]])
        self.risen = 0.0
        return chosen

    def stay(self, stale: DenseNystrom, beta: float, room: int) -> list[int]:
        var = np.maximum(stale.variance(self.pool), 0)
        row = int(np.argmax(self.score(stale.mean(self.pool), var, beta)))
        times = math.floor((self.limit - 1) * self.ridge / float(var[row]))
        return [row] * min(max(times, 1), room)

    def fill(self, stale: DenseNystrom, history: list[int], beta: float, room: int) -> list[int]:
        batch: list[int] = []
        bound, mean, var0 = 1.0, stale.mean(self.pool), stale.variance(self.pool)
        now = stale
        while len(batch) < room and bound <= self.limit:
            var = np.maximum(now.variance(self.pool), 0)
            row = int(np.argmax(self.score(mean, var, beta)))
            batch.append(row)
            bound += var0[row] / self.ridge
            rows = history + batch
            now = DenseNystrom(
                self.kernel, self.ridge, stale.S, self.pool[rows], np.zeros(len(rows))
            )
        return batch

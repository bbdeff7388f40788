"""Random features: functions drawn from a prior, at a cost linear in the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from noregret.arrays import Matrix, Rows, Vector
from noregret.kernels.base import Kernel, Product, Scaled, Sum
from noregret.kernels.linear import Linear
from noregret.kernels.stationary import RBF, Matern

Waves: TypeAlias = npt.NDArray[np.complex64]
Features: TypeAlias = Callable[[Rows], Waves]


def random_features(
    kernel: Kernel, origin: Vector, count: int, rng: np.random.Generator
) -> Features | None:
    """Return φ with E[φⱼ(x)·φⱼ(z)*] = k(x, z) for each of `count` features; None if unknown.

    Waves e^(iωx) for RBF and Matérn, ω from their spectral density; random projections for Linear.
    A feature of a product is the product of one feature of each, of a sum one of either. Waves are
    counted from the `origin`, any point: near the others, few turns are lost to rounding.

    Source: Rahimi & Recht 2007; Matérn's density is a Student t of 2ν degrees of freedom
    (Rasmussen & Williams 2006, Eq. 4.15).
    """
    dim = len(origin)
    match kernel:
        case RBF(lengthscale=scale):
            return _waves(rng.standard_normal((dim, count)), scale, origin)
        case Matern(nu=nu, lengthscale=scale):
            spread = np.sqrt(rng.chisquare(2 * nu, count) / (2 * nu))
            return _waves(rng.standard_normal((dim, count)) / spread, scale, origin)
        case Linear(bias=bias):
            return _projections(rng.standard_normal((dim + 1, count)), bias)
        case Scaled(kernel=inner, variance=variance):
            part = random_features(inner, origin, count, rng)
            return None if part is None else _scaled(part, variance)
        case Sum(left=left, right=right) | Product(left=left, right=right):
            a = random_features(left, origin, count, rng)
            b = random_features(right, origin, count, rng)
            if a is None or b is None:
                return None
            return _either(a, b, count, rng) if isinstance(kernel, Sum) else _both(a, b)
        case _:
            return None


def _waves(frequencies: Matrix, scale: float | tuple[float, ...], origin: Vector) -> Features:
    turns = frequencies / np.reshape(scale, (-1, 1)) / (2 * np.pi)

    def features(X: Rows) -> Waves:
        phase = (X - origin) @ turns
        phase -= np.rint(phase)  # in double precision: single would lose many turns
        angle = (2 * np.pi * phase).astype(np.float32)
        out = np.empty(angle.shape, dtype=np.complex64)
        np.cos(angle, out=out.real)
        np.sin(angle, out=out.imag)
        return out

    return features


def _projections(R: Matrix, bias: float) -> Features:
    def features(X: Rows) -> Waves:
        out: Waves = (X @ R[1:] + bias**0.5 * R[0]).astype(np.complex64)
        return out

    return features


def _scaled(part: Features, variance: float) -> Features:
    return lambda X: part(X) * np.float32(variance**0.5)


def _both(a: Features, b: Features) -> Features:
    return lambda X: a(X) * b(X)


def _either(a: Features, b: Features, count: int, rng: np.random.Generator) -> Features:
    """Each feature is one of a or of b, by the toss of a coin, √2 times as large."""
    first = rng.random(count) < 0.5

    def features(X: Rows) -> Waves:
        out: Waves = np.where(first, a(X), b(X))
        out *= np.float32(2**0.5)
        return out

    return features

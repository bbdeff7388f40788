"""What we believe about f, given values at some points."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector, stacked
from noregret.kernels import Kernel
from noregret.storable import storable

P = TypeVar("P", bound=Any)  # a posterior


@final
@storable("Observations")
@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Unique evaluated points: pool rows, features, weights, average value.

    An evaluation has weight 1; one whose noise is known to be ξ_s has weight (ξ/ξ_s)². Weights of
    a point are the sum of those of its evaluations, and its average is weighted by them.
    """

    rows: Indices  # (n,)
    X: Rows  # (n, d)
    w: Vector  # (n,) weights
    y: Vector  # (n,) averages
    evaluations: Vector | None = None  # (n,) how often evaluated, where that is not the weight

    @classmethod
    def none(cls, dim: int) -> Observations:
        return cls(np.empty(0, dtype=np.int64), np.empty((0, dim)), np.empty(0), np.empty(0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def counts(self) -> Vector:
        """How often each point was evaluated."""
        return self.w if self.evaluations is None else self.evaluations


def subset(points: Observations, index: Indices) -> Observations:
    """Return the points at these places."""
    counts = None if points.evaluations is None else points.evaluations[index]
    return Observations(
        points.rows[index], points.X[index], points.w[index], points.y[index], counts
    )


def joined(above: Observations, below: Observations) -> Observations:
    """Return points and others behind them."""
    counts = None
    if above.evaluations is not None or below.evaluations is not None:
        counts = np.concatenate([above.counts, below.counts])
    return Observations(
        rows=np.concatenate([above.rows, below.rows]),
        X=stacked(above.X, below.X),
        w=np.concatenate([above.w, below.w]),
        y=np.concatenate([above.y, below.y]),
        evaluations=counts,
    )


def changed_since(before: Observations, now: Observations) -> Indices:
    """Return the places of points that were told since: their weight is not what it was."""
    w = np.zeros(len(now))
    w[: len(before)] = before.w
    return np.flatnonzero(now.w != w)


def renumbered(posterior: P, numbers: Callable[[Indices], Indices]) -> P:
    """Return a posterior, made of dataclass fields as ours are, whose points have other rows."""
    fields = {field.name: getattr(posterior, field.name) for field in dataclasses.fields(posterior)}
    seen = {name: part for name, part in fields.items() if isinstance(part, Observations)}
    moved = {name: replace(part, rows=numbers(part.rows)) for name, part in seen.items()}
    return replace(posterior, **moved)


def merged(told: Observations, open_: Observations) -> Observations:
    """Return told points with the open evaluations counted in; points only open stand last."""
    if not len(open_):
        return told
    place = {int(row): i for i, row in enumerate(told.rows)}
    w, counts = told.w.copy(), told.counts.copy()
    only_open = []
    for i, row in enumerate(open_.rows):
        if int(row) in place:
            w[place[int(row)]] += open_.w[i]
            counts[place[int(row)]] += open_.w[i]
        else:
            only_open.append(i)
    extra = subset(open_, np.array(only_open, dtype=np.int64))
    return Observations(
        rows=np.concatenate([told.rows, extra.rows]),
        X=stacked(told.X, extra.X),
        w=np.concatenate([w, extra.w]),
        y=np.concatenate([told.y, extra.y]),
        evaluations=None if told.evaluations is None else np.concatenate([counts, extra.w]),
    )


def least_norm(square: float, image_square: float, radius: float) -> float:
    """Return (‖μ‖²_A − radius·‖μ‖_A)/‖Aμ‖, or 0 where that says nothing."""
    if square <= 0 or image_square <= 0:
        return 0.0
    return max((square - radius * math.sqrt(square)) / math.sqrt(image_square), 0.0)


class Posterior(Protocol):
    """Mean and covariance of f, given feedback; a value that never changes.

    `variance` is that of f, in units of f²; `ridge` is the papers' λ.
    """

    @property
    def kernel(self) -> Kernel: ...
    @property
    def noise_std(self) -> float: ...
    @property
    def ridge(self) -> float: ...
    @property
    def observed(self) -> Observations:
        """What it has seen."""

    def condition(
        self, told: Observations, open_: Observations, rng: np.random.Generator
    ) -> Posterior:
        """Believe `told`, which extends what this posterior has seen.

        `open_` are evaluations under way: they have no values yet, but an approximation may make
        room for them. `rng` serves approximations that draw.
        """

    def hallucinate(self, rows: Indices, X: Rows, counts: Vector) -> Posterior:
        """Shrink the variance as if X (these pool rows) were evaluated `counts` times more.

        The mean stays, as if every value were the mean.
        """

    def marginals(self, X: Rows) -> tuple[Vector, Vector]:
        """Return mean and variance at each row of X."""

    def at_points(self) -> tuple[Vector, Vector]:
        """Return `marginals` at the points it has seen, in their order."""

    def mean_at_points(self) -> Vector:
        """Return the mean at the points it has seen."""

    def at_point(self, place: int) -> tuple[float, float]:
        """Return mean and variance at one of the points it has seen."""

    def mean(self, X: Rows) -> Vector: ...
    def variance(self, X: Rows) -> Vector: ...

    def covariance(self, X: Rows, Z: Rows) -> Matrix:
        """Return the covariance of f between rows of X and rows of Z."""

    def model_covariance(self, X: Rows, Z: Rows) -> Matrix:
        """Return the part of `covariance` through which feedback at Z moves beliefs at X."""

    @property
    def basis(self) -> Rows:
        """The points P of which the posterior is made: μ(x) = k_P(x)ᵀa, σ²(x) = k − k_PᵀB k_P."""

    def mean_weights(self) -> Vector:
        """Return a, one number a point of the basis."""

    def solved(self, K: Matrix) -> Matrix:
        """Return B k for each column k of K."""

    def explained_samples(self, F: Matrix, rng: np.random.Generator) -> Matrix:
        """Return v with f₀(x) − k_P(x)ᵀv distributed as f(x) − μ(x), a column a function.

        F holds functions f₀ drawn from the prior at the points of the basis.
        """

    def features(self, X: Rows) -> Matrix:
        """Return for each row of X what its model covariances are made of."""

    def model_covariance_from(self, X: Rows, F: Matrix, Z: Rows, G: Matrix) -> Matrix:
        """Return `model_covariance(X, Z)`, F and G being the features of X and Z."""

    @property
    def rounding(self) -> tuple[float, float]:
        """How far rounding may move a mean, and a variance relative to its prior variance."""

    @property
    def log_det(self) -> float:
        """L = log det(I + W^½ K W^½ / ridge), twice the information gained."""

    @property
    def most_log_det(self) -> float:
        """An upper bound on L of the exact posterior, whatever stands for it here."""

    def least_norm(self, radius: float) -> float:
        """Return a lower bound on ‖f‖ if ‖f − μ‖_A ≤ radius, A = Φᵀ W Φ + ridge·I in features.

        By Cauchy-Schwarz, ‖f‖·‖Aμ‖ ≥ ⟨Aμ, f⟩ ≥ ‖μ‖²_A − radius·‖μ‖_A.
        """

    def effective_dimension(self) -> float:
        """d_eff = Σₛ σ²(xₛ)/ridge over all evaluations."""

"""What an optimizer answers, in the user's sign and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from noregret.arrays import Matrix, Rows, Vector
from noregret.pools import Domain
from noregret.posteriors import Posterior
from noregret.standings import Assumptions

Number = TypeVar("Number", float, Vector)


@final
@dataclass(frozen=True, slots=True)
class Units:
    """Between the user's values and ours, which are centred on the offset and larger is better."""

    sign: float = 1.0
    offset: float = 0.0

    def inwards(self, values: Number) -> Number:
        return self.sign * (values - self.offset)

    def outwards(self, values: Number) -> Number:
        return self.sign * values + self.offset


@final
@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The candidate to recommend.

    `lower` and `upper` hold the true value with the probability of the certificate, under its
    assumptions; NaN for baselines, which have no theorem, as is `std` where they have no model.
    """

    id: int | str
    x: Vector
    mean: float
    std: float
    lower: float
    upper: float
    evaluations: int

    def __str__(self) -> str:
        times = "once" if self.evaluations == 1 else f"{self.evaluations} times"
        if np.isnan(self.std):
            return f"{self.id}: average {self.mean:.6g}, evaluated {times}"
        band = f" (between {self.lower:.6g} and {self.upper:.6g})"
        shown = "" if np.isnan(self.lower) else band
        return f"{self.id}: {self.mean:.6g} ± {self.std:.2g}{shown}, evaluated {times}"


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """How far the recommendation can be from the true best, with probability 1 − delta.

    `guaranteed` bounds the value of candidate `id`, `reachable` that of any candidate; `gap` is
    the distance between them. It is worth what its `assumptions` are worth.
    """

    gap: float
    id: int | str
    guaranteed: float
    reachable: float
    beta: float
    delta: float
    theorem: str
    assumptions: Assumptions

    @property
    def is_sound(self) -> bool:
        """Whether every assumption that could be checked holds."""
        return all(assumption.holds is not False for assumption in self.assumptions)

    def __str__(self) -> str:
        marks = {True: "holds", False: "DOES NOT HOLD", None: "assumed"}
        lines = [
            f"with probability {1 - self.delta:g}, {self.id} is within {self.gap:.4g} of the best "
            f"(guaranteed {self.guaranteed:.6g}, reachable {self.reachable:.6g})",
            f"by {self.theorem}, beta = {self.beta:.4g}, provided that",
            *(f"  - {a.statement}: {marks[a.holds]}" for a in self.assumptions),
        ]
        return "\n".join(lines)


@final
@dataclass(frozen=True, slots=True, eq=False)
class PosteriorView:
    """Mean, variance and covariance of f at any rows of features."""

    _posterior: Posterior
    _units: Units
    _domain: Domain

    def mean(self, X: object) -> Vector:
        """Return the posterior mean of f at each row of X."""
        return self._units.outwards(self._posterior.mean(self._rows("mean(X)", X)))

    def variance(self, X: object) -> Vector:
        """Return the posterior variance of f at each row of X."""
        return self._posterior.variance(self._rows("variance(X)", X))

    def std(self, X: object) -> Vector:
        """Return the posterior standard deviation of f at each row of X."""
        return np.sqrt(self.variance(X))

    def covariance(self, X: object, Z: object) -> Matrix:
        """Return the posterior covariance of f between rows of X and rows of Z."""
        return self._posterior.covariance(
            self._rows("covariance(X, ...)", X), self._rows("covariance(..., Z)", Z)
        )

    @property
    def log_det(self) -> float:
        """Twice the information gained about f, in nats."""
        return self._posterior.log_det

    def effective_dimension(self) -> float:
        """How many parameters the evaluations have in effect determined."""
        return self._posterior.effective_dimension()

    def _rows(self, name: str, X: object) -> Rows:
        return self._domain.read(f"posterior.{name}", X)

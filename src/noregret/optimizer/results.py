"""What an optimizer answers, in the user's sign and units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np

from noregret.arrays import Indices, Matrix, Rows, Vector
from noregret.errors import NothingToldError
from noregret.optimizer.ledger import Ledger
from noregret.policies import Evidence, ModelView
from noregret.pools import Domain, Points
from noregret.posteriors import Posterior
from noregret.storable import storable
from noregret.text import counted, digits, probably, times
from noregret.widths import Assumptions

Number = TypeVar("Number", float, Vector)


@final
@storable("Units")
@dataclass(frozen=True, slots=True)
class Units:
    """Between the user's values and ours, which are centred on the offset and larger is better."""

    sign: float = 1.0
    offset: float = 0.0

    def inwards(self, values: Number) -> Number:
        return self.sign * (values - self.offset)

    def outwards(self, values: Number) -> Number:
        return self.sign * values + self.offset

    def interval(self, lower: float, upper: float) -> tuple[float, float]:
        """Return an interval of ours outwards, its lower end first."""
        ends = self.outwards(lower), self.outwards(upper)
        return min(ends), max(ends)

    def centred(self, centre: float) -> Units:
        """Return the units of values that are centred on another number of ours."""
        return Units(self.sign, self.offset + self.sign * centre)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """The candidate to recommend.

    `std` is the model's standard deviation of the true value, printed as ±. `lower` and `upper`,
    printed as "between", hold it with the probability of the certificate (1 − delta, 90 % unless
    told otherwise), under its assumptions. They are NaN for baselines, which have no theorem, as is
    `std` where they have no model.

    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=1.0)
    >>> opt.tell([0], [2.0])
    >>> print(opt.best())
    0: 1 ± 0.71 (between -1.33473 and 3.33473), evaluated once
    """

    id: int | str
    x: Vector
    mean: float
    std: float
    lower: float
    upper: float
    evaluations: int

    def __str__(self) -> str:
        often = f"evaluated {times(self.evaluations)}"
        if math.isnan(self.std):
            return f"{self.id}: average {self.mean:.6g}, {often}"
        if math.isinf(self.std):
            return f"{self.id}: {self.mean:.6g}, how far off is not known yet, {often}"
        mean, low, high = (digits(at, self.std) for at in (self.mean, self.lower, self.upper))
        band = "" if math.isnan(self.lower) else f" (between {low} and {high})"
        return f"{self.id}: {mean} ± {self.std:.2g}{band}, {often}"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """Every point that has a value (under each context), in the order of their first ones.

    `ids` are None for points off the pool; `deviations` are those of an evaluation, from the spread
    of a point's own values, NaN where it has fewer than two. Averages are by weight: an evaluation
    weighs 1, or what its own `noise_std` says.

    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=1.0)
    >>> opt.tell([0], [2.0])
    >>> opt.tell([0, 1], [4.0, 1.0])
    >>> opt.evaluated.ids, opt.evaluated.averages, opt.evaluated.evaluations
    ([0, 1], array([3., 1.]), array([2, 1]))
    """

    ids: list[int | str | None]
    x: Rows  # (n, d)
    evaluations: Indices  # (n,)
    averages: Vector  # (n,)
    deviations: Vector  # (n,)
    weights: Vector  # (n,) of all of its values
    contexts: Matrix | None = None  # (n, c), as `context_names` orders them; None without contexts

    def __len__(self) -> int:
        return len(self.ids)


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """How far `best()` can be from the best candidate, with probability 1 − delta.

    Where there is no noise (`deterministic=True`, `noise_std=0`) a band of bounded norm is certain,
    and delta is 0.

    `guaranteed` bounds the value of candidate `id`, `reachable` that of any candidate; `gap` is
    the distance between them. It is worth what its `assumptions` are worth.

    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=1.0)
    >>> opt.tell([0], [2.0])
    >>> opt.tell([0, 1], means=[0.1, 0.9], counts=[1000, 1000])
    >>> certificate = opt.certificate()
    >>> certificate.id, certificate.gap < 0.5, certificate.delta, certificate.is_sound
    (1, True, 0.1, True)
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
        return "\n".join(
            [
                self._meaning(),
                *(f"  - {each.statement}: {marks[each.holds]}" for each in self.assumptions),
                f"Then the true value of {self.id} is {self.guaranteed:.6g} or better, and that of "
                f"no candidate is better than {self.reachable:.6g}.",
                f"By {self.theorem}; bounds lie beta = {self.beta:.4g} standard deviations from "
                "the mean.",
            ][: None if math.isfinite(self.gap) else -2]
        )

    def _meaning(self) -> str:
        if math.isinf(self.gap):
            return (
                f"It is not known yet how far best() ({self.id}) is from the best candidate. To "
                "bound that, all of this must hold:"
            )
        likely = probably(self.delta)
        how = likely.capitalize() if self.is_sound else f"NOT TO BE RELIED ON: {likely}"
        within = f"best() ({self.id}) is within {self.gap:.4g} of the best candidate"
        return f"{how}, {within}, if all of this holds:"


@final
@dataclass(frozen=True, slots=True, eq=False)
class PosteriorView:
    """Mean, variance and covariance of f at any rows of features.

    `beta` times the standard deviation is how far above the mean the next choice looks. `auto` may
    count averages worse than `floor` as that; without such a floor it is infinitely bad.

    >>> opt = nr.gp_ucb(nr.Pool([[0.0], [1.0]]), kernel=nr.RBF(), noise_std=1.0)
    >>> opt.tell([0], [2.0])
    >>> belief = opt.posterior
    >>> belief.mean([[0.0], [9.0]]).round(3), belief.variance([[0.0], [9.0]]).round(3)
    (array([1., 0.]), array([0.5, 1. ]))
    >>> belief.std([[0.0]]).round(3), belief.covariance([[0.0]], [[0.0], [1.0]]).round(3)
    (array([0.707]), array([[0.5  , 0.303]]))
    >>> round(belief.log_det, 3), round(belief.effective_dimension(), 3), round(belief.beta, 2)
    (0.693, 0.5, 3.3)
    """

    _posterior: Posterior
    beta: float
    floor: float
    _units: Units
    _domain: Domain

    def __repr__(self) -> str:
        model, points = self._posterior, counted(len(self._posterior.observed), "unique point")
        noise = f"noise {model.noise_std:.3g} per evaluation"
        return f"PosteriorView({model.kernel!r}, {noise}, {points}, beta={self.beta:.3g})"

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


def place_of_best(evidence: Evidence, means: Vector) -> int:
    """Return the place of the point told that has the highest mean, the first told on ties."""
    allowed = evidence.eligible
    if not allowed.any():
        raise NothingToldError(
            "there is no best candidate: no value was told of one that is in the pool and not "
            "excluded. Call tell() first."
        )
    return int(np.argmax(np.where(allowed, means, -np.inf)))


def recommended(view: ModelView | None, evidence: Evidence, units: Units) -> Best:
    """Return the point told of highest mean; of highest average, where there is no model."""
    told, points = evidence.told, evidence.points
    means = told.y if view is None else view.means()
    at = place_of_best(evidence, means)
    std, low, high = (np.nan, np.nan, np.nan) if view is None else view.interval(at)
    lower, upper = units.interval(low, high)
    return Best(
        id=points.keys(told.rows[at : at + 1])[0].item(),
        x=points.domain.shown(told.X[at : at + 1])[0].copy(),
        mean=float(units.outwards(means[at])),
        std=std,
        lower=lower,
        upper=upper,
        evaluations=int(told.counts[at]),
    )


def certified(view: ModelView, evidence: Evidence, units: Units) -> Certificate:
    """Return how far the recommendation can be from the best: highest bound minus its lower one."""
    guarantee, at = view.guarantee(), place_of_best(evidence, view.means())
    (_, lowest, _), highest = view.interval(at), view.highest_bound(at)
    return Certificate(
        gap=max(highest - lowest, 0.0),
        id=evidence.points.keys(evidence.told.rows[at : at + 1])[0].item(),
        guaranteed=float(units.outwards(lowest)),
        reachable=float(units.outwards(highest)),
        beta=guarantee.beta,
        delta=guarantee.delta,
        theorem=guarantee.theorem,
        assumptions=guarantee.assumptions,
    )


def measured(ledger: Ledger, points: Points, units: Units) -> Evaluated:
    """Return a ledger in the user's units."""
    rows = points.candidates_of(ledger.rows)
    return Evaluated(
        ids=points.ids(rows),
        x=points.domain.shown(points.rows(rows)),
        evaluations=ledger.counts.copy(),
        averages=units.outwards(ledger.averages),
        deviations=np.sqrt(ledger.variances()),
        weights=ledger.weights.copy(),
        contexts=points.contexts_of(ledger.rows),
    )

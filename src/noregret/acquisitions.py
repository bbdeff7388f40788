"""A score: which candidate is worth evaluating next.

While no feedback comes, means stay and variances only shrink; then no score here ever rises, which
is what lets `search` keep old scores as upper bounds. When feedback comes, `ceiling` bounds what
the score of a candidate that was not looked at again can have become.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from noregret.arrays import Vector
from noregret.errors import require_at_least
from noregret.storable import storable

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
TINY, HUGE = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
Slopes: TypeAlias = tuple[Vector, Vector, Vector]  # scores, slopes in mean and in deviation


@runtime_checkable
class Acquisition(Protocol):
    """Scores candidates by mean and variance; must not fall when a variance grows."""

    __slots__ = ()

    @property
    @abstractmethod
    def uses_best_mean(self) -> bool:
        """Whether a score depends on the largest mean of the pool."""

    @abstractmethod
    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        """Return one score per candidate; `best_mean` is the largest mean of the pool."""

    @abstractmethod
    def ceiling(
        self, mean: Vector, std: Vector, gain: Vector, beta: float, best_mean: float
    ) -> Vector:
        """Return the highest score that candidates of this mean and deviation can have by now.

        Since then σ² has fallen, and μ has moved by at most √(gain·(σ²_then − σ²_now)).
        """


@runtime_checkable
class DifferentiableAcquisition(Protocol):
    """An acquisition that knows its slopes. On boxes, those of others are taken by differences."""

    def slopes(self, mean: Vector, std: Vector, beta: float, best_mean: float) -> Slopes:
        """Return scores and their derivatives in mean and standard deviation."""


@runtime_checkable
class RevisitingAcquisition(Protocol):
    """An acquisition that, on a box, prefers points evaluated before by a `leeway`, as `UCB`."""

    @property
    def leeway(self) -> float: ...


def score_slopes(
    acquisition: Acquisition, mean: Vector, std: Vector, beta: float, best_mean: float
) -> Slopes:
    """Return what `DifferentiableAcquisition` promises, of any acquisition."""
    if isinstance(acquisition, DifferentiableAcquisition):
        return acquisition.slopes(mean, std, beta, best_mean)
    h = 1e-4 * std

    def at(mean: Vector, std: Vector) -> Vector:
        return acquisition.score(mean, std**2, beta, best_mean)

    in_mean = (at(mean + h, std) - at(mean - h, std)) / (2 * h)
    in_std = (at(mean, std + h) - at(mean, std - h)) / (2 * h)
    return at(mean, std), in_mean, in_std


class RisingAcquisition(Acquisition):
    """A score that rises with the mean as it does with the variance."""

    __slots__ = ()

    @final
    def ceiling(
        self, mean: Vector, std: Vector, gain: Vector, beta: float, best_mean: float
    ) -> Vector:
        return self.score(mean + std * np.sqrt(gain), std**2, beta, best_mean)


@final
@storable("UCB")
@dataclass(frozen=True, slots=True)
class UCB:
    """Upper confidence bound: μ(x) + beta·σ(x).

    With a `leeway` ε, a point of a box that was evaluated before is taken again where it would be
    the best if its deviation were 1 + ε times as large: otherwise points pile up side by side, each
    of which says what the others say. Then f* ≤ μ(x) + (1 + ε)βσ(x) at the point x taken, whose
    regret is at most (2 + ε)βσ(x) in place of 2βσ(x).

    Source: MINI 2022, Eq. 2; Srinivas et al. 2010.

    >>> UCB().score(np.array([1.0, 0.0]), np.array([0.0, 1.0]), beta=2.0, best_mean=1.0)
    array([1., 2.])
    """

    leeway: float = 0.0

    uses_best_mean = False

    def __post_init__(self) -> None:
        require_at_least("UCB(leeway=...)", self.leeway, 0.0)

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        return mean + beta * np.sqrt(variance)

    def slopes(self, mean: Vector, std: Vector, beta: float, best_mean: float) -> Slopes:
        return mean + beta * std, np.ones_like(mean), np.full_like(std, beta)

    def ceiling(
        self, mean: Vector, std: Vector, gain: Vector, beta: float, best_mean: float
    ) -> Vector:
        """√gain·√(σ² − s²) + β·s is largest, over s ≤ σ, at σ·√(β² + gain)."""
        reach = np.sqrt(gain + beta**2)
        reach *= std
        reach += mean
        return reach


@final
@storable("ExpectedImprovement")
@dataclass(frozen=True, slots=True)
class ExpectedImprovement(RisingAcquisition):
    """Logarithm of the expected improvement over the best mean, with a width.

    With z = (μ(x) − max μ)/σ(x) and u = z/β,

        EI(x) = β σ(x)·[u Φ(u) + φ(u)],      score = log EI(x)                              (1)

    In log space it never underflows: candidates far below the best keep their order. Where σ = 0
    the smallest positive number stands in for it, so that of candidates known exactly the one of
    largest mean comes first.

    max μ is over all candidates, also those that `at_most_each` has closed: less is no improvement
    on what `best()` returns, and with one evaluation each it is the best so far of classical
    expected improvement (Jones et al. 1998). A bound on regret against candidates that are left
    would need the best mean of these instead, since a closed one far above them makes (1) choose
    by σ alone; it is UCB that has such a bound.

    Source: MINI 2022, Eq. 3; Wang & de Freitas 2014.

    >>> mean = np.array([1.0, 0.0])
    >>> scores = ExpectedImprovement().score(mean, np.ones(2), beta=1.0, best_mean=1.0)
    >>> np.exp(scores).round(3)
    array([0.399, 0.083])
    """

    uses_best_mean = True

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        scale = beta * np.sqrt(np.maximum(variance, TINY))
        return np.log(scale) + _log_h((mean - best_mean) / scale)  # (1)

    def slopes(self, mean: Vector, std: Vector, beta: float, best_mean: float) -> Slopes:
        """With h(u) = u Φ(u) + φ(u), h′ = Φ:  Φ(u)/h(u)/(βσ) in μ and φ(u)/h(u)/σ in σ."""
        from scipy.special import log_ndtr

        std = np.maximum(std, math.sqrt(TINY))
        u = (mean - best_mean) / (beta * std)
        log_h = _log_h(u)
        in_mean = np.exp(np.minimum(log_ndtr(u) - log_h, 700.0)) / (beta * std)
        in_std = np.exp(np.minimum(-0.5 * u**2 - _LOG_ROOT_2PI - log_h, 700.0)) / std
        return np.log(beta * std) + log_h, in_mean, in_std


@final
@storable("KnowledgeGradient")
@dataclass(frozen=True, slots=True)
class KnowledgeGradient:
    """What an evaluation is worth by itself, and for the `ahead` evaluations that will follow it.

    r evaluations of x move its mean by a normal number of deviation τ. Where that takes it past
    the best mean, each evaluation to come gains the difference. With v = β²σ²(x), the variance
    with its width, and u = (μ(x) − max μ)/τ,

        score = μ(x) + ahead/r·τ·[u Φ(u) + φ(u)],                                              (1)
        r = max(1, noise/v),    τ² = v²/(v + noise/r)

    `noise` is the variance of one evaluation, and r how many halve the variance: where noise is
    large, one by itself would change nobody's mind and seem to be worth nothing. A candidate that
    is known brings its mean and no more; another is tried where its gain is expected to pay for
    what it is expected to lose.

    `ceiling`: a row c = max μ − μ below the best that missed updates, with a² = gain·σ² < c², gains
    no more than one of its old τ that is √(c² − a²) below. For σ² fallen by cos²t, 1/r does not
    rise and τ falls to τ·cos t or less. With y what its mean will move by, before that factor, it
    gains nothing for y ≤ 0, else (a·sin t + y·cos t − c)₊ ≤ (√(a² + y²) − c)₊ ≤ (y − √(c² − a²))₊.

    Differs: the best candidate is compared with itself (u = 0), not with the second, so that it is
    confirmed before others are; correlations between candidates are left out; r is given, where
    they search for the best one.

    Source: Ryzhov, Powell & Frazier 2012 (online knowledge gradient); Frazier & Powell 2010 for r.

    >>> KnowledgeGradient(ahead=10.0).score(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1.0, 1.0)
    array([1.        , 0.83315471])
    """

    ahead: float = 1.0
    noise: float = 0.0

    uses_best_mean = True

    def __post_init__(self) -> None:
        require_at_least("KnowledgeGradient(ahead=...)", self.ahead, 0.0)
        require_at_least("KnowledgeGradient(noise=...)", self.noise, 0.0)

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        return self._worth(mean, mean - best_mean, beta**2 * variance)

    def ceiling(
        self, mean: Vector, std: Vector, gain: Vector, beta: float, best_mean: float
    ) -> Vector:
        moved = std * np.sqrt(gain)
        behind = best_mean - mean
        left = np.sqrt(np.maximum(behind - moved, 0.0)) * np.sqrt(np.maximum(behind + moved, 0.0))
        ahead_by = np.where(behind > moved, -left, moved - behind)
        return self._worth(mean + moved, ahead_by, (beta * std) ** 2)

    def _worth(self, mean: Vector, ahead_by: Vector, variance: Vector) -> Vector:
        """Return (1), of candidates that are so far ahead of the best."""
        from scipy.special import ndtr

        v = np.maximum(variance, TINY)
        rest = np.minimum(self.noise, v)  # noise/r
        moves = v / np.sqrt(v + rest)  # τ
        part = rest / self.noise if self.noise else 1.0  # 1/r
        ahead_by = np.maximum(ahead_by, -HUGE)  # excluded ones are infinitely far below
        with np.errstate(over="ignore"):  # far below the best nothing is gained
            u = ahead_by / moves
            gained = ahead_by * ndtr(u) + moves * np.exp(-0.5 * u**2 - _LOG_ROOT_2PI)
        worth: Vector = mean + self.ahead * part * np.maximum(gained, 0.0)  # (1)
        return worth


@final
@storable("Thompson")
@dataclass(frozen=True, slots=True)
class Thompson:
    """The best candidate of a function sampled from the posterior, a new one for every choice.

    The function is μ(x) + beta·(f(x) − μ(x)) with f sampled from the posterior; beta is the
    width's, 1 being Thompson sampling proper. It is not scored by mean and variance:
    `Search.rank_samples` finds it.

    Source: Thompson 1933; Chowdhury & Gopalan 2017 for a width.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.mini(pool, kernel=nr.RBF(0.2), noise_std=1.0, acquisition=nr.Thompson(), start=[])
    >>> opt.ask().repeats
    array([1])
    """


@final
@dataclass(frozen=True, slots=True)
class Uncertainty(RisingAcquisition):
    """The variance alone: uncertainty sampling (BBKB 2020, Algorithm 3)."""

    uses_best_mean = False

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        return variance

    def slopes(self, mean: Vector, std: Vector, beta: float, best_mean: float) -> Slopes:
        return std**2, np.zeros_like(mean), 2.0 * std


@final
@dataclass(frozen=True, slots=True)
class Mean(RisingAcquisition):
    """The mean alone: what other scores call the best mean."""

    uses_best_mean = False

    def score(self, mean: Vector, variance: Vector, beta: float, best_mean: float) -> Vector:
        return mean

    def slopes(self, mean: Vector, std: Vector, beta: float, best_mean: float) -> Slopes:
        return mean, np.ones_like(mean), np.zeros_like(std)


def _log_h(u: Vector) -> Vector:
    """Return log(u Φ(u) + φ(u)) for u ≤ 0 (and small positive u) without cancellation.

    With m(a) = Φ(−a)/φ(a) = √(π/2)·erfcx(a/√2), u = −a:  u Φ(u) + φ(u) = φ(a)·(1 − a·m(a)), and
    for large a,  1 − a·m(a) = a⁻² − 3a⁻⁴ + 15a⁻⁶ − 105a⁻⁸ + 945a⁻¹⁰ …
    """
    from scipy.special import erfcx, ndtr  # a third of the time that `import noregret` takes

    out = np.empty_like(u)
    near = u > -1.0
    v = u[near]
    out[near] = np.log(v * ndtr(v) + np.exp(-0.5 * v**2 - _LOG_ROOT_2PI))
    middle = ~near & (u > -40.0)
    a = -u[middle]
    tail = np.log1p(-a * math.sqrt(math.pi / 2) * erfcx(a / math.sqrt(2)))
    out[middle] = tail - 0.5 * a**2 - _LOG_ROOT_2PI
    far = ~near & ~middle
    with np.errstate(over="ignore"):  # −a²/2 may reach −inf, where the order no longer matters
        a = -u[far]
        b = 1.0 / a**2
        series = np.log1p(-b * (3 - b * (15 - b * (105 - 945 * b))))
        out[far] = series - 2 * np.log(a) - 0.5 * a**2 - _LOG_ROOT_2PI
    return out

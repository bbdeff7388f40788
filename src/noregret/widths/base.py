"""What every width has: the inputs it is made of, and the assumptions it rests on.

`beta` multiplies the standard deviation of f. Notation of every formula here: F the norm bound, ξ
the noise_std, λ the ridge, δ the failure probability, N candidates, t evaluations told,
W the weights of unique points, L = log det(I + W^½ K W^½/λ).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Protocol, TypeAlias, final, runtime_checkable

from noregret.errors import require_at_least, require_positive, require_probability
from noregret.posteriors import ExactPosterior, NystromPosterior, Posterior
from noregret.storable import storable


@final
@storable("Information")
@dataclass(frozen=True, slots=True)
class Information:
    """Running sums over evaluations, each with its variance when its batch was opened.

    `plain` = Σ log(1 + w_s·σ̃²_stale(x_s)/λ),  `tripled` = Σ log(1 + 3w_s·σ̃²_stale(x_s)/λ): bounds
    on L that need no n × n matrix (BBKB 2020, proof of Theorem 2, where the weights w_s are 1).
    """

    plain: float = 0.0
    tripled: float = 0.0

    def plus(self, leverage: float, *, times: int) -> Information:
        """Add `times` evaluations of w_s·σ̃²_stale/λ = leverage each."""
        return Information(
            self.plain + times * math.log1p(leverage),
            self.tripled + times * math.log1p(3 * leverage),
        )

    def at_most(self, bound: float, *, least: Information) -> Information:
        """Return the sums, or another bound on L where that is lower; never less than `least`."""
        return Information(
            min(self.plain, max(bound, least.plain)), min(self.tripled, max(bound, least.tripled))
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class WidthInputs:
    """What a width depends on, at some moment of a run."""

    posterior: Posterior
    candidates: int  # N
    evaluations: int  # t
    norm_bound: float  # F
    information: Information

    @property
    def weight(self) -> float:
        """Σw, which is t where every evaluation has the noise ξ."""
        return float(self.posterior.observed.w.sum())

    @property
    def noise_ratio(self) -> float:
        """ξ/√λ."""
        return self.posterior.noise_std / math.sqrt(self.posterior.ridge)


@final
@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition of a theorem; `holds` is None where only the user can know."""

    statement: str
    holds: bool | None = None


Assumptions: TypeAlias = tuple[Assumption, ...]
EPSILON = 0.5  # accuracy of a dictionary that the theory preset aims at
ALPHA = (1 + EPSILON) / (1 - EPSILON)  # 3: how far a variance may then be off (BKB 2019, Thm 1)


def is_refuted(inputs: WidthInputs, band: Width) -> bool:
    """Tell whether what was seen contradicts the norm bound F, with probability 1 − δ.

    If ‖f‖ ≤ F then ‖f − μ‖_A ≤ √λ·β(F), so that f has at least a certain norm; if that is more
    than F, F was wrong.
    """
    radius = math.sqrt(inputs.posterior.ridge) * band.beta(inputs)
    return inputs.posterior.least_norm(radius) > inputs.norm_bound


def norm_is_bounded(inputs: WidthInputs, band: Width) -> Assumptions:
    """The frequentist setting: a fixed f of bounded norm, noise with light tails."""
    F = inputs.norm_bound
    holds = False if is_refuted(inputs, band) else None
    return (
        Assumption(f"f − offset has an RKHS norm of at most norm_bound = {F:g}", holds),
        Assumption(
            f"noise is sub-Gaussian with {told_noise(inputs)}"
            if inputs.posterior.noise_std
            else "there is no noise"
        ),
    )


def told_noise(inputs: WidthInputs) -> str:
    """Say how large noise was told to be."""
    said = f"noise_std = {inputs.posterior.noise_std:g}"
    if inputs.posterior.observed.evaluations is None:
        return said
    return f"{said}, or as told of a value, and known before it"


@runtime_checkable
class Width(Protocol):
    """A schedule of beta, with the theorem behind it, which may fail with probability delta."""

    __slots__ = ()

    @property
    @abstractmethod
    def delta(self) -> float: ...
    @property
    @abstractmethod
    def theorem(self) -> str: ...
    @abstractmethod
    def beta(self, inputs: WidthInputs) -> float: ...
    @abstractmethod
    def assumptions(self, inputs: WidthInputs) -> Assumptions: ...


class NormBound(Protocol):
    """What F is before each batch."""

    @property
    def start(self) -> float: ...
    def update(self, inputs: WidthInputs, band: Width) -> float:
        """Return F for the next batch, given a run with the last F."""

    def assumptions(self, inputs: WidthInputs) -> Assumptions: ...
    def note(self, inputs: WidthInputs) -> str:
        """Return a sentence on what F means now; empty where it is what was given."""


@final
@storable("KnownNorm")
@dataclass(frozen=True, slots=True)
class KnownNorm:
    """F is given and stays."""

    start: float = 1.0

    def __post_init__(self) -> None:
        require_positive("norm_bound", self.start)

    def update(self, inputs: WidthInputs, band: Width) -> float:
        return inputs.norm_bound

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return ()  # the widths that use the bound say so

    def note(self, inputs: WidthInputs) -> str:
        return ""


@final
@storable("GuessAndDouble")
@dataclass(frozen=True, slots=True)
class GuessAndDouble:
    """F is guessed, and doubled as long as what was seen contradicts the guess.

    So F never exceeds twice the truth (or its start), with the probability of the band; nothing
    says that it reaches the truth, and a certificate that rests on a guess says so.

    Source: "standard guess-and-double techniques", BKB 2019, §4.
    """

    start: float = 1.0

    def __post_init__(self) -> None:
        require_positive("GuessAndDouble(start=...)", self.start)

    def update(self, inputs: WidthInputs, band: Width) -> float:
        while is_refuted(inputs, band):
            inputs = replace(inputs, norm_bound=2 * inputs.norm_bound)
        return inputs.norm_bound

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        F = inputs.norm_bound
        return (Assumption(f'norm_bound = {F:g}, by norm_bound="double", is large enough'),)

    def note(self, inputs: WidthInputs) -> str:
        return ""


_CHECKS: dict[str, Callable[[str, object], object]] = {
    "delta": require_probability,
    "limit": partial(require_at_least, least=1.0),
    "kappa_squared": partial(require_at_least, least=0.0),
    "value": require_positive,
    "factor": require_positive,
}  # a field of this name means the same in every width


@dataclass(frozen=True, slots=True)
class WidthBase(Width):
    """What lets a width be written `0.5 * width`, and checks its fields."""

    @final
    def __post_init__(self) -> None:
        for name in [field.name for field in fields(self) if field.name in _CHECKS]:
            _CHECKS[name](f"{type(self).__name__}({name}=...)", getattr(self, name))

    @final
    def __mul__(self, factor: float) -> ScaledWidth:
        return ScaledWidth(self, factor)

    @final
    def __rmul__(self, factor: float) -> ScaledWidth:
        return self * factor


@final
@storable("ScaledWidth")
@dataclass(frozen=True, slots=True)
class ScaledWidth(WidthBase):
    """Any width times a plain multiplier. Written `0.5 * width`.

    >>> 0.5 * nr.RKHSWidth(delta=0.05)
    ScaledWidth(width=RKHSWidth(delta=0.05), factor=0.5)
    """

    width: Width
    factor: float

    @property
    def delta(self) -> float:
        return self.width.delta

    @property
    def theorem(self) -> str:
        return f"{self.factor:g} × ({self.width.theorem})"

    def beta(self, inputs: WidthInputs) -> float:
        return self.factor * self.width.beta(inputs)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        narrower = Assumption("the theorem's width is multiplied by at least 1", self.factor >= 1)
        return (*self.width.assumptions(inputs), narrower)


def prior_is_right(inputs: WidthInputs) -> Assumptions:
    """The Bayesian setting: f drawn from the prior, and Gaussian noise."""
    p = inputs.posterior
    return (
        Assumption("f is drawn from the Gaussian process given by kernel and offset"),
        Assumption(f"noise is Gaussian with {told_noise(inputs)}"),
        Assumption("ridge = noise_std²", math.isclose(p.ridge, p.noise_std**2)),
    )


def posterior_is_exact(inputs: WidthInputs) -> Assumption:
    return Assumption("the posterior is exact", isinstance(inputs.posterior, ExactPosterior))


def dictionary_is_accurate(inputs: WidthInputs, needed: float) -> Assumption:
    """The dictionary was drawn with enough oversampling for ε = 1/2, w.h.p."""
    posterior = inputs.posterior
    if not isinstance(posterior, NystromPosterior):
        return Assumption("the posterior is exact", True)
    q = posterior.oversample.at(inputs.evaluations)
    enough = f"oversample is at least {needed:.0f} (it is {q:.3g})"
    if posterior.incremental and q >= needed:
        return Assumption(f"{enough}, and thinning keeps dictionaries accurate: BKB leaves it open")
    return Assumption(enough, q >= needed)

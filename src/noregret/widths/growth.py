"""Nothing known of the kernel: norm and lengthscale move on a schedule, until they fit f."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, cast, final

from noregret.storable import storable
from noregret.widths.base import Assumption, Assumptions, ScaledWidth, Width, WidthBase, WidthInputs


@final
@storable("GrowthSchedule")
@dataclass(frozen=True, slots=True)
class GrowthSchedule:
    """When lengthscales shrink and the norm bound grows: at t = 16, 32, 64 … evaluations told.

    In stage s, which begins at t = 16·2^(s−1), 0 from the first evaluation on,

        g = 1 + s,   b = √g,   θ_t = θ₀/g,   B_t = b·g^(d/2)·B₀,   δ_s = 6δ/(π·(s + 1))²     (1)

    d being the number of features. A function of norm B at lengthscales θ₀/r has a norm of at most
    (g/r)^(d/2)·B at θ₀/g, if g ≥ r; so that B_t bounds it in every stage with

        1 + s ≥ m = max(r, (B/B₀)²/r^d),   which is to say, once t ≥ 8·2^(⌈m⌉ − 1) if m > 1   (2)

    From then on the theorem of the algorithm holds in all stages together with probability 1 − δ,
    the δ_s adding up to δ, and regret is that of the algorithm with B_T and L_T of the last stage.
    Bounds on L grow by g^d (Ziomek et al. 2024, Prop. 2.2), B_T by g^((d+1)/2): powers of log T.
    So regret stays sublinear where that of the algorithm is for a fixed kernel of this family.

    Source: Berkenkamp, Schoellig & Krause 2019, A-GP-UCB, with g and b of this form; Bull 2011,
    Lemma 4, and Ziomek et al. 2024, Lemma 2.1, for the norm.
    Differs: g^(d/2) is what the lemma gives for the norm, whose square grows by g^d; steps, so that
    posteriors are made afresh O(log t) times, each with a δ of its own.

    >>> schedule = GrowthSchedule(dim=2)
    >>> [schedule.stage(t) for t in (0, 15, 16, 31, 32, 1000)]
    [0, 0, 1, 1, 2, 6]
    >>> schedule.end(2), schedule.shrink_factor(2), round(schedule.norm_bound(2), 3)
    (64, 3.0, 5.196)
    """

    dim: int
    start: float = 1.0  # B₀
    first: int = 16

    def stage(self, t: int) -> int:
        """Return the stage after t evaluations."""
        return (t // self.first).bit_length()

    def end(self, stage: int) -> int:
        """Return the number of evaluations with which a stage ends."""
        return self.first << stage

    def shrink_factor(self, stage: int) -> float:
        """Return g, by which lengthscales are divided."""
        return 1.0 + stage

    def norm_bound(self, stage: int) -> float:
        """Return B_t."""
        g = self.shrink_factor(stage)
        return math.pow(g, (self.dim + 1) / 2) * self.start

    def norm_at(self, stage: int) -> GrownNorm:
        return GrownNorm(self.norm_bound(stage), self.shrink_factor(stage), self.end(stage))


@final
@storable("GrownNorm")
@dataclass(frozen=True, slots=True)
class GrownNorm:
    """F of one stage of a `GrowthSchedule`, under lengthscales divided by `shrink_factor`."""

    start: float
    shrink_factor: float
    end: int

    def update(self, inputs: WidthInputs, band: Width) -> float:
        return inputs.norm_bound

    def note(self, inputs: WidthInputs) -> str:
        return (
            f'By norm_bound="grow", lengthscales are now {_part(self.shrink_factor)} and '
            f"norm_bound is {self.start:.3g}; "
            f"at {self.end} evaluations lengthscales shrink and the bound grows again."
        )

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return (
            Assumption(
                'norm_bound="grow": that norm is meant at lengthscales of '
                f"{_part(self.shrink_factor)}; where it is larger yet, these bounds hold from "
                f"some number of evaluations on, the next step being {self.end}"
            ),
        )


def _part(shrink_factor: float) -> str:
    return "those given" if shrink_factor == 1 else f"1/{shrink_factor:g} of those given"


@final
@storable("StagedWidth")
@dataclass(frozen=True, slots=True)
class StagedWidth(WidthBase):
    """A width at one stage of a `GrowthSchedule`, with its share δ_s of the probability to fail.

    >>> width = StagedWidth(nr.RKHSWidth(delta=0.1), stage=1)
    >>> width.delta, width.theorem
    (0.1, 'MINI (2022) Theorem 4.4, after Chowdhury & Gopalan (2017), at each stage of "grow"')
    """

    width: Width
    stage: int

    @property
    def delta(self) -> float:
        return self.width.delta

    @property
    def theorem(self) -> str:
        return f'{self.width.theorem}, at each stage of "grow"'

    def beta(self, inputs: WidthInputs) -> float:
        return self._own.beta(inputs)

    def assumptions(self, inputs: WidthInputs) -> Assumptions:
        return self._own.assumptions(inputs)

    @property
    def _own(self) -> Width:
        return at_stage(self.width, self.stage)


def at_stage(width: Width, stage: int) -> Width:
    """Return a width with its share of the probability to fail, by (1) of the schedule."""
    return with_share(width, 6 / (math.pi * (stage + 1)) ** 2)


def with_share(width: Width, share: float) -> Width:
    """Return a width that may fail with a part of its probability only; others as they are."""
    if isinstance(width, ScaledWidth):
        return ScaledWidth(with_share(width.width, share), width.factor)
    own: Any = width
    if is_dataclass(width) and any(field.name == "delta" for field in fields(width)):
        return cast(Width, replace(own, delta=share * width.delta))
    return width

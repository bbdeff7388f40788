"""One look at a fitted model, of which all that `auto` answers is made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.special import stdtrit

from noregret.arrays import Indices, Mask, Vector, positions
from noregret.automatic.account import account_of
from noregret.automatic.model import AutoModel, AutoState, ModelBuilder
from noregret.errors import NothingToldError
from noregret.policies import BanditView, Evidence, Guarantee, ModelView
from noregret.pools import Picks, hashed
from noregret.posteriors import Posterior
from noregret.text import counted, times
from noregret.widths import Assumption, Assumptions


@final
class AutoView(ModelView):
    """A look at a fitted model; one is fitted for the look where there is none.

    Deviations are as wide as calibration and the number of points ask for. Where a constant may
    explain the values as well, they and the bounds reach it too: all may be noise. Where all values
    told were the same, nothing is known of scale, and bounds are infinite.
    """

    def __init__(self, builder: ModelBuilder, state: AutoState, evidence: Evidence) -> None:
        self._builder, self.state, self._evidence = builder, state, evidence

    @cached_property
    def model(self) -> AutoModel:
        """The model that is looked with."""
        if self.state.model is not None:
            return self.state.model
        if not len(self._evidence.told):
            raise NothingToldError(
                "no value was told yet: there is nothing to fit a model to. Call tell() first."
            )
        return self._builder.fitted(None, self._evidence)

    @cached_property
    def _seen(self) -> Evidence:
        seen = self.model.seen(self._evidence)
        return seen if self.state.model is not None else seen.booked()

    @cached_property
    def _bandit(self) -> BanditView:
        bandit = self._builder.bandit(self.model, self._evidence.evaluations)
        return bandit.look(self.model.belief, self._seen)

    @cached_property
    def _choosing(self) -> BanditView:
        return self._bandit.with_excluded(self._builder.settings.closed(self._evidence))

    @cached_property
    def _places(self) -> Indices:
        """Where the points told stand among those seen."""
        return positions(self._evidence.told.rows, self._seen.told.rows)

    @property
    def posterior(self) -> Posterior:
        return self._bandit.posterior

    @property
    def beta(self) -> float:
        return self._bandit.beta

    @property
    def score(self) -> str:
        return self._bandit.score

    @property
    def centre(self) -> float:
        return self.model.fitted.estimate.mean

    @property
    def floor(self) -> float:
        return self.model.fitted.floor

    @property
    def scale_is_known(self) -> bool:
        return not self.model.fitted.is_constant

    def means(self) -> Vector:
        """O(n) with an exact posterior, unless candidates have effects that it does not hold."""
        mean = self._bandit.means()[self._places]
        alone = np.flatnonzero(self._alone)
        if alone.size:
            variance = self.posterior.at_points()[1][self._places[alone]]
            mean[alone] = self._by_its_values(alone, mean[alone], variance)[0]
        return mean + self.centre

    def interval(self, place: int) -> tuple[float, float, float]:
        """With a theorem's band, as wide as the model deserves."""
        fitted = self.model.fitted
        if fitted.is_constant:
            return math.inf, -math.inf, math.inf
        mean, variance = self.posterior.at_point(int(self._places[place]))
        if self._alone[place]:
            at = np.array([place])
            means, variances = self._by_its_values(at, np.array([mean]), np.array([variance]))
            mean, variance = float(means[0]), float(variances[0])
        mean, std = mean + self.centre, math.sqrt(variance)
        reach = self._bandit.band_beta * std
        lower, upper = mean - reach, mean + reach
        std *= fitted.widening * fitted.small_sample_factor
        if fitted.is_tentative:
            low, high = constant_interval(self._evidence)
            std = math.hypot(std, mean - 0.5 * (low + high))
            lower, upper = min(lower, low), max(upper, high)
        if self._evidence.told.y[place] < fitted.floor:
            lower = -math.inf
        return std, lower, upper

    def guarantee(self) -> Guarantee:
        theorem = self._bandit.guarantee()
        assumptions = (*theorem.assumptions, *self._fitted())
        return replace(theorem, delta=self._builder.settings.delta, assumptions=assumptions)

    def highest_bound(self, place: int) -> float:
        bounds = [self._bandit.highest_bound(place) + self.centre, self.interval(place)[2]]
        if self.model.fitted.is_tentative:
            bounds.append(constant_interval(self._evidence)[1])
        return max(bounds)

    def next_choice(self) -> Picks | None:
        return self._choosing.next_choice()

    def rank(self, row: int) -> int | None:
        return self._choosing.rank(row)

    def account(self, outwards: Callable[[float], float]) -> tuple[str, ...]:
        model = self.model if len(self._evidence.told) else None
        explored = self.state.explorations
        return account_of(self._builder, model, self._evidence, explored, outwards)

    def _fitted(self) -> Assumptions:
        """Return what a theorem takes for given, and was fitted."""
        model, fitted, lost = self.model, self.model.fitted, len(self._evidence.lost)
        floor = f"{counted(fitted.floored, 'average')} far below the others may count as a floor"
        failed = f"{counted(lost, 'point')} where evaluations failed would have had low values"
        effects = self._effects_are_noise() if model.is_sparse else ()
        wide = fitted.widening * fitted.small_sample_factor
        return (
            *((Assumption(floor),) if fitted.floored else ()),
            *((Assumption(failed),) if lost else ()),
            *effects,
            Assumption(
                f"kernel and mean, fitted {times(fitted.number)} to the values, are right, with "
                f"deviations {wide:.3g} times as wide for {counted(fitted.points, 'point')}"
            ),
            Assumption("noise is even across the pool", False if fitted.is_uneven else None),
            Assumption("not all values told are the same", not fitted.is_constant),
        )

    def _effects_are_noise(self) -> Assumptions:
        """Return what a dictionary takes effects of candidates for: the noise of an evaluation."""
        estimate, counts = self.model.fitted.estimate, self._evidence.told.counts
        if not estimate.effect_variance:
            return ()
        large = counts * estimate.effect_variance > estimate.noise_std**2
        seen = bool((large & (counts > 1)).any())
        return (
            Assumption("the effect of a candidate that was never evaluated is no more than noise"),
            Assumption(
                "what features do not explain of a candidate, and is the same at every evaluation, "
                "is less than the noise of its average",
                False if seen else None,
            ),
        )

    @cached_property
    def _alone(self) -> Mask:
        """Which points have an effect that the posterior has no room for.

        A dictionary has no room for any; an exact posterior, where another has the same features.
        """
        told = self._evidence.told
        if not self.model.fitted.estimate.effect_variance:
            return np.zeros(len(told), dtype=np.bool_)
        if self.model.is_sparse:
            return np.ones(len(told), dtype=np.bool_)
        hashes = hashed(told.X)
        alike = np.sort(hashes)
        alike = alike[1:][alike[1:] == alike[:-1]]
        return np.isin(hashes, alike) if alike.size else np.zeros(len(told), dtype=np.bool_)

    def _by_its_values(
        self, places: Indices, mean: Vector, variance: Vector
    ) -> tuple[Vector, Vector]:
        """Return mean and variance of points with their effect, from those without.

        With s² the variance of what a point shares with others, its mean μ, and ρ that of its
        effect, its average ȳ of w values with noise ξ² makes it

            μ + g·(ȳ − μ),    variance (s² + ρ)·(1 − g),    g = (s² + ρ)/(s² + ρ + ξ²/w)       (1)

        The values count twice, as μ has seen them: little, where others say much of μ.
        """
        estimate, told = self.model.fitted.estimate, self._evidence.told
        variance = variance + estimate.effect_variance
        gain = variance / (variance + estimate.noise_std**2 / told.w[places])  # (1)
        values = self.model.fitted.seen(told.y[places])
        return mean + gain * (values - mean), variance * (1.0 - gain)


def constant_interval(evidence: Evidence) -> tuple[float, float]:
    """Return between which numbers f lies if it is a constant, 19 times in 20 (Student's t)."""
    told, many = evidence.told, evidence.entries > 1
    mean = float(told.w @ told.y / told.w.sum())
    inside = float((evidence.entries[many] - 1.0) @ evidence.scatter[many])
    squares = float(told.w @ (told.y - mean) ** 2) + inside
    freedom = max(float(evidence.entries.sum()) - 1.0, 1.0)
    reach = float(stdtrit(freedom, 0.975)) * math.sqrt(squares / freedom / evidence.evaluations)
    return mean - reach, mean + reach

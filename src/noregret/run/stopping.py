"""When to stop before the budget is spent: a target, patience, or a certified gap.

A stop only looks, after every batch told, so that a run that it ends is the beginning of the run
without it. What it must remember between looks is its memory, a value that the run holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, final, runtime_checkable

from noregret.errors import (
    ArgumentError,
    CertificateError,
    NothingToldError,
    require_at_least,
    require_count,
    require_number,
    require_positive,
)
from noregret.optimizer import Best, Optimizer
from noregret.policies import why_uncertified

GROWTH = 1.05  # of the evaluations, from one certificate to the next
Memory = TypeVar("Memory")


@final
class Look:
    """A run after a batch; the recommendation is computed once, however many stops ask for it."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self._best: Best | None = None

    @property
    def spent(self) -> int:
        return self.optimizer.spent

    @property
    def sign(self) -> float:
        """1 where large values are good, −1 where small ones are."""
        return 1.0 if self.optimizer.goal == "max" else -1.0

    @property
    def best(self) -> Best | None:
        """The recommendation; None while there is nothing to recommend."""
        if self._best is None and self.optimizer.evaluations:
            try:
                self._best = self.optimizer.best()
            except NothingToldError:  # whatever was told of is excluded, or not in the pool
                return None
        return self._best


@runtime_checkable
class Stop(Protocol[Memory]):
    """Says when a run has done enough."""

    def begin(self, look: Look) -> Memory:
        """Return the memory before the first batch; raise where the stop could never be met."""

    def check(self, look: Look, memory: Memory) -> tuple[str | None, Memory]:
        """Return why the run ends, or None, and what to remember."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """End the run once the recommended candidate is believed to reach `value`.

    That is, once  mean − deviations·std ≥ value  (minimising, mean + deviations·std ≤ value) for
    the posterior mean and standard deviation of `best()`: true with a probability of some 98 % by
    the model, with the default of 2, and as right as kernel and noise are. One lucky value among
    many seldom does, since it moves the mean but in part and leaves the deviation large (but a run
    is looked at often, and the chances add up). The
    theorems' bounds, `best().lower` and `upper`, are so wide that most runs would never end by
    them; `GapBelow` goes by them. `deviations=0` takes the mean at its word.

    Baselines without a model have no deviation: their average is taken at its word, luck included.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> result = nr.maximize(lambda x: 1 - (x[0] - 0.7) ** 2, pool, algorithm=nr.mini_gp_ucb,
    ...                      budget=500, stop_when=nr.Target(0.9), kernel=nr.RBF(0.3),
    ...                      noise_std=0.1)
    >>> result.ended, len(result.values) < 100
    ('target 0.9 reached', True)
    """

    value: float
    deviations: float = 2.0

    def __post_init__(self) -> None:
        require_number("Target(value=...)", self.value)
        require_at_least("Target(deviations=...)", self.deviations, 0.0)

    def begin(self, look: Look) -> None:
        return None

    def check(self, look: Look, memory: None) -> tuple[str | None, None]:
        best = look.best
        if best is None:
            return None, None
        away = self.deviations * _deviation(best) if self.deviations else 0.0
        surely = look.sign * best.mean - away
        reached = surely >= look.sign * self.value
        return (f"target {self.value:g} reached" if reached else None), None


@final
@dataclass(frozen=True, slots=True)
class Level:
    """What the recommendation must rise above, and the evaluations spent when it last did."""

    mean: float
    since: int


@final
@dataclass(frozen=True, slots=True)
class Patience:
    """End the run after so many evaluations in which the recommendation did not improve.

    It improves where its mean exceeds the level, its mean when it last improved, by more than its
    own standard deviation: a mean that creeps or wavers is no improvement, and a rise in many small
    steps is one as soon as their sum is. A level that lies more than a standard deviation above
    the recommendation of now was luck, and comes down to there.

    Failed evaluations count. They are counted from the end of the batch that brought the
    improvement, and looked at after whole batches, so that a run can end some later than it might.
    Baselines without a model have no deviation: any higher average is an improvement.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> result = nr.maximize(lambda x: 1 - (x[0] - 0.7) ** 2, pool, algorithm=nr.gp_ucb,
    ...                      budget=500, stop_when=nr.Patience(50), kernel=nr.RBF(0.3),
    ...                      noise_std=0.1)
    >>> result.ended, len(result.values) < 200
    ('patience: 50 evaluations without improvement', True)
    """

    evaluations: int

    def __post_init__(self) -> None:
        require_count("Patience(evaluations=...)", self.evaluations)

    def begin(self, look: Look) -> Level:
        return _risen(Level(-math.inf, look.spent), look)

    def check(self, look: Look, memory: Level) -> tuple[str | None, Level]:
        level = _risen(memory, look)
        idle = look.spent - level.since
        if idle < self.evaluations:
            return None, level
        return f"patience: {idle} evaluations without improvement", level


@final
@dataclass(frozen=True, slots=True)
class GapBelow:
    """End the run once its certificate says that the recommendation is within `gap` of the best.

    That is, once `certificate().gap` ≤ gap. A certificate takes a pass over the pool, so one is
    made after the first batch and then whenever values have grown by a twentieth: some 20·ln T
    of them in a run of T evaluations, which can end 5 % later than it might (or a batch, if that
    is more). A gap is worth what its assumptions are worth: too small a spread or `norm_bound`
    makes it small at once. Where one of them is seen not to hold, `ended` says so too. With the
    theorems' widths gaps close slowly; look at `result.certificate()` of a run like yours before
    you count on this stop.

    Baselines and `ts_qff` have no certificate; asking for a gap is an error before the run starts.

    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> result = nr.maximize(lambda x: x[0], pool, algorithm=nr.mini_gp_ucb, budget=10_000,
    ...                      stop_when=nr.GapBelow(0.1), kernel=nr.RBF(), noise_std=0.1)
    >>> result.ended.startswith("gap 0.0"), result.certificate().gap <= 0.1
    (True, True)
    """

    gap: float

    def __post_init__(self) -> None:
        require_positive("GapBelow(gap=...)", self.gap)

    def begin(self, look: Look) -> float:
        why = why_uncertified(look.optimizer.policy)
        if why is not None:
            raise CertificateError(
                f"stop_when={self!r} needs a certificate. {why} Or stop by "
                "Target(...) or Patience(...)."
            )
        return 0.0

    def check(self, look: Look, memory: float) -> tuple[str | None, float]:
        told = look.optimizer.evaluations
        if told < memory or not told:
            return None, memory
        try:
            certificate = look.optimizer.certificate()
        except NothingToldError:  # of a candidate that could be recommended
            return None, memory
        if certificate.gap > self.gap:
            return None, GROWTH * told
        warning = (
            "" if certificate.is_sound else ", but an assumption of the certificate does not hold"
        )
        return f"gap {certificate.gap:.3g} <= {self.gap:g}{warning}", GROWTH * told


@final
class Watch:
    """The stops of one run, and what each remembers."""

    def __init__(self, stops: tuple[Stop[Any], ...], optimizer: Optimizer) -> None:
        if stops and optimizer.takes_contexts:
            raise ArgumentError(
                f"stop_when={stops[0]!r} looks at the recommendation, of which a run with contexts "
                "has one for each. For conditions of your own return True from callback=, which "
                "can look at optimizer.best(context=...)."
            )
        self._stops, self._optimizer = stops, optimizer
        look = Look(optimizer)
        self._memories: list[Any] = [stop.begin(look) for stop in stops]

    def ended(self) -> str | None:
        """Look once; return why the run ends, by the first stop that is met, or None."""
        look = Look(self._optimizer)
        for at, stop in enumerate(self._stops):
            why, self._memories[at] = stop.check(look, self._memories[at])
            if why is not None:
                return why
        return None


def as_stops(given: object) -> tuple[Stop[Any], ...]:
    """Return what was given as `stop_when`, one stop or a sequence of them, checked."""
    if given is None:
        return ()
    stops = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    for stop in stops:
        if isinstance(stop, type) or not isinstance(stop, Stop):
            raise ArgumentError(
                "stop_when must be a stop, such as noregret.Target(0.9), noregret.Patience(200) or "
                f"noregret.GapBelow(0.05), or a list of them; got {stop!r}. For conditions of your "
                "own return True from callback=."
            )
    return stops


def _deviation(best: Best) -> float:
    return 0.0 if math.isnan(best.std) else best.std


def _risen(level: Level, look: Look) -> Level:
    """Return the level to rise above after a look."""
    best = look.best
    if best is None:
        return level
    mean, std = look.sign * best.mean, _deviation(best)
    if mean - std > level.mean:
        return Level(mean, look.spent)
    if not math.isnan(best.std) and mean + std < level.mean:
        return Level(mean + std, level.since)
    return level

"""What to evaluate before a model can choose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, final, runtime_checkable

import numpy as np

from noregret.acquisitions import Uncertainty
from noregret.kernels import Kernel
from noregret.policies.allowance import Allowance
from noregret.policies.base import Evidence, Purpose
from noregret.pools import Picks
from noregret.posteriors import ExactPosterior, Observations, bless
from noregret.search import Search
from noregret.storable import storable

MANY = 4096  # evaluated candidates from which on a start sees them thinned …
OVERSAMPLE = 8.0  # … to some times their effective dimension


@runtime_checkable
class Start(Protocol):
    """Picks points to evaluate first, until it has had enough."""

    @property
    def reason(self) -> str: ...

    def picks(self, evidence: Evidence, room: int) -> Picks:
        """Return at most `room` points in order, none when this start is over."""


@final
@storable("UniformStart")
@dataclass(frozen=True, slots=True)
class UniformStart:
    """One candidate drawn uniformly, unless something was told before (BBKB 2020, Alg. 1, L1)."""

    reason = "start: one candidate drawn uniformly"

    def picks(self, evidence: Evidence, room: int) -> Picks:
        begun = len(evidence.told) or len(evidence.open_)
        rng = evidence.rng(Purpose.START)
        return evidence.points.sample(evidence.unavailable, 0 if begun else 1, rng)


@final
@storable("GivenStart")
@dataclass(frozen=True, slots=True)
class GivenStart:
    """The candidates given, each once; one that failed twice without a value is left out."""

    given: tuple[int, ...]
    reason = "start: candidates given"

    def picks(self, evidence: Evidence, room: int) -> Picks:
        given = np.array(self.given, dtype=np.int64)
        given_up = np.intersect1d(evidence.lost, evidence.failed_rows[evidence.failed_counts > 1])
        closed = np.concatenate(
            [evidence.taken, evidence.spent, given_up, np.flatnonzero(evidence.excluded)]
        )
        return evidence.points.picks(given[~np.isin(given, closed)][:room])


@final
@storable("UncertaintySampling")
@dataclass(frozen=True, slots=True)
class UncertaintySampling:
    """The most uncertain candidate, again and again, until batches are large enough.

    A batch rule admits P evaluations once max σ²/ridge is small enough, (limit − 1)/P for the
    global ratio; that is `threshold`. A Nyström posterior may be off by a factor 3 (with high
    probability), so it asks for a third of it. Needs no feedback: variances do not depend on
    values. Costs O(N·n²) once, then O(n²) per row that could be the most uncertain.

    Source: BBKB 2020, Algorithm 3 and A.5; Desautels et al. 2014, Lemma 4.
    Differs: the printed threshold 1/P on σ (not σ², and without limit − 1) does not give P.
    """

    search: Search = field(repr=False)
    kernel: Kernel
    ridge: float
    threshold: float  # on variance/ridge
    reason = "start: uncertainty sampling for a minimum batch"

    def picks(self, evidence: Evidence, room: int) -> Picks:
        now = before_values(evidence, self.kernel, self.ridge)
        excluded, spent, chosen = evidence.excluded, evidence.spent, list[int]()
        allowance = None if evidence.at_most_each is None else Allowance(evidence)
        ranking = self.search.rank(evidence.points, now, Uncertainty(), 1.0, excluded, spent)
        while len(chosen) < room:
            row = ranking.best()
            if ranking.now(row) <= self.threshold * self.ridge:
                break
            chosen.append(row)
            ranking.shrink(row, 1)
            if allowance is not None and allowance.take(row, 1):
                if allowance.is_used_up:
                    break
                ranking.close(row)
        return ranking.picks(np.array(chosen, dtype=np.int64))


def before_values(evidence: Evidence, kernel: Kernel, ridge: float) -> ExactPosterior:
    """Return a posterior whose variances know of all evaluations, those under way included.

    A long history is thinned to the points that tell most, each standing for others like it.
    """
    dim, told, open_ = evidence.points.dim, evidence.told, evidence.open_
    rng = evidence.rng(Purpose.START)
    if len(told) > MANY:
        told = bless(kernel, told, ridge, OVERSAMPLE, rng)[-1].weighted(told)
    now = ExactPosterior.prior(kernel, noise_std=1.0, ridge=ridge, dim=dim)
    now = now.condition(told, Observations.none(dim), rng)
    return now.hallucinate(open_.rows, open_.X, open_.w)

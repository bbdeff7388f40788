"""What to evaluate before a model can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from noregret.acquisitions import Uncertainty
from noregret.arrays import Indices, Mask
from noregret.errors import AskError
from noregret.kernels import Kernel
from noregret.policy import Evidence
from noregret.pools import Candidates
from noregret.posteriors import ExactPosterior, Points
from noregret.search import Enumeration
from noregret.streams import Purpose


class Start(Protocol):
    """Names rows to evaluate first, until it has had enough."""

    @property
    def reason(self) -> str: ...

    def rows(self, evidence: Evidence, pool: Candidates, room: int) -> Indices:
        """Return at most `room` rows in order, none when this start is over."""
        ...


@final
@dataclass(frozen=True, slots=True)
class UniformStart:
    """One candidate drawn uniformly, unless something was told before (BBKB 2020, Alg. 1, L1)."""

    reason = "start: one candidate drawn uniformly"

    def rows(self, evidence: Evidence, pool: Candidates, room: int) -> Indices:
        if len(evidence.told) or len(evidence.open_):
            return np.empty(0, dtype=np.int64)
        return uniform_rows(evidence.excluded, 1, evidence.rng(Purpose.START))


@final
@dataclass(frozen=True, slots=True)
class GivenStart:
    """The candidates given, each once."""

    given: tuple[int, ...]
    reason = "start: candidates given"

    def rows(self, evidence: Evidence, pool: Candidates, room: int) -> Indices:
        known = {*evidence.told.rows.tolist(), *evidence.open_.rows.tolist()}
        wanted = [row for row in self.given if row not in known and not evidence.excluded[row]]
        return np.array(wanted[:room], dtype=np.int64)


@final
@dataclass(frozen=True, slots=True)
class UncertaintySampling:
    """The most uncertain candidate, again and again, until batches are large enough.

    A batch rule admits P evaluations once max σ²/ridge is small enough, (limit − 1)/P for the
    global ratio; that is `threshold`. A Nyström posterior may be off by a factor 3 (with high
    probability), so it asks for a third of it. Needs no feedback: variances do not depend on
    values. Costs O(N·n²) once, then O(n²) a row that could be the most uncertain.

    Source: BBKB 2020, Algorithm 3 and A.5; Desautels et al. 2014, Lemma 4.
    Differs: the printed threshold 1/P on σ (not σ², and without limit − 1) does not give P.
    """

    kernel: Kernel
    ridge: float
    threshold: float  # on variance/ridge
    reason = "start: uncertainty sampling for a minimum batch"

    def rows(self, evidence: Evidence, pool: Candidates, room: int) -> Indices:
        now = ExactPosterior.prior(self.kernel, noise_std=1.0, ridge=self.ridge, dim=pool.dim)
        now = now.condition(evidence.told, Points.none(pool.dim), evidence.rng(Purpose.START))
        open_ = evidence.open_
        now = now.hallucinate(open_.rows, open_.X, open_.w)
        ranking = Enumeration(pool).rank(now, Uncertainty(), 1.0, evidence.excluded)
        chosen: list[int] = []
        while len(chosen) < room:
            row = ranking.best()
            if ranking.now(row) <= self.threshold * self.ridge:
                break
            chosen.append(row)
            ranking.shrink(row, 1)
        return np.array(chosen, dtype=np.int64)


def uniform_rows(excluded: Mask, size: int, rng: np.random.Generator) -> Indices:
    """Return rows drawn uniformly, with replacement, from those not excluded."""
    if not excluded.any():
        return rng.integers(len(excluded), size=size)
    allowed = np.flatnonzero(~excluded)
    if not allowed.size:
        raise AskError(
            f"all {len(excluded)} candidates are excluded, so none is left to draw from. "
            "Exclude fewer, or stop here and take best()."
        )
    return allowed[rng.integers(len(allowed), size=size)]

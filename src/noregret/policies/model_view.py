"""One look at what a policy with a model believes, of which all that is answered is made."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from noregret.acquisitions import Acquisition
from noregret.arrays import Rows, Vector, chunk_rows
from noregret.policies.base import Evidence, Uncertified
from noregret.pools import Picks
from noregret.posteriors import Posterior
from noregret.search.ties import SCORE_TIE
from noregret.widths import Assumptions

RANKED = 10**9  # multiplications, a second or so, up to which a rank among all candidates is found
SCORES = {
    "UCB": "upper confidence bound",
    "ExpectedImprovement": "expected improvement",
    "KnowledgeGradient": "knowledge gradient",
    "Thompson": "value of the sampled function",
}


@final
@dataclass(frozen=True, slots=True)
class Guarantee:
    """By which theorem the bounds of a look hold, and provided what."""

    beta: float
    delta: float
    theorem: str
    assumptions: Assumptions


class ModelView(ABC):
    """What is believed of f now; `place` is that of a point told, in the order of the evidence.

    What is asked for is computed when it is asked for, the posterior at most once: deviations of
    all points, the pass over the pool that a highest bound takes, and a rank are not to be had for
    nothing. Values are centred on the offset, larger is better; those of `posterior`, and of
    `marginals`, are centred on `centre` besides.
    """

    @property
    def centre(self) -> float:
        """What is to be added to means of the posterior."""
        return 0.0

    @property
    def floor(self) -> float:
        """Averages below it count as this."""
        return -math.inf

    @property
    def note(self) -> str:
        """A sentence on what the model is now, where that changes during a run."""
        return ""

    @property
    def scale_is_known(self) -> bool:
        """Whether deviations of the posterior mean anything."""
        return True

    @property
    @abstractmethod
    def posterior(self) -> Posterior:
        """The posterior that the next batch would start from."""

    @property
    @abstractmethod
    def beta(self) -> float:
        """By how much deviations are multiplied to steer the next choice."""

    @property
    @abstractmethod
    def score(self) -> str:
        """What ranks candidates, by the name of its class."""

    @abstractmethod
    def means(self) -> Vector:
        """Return the mean at each point told."""

    @abstractmethod
    def interval(self, place: int) -> tuple[float, float, float]:
        """Return deviation, lower and upper bound at a point told; NaN where none is proven."""

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return why intervals and highest bounds hold; raise where no theorem says so."""

    @abstractmethod
    def highest_bound(self, place: int) -> float:
        """Return an upper bound on the best value, a point told being among the candidates."""

    @abstractmethod
    def next_choice(self) -> Picks | None:
        """Return the candidate of highest score, None if none is available: costs an ask."""

    @abstractmethod
    def rank(self, row: int) -> int | None:
        """Return 1 for the candidate of highest score; None where that is costly to know."""

    def account(self, outwards: Callable[[float], float]) -> tuple[str, ...]:
        """Return some sentences on what was learned; `outwards` puts values in the user's units."""
        return ()

    @final
    def marginals(self, X: Rows) -> tuple[float, float]:
        """Return mean and standard deviation of one point, without what is its own."""
        mean, variance = self.posterior.marginals(X)
        std = float(np.sqrt(variance[0])) if self.scale_is_known else math.inf
        return float(mean[0]) + self.centre, std

    @final
    def correlations(self, X: Rows, told: Rows) -> Vector:
        """Return k(x, z)/√(k(x, x)·k(z, z)) of one point with others; 0 without variance."""
        if not len(told):
            return np.empty(0)
        kernel = self.posterior.kernel
        k = np.asarray(kernel(X, told)[0])
        scale = np.sqrt(float(kernel.diagonal(X)[0]) * kernel.diagonal(told))
        correlations: Vector = np.divide(k, scale, out=np.zeros_like(k), where=scale > 0)
        return correlations


@runtime_checkable
class ModelPolicy(Protocol):
    """A policy with a model of f, that can be looked at."""

    def look(self, state: Any, evidence: Evidence) -> ModelView:
        """Return what is believed now; nothing is computed yet."""


def why_uncertified(policy: object) -> str | None:
    """Return why nothing can be certified with a policy; None where it has a theorem."""
    return policy.no_theorem if isinstance(policy, Uncertified) else None


def rank_of(
    posterior: Posterior, acquisition: Acquisition, beta: float, evidence: Evidence, row: int
) -> int | None:
    """Return 1 + the number of candidates of higher score, None where that is costly to know.

    O(N·m²), where that is at most 10⁹. Boxes and candidates not available have no rank.
    """
    N, m, closed = evidence.points.candidates, max(len(posterior.basis), 1), evidence.unavailable
    if row >= N or closed[row] or N * m**2 > RANKED:
        return None
    mean, variance = np.empty(N), np.empty(N)
    for start, X in evidence.points.chunks(chunk_rows(max(m, evidence.points.dim))):
        stop = start + len(X)
        mean[start:stop], variance[start:stop] = posterior.marginals(X)
    best_mean = float(mean[~evidence.excluded].max())
    scores = acquisition.score(mean, variance, beta, best_mean)[~closed]
    score = acquisition.score(mean[[row]], variance[[row]], beta, best_mean)[0]
    return 1 + int(np.count_nonzero(scores > score + SCORE_TIE * abs(score)))

"""Policies without a model, to be beaten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Never, final

import numpy as np

from noregret.errors import CertificateError, require_at_least, require_count, require_positive
from noregret.policy import Estimates, Evidence, Gap, Policy, Proposal
from noregret.pools import Picks
from noregret.posteriors import Posterior
from noregret.streams import Purpose


@final
@dataclass(frozen=True, slots=True)
class Nothing:
    """The state of a policy that remembers nothing."""


def _begin(self: Policy[Nothing]) -> Nothing:
    return Nothing()


def _averages(self: Policy[Nothing], state: Nothing, evidence: Evidence) -> Estimates:
    """Report averages; without a model there is no deviation and no bound."""
    unknown = np.full(len(evidence.told), np.nan)
    return Estimates(evidence.told.y, unknown, unknown, unknown)


def _no_posterior(self: Policy[Nothing], state: Nothing, evidence: Evidence) -> Posterior:
    _refuse(self, state, evidence)


def _no_certificate(self: Policy[Nothing], state: Nothing, evidence: Evidence, row: int) -> Gap:
    _refuse(self, state, evidence)


def _refuse(self: Policy[Nothing], state: Nothing, evidence: Evidence) -> Never:
    raise CertificateError(
        f"{type(self).__name__} is a baseline: it has no posterior and no certificate. "
        "Use one of the Gaussian-process algorithms, such as mini_gp_ucb or bbkb."
    )


@final
@dataclass(frozen=True, slots=True)
class Uniform:
    """Draw every evaluation uniformly from the candidates that are not excluded."""

    size: int = 1
    begin = _begin
    estimates = _averages
    posterior = _no_posterior
    certify = _no_certificate

    def __post_init__(self) -> None:
        require_count("uniform(batch_size=...)", self.size)

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        rng = evidence.rng(Purpose.POLICY)
        picks = evidence.places.draw(evidence.excluded, min(self.size, room), rng)
        return _singles(picks, self.size, room), state


@final
@dataclass(frozen=True, slots=True)
class EpsilonGreedy:
    """Explore uniformly with probability min(1, a/t^b), else repeat the best average so far.

    Source: the papers' tuned baseline (MINI 2022, appendix B.1): a ∈ {0.1, 1, 10},
    b ∈ {1/3, 1/2, 1, 2}.
    """

    a: float = 1.0
    b: float = 0.5
    size: int = 1
    begin = _begin
    estimates = _averages
    posterior = _no_posterior
    certify = _no_certificate

    def __post_init__(self) -> None:
        require_positive("epsilon_greedy(a=...)", self.a)
        require_at_least("epsilon_greedy(b=...)", self.b, 0.0)
        require_count("epsilon_greedy(batch_size=...)", self.size)

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        rng = evidence.rng(Purpose.POLICY)
        size = min(self.size, room)
        luck = rng.random(self.size)[:size]  # drawn whole, so that `room` only cuts
        picks = evidence.places.draw(evidence.excluded, size, rng)
        t = evidence.evaluations + int(evidence.open_.w.sum()) + 1 + np.arange(size)
        explore = luck < self.a / t**self.b
        allowed = evidence.eligible
        if allowed.any():
            y = np.where(allowed, evidence.told.y, -np.inf)
            best = evidence.told.rows[y == y.max()].min()
            at = int(np.flatnonzero(evidence.told.rows == best)[0])
            rows = np.where(explore, picks.rows, best)
            picks = Picks(rows, np.where(explore[:, None], picks.X, evidence.told.X[at]))
        return _singles(picks, self.size, room), state


def _singles(picks: Picks, size: int, room: int) -> Proposal:
    reason = f"fixed size {size} reached" if size <= room else f"at_most {room} reached"
    ones = np.ones(len(picks), dtype=np.int64)
    return Proposal(picks.rows, picks.X, ones, np.zeros(len(picks)), reason)

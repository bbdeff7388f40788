"""Thompson sampling with quadrature Fourier features, in one to three dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, Rows, Vector, chunk_rows
from noregret.errors import AskError, CertificateError, require_count
from noregret.kernels import RBF, QuadratureFeatures, quadrature
from noregret.policies.allowance import Allowance
from noregret.policies.base import ChoiceDiagnostics, Evidence, Proposal, Purpose
from noregret.policies.baselines import singles
from noregret.policies.model_view import Guarantee, ModelView
from noregret.pools import Picks, Points, Renumbering
from noregret.posteriors import ExactPosterior, Observations, Posterior, cholesky
from noregret.storable import storable
from noregret.text import counted

LEAST_RIDGE = 1e-8  # of the variance: V has condition t/ridge, and eps·10⁸·t must stay below 1
NO_THEOREM = (
    "ts_qff chooses by functions drawn at random, and no theorem here bounds what it finds. For a "
    "certificate use a confidence-bound algorithm, such as mini_gp_ucb or bbkb."
)


@final
@storable("Weights")
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """What is known of the weights θ of f = φᵀθ: precision V and precision_mean V·E[θ]."""

    V: Matrix  # I + Φᵀ W Φ/ridge
    precision_mean: Vector  # Φᵀ W ȳ/ridge
    w: Vector  # counts, and …
    sums: Vector  # … sums of values, that went into them

    def told(self, points: Observations, features: QuadratureFeatures, ridge: float) -> Weights:
        """Add what was told since: O(features²) a candidate that changed."""
        n = len(self.w)
        w, sums = np.zeros(len(points)), np.zeros(len(points))
        w[:n], sums[:n] = self.w, self.sums
        totals = points.w * points.y
        changed = np.flatnonzero(points.w != w)
        if not changed.size:
            return self
        Z = features.embed(points.X[changed])
        more, extra = (points.w - w)[changed] / ridge, (totals - sums)[changed] / ridge
        V = self.V + (Z.T * more) @ Z
        return replace(
            self, V=V, precision_mean=self.precision_mean + Z.T @ extra, w=points.w, sums=totals
        )


@final
@storable("ThompsonQFF")
@dataclass(frozen=True, slots=True)
class ThompsonQFF:
    """Evaluate the best candidate of a function drawn from the posterior, one draw each.

    With f = φᵀθ, θ ~ N(0, I) and V = I + ΦᵀWΦ/ridge = L Lᵀ,

        θ ~ N(V⁻¹ΦᵀWȳ/ridge, V⁻¹):    θ = V⁻¹ΦᵀWȳ/ridge + L⁻ᵀε,  ε ~ N(0, I)               (3)

    Costs O(m³) a batch and O(N·m) an evaluation with m features, whatever was evaluated before.
    Evaluations under way change nothing; draws are apart by themselves.

    Source: Mutný & Krause, NeurIPS 2018 (Thompson sampling with quadrature Fourier features).
    """

    features: QuadratureFeatures
    noise_std: float
    ridge: float
    size: int = 1
    nodes: tuple[int, ...] | None = None  # as the user gave them
    no_theorem = NO_THEOREM

    def __post_init__(self) -> None:
        require_count("ts_qff(batch_size=...)", self.size)

    def vet(self, X: Rows) -> None:
        """Take any point: features are computed when it was told."""

    def extended(
        self, state: Weights, before: Points, points: Points, numbers: Renumbering
    ) -> tuple[ThompsonQFF, Weights]:
        """Features are made for the range of the pool; those of others start again."""
        kernel = self.features.variance * RBF(self.features.lengthscales)
        features = quadrature(kernel, points, self.nodes)
        if features == self.features:
            return self, state
        policy = replace(self, features=features)
        return policy, policy.begin()

    def begin(self) -> Weights:
        m = self.features.size
        return Weights(np.eye(m), np.zeros(m), np.zeros(0), np.zeros(0))

    def propose(self, state: Weights, evidence: Evidence, room: int) -> tuple[Proposal, Weights]:
        """Draw as many functions as there are evaluations and take the best of each."""
        if evidence.excluded.all():
            raise AskError(
                f"all {len(evidence.excluded)} candidates are excluded, so none is left to choose "
                "from. Exclude fewer, or stop here and take best()."
            )
        state = state.told(evidence.told, self.features, self.ridge)
        L = cholesky.factor(state.V)
        best = self.best_of_samples(state, L, evidence, min(self.size, room))
        diagnostics = ChoiceDiagnostics(1.0, cholesky.log_det(L), self.features.size)
        return replace(singles(best, self.size, room), diagnostics=diagnostics), state

    def look(self, state: Weights, evidence: Evidence) -> FourierView:
        return FourierView(self, state, evidence)

    def best_of_samples(self, state: Weights, L: Matrix, evidence: Evidence, size: int) -> Picks:
        """Return the best candidates of so many functions drawn, the lowest rows on ties."""
        luck = evidence.rng(Purpose.POLICY).standard_normal((self.size, self.features.size))[:size]
        thetas, closed = sampled(L, state.precision_mean, luck), evidence.unavailable
        if evidence.at_most_each is None:
            return evidence.points.picks(self._best(thetas, evidence, closed)[:, 0])
        allowance, chosen = Allowance(evidence), list[int]()
        for rows in self._best(thetas, evidence, closed, len(thetas)).tolist():
            row = next((row for row in rows if row >= 0 and allowance.of(row)), None)
            if row is None:
                break
            chosen.append(row)
            allowance.take(row, 1)  # which functions after this one must know
        return evidence.points.picks(np.array(chosen, dtype=np.int64))

    def _best(self, thetas: Matrix, evidence: Evidence, closed: Mask, size: int = 1) -> Indices:
        """Return a row of the `size` best candidates for each function, the lowest rows on ties.

        −1 stands where there are no more.
        """
        top = np.full((len(thetas), size), -np.inf)
        rows = np.full((len(thetas), size), -1)
        step = chunk_rows(2 * len(thetas) * self.features.size // self.features.nodes[-1])
        for start, X in evidence.points.chunks(step):
            values = self.features.values(X, thetas)
            values[:, closed[start : start + len(X)]] = -np.inf
            for i, found in enumerate(values):
                new = np.flatnonzero(found > top[i, -1])
                if len(new) > size:
                    new = new[found[new] >= np.partition(found[new], -size)[-size]]
                both = np.append(top[i], found[new])
                order = np.argsort(-both, kind="stable")[:size]
                top[i], rows[i] = both[order], np.append(rows[i], start + new)[order]
        return rows


@final
class FourierView(ModelView):
    """A look at the weights of a `ThompsonQFF`; there is no band around them."""

    beta = 1.0
    score = "Thompson"

    def __init__(self, policy: ThompsonQFF, state: Weights, evidence: Evidence) -> None:
        self._policy, self._evidence = policy, evidence
        self._weights = state.told(evidence.told, policy.features, policy.ridge)

    @cached_property
    def _factor(self) -> Matrix:
        return cholesky.factor(self._weights.V)

    @cached_property
    def posterior(self) -> Posterior:
        """The same belief as a posterior over functions: O(n³) for n unique points."""
        policy, evidence = self._policy, self._evidence
        dim = evidence.points.dim
        prior = ExactPosterior.prior(
            policy.features, noise_std=policy.noise_std, ridge=policy.ridge, dim=dim
        )
        rng = evidence.rng(Purpose.DICTIONARY)
        return prior.condition(evidence.told, Observations.none(dim), rng)

    def means(self) -> Vector:
        Z = self._policy.features.embed(self._evidence.told.X)
        mean: Vector = Z @ cholesky.solve(self._factor, self._weights.precision_mean)
        return mean

    def interval(self, place: int) -> tuple[float, float, float]:
        z = self._policy.features.embed(self._evidence.told.X[place : place + 1])
        std = float(np.linalg.norm(cholesky.solve_lower(self._factor, z.T)))
        return std, math.nan, math.nan

    def guarantee(self) -> Guarantee:
        raise CertificateError(NO_THEOREM)

    def highest_bound(self, place: int) -> float:
        raise CertificateError(NO_THEOREM)

    def account(self, outwards: Callable[[float], float]) -> tuple[str, ...]:
        policy, points = self._policy, counted(len(self._evidence.told), "unique point")
        return (
            f"Posterior on {points} through {policy.features.size} quadrature Fourier features; "
            f"noise {policy.noise_std:.3g} per evaluation.",
            "The next choice is the best candidate of a function drawn from that posterior.",
            f"There are no bounds: {NO_THEOREM}",
        )

    def next_choice(self) -> Picks | None:
        if self._evidence.unavailable.all():
            return None
        return self._policy.best_of_samples(self._weights, self._factor, self._evidence, 1)

    def rank(self, row: int) -> int | None:
        """None: the next function to be drawn ranks candidates afresh."""
        return None


def sampled(L: Matrix, precision_mean: Vector, luck: Matrix) -> Matrix:
    """Return weights by (3), one sample per row, from standard normal numbers."""
    mean = cholesky.solve(L, precision_mean)
    return np.asarray(mean + cholesky.solve_upper(L, np.asfortranarray(luck.T)).T)

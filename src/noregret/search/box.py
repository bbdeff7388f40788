"""The best point of a box, by analytic gradients of mean and deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.acquisitions import UCB, Acquisition, Mean, RevisitingAcquisition, score_slopes
from noregret.arrays import Indices, Mask, Matrix, Vector, stacked
from noregret.kernels import diagonal_slopes, slopes
from noregret.pools import NO_ROWS, Picks, Points
from noregret.posteriors import Paths, Posterior
from noregret.search import ties
from noregret.search.base import Search
from noregret.search.box_ascent import CENTRES, STARTS, Ascent, Hill, around, spread_out
from noregret.search.enumeration import Enumeration

FEW_STARTS = 3
WIDE, NEAR = 2048, 512  # points that are scored, not climbed: anywhere, and around the best
STEP = 1e-5  # of the unit cube, for slopes of drawn functions by differences


@final
@dataclass(frozen=True, slots=True)
class BoxSearch:
    """Searches a box from many starts; what is found is as good as these, nothing can promise more.

    With k = k_P(x) and G its gradients, one a row, at the points P of the posterior,

        ∇μ = Gᵀa,       ∇σ² = ∇k(x, x) − 2 GᵀB k                                            (1)
    """

    def rank(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        spent: Indices = NO_ROWS,
    ) -> BoxRanking:
        best_mean = 0.0
        if acquisition.uses_best_mean:
            means = BoxRanking(points, posterior, Mean(), 0.0, 0.0)
            best_mean = means.score(means.best())
        return BoxRanking(points, posterior, acquisition, beta, best_mean, spent)

    def rank_samples(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
        spent: Indices = NO_ROWS,
    ) -> BoxRanking:
        return BoxRanking(points, posterior, rng, beta, 0.0, spent)

    def highest(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        taken: Indices,
        size: int,
        rng: np.random.Generator,
    ) -> Picks:
        """Return the highest of points drawn anywhere and around the best mean."""
        assert points.box is not None
        told = posterior.observed.X
        best = told[np.argsort(-posterior.mean(told), kind="stable")[:CENTRES]]
        cloud = [points.box.sample(WIDE, rng), around(points.box, best, NEAR, rng)]
        new = points.picks_of(np.concatenate(cloud)).new(taken)
        scores = UCB().score(*posterior.marginals(new.X), beta, 0.0)
        return new[np.argsort(-scores, kind="stable")[:size]]


@final
class BoxRanking:
    """Follows one posterior over a box while variances shrink.

    Scores are those of an acquisition, or of functions drawn from the posterior, a new one for
    every choice, where a generator stands in its place.
    """

    def __init__(
        self,
        points: Points,
        posterior: Posterior,
        how: Acquisition | np.random.Generator,
        beta: float,
        best_mean: float,
        spent: Indices = NO_ROWS,
    ) -> None:
        self._points, self._box = points, points.box
        self._closed = points.rows(spent)
        self._stale = self._now = posterior
        self._how, self._beta, self._best_mean = how, beta, best_mean
        self._new: list[Vector] = []  # points that were the best and not met before
        self._best: int | None = None

    def best(self) -> int:
        if self._best is None:
            self._best, x = self._found(self._now)
            if self._best == len(self._points) + len(self._new):
                self._new.append(x)
        return self._best

    def score(self, row: int) -> float:
        assert not isinstance(self._how, np.random.Generator)
        known = self._stale.marginals(self._x(row))
        return float(self._how.score(*known, self._beta, self._best_mean)[0])

    def stale(self, row: int) -> float:
        return float(self._stale.variance(self._x(row))[0])

    def now(self, row: int) -> float:
        return float(self._now.variance(self._x(row))[0])

    def repeats_while_best(self, row: int, most: int) -> int:
        if isinstance(self._how, np.random.Generator):
            return 1

        def leads_after(r: int) -> bool:
            return self._found(self._after(row, r))[0] == row

        return ties.repeats_while(leads_after, most)

    def picks(self, rows: Indices) -> Picks:
        return self._points.picks_of(self._X(rows))

    def variances(self, rows: Indices) -> Vector:
        return self._stale.variance(self._X(rows))

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        X, Z = self._X(rows), self._X(others)
        return self._stale.model_covariance(X, Z), self._stale.covariance(X, Z)

    def shrink(self, row: int, count: int) -> None:
        self._now, self._best = self._after(row, count), None

    def close(self, row: int) -> None:
        self._closed = stacked(self._closed, self._x(row))

    def _after(self, row: int, count: int) -> Posterior:
        return self._now.hallucinate(np.array([row]), self._x(row), np.array([float(count)]))

    def _x(self, row: int) -> Matrix:
        new = row - len(self._points)
        return self._new[new][None] if new >= 0 else self._points.rows(np.array([row]))

    def _X(self, rows: Indices) -> Matrix:
        none = np.empty((0, self._points.dim))
        return np.concatenate([none, *(self._x(row) for row in rows.tolist())])

    def _found(self, posterior: Posterior) -> tuple[int, Vector]:
        """Return the best point found and its row; a new one is numbered behind those met."""
        assert self._box is not None
        met = np.concatenate([self._points.extra, np.reshape(self._new, (-1, self._points.dim))])
        if isinstance(self._how, np.random.Generator):
            paths = Paths.sampled(self._stale, self._points, 1, self._beta, self._how)
            hill, starts = of_path(paths), STARTS
        else:
            known = posterior, self._how, self._beta, self._best_mean
            few = isinstance(
                self._how, Mean
            )  # whose highest point is near a point met, nearly always
            hill, starts = of_acquisition(*known), FEW_STARTS if few else STARTS
        ascent = Ascent(self._box, spread_out(self._box.dim), met, self._closed)
        place, x = ascent.highest(hill, starts)
        return len(met) if place is None else place, x


def of_acquisition(
    posterior: Posterior, acquisition: Acquisition, beta: float, best_mean: float
) -> Hill:
    """Return the hill of scores, with gradients by (1) of `BoxSearch`."""
    kernel, P, a = posterior.kernel, posterior.basis, posterior.mean_weights()

    def scores(X: Matrix) -> tuple[Vector, Vector]:
        mean, variance = posterior.marginals(X)
        score = acquisition.score(mean, variance, beta, best_mean)
        if not leeway:
            return score, score
        return score, acquisition.score(mean, (1.0 + leeway) ** 2 * variance, beta, best_mean)

    def uphill(X: Matrix) -> tuple[Vector, Matrix]:
        (K, gradient), prior = slopes(kernel, X, P), kernel.diagonal(X)
        B = posterior.solved(K.T).T
        variance = prior - np.einsum("ij,ij->i", K, B)
        std = np.sqrt(np.maximum(variance, np.maximum(1e-18 * prior, 1e-300)))  # which may be 0
        score, in_mean, in_std = score_slopes(acquisition, K @ a, std, beta, best_mean)
        weight = (in_std / std)[:, None]
        slope = gradient(in_mean[:, None] * a - weight * B)  # (1)
        slope += weight * diagonal_slopes(kernel, X)
        return score, slope

    leeway = acquisition.leeway if isinstance(acquisition, RevisitingAcquisition) else 0.0
    return Hill(scores, uphill)


def of_path(paths: Paths) -> Hill:
    """Return the hill of a drawn function, with gradients by differences."""

    def scores(X: Matrix) -> tuple[Vector, Vector]:
        values = paths.values(X)[:, 0]
        return values, values

    def uphill(X: Matrix) -> tuple[Vector, Matrix]:
        n, d = X.shape
        steps = STEP * np.eye(d)
        around = np.concatenate([X[:, None], X[:, None] + steps, X[:, None] - steps], axis=1)
        values = paths.values(around.reshape(-1, d))[:, 0].reshape(n, -1)
        return values[:, 0], (values[:, 1 : 1 + d] - values[:, 1 + d :]) / (2 * STEP)

    return Hill(scores, uphill)


def search_of(points: Points) -> Search:
    """Return the search of a domain: every candidate of a pool, or uphill in a box."""
    return Enumeration() if points.candidates else BoxSearch()

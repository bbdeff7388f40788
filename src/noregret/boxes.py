"""The best point of a box: many starts, each followed uphill by analytic gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from noregret.acquisitions import Acquisition, Mean
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.kernels import slopes
from noregret.pools import Box, Candidates, Picks, Places
from noregret.posteriors import Posterior
from noregret.search import Enumeration, Search

RAW = 512  # points of the box looked at before the best are followed
NEARBY = 128  # of them around points of high score
STARTS = 6  # followed uphill
STEPS = 60  # of one ascent, at most
SAME = 1e-7  # of the range of scores: a point met before is taken if it is that close to the best
ROUNDS = 8  # of moving whole numbers one by one


@final
class BoxSearch:
    """Searches a box by multi-start L-BFGS-B on the gradients of mean and deviation.

    With k = k_P(x) and G its gradients, one a row, at points P of the posterior,

        ∇μ = Gᵀa,       ∇σ² = ∇k(x, x) − 2 GᵀB k                                            (1)

    Starts are the highest of a quasi-random set, of the points met before and of points around
    them, so that an ascent goes on where the last batch ended. A point met before is taken again
    when no other is better by more than rounding. What is found is as good as the starts: on a
    box nothing can promise the maximum.
    """

    def __init__(self, places: Places) -> None:
        assert isinstance(places.domain, Box)
        self.places, self.box = places, places.domain
        self._raw: Matrix | None = None

    def rank(
        self, posterior: Posterior, acquisition: Acquisition, beta: float, excluded: Mask
    ) -> BoxRanking:
        top = 0.0
        if acquisition.uses_top:
            means = BoxRanking(self, posterior, Mean(), 0.0, 0.0)
            top = means.score(means.best())
        return BoxRanking(self, posterior, acquisition, beta, top)

    def raw(self) -> Matrix:
        """Return points spread evenly over the box, always the same."""
        if self._raw is None:
            from scipy.stats import qmc  # loads slowly, and only boxes need it

            points = qmc.Sobol(self.box.dim, rng=np.random.default_rng(0)).random(RAW)
            self._raw = self.box.snapped(self.box.spread(points))
        return self._raw


@final
class BoxRanking:
    """Follows one posterior over a box while variances shrink."""

    def __init__(
        self,
        search: BoxSearch,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        top: float,
    ) -> None:
        self._search, self._places, self._box = search, search.places, search.box
        self._stale = self._now = posterior
        self._acquisition, self._beta, self._top = acquisition, beta, top
        self._new: dict[int, Vector] = {}  # points that were the best and not met before
        self._best: int | None = None

    def best(self) -> int:
        if self._best is None:
            self._best = self._found(self._now)
        return self._best

    def score(self, row: int) -> float:
        return float(self._scores(self._stale, self._x(row))[0])

    def stale(self, row: int) -> float:
        return float(self._stale.variance(self._x(row))[0])

    def now(self, row: int) -> float:
        return float(self._now.variance(self._x(row))[0])

    def stays(self, row: int, most: int) -> int:
        """Double the number of repeats while the row stays the best, then halve the gap."""

        def leads_after(r: int) -> bool:
            return self._found(self._after(row, r)) == row

        fine, wrong = 1, 2
        while wrong < most and leads_after(wrong - 1):
            fine, wrong = wrong, 2 * wrong
        wrong = min(wrong, most + 1)
        while wrong - fine > 1:
            middle = (fine + wrong) // 2
            fine, wrong = (middle, wrong) if leads_after(middle - 1) else (fine, middle)
        return fine

    def picks(self, rows: Indices) -> Picks:
        return Picks(rows, np.concatenate([self._x(row) for row in rows.tolist()]))

    def variances(self, rows: Indices) -> Vector:
        return self._stale.variance(self.picks(rows).X)

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        X, Z = self.picks(rows).X, self.picks(others).X
        return self._stale.model_covariance(X, Z), self._stale.covariance(X, Z)

    def shrink(self, row: int, count: int) -> None:
        self._now, self._best = self._after(row, count), None

    def _after(self, row: int, count: int) -> Posterior:
        return self._now.hallucinate(np.array([row]), self._x(row), np.array([float(count)]))

    def _x(self, row: int) -> Matrix:
        return self._new[row][None] if row in self._new else self._places.rows(np.array([row]))

    def _scores(self, posterior: Posterior, X: Matrix) -> Vector:
        return self._acquisition.score(*posterior.marginals(X), self._beta, self._top)

    def _found(self, posterior: Posterior) -> int:
        """Return the row of the best point found."""
        met = np.concatenate([self._places.extra, *(x[None] for x in self._new.values())])
        raw = np.concatenate([met, self._search.raw()])
        scores = self._scores(posterior, raw)
        around = self._around(raw, scores)
        raw, scores = (
            np.concatenate([raw, around]),
            np.append(scores, self._scores(posterior, around)),
        )
        ends = [self._climbed(posterior, x) for x in self._starts(raw, scores)]
        found = np.concatenate([ends, raw[len(met) :]])
        reached = self._scores(posterior, found)
        at = int(np.argmax(reached))
        room = SAME * float(np.ptp(scores))
        if len(met) and scores[: len(met)].max() >= reached[at] - room:
            return self._rows_of_met()[int(np.argmax(scores[: len(met)]))]
        row = self._places.candidates + len(met)
        self._new[row] = found[at]
        return row

    def _rows_of_met(self) -> list[int]:
        return [*range(len(self._places)), *self._new]

    def _around(self, raw: Matrix, scores: Vector) -> Matrix:
        """Return points near the highest so far, at distances of all orders."""
        rng = np.random.default_rng(len(self._places))
        top = raw[np.argsort(-scores, kind="stable")[:4]]
        centres = top[np.arange(NEARBY) % len(top)]
        reach = 10.0 ** rng.uniform(-3.0, -0.5, (NEARBY, 1))
        moved = rng.random(centres.shape) < max(0.3, 2.0 / centres.shape[1])
        return self._box.snapped(centres + moved * reach * rng.standard_normal(centres.shape))

    def _starts(self, raw: Matrix, scores: Vector) -> list[Vector]:
        """Return the highest points that are not close to a higher one."""
        chosen: list[Vector] = []
        for at in np.argsort(-scores, kind="stable").tolist():
            apart = [float(np.abs(raw[at] - other).max()) for other in chosen]
            if min(apart, default=1.0) > 0.05:
                chosen.append(raw[at])
            if len(chosen) == STARTS:
                break
        return chosen

    def _climbed(self, posterior: Posterior, start: Vector) -> Vector:
        """Return where L-BFGS-B ends; whole numbers are then moved one by one."""
        free = np.ones(len(start), dtype=np.bool_)
        x: Vector = self._box.snapped(self._ascended(posterior, start, free)[None])[0]
        if not self._box.has_integers:
            return x
        for _ in range(ROUNDS):
            near = np.concatenate([x[None], self._box.neighbours(x)])
            better = near[int(np.argmax(self._scores(posterior, near)))]
            if np.array_equal(better, x):
                break
            x = better
        end: Vector = self._box.snapped(self._ascended(posterior, x, ~self._box.integer)[None])[0]
        return end

    def _ascended(self, posterior: Posterior, start: Vector, free: Mask) -> Vector:
        from scipy.optimize import minimize  # loads slowly, and only boxes need it

        bounds = [(0.0, 1.0) if is_free else (x, x) for x, is_free in zip(start, free, strict=True)]
        end = minimize(
            uphill(posterior, self._acquisition, self._beta, self._top),
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": STEPS},
        )
        return np.asarray(end.x)


def uphill(
    posterior: Posterior, acquisition: Acquisition, beta: float, top: float
) -> Callable[[Vector], tuple[float, Vector]]:
    """Return minus the score, and minus its gradient, as functions of a point."""
    kernel, P, a = posterior.kernel, posterior.basis, posterior.mean_weights()

    def climb(x: Vector) -> tuple[float, Vector]:
        k, G = slopes(kernel, x, P)
        own, own_slope = slopes(kernel, x, x[None])
        b = posterior.solved(k[:, None])[:, 0]
        mean, variance = float(k @ a), max(float(own[0] - k @ b), 0.0)
        std = max(variance, 1e-18 * float(own[0])) ** 0.5
        score = acquisition.score(np.array([mean]), np.array([variance]), beta, top)
        in_mean, in_std = acquisition.slopes(mean, std, beta, top)
        std_slope = (own_slope[0] - G.T @ b) / std  # ∇k(x, x) = 2 ∂k(x, z)/∂x at z = x
        return -float(score[0]), -(in_mean * (G.T @ a) + in_std * std_slope)  # (1)

    return climb


def search_of(places: Places) -> Search:
    """Return the search of a domain: every candidate of a pool, or uphill in a box."""
    if isinstance(places.domain, Candidates):
        return Enumeration(places.domain)
    return BoxSearch(places)

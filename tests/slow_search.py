"""Slow, obvious versions of searches and batch rules: every row is looked at, at every step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, final

import numpy as np
from hypothesis import assume, currently_in_test_context
from scipy.special import ndtri

import noregret as nr
from noregret.acquisitions import Acquisition
from noregret.arrays import Indices, Mask, Matrix, Vector
from noregret.policies.evolution import Groups
from noregret.pools import NO_ROWS, Candidates, Picks, Points
from noregret.posteriors import Paths, Posterior
from noregret.search import Enumeration, Ranking
from noregret.search.function_ranking import ODDS
from noregret.search.ties import DIGITS, OFFSET

NEAR = 1e-6  # of the best score: rows this near to it are computed one by one
SMALLEST = 1e-30  # no score is smaller but 0, as far as a search that keeps sums can tell


def quantum_of(best: float) -> float:
    """Return the width within which scores are ties, the best being this."""
    return 2.0 ** (math.frexp(best)[1] - DIGITS) if np.isfinite(best) and best != 0 else 1.0


def lowest_of_the_best(scores: Vector, single: Callable[[int], float], quantum: float) -> int:
    """Return the lowest row among those whose score, each by itself, lies in the highest cell.

    Scores that differ, but by no more than ties reach, say nothing: on which side of an edge they
    lie hangs on the order of sums, and hypothesis leaves the case out.
    """
    best = float(scores.max())
    close = np.flatnonzero(scores >= best - NEAR * abs(best) - 4 * quantum - SMALLEST)
    if len(close) == 1:
        return int(close[0])
    exact = np.array([single(int(row)) for row in close])
    if currently_in_test_context():
        with np.errstate(invalid="ignore"):  # all closed
            gap = float(exact.max()) - exact
        assume(not ((gap > 1e-13 * abs(best)) & (gap < 3 * quantum + SMALLEST)).any())
    cells = np.floor(exact / quantum + OFFSET)
    return int(close[int(np.argmax(cells))])


@final
class FullRanking:
    """Every score of the pool from the posterior itself, after every single evaluation.

    Given `rng`, every candidate's value under every function drawn, whatever its bound.
    """

    def __init__(
        self,
        pool: Candidates,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator | None = None,
        spent: Indices = NO_ROWS,
    ) -> None:
        self.X = pool.rows(np.arange(len(pool)))
        self.rng, self.drawn, self.waiting = rng, 0, list[int]()
        self.posterior = self.hallucinated = posterior
        self.acquisition, self.beta, self.excluded = acquisition, beta, excluded
        self.mean, self.best_mean = posterior.mean(self.X), 0.0
        if acquisition.uses_best_mean:
            means = np.where(excluded, -np.inf, self.mean)
            quantum = quantum_of(float(means.max()))
            row = lowest_of_the_best(means, lambda row: self.marginals(row)[0], quantum)
            self.best_mean = self.marginals(row)[0]
        self.closed = spent.tolist()
        self.quantum = quantum_of(float(self.scores().max()))

    def picks(self, rows: Indices) -> Picks:
        return Picks(rows, self.X[rows])

    def scores(self) -> Vector:
        """Return the score of every row now, −∞ where it is excluded or closed."""
        variance = self.hallucinated.variance(self.X)
        scores = self.acquisition.score(self.mean, variance, self.beta, self.best_mean)
        scores[self.closed] = -np.inf
        return np.where(self.excluded, -np.inf, scores)

    def close(self, row: int) -> None:
        """Functions drawn for choices to come find their best among the others."""
        self.closed.append(row)
        if self.waiting:
            self.waiting = self.won()[-len(self.waiting) :]

    def marginals(self, row: int) -> tuple[float, float]:
        mean, variance = self.posterior.marginals(self.X[[row]])
        return float(mean[0]), float(variance[0])

    def single(self, mean: float, variance: float) -> float:
        score = self.acquisition.score(
            np.array([mean]), np.array([variance]), self.beta, self.best_mean
        )
        return float(score[0])

    def best(self) -> int:
        if self.rng is not None:
            if not self.waiting:
                self.waiting = self.found(min(max(self.drawn, 1), 32), self.rng)
                self.drawn += len(self.waiting)
            return self.waiting[0]
        return lowest_of_the_best(
            self.scores(),
            lambda row: self.single(self.marginals(row)[0], self.now(row)),
            self.quantum,
        )

    def found(self, size: int, rng: np.random.Generator) -> list[int]:
        pool = Points(nr.Pool(self.X))
        values = Paths.sampled(self.posterior, pool, size, self.beta, rng).values(self.X)
        cut = -ndtri(ODDS / len(self.X)) * self.beta
        high = self.mean + cut * np.sqrt(self.posterior.variance(self.X))
        self.values = np.minimum(values, high[:, None])
        return self.won()

    def won(self) -> list[int]:
        """Return the best row of each function drawn last.

        Which values tie is known but for their rounding in single precision: a case in which one
        lies that close to the edge says nothing, and hypothesis leaves it out.
        """
        values = self.values.copy()
        values[self.excluded] = -np.inf
        values[self.closed] = -np.inf
        deviation = self.beta * self.posterior.kernel.diagonal(self.X).max() ** 0.5
        best = values.max(axis=0)
        edge = best - 4e-6 * deviation - 2.0**-21 * np.abs(best)
        if currently_in_test_context():
            off = 2e-6 * deviation + 2.0**-22 * np.abs(best)
            with np.errstate(invalid="ignore"):  # all closed
                assume(not (np.abs(values - edge) <= off).any())
        close = values >= edge
        return [int(np.flatnonzero(column)[0]) for column in close.T]

    def score(self, row: int) -> float:
        return self.single(*self.marginals(row))

    def stale(self, row: int) -> float:
        return self.marginals(row)[1]

    def now(self, row: int) -> float:
        return float(self.hallucinated.variance(self.X[[row]])[0])

    def repeats_while_best(self, row: int, most: int) -> int:
        assert 0 <= row < len(self.X)
        return min(1, most)

    def variances(self, rows: Indices) -> Vector:
        return self.posterior.variance(self.X[rows])

    def covariances(self, rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
        X, Z = self.X[rows], self.X[others]
        return self.posterior.model_covariance(X, Z), self.posterior.covariance(X, Z)

    def shrink(self, row: int, count: int) -> None:
        self.hallucinated = self.hallucinated.hallucinate(
            np.array([row]), self.X[[row]], np.array([float(count)])
        )
        if self.waiting[:1] == [row]:
            self.waiting.pop(0)


def local_ratios(stale: Posterior, X: Matrix, B: Matrix) -> Vector:
    """Return BBKB 2020, Lemma 3, corrected, at each row of X, for a batch of points B."""
    var = stale.variance(X)
    c = (stale.model_covariance(X, B) ** 2).sum(axis=1)
    k = (stale.covariance(X, B) ** 2).sum(axis=1)
    return np.asarray(1.0 + np.maximum(c, k) / (stale.ridge * var))


@final
class FullSearch:
    """Search that keeps nothing: all rows, each time again."""

    def rank(
        self,
        points: Points,
        posterior: Posterior,
        acquisition: Acquisition,
        beta: float,
        excluded: Mask,
        spent: Indices = NO_ROWS,
    ) -> FullRanking:
        return FullRanking(points.pool, posterior, acquisition, beta, excluded, spent=spent)

    def rank_samples(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        excluded: Mask,
        rng: np.random.Generator,
        spent: Indices = NO_ROWS,
    ) -> FullRanking:
        return FullRanking(points.pool, posterior, nr.UCB(), beta, excluded, rng, spent)

    def highest(
        self,
        points: Points,
        posterior: Posterior,
        beta: float,
        taken: Indices,
        size: int,
        rng: np.random.Generator,
    ) -> Picks:
        del rng  # every candidate is looked at
        everyone = points.rows(np.arange(points.candidates))
        score = nr.UCB().score(*posterior.marginals(everyone), beta, 0.0)
        score[taken] = -np.inf
        order = np.lexsort((np.arange(len(score)), -score.round(9)))
        return points.picks(order[: min(size, int((score > -np.inf).sum()))])


def ranked(
    X: Matrix, posterior: Posterior, how: Acquisition, beta: float, excluded: Mask | None = None
) -> tuple[Ranking, Ranking]:
    """Return the lazy ranking and the full one."""
    closed = np.zeros(len(X), dtype=np.bool_) if excluded is None else excluded
    asked = Points(nr.Pool(X)), posterior, how, beta, closed
    return Enumeration().rank(*asked), FullSearch().rank(*asked)


def pool_of(optimizer: nr.Optimizer) -> Candidates:
    """The pool of an optimizer that has one."""
    assert isinstance(optimizer.pool, Candidates)
    return optimizer.pool


def swapped(optimizer: nr.Optimizer, **parts: Any) -> nr.Optimizer:
    """The same optimizer, before its first ask, with parts of its policy exchanged."""
    bandit = optimizer.policy
    assert isinstance(bandit, nr.Bandit)
    changed = replace(bandit, **parts)
    seen = optimizer.evidence
    return nr.Optimizer(optimizer.pool, changed, seed=seen.seed, at_most_each=seen.at_most_each)


def searched_fully(optimizer: nr.Optimizer) -> nr.Optimizer:
    """The same optimizer, looking at the whole pool for every single evaluation."""
    return swapped(optimizer, search=FullSearch())


def siblings(X: Matrix, groups: Groups, row: int, excluded: Mask) -> list[list[int]]:
    """Rows that differ from one in a single group, by looking at every pair."""
    found: list[list[int]] = [[] for _ in groups]
    for other in range(len(X)):
        differing = [
            at
            for at, columns in enumerate(groups)
            if any(X[other, c] != X[row, c] for c in columns)
        ]
        if len(differing) == 1 and not excluded[other]:
            found[differing[0]].append(other)
    return found


def distances(X: Matrix, row: int) -> Vector:
    """To every row, squared, in standard deviations; nine digits of them, so that ties are ties."""
    deviation = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1.0)
    return np.asarray(np.round((((X - X[row]) / deviation) ** 2).sum(axis=1), 9))


def nearest(X: Matrix, row: int, excluded: Mask, most: int) -> list[int]:
    """The nearest rows that differ, by sorting all of them."""
    squares = distances(X, row)
    order = sorted(range(len(X)), key=lambda other: (squares[other], other))
    return [other for other in order if squares[other] > 0 and not excluded[other]][:most]

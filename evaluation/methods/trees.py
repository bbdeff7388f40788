"""What many run by the plate: trees fitted to all values, the highest predictions evaluated next.

The first plate is drawn uniformly, without a candidate twice. Then a model of scikit-learn, its
settings the defaults, is fitted to the averages of all candidates evaluated, weighted by how often,
and the highest predictions are evaluated next, equal ones in an order of chance. A candidate is not
evaluated again before all have been, unless that is wanted. It recommends the candidate evaluated
that is predicted highest, or where evaluations are exact that of the best value.
"""

from __future__ import annotations

from typing import Any, Protocol, final

import numpy as np

import noregret as nr
from evaluation.methods.players import Advice
from evaluation.problems.base import Observations, Problem
from noregret.arrays import Indices, Vector


class Regressor(Protocol):
    """A model of scikit-learn."""

    def fit(self, X: Any, y: Vector, sample_weight: Vector) -> Any: ...

    def predict(self, X: Any) -> Vector: ...


@final
class TopK:
    """A plate of the highest predictions, a `share` of it drawn uniformly from the others."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        model: Regressor,
        *,
        share: float = 0.0,
        again: bool = False,
    ) -> None:
        self.X, self._exact = features(problem), problem.noise_std == 0
        self._model, self._share, self._again = model, share, again
        self._rng = np.random.default_rng(seed)
        N = len(self.X)
        self._counts, self._sums = np.zeros(N), np.zeros(N)
        self._scores: Vector | None = None  # of all candidates; None until fitted to what is told
        self._batch: Indices = np.empty(0, dtype=np.int64)

    def ask(self, at_most: int) -> None:
        N, chance = len(self.X), self._rng.permutation(len(self.X))
        scores = self._fitted() if self._counts.any() else np.zeros(N)
        late = np.zeros(N, dtype=bool) if self._again else self._counts > 0
        order = chance[np.lexsort((-scores[chance], late[chance]))]
        drawn = round(self._share * at_most) if self._counts.any() else 0
        highest = np.resize(order, at_most - drawn)
        others = order[len(highest) :] if len(highest) < N else order
        drawn_rows = self._rng.choice(others, drawn, replace=drawn > len(others))
        self._batch = np.concatenate([highest, drawn_rows])

    def points(self) -> Observations:
        return self._batch

    def tell(self, values: Vector) -> None:
        np.add.at(self._counts, self._batch, 1.0)
        np.add.at(self._sums, self._batch, values)
        self._scores = None

    def advise(self) -> Advice:
        rows = np.flatnonzero(self._counts)
        worth = self._sums[rows] / self._counts[rows] if self._exact else self._fitted()[rows]
        return Advice(rows[[int(np.argmax(worth))]])

    def _fitted(self) -> Vector:
        """Return predictions for all candidates from what has been told, fitted once."""
        if self._scores is None:
            rows = np.flatnonzero(self._counts)
            counts = self._counts[rows]
            self._model.fit(self.X[rows], self._sums[rows] / counts, counts)
            self._scores = self._model.predict(self.X)
        return self._scores


def features(problem: Problem) -> Any:
    """Return features of candidates, bits as such: (N, d) of float32."""
    if isinstance(problem.domain, nr.BitPool):
        assert problem.order is not None, "a pool has an order"
        bits = np.unpackbits(problem.domain.X.astype(np.uint8, copy=False), axis=1)
        return bits[np.argsort(problem.order)].astype(np.float32)
    return problem.numbers.astype(np.float32)


def forest(problem: Problem, seed: int, size: int) -> TopK:
    del size
    return TopK(problem, seed, _forest(seed))


def exploring_forest(problem: Problem, seed: int, size: int) -> TopK:
    """A fifth of every plate is drawn uniformly; candidates may be evaluated again."""
    del size
    return TopK(problem, seed, _forest(seed), share=0.2, again=True)


def exploring_boosting(problem: Problem, seed: int, size: int) -> TopK:
    """As `exploring_forest`, with gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    del size
    model = HistGradientBoostingRegressor(random_state=seed)
    return TopK(problem, seed, model, share=0.2, again=True)


def _forest(seed: int) -> Regressor:
    from sklearn.ensemble import RandomForestRegressor

    model: Regressor = RandomForestRegressor(random_state=seed)
    return model

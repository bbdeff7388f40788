"""What is believed of candidates under a context."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np

from noregret.arrays import Rows, Vector, positions
from noregret.policies import Evidence, Guarantee, ModelView
from noregret.pools import ContextPoints
from noregret.posteriors import Observations


@final
class ViewInContext:
    """A look at candidates that were evaluated under some context, as they are under this one."""

    def __init__(self, view: ModelView, X: Rows) -> None:
        self._view = view
        self._mean, self._variance = view.posterior.marginals(X)

    def means(self) -> Vector:
        return self._mean

    def interval(self, place: int) -> tuple[float, float, float]:
        mean, std = float(self._mean[place]), math.sqrt(float(self._variance[place]))
        reach = self._view.guarantee().beta * std
        return std, mean - reach, mean + reach

    def guarantee(self) -> Guarantee:
        return self._view.guarantee()

    def highest_bound(self, place: int) -> float:
        return self._view.highest_bound(place)


def in_context(
    view: ModelView, evidence: Evidence, points: ContextPoints
) -> tuple[ViewInContext, Evidence]:
    """Return a look and evidence in which every candidate that has a value is a point told.

    One that only failed, or is under way, has none. It counts what was told of it under the context
    of the evidence alone.
    """
    met, N = evidence.told.rows.copy(), points.candidates
    elsewhere = met >= N  # under another context, or off the pool
    met[elsewhere] = points.candidate[met[elsewhere] - N]
    rows = met[np.sort(np.unique(met, return_index=True)[1])]
    rows = rows[rows < N]
    X, w, place = (
        evidence.points.rows(rows),
        np.zeros(len(rows)),
        positions(rows, evidence.told.rows),
    )
    w[place >= 0] = evidence.told.counts[place[place >= 0]]
    told = Observations(rows, X, w, np.zeros(len(rows)))
    return ViewInContext(view, X), replace(evidence, told=told)

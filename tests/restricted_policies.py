"""Slow references for pools that change: a policy over all candidates, shown only some as open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret.arrays import Rows


@dataclass(eq=False)
class Restricted:
    """A policy over all candidates; those of rows outside `shown` are excluded."""

    inner: Any
    shown: slice

    def begin(self) -> Any:
        return self.inner.begin()

    def vet(self, X: Rows) -> None:
        self.inner.vet(X)

    def propose(self, state: Any, evidence: Any, room: int) -> Any:
        return self.inner.propose(state, self._restricted(evidence), room)

    def _restricted(self, evidence: Any) -> Any:
        excluded = np.ones_like(evidence.excluded)
        excluded[self.shown] = evidence.excluded[self.shown]
        return replace(evidence, excluded=excluded)


class RestrictedModel(Restricted):
    """The same of a policy with a model."""

    def look(self, state: Any, evidence: Any) -> Any:
        return self.inner.look(state, self._restricted(evidence))


class RestrictedBandit(RestrictedModel):
    """The same of one that was told the noise."""

    @property
    def noise_std(self) -> float:
        return float(self.inner.noise_std)

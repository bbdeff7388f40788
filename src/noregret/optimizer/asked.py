"""When a candidate was asked for, and on what grounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Vector
from noregret.optimizer.run_state import Records


@final
@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """When a candidate was asked for: one entry per batch, in order."""

    batches: Indices  # their numbers
    evaluations: Indices  # of the candidate, in each
    std: Vector  # its standard deviation when the batch was opened; NaN where not known …
    beta: Vector  # … and by how much deviations were multiplied
    reasons: npt.NDArray[np.str_]  # why the batch ended

    @classmethod
    def of(cls, records: Records, row: int) -> Asked:
        """Return when a row was asked for, by a walk over all runs."""
        at = np.flatnonzero(records.runs["row"] == row)
        ends = np.cumsum(records.batches["runs"])
        batches, first, place = np.unique(
            np.searchsorted(ends, at, side="right"), return_index=True, return_inverse=True
        )
        evaluations = np.zeros(len(batches), dtype=np.int64)
        np.add.at(evaluations, place, records.runs["repeats"][at])
        beta, deviations = (
            records.batches["beta"][batches],
            np.sqrt(records.runs["variance"][at[first]]),
        )
        std = np.where(np.isnan(beta), np.nan, deviations)
        return cls(batches, evaluations, std, beta, records.shown()["reason"][batches])

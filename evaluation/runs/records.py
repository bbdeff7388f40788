"""What a cell leaves behind: curves at a few hundred steps."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from noregret.arrays import Indices

WORKERS = (1, 16, 128)  # machines that evaluate at the same time, where evaluations take time


class Record(TypedDict):
    """Curves of one run, one entry a step of `steps`."""

    steps: list[int]  # evaluations so far
    regret: list[float]  # cumulative regret
    simple: list[float]  # gap of the best candidate evaluated so far, history included
    unique: list[int]  # different candidates among those asked for
    switches: list[int]  # how often the next evaluation was of another candidate than the last
    batch: list[int]  # size of the batch that this step is in
    batches: list[int]
    seconds: list[float]  # processor time of asks and tells
    total: dict[str, list[float]]  # that and the evaluations' own time, by the number of workers
    uniform: float  # expected regret of one uniform evaluation


def checkpoints(horizon: int) -> Indices:
    """Return some two hundred steps up to the horizon, early ones densely."""
    early = np.geomspace(1, horizon, 80)
    even = np.linspace(1, horizon, 121)
    return np.unique(np.concatenate([early, even]).round().astype(np.int64))

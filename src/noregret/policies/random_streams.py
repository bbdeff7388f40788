"""Chance: one stream of random numbers per purpose and step, all from one seed."""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np


@unique
class Purpose(IntEnum):
    """What a stream is for; no stream serves two purposes. The numbers are part of saved runs."""

    START = 0
    DICTIONARY = 1
    POLICY = 2
    THOMPSON = 3
    LEARNING = 4
    EXPLORATION = 5


def stream(seed: int, purpose: Purpose, step: int) -> np.random.Generator:
    """Return the generator for one purpose at one step (the number of batches opened before)."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), step)))

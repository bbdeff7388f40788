"""Abalone and Cadata: a regression target as the function to be maximised."""

from __future__ import annotations

import json

import numpy as np

from evaluation.data.files import path_of
from evaluation.problems.comparison.base import Problem, recorded
from evaluation.problems.comparison.listing import floats, framed, measured, sheet


def abalone(*, noisy: bool = False) -> Problem:
    """Rings of 4177 shells, by sex and seven measures."""
    table = sheet("abalone.csv.gz")
    rings = floats(table.pop("rings"))
    columns = {name: text if name == "sex" else floats(text) for name, text in table.items()}
    return recorded("abalone", "Abalone", framed(columns, mutable=False), rings, noisy=noisy)


def cadata(*, noisy: bool = False) -> Problem:
    """Median value of houses in 20 640 census blocks, by eight numbers."""
    with np.load(path_of("cadata.npz"), allow_pickle=False) as held:
        listing = measured(json.loads(str(held["header"]))["features"], held["X"])
        return recorded("cadata", "Cadata", listing, held["y"], noisy=noisy)

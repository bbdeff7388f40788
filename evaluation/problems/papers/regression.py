"""Abalone and Cadata: a regression target as the function to be maximised (BBKB 2020, section 5).

The paper scales targets to [0, 1] and adds Gaussian noise of standard deviation 0.01. It does not
say what was done to the features: we standardise each (`-unit` scales each to [0, 1] instead).
Abalone's sex, a word, becomes −1 (F), 0 (I) or 1 (M), so that d = 8 as in the paper.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np

from evaluation.data.files import path_of
from evaluation.problems.papers.base import GaussianNoise, Problem, scaled_to_unit, standardised
from noregret.arrays import Matrix, Vector

NOISE_STD = 0.01
SEX = {"F": -1.0, "I": 0.0, "M": 1.0}


def abalone(features: str = "standardised") -> Problem:
    with gzip.open(path_of("abalone.csv.gz"), "rt", newline="") as lines:
        rows = [
            [SEX[row["sex"]], *(float(value) for name, value in row.items() if name != "sex")]
            for row in csv.DictReader(lines)
        ]
    table = np.array(rows)
    return _problem("abalone", "Abalone", table[:, :-1], table[:, -1], features)


def cadata(features: str = "standardised") -> Problem:
    with np.load(path_of("cadata.npz"), allow_pickle=False) as held:
        return _problem("cadata", "Cadata", held["X"], held["y"], features)


def _problem(name: str, title: str, X: Matrix, y: Vector, features: str) -> Problem:
    scaled = {"standardised": standardised, "unit": _unit_columns}[features]
    title = title if features == "standardised" else f"{title} on [0, 1]"
    truth = scaled_to_unit(y)
    noise = GaussianNoise(truth, np.full(len(truth), NOISE_STD))
    return Problem(name, title, scaled(X), truth, noise, NOISE_STD)


def _unit_columns(X: Matrix) -> Matrix:
    scaled: Matrix = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return scaled

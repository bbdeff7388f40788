"""A real problem: molecules by their docking scores, alike by their fingerprints."""

from __future__ import annotations

import numpy as np

import noregret as nr
from evaluation.data.files import arrays
from evaluation.problems.speed import Problem
from noregret.arrays import Vector

FILE = "enamine50k_docking.npz"


def make_molecules(N: int, *, seed: int = 0) -> Problem:
    """Return the first N of Enamine's 49 706 molecules; f is 0 on average and 1 at the best.

    AutoDock Vina scores of Graff et al. (2021), lower being better, and Morgan fingerprints of
    2048 bits, compared by Tanimoto.
    """
    bits, energies = arrays(FILE, "fp", "y")
    packed, scores = bits[:N], energies[:N].astype(np.float64)
    f: Vector = (scores.mean() - scores) / (scores.mean() - scores.min())
    return Problem(nr.BitPool(packed, packed=True).X, f, nr.Tanimoto(), seed)

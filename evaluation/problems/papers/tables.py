"""NAS-Bench-201 and FCNet: real trainings with replicates, in place of NAS-Bench-101.

The papers' NAS-Bench-101 outcomes are a download of their own (`nasbench101.py`); where they are
missing, these stand in: cells of a network on CIFAR-10, and settings of a small regression network.
Features are treated as the papers treat theirs: scaled to at most unit norm.
"""

from __future__ import annotations

import numpy as np

from evaluation.data.files import path_of
from evaluation.problems.papers.base import (
    Problem,
    Replicates,
    at_most_unit_norm,
    noise_level,
    scaled_to_unit,
)

STANDING_IN = " (in place of NAS-Bench-101)"
OPERATIONS = 5  # of NAS-Bench-201, each edge of a cell has one


def nasbench201() -> Problem:
    """Validation accuracy of 15 625 cells on CIFAR-10, two or three trainings each."""
    with np.load(path_of("nasbench201.npz"), allow_pickle=False) as held:
        one_hot, runs = held["X"].astype(np.float64), held["val_acc_cifar10"] / 100
        seconds = held["train_time_cifar10"].astype(np.float64)
    d = one_hot.shape[1]
    groups = tuple(tuple(range(j, j + OPERATIONS)) for j in range(0, d, OPERATIONS))
    return Problem(
        "nasbench201",
        f"NAS-Bench-201{STANDING_IN}",
        at_most_unit_norm(one_hot),
        np.nanmean(runs, axis=1),
        Replicates(runs),
        noise_level(runs),
        seconds,
        groups,
    )


def fcnet() -> Problem:
    """Minus the logarithm of the loss of 62 208 settings (protein structure), four runs each.

    Losses range over many powers of ten where trainings diverge, so logs are scaled to [0, 1].
    """
    with np.load(path_of("fcnet.npz"), allow_pickle=False) as held:
        X = held["X"].astype(np.float64)
        runs = scaled_to_unit(-np.log(held["val_loss_protein_structure"].astype(np.float64)))
        seconds = held["train_time_protein_structure"].astype(np.float64).mean(axis=1)
    return Problem(
        "fcnet",
        f"FCNet{STANDING_IN}",
        at_most_unit_norm(X),
        runs.mean(axis=1),
        Replicates(runs),
        noise_level(runs),
        seconds,
        tuple((j,) for j in range(X.shape[1])),
    )

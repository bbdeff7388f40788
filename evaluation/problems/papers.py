"""The papers' problems: regression targets, functions on a grid, and architectures.

BBKB (2020, section 5) scales the targets of Abalone and Cadata to [0, 1] and adds Gaussian noise of
standard deviation 0.01. It does not say what was done to the features: we standardise each
(`-unit` scales each to [0, 1] instead). Abalone's sex, a word, becomes −1 (F), 0 (I) or 1 (M), so
that d = 8 as in the paper.

Where NAS-Bench-101's outcomes, a download of their own (`nasbench101.py`), are missing, a sample
of its cells takes their place (`nasbench101_sample.py`), and other trainings stand in: cells of
another network on CIFAR-10, and settings of a small regression network. Features are scaled to at
most unit norm, as the papers scale theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from evaluation.data.files import arrays, columns, find
from evaluation.problems import bbob, nasbench101, nasbench101_sample
from evaluation.problems.base import Problem, recorded, replicated
from evaluation.problems.candidates import at_most_unit_norm, blocks, in_order
from noregret.arrays import Matrix, Vector

NOISE_STD = 0.01
SEX = {"F": -1.0, "I": 0.0, "M": 1.0}
STANDING_IN = " (in place of NAS-Bench-101)"
OPERATIONS = 5  # of NAS-Bench-201, each edge of a cell has one


def abalone() -> tuple[Matrix, Vector]:
    sex, *numbers = columns("abalone.csv.gz").values()
    table = np.array([[SEX[word] for word in sex], *numbers], dtype=np.float64).T.copy()
    return table[:, :-1], table[:, -1]


def cadata() -> tuple[Matrix, Vector]:
    X, y = arrays("cadata.npz", "X", "y")
    return X, y


def regression(name: str, load: Callable[[], tuple[Matrix, Vector]], *, unit: bool) -> Problem:
    """A regression target as the function to be maximised."""
    X, y = load()
    title = f"{name.title()} on [0, 1]" if unit else name.title()
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0) if unit else standardised(X)
    listing = in_order(scaled)
    return recorded(name, title, listing, scaled_to_unit(y), noise=NOISE_STD)


def standardised(X: Matrix) -> Matrix:
    """Every column with mean 0 and standard deviation 1; a constant column is 0."""
    std = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(std > 0, std, 1.0))


def scaled_to_unit(values: np.ndarray) -> np.ndarray:
    """Shift and scale so that the least is 0 and the most is 1; NaN stays."""
    least, most = np.nanmin(values), np.nanmax(values)
    return np.asarray((values - least) / (most - least))


def nasbench201() -> Problem:
    """Validation accuracy of 15 625 cells on CIFAR-10, two or three trainings each."""
    one_hot, percent, seconds = arrays(
        "nasbench201.npz", "X", "val_acc_cifar10", "train_time_cifar10"
    )
    X = at_most_unit_norm(one_hot.astype(np.float64))
    listing = in_order(X, blocks(X.shape[1], OPERATIONS))
    title = f"NAS-Bench-201{STANDING_IN}"
    return replicated("nasbench201", title, listing, percent / 100, seconds.astype(np.float64))


def fcnet() -> Problem:
    """Minus the logarithm of the loss of 62 208 settings (protein structure), four runs each.

    Losses range over many powers of ten where trainings diverge, so logs are scaled to [0, 1].
    """
    X, losses, seconds = arrays(
        "fcnet.npz", "X", "val_loss_protein_structure", "train_time_protein_structure"
    )
    runs = scaled_to_unit(-np.log(losses.astype(np.float64)))
    listing = in_order(at_most_unit_norm(X.astype(np.float64)), blocks(X.shape[1]))
    took = seconds.astype(np.float64).mean(axis=1)
    return replicated("fcnet", f"FCNet{STANDING_IN}", listing, runs, took)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "abalone": partial(regression, "abalone", abalone, unit=False),
    "abalone-unit": partial(regression, "abalone", abalone, unit=True),
    "cadata": partial(regression, "cadata", cadata, unit=False),
    "cadata-unit": partial(regression, "cadata", cadata, unit=True),
    "fcnet": fcnet,
    "nasbench101": nasbench101.nasbench101,
    "nasbench101-sample": nasbench101_sample.sample,
    "nasbench101-subset": nasbench101_sample.subset,
    "nasbench201": nasbench201,
    **{name: partial(bbob.bbob, name) for name in bbob.SETTINGS},
}


@cache
def problem(name: str) -> Problem:
    return PROBLEMS[name]()


SAMPLED = ("nasbench101-sample", "nasbench101-subset")
STAND_INS = ("nasbench201", "fcnet")


def architectures() -> tuple[str, ...]:
    """Return the problems of the NAS figures: NAS-Bench-101 if it is at hand.

    Else a sample of it, where that is at hand, with the stand-ins beside it.
    """
    real = cells()
    return (*real, *STAND_INS) if real == SAMPLED else real


def cells() -> tuple[str, ...]:
    """Return NAS-Bench-101, or the sample of it; the stand-ins where neither is at hand."""
    if any(find(file) for file in (nasbench101.OUTCOMES, nasbench101.ALL_OUTCOMES)):
        return ("nasbench101",)
    return SAMPLED if find(nasbench101_sample.FILE) else STAND_INS

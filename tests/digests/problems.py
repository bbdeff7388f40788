"""Problems of the digests: every kind of domain, tiny, with a function on it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import noregret as nr

Floats = npt.NDArray[np.float64]
Anything = npt.NDArray[Any]
Function = Callable[[Anything], Floats]
Domain = nr.Pool | nr.BitPool | nr.MappedPool | nr.Box


@dataclass(frozen=True, eq=False)
class Problem:
    """A domain, a function on the features of its candidates, and what a model is told of it."""

    domain: Domain
    f: Function
    kernel: nr.Kernel
    noise_std: float = 0.3
    believed: float = 1.0  # noise that a model is told: above the true one, so that batches grow
    elsewhere: Anything = field(default_factory=lambda: np.zeros((0, 1)))  # told by features
    told: tuple[Any, Any] | tuple[()] = ()  # ids told without being asked for, of a pool
    closed: tuple[Any, ...] = ()  # ids that are excluded, of a pool
    settings: dict[str, Any] = field(default_factory=dict)  # of every algorithm

    def measure(self, X: Anything, key: int) -> list[Any]:
        """Return a value for each row of features, its noise drawn for this key."""
        noise = np.random.default_rng([8, key]).standard_normal(len(X))
        return list(self.f(np.asarray(X)) + self.noise_std * noise)


def waves(X: Anything) -> Floats:
    """A hill among smaller ones, on features in [0, 1]."""
    hill = np.exp(-8 * ((X[:, 0] - 0.6) ** 2 + (X[:, 1] - 0.3) ** 2))
    return np.asarray(hill + 0.3 * np.sin(9 * X[:, 0]) * np.cos(5 * X[:, 1]), dtype=np.float64)


def of_bits(X: Anything) -> Floats:
    rows = np.unpackbits(X, axis=1)
    return np.asarray((rows * np.cos(np.arange(rows.shape[1]))).sum(axis=1) / 6)


def of_box(X: Anything) -> Floats:
    where = (np.log10(X[:, 0]) + 2, X[:, 1] / 8, X[:, 2])
    return np.asarray(np.sin(2 * where[0]) - (where[1] - 0.6) ** 2 - (where[2] - 0.2) ** 2)


def of_table(X: Anything) -> Floats:
    return np.asarray((X * np.sin(1.0 + np.arange(X.shape[1]))).sum(axis=1))


def constant(X: Anything) -> Floats:
    return np.full(len(X), 2.5)


def capped(X: Anything) -> Floats:
    """Many candidates share the highest value."""
    return np.minimum(waves(X), 0.5)


def points(seed: int, size: int, dim: int) -> Floats:
    return np.random.default_rng([seed, size, dim]).random((size, dim))


def plain() -> Problem:
    kernel = nr.Matern(nu=2.5, lengthscale=0.3)
    off = points(1, 2, 2)
    return Problem(nr.Pool(points(0, 120, 2)), waves, kernel, 0.3, 1.0, off, (5, 17), (3, 40))


def named() -> Problem:
    """Names for ids, three features, the smallest value wanted, and a mean far from nought."""
    names = [f"c{i:03}" for i in range(80)]
    pool = nr.Pool(points(2, 80, 3), names=names)
    settings = {"goal": "min", "offset": 7.0, "seed": 3}
    shape = 0.5 * nr.RBF((0.3, 0.4, 2.0))
    off = points(3, 2, 3)
    told, closed = ("c005", "c017"), ("c003", "c040")
    return Problem(pool, lambda X: 7.0 - waves(X), shape, 0.2, 0.5, off, told, closed, settings)


def twins() -> Problem:
    """Every candidate comes twice, and some three times: ties must break by the lowest row."""
    X = points(4, 30, 2).round(1)
    pool = nr.Pool(np.concatenate([X, X, X[:6]]))
    return Problem(pool, waves, nr.RBF(0.3), 0.4, 1.2, points(5, 1, 2), (5, 35), (3, 33))


def bits() -> Problem:
    rows = np.random.default_rng(6).random((90, 48)) < 0.2
    rows[7], rows[9] = rows[3], False
    off = rows[:2] ^ (np.arange(48) < 3)
    pool, settings = nr.BitPool(rows), {"seed": 1}
    return Problem(pool, of_bits, nr.Tanimoto(), 0.3, 1.0, off, (5, 17), (3, 40), settings)


def box() -> Problem:
    domain = nr.Box([(1e-3, 1.0), (1, 8), (0.0, 1.0)], log=[0], integer=[1])
    off = np.array([[0.01, 4.0, 0.5], [0.5, 8.0, 0.0]])
    return Problem(domain, of_box, nr.Matern(nu=2.5, lengthscale=0.4), 0.3, 1.0, off)


def table() -> Problem:
    """Words and numbers of a frame, a name each."""
    import pyarrow

    rng = np.random.default_rng(7)
    frame = pyarrow.table(
        {
            "entry": [f"r{i}" for i in range(72)],
            "base": [("NaOH", "KOH", "none")[i % 3] for i in range(72)],
            "solvent": [("water", "DMF")[i // 3 % 2] for i in range(72)],
            "heat": rng.integers(20, 90, 72) / 100.0,
        }
    )
    pool = nr.Pool.from_frame(frame, name="entry")
    told, closed = ("r5", "r17"), ("r3", "r40")
    return Problem(pool, of_table, nr.RBF(1.0), 0.2, 0.8, pool.X[:1] + 0.125, told, closed)


def mapped() -> Problem:
    """A pool on disk; what is read of it stays open when the file is gone."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", points(8, 150, 2))
        pool = nr.MappedPool(Path(folder) / "X.npy")
        kernel = 0.8 * nr.Matern(nu=1.5, lengthscale=0.4)
        return Problem(pool, waves, kernel, 0.3, 1.0, points(9, 1, 2), (5, 17), (3, 40))


def even(of: int, size: int, f: Function, noise_std: float, believed: float = 1.0) -> Problem:
    """Candidates of two features, and a kernel of one lengthscale."""
    shape = nr.RBF(0.3 if noise_std == 0 else 0.2)
    return Problem(nr.Pool(points(of, size, 2)), f, shape, noise_std, believed)


def wholes() -> Problem:
    """A box of whole numbers alone, of 35 points."""
    box = nr.Box([(0, 6), (1, 5)], integer=[0, 1])
    return Problem(box, lambda X: waves(X / 6.0), nr.RBF(0.4), 0.2)


def line() -> Problem:
    """One feature, as two of the kernels want it: the numbers of rows."""
    return Problem(nr.Pool.numbered(40), lambda X: np.sin(X[:, 0] / 5.0), nr.RBF(6.0), 0.2)


KINDS = (plain, named, twins, bits, box, table, mapped, wholes, line)
MAKERS: dict[str, Callable[[], Problem]] = {
    **{make.__name__: make for make in KINDS},
    "still": lambda: even(10, 60, constant, 0.0, 0.1),  # the same value everywhere
    "certain": lambda: even(11, 100, waves, 0.0, 0.1),  # without noise
    "ceiling": lambda: even(13, 100, capped, 0.0, 0.1),
    "many": lambda: even(12, 2300, waves, 0.3),  # more than an exact posterior is kept for
}


@cache
def problem(name: str) -> Problem:
    return MAKERS[name]()

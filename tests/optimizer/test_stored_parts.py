"""Which parts a saved run holds: kernels, numbers, and classes that are marked."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.errors import SnapshotError
from noregret.kernels import Kernel
from noregret.storable import storable
from small_stories import ALGORITHMS, POOL, X, rewritten, run

KERNELS: list[Kernel] = [
    nr.RBF(0.3),
    nr.RBF((0.3, 0.7)),
    nr.Matern(nu=0.5, lengthscale=(0.1, 2.0)),
    nr.Linear(0.5),
    2.5 * nr.Matern(nu=1.5, lengthscale=0.3),
    nr.RBF(0.3) + nr.Linear(1.0),
    nr.RBF(0.3) * nr.Matern(lengthscale=(1 / 3, 0.1)),
    0.1 * (nr.RBF(1 / 3) + 2.0 * nr.Linear()) * (nr.Matern(nu=0.5) + 3.0 * nr.RBF((0.2, 0.9))),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("make", [nr.mini_gp_ucb, nr.bbkb])
def test_own_kernels_come_back_whole(
    make: Callable[..., nr.Optimizer], kernel: Kernel, tmp_path: Path
) -> None:
    """A lengthscale that lost its last digit gives other choices."""
    optimizer = make(POOL, kernel=kernel, noise_std=0.3, limit=9.0)
    run(optimizer, 0, 5)
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    np.testing.assert_array_equal(
        again.posterior.covariance(X, X), optimizer.posterior.covariance(X, X)
    )
    assert run(again, 5, 9) == run(optimizer, 5, 9)


@dataclass(frozen=True)
class Foreign:
    """Somebody else's kernel."""

    rate: float = 3.0

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        gaps: Matrix = np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2)
        return np.exp(-self.rate * gaps)

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (partial(nr.gp_bucb, min_batch=2, limit=9.0), Foreign()),
        (partial(nr.bbkb, min_batch=2, limit=9.0), Foreign()),
        (nr.gp_ucb, 2.0 * nr.Sum(Foreign(), nr.Linear())),
        (nr.gp_ucb, nr.Sum(Foreign(1.0), Foreign(9.0))),
    ],
)
def test_kernels_of_others_are_given_again_whole(
    make: Callable[..., nr.Optimizer], kernel: Kernel, tmp_path: Path
) -> None:
    """Their code cannot be kept in a file without running whatever the file says.

    What the algorithm was given is what load() is given; anything else is another model.
    """
    optimizer = make(POOL, kernel=kernel, noise_std=0.3)
    run(optimizer, 0, 6)
    optimizer.save(tmp_path / "run")
    with pytest.raises(SnapshotError, match="give it again"):
        nr.load(tmp_path / "run", pool=POOL)
    for other in () if isinstance(kernel, Foreign) else (Foreign(), nr.Scaled(kernel, 2.0)):
        with pytest.raises(SnapshotError, match="is not the kernel of the saved run"):
            nr.load(tmp_path / "run", pool=POOL, kernel=other)
    again = nr.load(tmp_path / "run", pool=POOL, kernel=deepcopy(kernel))
    assert run(again, 6, 10) == run(optimizer, 6, 10)


NUMBERS: list[Any] = [np.float32(0.5), np.int64(1)]


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (nr.mini_gp_ucb, {"limit": np.float32(2.0)}),
        (nr.mini_gp_ucb, {"limit": np.int64(3)}),
        (nr.gp_bucb, {"limit": np.int64(3)}),
        (nr.gp_ucb, {"ridge": np.float32(0.5)}),
        (nr.gp_ucb, {"noise_std": np.float32(0.5)}),
        (nr.gp_ucb, {"delta": np.float32(0.5), "seed": np.int64(3), "offset": np.float32(1)}),
        (nr.gp_ucb, {"norm_bound": np.int64(2), "start": np.array([1, 2])}),
        (nr.gp_ucb, {"kernel": nr.RBF(NUMBERS[0])}),
        (nr.gp_ucb, {"kernel": nr.Scaled(nr.RBF(), NUMBERS[0])}),
        (nr.gp_ucb, {"kernel": nr.RBF() + nr.Linear(NUMBERS[1])}),
        (nr.gp_ucb, {"kernel": nr.Matern(nu=NUMBERS[0])}),
        (nr.bkb, {"horizon": np.int64(50)}),
        (nr.bbkb, {"oversample": np.int64(3)}),
        (nr.bbkb, {"min_batch": np.int64(1)}),
        (nr.gp_ucb, {"width": nr.RKHSWidth(NUMBERS[0])}),
        (nr.uniform, {"batch_size": np.int64(4)}),
        (nr.epsilon_greedy, {"batch_size": np.int64(4)}),
    ],
)
def test_numbers_out_of_numpy_are_numbers(
    make: Callable[..., nr.Optimizer], settings: dict[str, object], tmp_path: Path
) -> None:
    """Settings come out of arrays; what runs must be able to be saved."""
    given = {} if "batch_size" in settings else {"kernel": nr.RBF(0.3), "noise_std": 0.5}
    optimizer = make(POOL, **{**given, **settings})
    run(optimizer, 0, 3)
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    assert run(again, 3, 5) == run(optimizer, 3, 5)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_is_pickled(name: str, tmp_path: Path) -> None:
    """A file from a stranger must not be able to run code."""
    optimizer = ALGORITHMS[name](POOL)
    run(optimizer, 0, 6)
    optimizer.save(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run") as archive:
        assert archive.testzip() is None
        for entry in archive.namelist():
            if entry == "run.json":
                json.loads(archive.read(entry))
            else:
                array = np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
                assert not array.dtype.hasobject


@storable("test.Steps")
@dataclass(frozen=True)
class Steps(Foreign):
    """A kernel of somebody who marked it."""


def test_parts_of_others_are_saved_where_they_are_marked(tmp_path: Path) -> None:
    optimizer = nr.gp_ucb(POOL, kernel=2.0 * nr.Sum(Steps(2.0), nr.Linear()), noise_std=0.3)
    run(optimizer, 0, 4)
    optimizer.save(tmp_path / "run")
    again = nr.Optimizer.load(tmp_path / "run", pool=POOL)
    assert run(again, 4, 8) == run(optimizer, 4, 8)


def test_a_class_that_is_not_marked_is_not_built(tmp_path: Path) -> None:
    """The tree names classes by tags; only those marked may be made from it."""
    ALGORITHMS["uniform"](POOL).save(tmp_path / "run")
    path = rewritten(tmp_path / "run", b'"Uniform"', b'"Popen"')
    with pytest.raises(SnapshotError, match="a part that is not known here, 'Popen'"):
        nr.load(path, pool=POOL)

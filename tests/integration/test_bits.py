"""Runs on fingerprints: packed from the pool to the kernel, in every algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Indices, Matrix, Rows
from strategies import DESCRIBED_ANYHOW, MODELS

N = 60
BITS = np.random.default_rng(5).random((N, 100)) < 0.15
BITS[7] = BITS[3]  # a duplicate …
BITS[9] = False  # … and an empty one
POOL = nr.BitPool(BITS)
GRAM: Matrix = nr.Tanimoto()(POOL.X, POOL.X)
F = GRAM[:, :6] @ np.array([1.0, -1.0, 2.0, -0.5, 0.3, 1.0])


def step(optimizer: nr.Optimizer, i: int) -> tuple[object, ...]:
    """Something happens to the run; returns what a user could see of it, to the last bit."""
    batch = optimizer.ask(at_most=4, worker="ab"[i % 2])
    ids: Indices = batch.sequence.astype(np.int64)
    optimizer.tell(batch, F[ids] + 0.1 * np.random.default_rng(i).standard_normal(len(ids)))
    if i == 3:
        optimizer.tell([i, i + 1], [F[i], nr.FAILED])
    if i == 5:
        optimizer.exclude([11])
    certificate = optimizer.certificate()
    return ids.tolist(), batch.reason, optimizer.best().mean, certificate.gap, certificate.beta


def run(optimizer: nr.Optimizer, start: int, stop: int) -> list[tuple[object, ...]]:
    return [step(optimizer, i) for i in range(start, stop)]


@pytest.mark.parametrize("name", DESCRIBED_ANYHOW)
def test_runs_are_those_of_the_gram_matrix(name: str) -> None:
    """Bits packed and compared, or their similarities looked up: the same choices."""
    make = MODELS[name]
    packed = make(POOL, kernel=nr.Tanimoto(), noise_std=0.2, seed=4)
    looked_up = make(nr.Pool.numbered(N), kernel=nr.Precomputed(GRAM), noise_std=0.2, seed=4)
    assert run(packed, 0, 12) == run(looked_up, 0, 12)


def packed_only(X: Rows, Z: Rows) -> Matrix:
    assert X.dtype == Z.dtype == np.uint8
    return nr.Tanimoto()(X, Z)


def ones(X: Rows) -> Matrix:
    assert X.dtype == np.uint8 or not len(X)
    return np.ones(len(X))


ONE_AT_A_TIME = ("gp_ucb", "gp_ei", "bkb", "bkb-incremental")


@pytest.mark.parametrize("name", MODELS)
def test_no_row_is_ever_unpacked(name: str) -> None:
    """A million fingerprints as floats are 16 GB."""
    kernel = nr.FunctionKernel(packed_only, diagonal=ones)
    settings: dict[str, object] = {} if name in ONE_AT_A_TIME else {"min_batch": 2}
    optimizer = MODELS[name](POOL, kernel=kernel, noise_std=0.5, **settings)
    optimizer.tell(~BITS[:2], [0.1, 0.2])  # off the pool
    optimizer.tell(BITS[4:6], [0.3, 0.1])  # in it
    run(optimizer, 0, 6)
    batch = optimizer.ask(at_most=3)
    assert batch.x.dtype == np.uint8
    np.testing.assert_array_equal(POOL.unpacked(batch.x), BITS[batch.ids.astype(np.int64)])
    whole = optimizer.posterior.mean(BITS)
    np.testing.assert_array_equal(optimizer.posterior.mean(POOL.X), whole)
    assert optimizer.posterior.covariance(BITS[:3], ~BITS[:2]).shape == (3, 2)
    assert optimizer.best().x.dtype == np.uint8


def test_matrices_and_functions_are_given_again(tmp_path: Path) -> None:
    """They are not kept in the file, and a different one is noticed."""
    pool, kernel = nr.Pool.numbered(N), nr.Precomputed(GRAM)
    for own in (kernel, 2.0 * kernel, nr.FunctionKernel(kernel)):
        optimizer = nr.bbkb(pool, kernel=own, noise_std=0.2)
        run(optimizer, 0, 4)
        optimizer.save(tmp_path / "run")
        with pytest.raises(nr.NoRegretError, match=r"matrix of yours.* give it again"):
            nr.load(tmp_path / "run", pool=pool)
        with pytest.raises(nr.NoRegretError, match="not the kernel of the saved run"):
            nr.load(tmp_path / "run", pool=pool, kernel=nr.Precomputed(GRAM + 0.01 * np.eye(N)))
        again = nr.load(tmp_path / "run", pool=pool, kernel=own)
        assert run(again, 4, 8) == run(optimizer, 4, 8)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("bits", [[[1]], [[0]], [[1, 0, 1]] * 3, [[0] * 70, [1] * 70]])
def test_tiny_pools(name: str, bits: list[list[int]]) -> None:
    """One candidate, one bit, all the same, nothing in common; and every value the same."""
    optimizer = MODELS[name](nr.BitPool(bits), kernel=nr.Tanimoto(), noise_std=0.1)
    for _ in range(3):
        batch = optimizer.ask(at_most=2)
        optimizer.tell(batch, [1.0] * len(batch))
    assert optimizer.best().mean > 0.5


@pytest.mark.parametrize("settings", [{"start": nr.UncertaintyDesign(4)}, {"min_batch": 2}])
def test_starts_by_uncertainty_take_bits(settings: dict[str, Any]) -> None:
    """They begin from a prior, which holds no rows of any kind."""
    pool = nr.BitPool(np.random.default_rng(0).integers(0, 2, (30, 40)))
    optimizer = nr.mini_gp_ucb(pool, kernel=nr.Tanimoto(), noise_std=1.0, **settings)
    assert len(optimizer.ask(at_most=3)) == 3

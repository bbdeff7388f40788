"""Points off the pool: numbered, recognised, believed, never recommended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.pools import Points, hashed
from noregret.pools.row_lookup import RowLookup
from noregret.testing.base import play
from slow_references import DenseGP

X = np.random.default_rng(0).random((30, 2))


@given(st.integers(0, 2**20))
def test_rows_are_found_by_their_features(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 3, (40, 3)).astype(np.float64)
    wanted = rng.integers(0, 4, (25, 3)).astype(np.float64)
    wanted[wanted == 0] *= -1.0  # −0 is 0
    found = RowLookup(nr.Pool(pool)).rows(wanted)
    for row, x in zip(found.tolist(), wanted, strict=True):
        same = np.flatnonzero((pool == x).all(axis=1))
        assert row == (same[0] if same.size else -1)


def test_equal_hashes_are_not_taken_for_equal_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance must not mistake one candidate for another."""
    clashing = "noregret.pools.row_lookup.hashed"
    monkeypatch.setattr(clashing, lambda X: np.zeros(len(X), dtype=np.uint64))
    assert RowLookup(nr.Pool(X)).rows(X[[7, 3]]).tolist() == [7, 3]
    assert RowLookup(nr.Pool(X)).rows(X[[7]] + 1.0).tolist() == [-1]


def test_hashes_differ() -> None:
    many = np.random.default_rng(1).random((20_000, 3))
    assert len(np.unique(hashed(many))) == 20_000
    assert len(np.unique(hashed(np.eye(200)))) == 200


def test_places_number_what_is_new() -> None:
    points = Points(nr.Pool(X))
    off = np.array([[2.0, 2.0], [3.0, 3.0], [2.0, 2.0]])
    assert points.register(np.vstack([X[[5]], off])).tolist() == [5, 30, 31, 30]
    assert points.register(off[[1]]).tolist() == [31]
    assert len(points) == 32
    np.testing.assert_array_equal(points.rows(np.array([31, 4, 30])), [off[1], X[4], off[0]])


def test_values_off_the_pool_are_believed_but_not_recommended() -> None:
    off = np.array([[0.5, 1.5], [0.2, -0.3]])
    optimizer = nr.gp_ucb(nr.Pool(X), kernel=nr.RBF(0.4), noise_std=0.1)
    optimizer.tell([3], [0.2])
    optimizer.tell(off, [5.0, -1.0])
    optimizer.tell(off[[0]], means=[4.0], counts=[3])
    optimizer.tell(X[[8]], [0.1])  # in the pool, though given by its features
    known = np.vstack([X[[3]], *[off[[0]]] * 4, off[[1]], X[[8]]])
    dense = DenseGP(nr.RBF(0.4), 0.01, known, np.array([0.2, *[4.25] * 4, -1.0, 0.1]))
    np.testing.assert_allclose(optimizer.posterior.mean(X), dense.mean(X), rtol=1e-9)
    assert (optimizer.unique, optimizer.evaluations) == (4, 7)
    assert optimizer.best().id in (3, 8)
    batch = optimizer.ask()
    assert (batch.ids.astype(np.int64) < 30).all()


def test_points_that_the_kernel_cannot_take_are_refused_before_they_are_told() -> None:
    """Written down, they would break every later ask, and nothing could take them back."""
    numbered = nr.gp_ucb(nr.Pool.numbered(6), kernel=nr.Precomputed(np.eye(6)), noise_std=0.1)
    codes = nr.Pool([[0.0, 1.0], [1.0, 0.0]])
    grouped = nr.gp_ucb(codes, kernel=nr.Categorical(groups=(2,)), noise_std=0.1)
    for optimizer, bad in ((numbered, [[9.0]]), (grouped, [[0.5, 0.5]])):
        with pytest.raises(nr.NoRegretError):
            optimizer.tell(bad, [1.0])
        assert optimizer.evaluations == 0
        optimizer.ask()


def test_a_run_with_points_off_the_pool_is_saved_whole(tmp_path: Path) -> None:
    one = nr.mini_gp_ucb(nr.Pool(X), kernel=nr.RBF(0.4), noise_std=0.1)
    one.tell([[0.5, 1.5], [0.2, -0.3]], [5.0, -1.0])
    one.save(tmp_path / "run")
    other = nr.load(tmp_path / "run", pool=nr.Pool(X))
    assert play(one, 4) == play(other, 4)
    other.tell([[0.5, 1.5]], [5.0])
    assert other.unique == one.unique

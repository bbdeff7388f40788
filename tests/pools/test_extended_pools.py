"""Pools with candidates added: the same as those that had them from the start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.pools import Points
from noregret.pools.row_lookup import RowLookup
from noregret.pools.stacked_table import stacked_table

X = np.random.default_rng(2).random((9, 3)).round(1)
BITS = (np.random.default_rng(3).random((9, 20)) < 0.3).astype(np.uint8)
NAMES = ["a", "b", "cc", "d", "eeeee", "f", "g", "h", "i"]
FRAME = pd.DataFrame(
    {"id": NAMES, "salt": ["K", "Na", "Cs"] * 3, "heat": np.linspace(20, 80, 9), "on": [True] * 9}
)


def on_disk(folder: Path, rows: Any) -> nr.MappedPool:
    np.save(folder / f"{len(rows)}.npy", rows)
    return nr.MappedPool(folder / f"{len(rows)}.npy")


Extended = Callable[[Path], "tuple[Any, Any]"]  # a pool that grew, and one that did not have to
KINDS: dict[str, Extended] = {
    "array": lambda _: (nr.Pool(X[:4]).extended(X[4:6]).extended(X[6:]), nr.Pool(X)),
    "one": lambda _: (nr.Pool(X[:8]).extended(X[8]), nr.Pool(X)),
    "names": lambda _: (
        nr.Pool(X[:4], names=NAMES[:4]).extended(X[4:], NAMES[4:]),
        nr.Pool(X, names=NAMES),
    ),
    "numbers": lambda _: (
        nr.Pool(X[:4], names=[7, 5, 3, 1]).extended(X[4:], range(10, 15)),
        nr.Pool(X, names=[7, 5, 3, 1, *range(10, 15)]),
    ),
    "pool": lambda _: (
        nr.Pool(X[:4], names=NAMES[:4]).extended(nr.Pool(X[4:], names=NAMES[4:])),
        nr.Pool(X, names=NAMES),
    ),
    "frame": lambda _: (
        nr.Pool.from_frame(FRAME[:4], name="id").extended(FRAME[4:]),
        nr.Pool.from_frame(FRAME, name="id"),
    ),
    "frame of other names": lambda _: (
        nr.Pool.from_frame(FRAME[:4], name="id").extended(FRAME[4:].drop(columns="id"), NAMES[4:]),
        nr.Pool.from_frame(FRAME, name="id"),
    ),
    "frame of a pool": lambda _: (
        nr.Pool.from_frame(FRAME[:4], name="id").extended(nr.Pool.from_frame(FRAME[4:], name="id")),
        nr.Pool.from_frame(FRAME, name="id"),
    ),
    "bits": lambda _: (nr.BitPool(BITS[:4]).extended(BITS[4:]), nr.BitPool(BITS)),
    "packed": lambda _: (
        nr.BitPool(BITS[:4]).extended(np.packbits(BITS[4:], axis=1)),
        nr.BitPool(BITS),
    ),
    "bits of a pool": lambda _: (
        nr.BitPool(BITS[:4], names=NAMES[:4]).extended(nr.BitPool(BITS[4:], names=NAMES[4:])),
        nr.BitPool(BITS, names=NAMES),
    ),
    "mapped": lambda folder: (
        on_disk(folder, X[:4]).extended(X[4:6]).extended(X[6:]),
        nr.Pool(X),
    ),
    "mapped by files": lambda folder: (
        on_disk(folder, X[:4].astype(np.float32))
        .extended(on_disk(folder, X[4:6]))
        .extended(X[6:8])
        .extended(X[8:]),
        nr.Pool(np.concatenate([X[:4].astype(np.float32), X[4:]])),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_pool_that_has_them_all(kind: str, tmp_path: Path) -> None:
    """By its rows, names and fingerprint: a saved run must go on with either."""
    grown, whole = KINDS[kind](tmp_path)
    index = np.random.default_rng(0).integers(0, 9, 20)
    assert len(grown) == len(whole) == 9
    np.testing.assert_array_equal(grown.rows(index), whole.rows(index))
    assert grown.rows(index).dtype == whole.rows(index).dtype
    for size in (1, 3, 5, 20):
        chunks = list(grown.chunks(size))
        assert [start for start, _ in chunks] == list(range(0, 9, size))
        np.testing.assert_array_equal(np.concatenate([c for _, c in chunks]), whole.rows(range(9)))
    keys = whole.keys(np.arange(9))
    np.testing.assert_array_equal(grown.keys(np.arange(9)), keys)
    np.testing.assert_array_equal(grown.find(keys[[8, 0, 5]]), [8, 0, 5])
    assert grown.fingerprint() == whole.fingerprint()
    if isinstance(grown, nr.Pool | nr.BitPool):
        np.testing.assert_array_equal(grown.X, whole.X)
        assert not grown.X.flags.writeable
        assert repr(grown) == repr(whole)
        assert grown.fingerprint() == whole.fingerprint()


def test_columns_keep_their_scale() -> None:
    """A column scaled again would move every candidate that there was."""
    pool = nr.Pool.from_frame(FRAME[:5], features=["heat"], scale="unit")
    more = pool.extended(FRAME[5:])
    assert more.X[:5].min() == 0.0
    assert more.X[:5].max() == 1.0
    np.testing.assert_allclose(more.X[:, 0], np.arange(9) / 4)
    with pytest.raises(nr.NoRegretError, match="must have the features of the pool"):
        pool.extended(nr.Pool.from_frame(FRAME[5:], features=["heat"], scale="unit"))


@given(st.lists(st.integers(1, 4), min_size=2, max_size=6), st.integers(0, 2**20))
def test_stacked_tables_are_one_table(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.random((size, 2)) for size in sizes]
    whole, table = np.concatenate(parts), stacked_table(parts[0], parts[1])
    for part in parts[2:]:
        table = stacked_table(table, part)
    start, stop = sorted(rng.integers(0, len(whole) + 3, 2).tolist())
    index = rng.integers(0, len(whole), 7)
    assert table.shape == whole.shape
    assert len(table.parts) <= 3
    np.testing.assert_array_equal(table[start:stop], whole[start:stop])
    np.testing.assert_array_equal(table[index], whole[index])


@given(st.integers(1, 20), st.integers(0, 2**20))
def test_a_lookup_of_more_rows_is_that_of_all(first: int, seed: int) -> None:
    """Of candidates that agree the lowest row is meant, be it old or new."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (30, 2)).astype(np.float64)
    grown = RowLookup(nr.Pool(rows[:first])).extended(nr.Pool(rows))
    wanted = rng.integers(0, 4, (12, 2)).astype(np.float64)
    np.testing.assert_array_equal(grown.rows(wanted), RowLookup(nr.Pool(rows)).rows(wanted))


def test_points_off_the_pool_stand_behind_new_candidates() -> None:
    points = Points(nr.Pool(X[:4]))
    off = np.concatenate([[[7.0, 7.0, 7.0]], X[5:6], [[8.0, 8.0, 8.0]]])
    assert points.register(off).tolist() == [4, 5, 6]
    grown, numbers = points.extended(nr.Pool(X))
    assert numbers(np.array([0, 3, 4, 5, 6])).tolist() == [0, 3, 9, 5, 10]
    assert [numbers.of(row) for row in (-1, 3, 4, 5, 6)] == [-1, 3, 9, 5, 10]
    np.testing.assert_array_equal(grown.rows(np.array([9, 5, 10])), off)
    assert grown.lookup(off).tolist() == [9, 5, 10]

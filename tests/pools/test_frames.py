"""Pools from data frames: one pool whatever the library, equal to one made by hand."""

from __future__ import annotations

import decimal
import logging
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import PoolError
from table_strategies import MAKERS, TABLE, Table, by_hand, tables

every_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every_library
@pytest.mark.parametrize("codes", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_every_library_gives_the_pool_made_by_hand(make: Any, codes: bool, unit: bool) -> None:
    """A run saved with pandas must go on with Polars."""
    features = ["heat", "salt", "grams", "dry"]
    X, names, _ = by_hand(TABLE, features, codes=codes, unit=unit)
    pool = nr.Pool.from_frame(
        make(TABLE),
        features=features,
        name="id",
        categories="codes" if codes else "onehot",
        scale="unit" if unit else None,
    )
    np.testing.assert_array_equal(pool.X, X)
    assert pool.columns == tuple(names)
    assert pool.fingerprint() == nr.Pool(X, names=TABLE["id"]).fingerprint()


@given(tables(), st.booleans(), st.booleans(), st.sampled_from(sorted(MAKERS)))
def test_any_table_is_encoded_as_by_hand(
    table: Table, codes: bool, unit: bool, library: str
) -> None:
    """Null, NaN and infinite drop their rows; the others keep every bit and their numbers."""
    if all(cell is None for cells in table.values() for cell in cells):
        return  # a column of nothing has no type in some libraries
    X, names, rows = by_hand(table, list(table), codes=codes, unit=unit)
    frame = MAKERS[library](table)
    if not rows:
        with pytest.raises(PoolError, match=r"all \d+ of \d+ rows miss|type null not supported"):
            nr.Pool.from_frame(frame, missing="drop")
        return
    if len(rows) < len(next(iter(table.values()))):
        with pytest.raises(PoolError, match="rows miss something"):
            nr.Pool.from_frame(frame)
    pool = nr.Pool.from_frame(
        frame,
        missing="drop",
        categories="codes" if codes else "onehot",
        scale="unit" if unit else None,
    )
    np.testing.assert_array_equal(pool.X, X)
    assert pool.columns == tuple(names)
    assert pool.keys(np.arange(len(pool))).tolist() == rows
    back = {name: [cells[row] for row in rows] for name, cells in table.items()}
    np.testing.assert_array_equal(pool.read("X", pa.table(back)), X)


@every_library
def test_without_features_all_columns_are_taken_but_the_name(make: Any) -> None:
    """In the order of the frame; levels in the place of their column."""
    pool = nr.Pool.from_frame(make(TABLE), name="id")
    assert pool.columns == ("salt=CsF", "salt=KF", "salt=NaF", "heat", "dry", "grams")
    assert pool.groups == {"salt": (0, 1, 2), "heat": (3,), "dry": (4,), "grams": (5,)}
    assert pool.find(["r", "p"]).tolist() == [2, 0]
    assert repr(pool) == "Pool(4 candidates × 6 features: salt (3 levels), heat, dry, grams, named)"


def test_features_may_be_listed_in_any_way() -> None:
    """`frame.columns[1:-1]` is what people write."""
    frame = pd.DataFrame(TABLE)
    expected = ("heat", "dry", "grams")
    for features in (
        frame.columns[2:],
        np.array(expected),
        iter(expected),
        dict.fromkeys(expected),
    ):
        assert nr.Pool.from_frame(frame, features=features).columns == expected


def test_a_long_repr_stays_short() -> None:
    """A thousand columns must not fill the screen."""
    pool = nr.Pool.from_frame(pa.table({f"c{i}": [0.0, 1.0] for i in range(100)}))
    assert repr(pool) == "Pool(2 candidates × 100 features: c0, c1, c2, c3, c4, c5 and 94 more)"


CATEGORIES = {
    "pandas": pd.DataFrame({"c": pd.Categorical(["v", "u", "v"], categories=["w", "v", "u"])}),
    "pandas, ordered": pd.DataFrame(
        {"c": pd.Categorical(["v", "u", "v"], categories=["v", "u"], ordered=True)}
    ),
    "polars": pl.DataFrame({"c": ["v", "u", "v"]}).cast(pl.Categorical),
    "polars, enum": pl.DataFrame({"c": ["v", "u", "v"]}).cast(pl.Enum(["w", "v", "u"])),
    "pyarrow": pa.table({"c": pa.array(["v", "u", "v"]).dictionary_encode()}),
    "pyarrow, views": pa.table({"c": pa.array(["v", "u", "v"], pa.string_view())}),
    "pyarrow, one dictionary a chunk": pa.table(
        {
            "c": pa.chunked_array(
                [pa.array(["v"]).dictionary_encode(), pa.array(["u", "v"]).dictionary_encode()]
            )
        }
    ),
    "a slice": pa.table({"c": pa.array(["w", "v", "u", "v"]).dictionary_encode()}).slice(1),
}


@pytest.mark.parametrize("frame", CATEGORIES.values(), ids=CATEGORIES)
def test_categories_are_the_levels_that_occur_sorted(frame: object) -> None:
    """Codes differ from library to library and chunk to chunk; features must not."""
    pool = nr.Pool.from_frame(frame)
    assert pool.columns == ("c=u", "c=v")
    np.testing.assert_array_equal(pool.X, [[0, 1], [1, 0], [0, 1]])
    coded = nr.Pool.from_frame(frame, categories="codes")
    np.testing.assert_array_equal(coded.X, [[1.0], [0.0], [1.0]])
    assert coded.columns == ("c",)
    assert coded.levels == pool.levels == {"c": ("u", "v")}


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pa.array([10, 9, 10]), ("c=9", "c=10")),
        (pa.array([10, 9, 10], pa.uint8()), ("c=9", "c=10")),
        (pa.array([2**60, 3, 2**60]), ("c=3", f"c={2**60}")),
        (pa.array([True, False, True]), ("c=False", "c=True")),
        (pa.array([0.5, -1.0, 0.5]), ("c=-1.0", "c=0.5")),
        (pa.array([10, 9, 10]).dictionary_encode(), ("c=9", "c=10")),
    ],
)
def test_numbers_can_be_levels(column: pa.Array, labels: tuple[str, ...]) -> None:
    """Plate 3860 is not a little more than plate 3851."""
    pool = nr.Pool.from_frame(pa.table({"c": column}), categorical=["c"])
    assert pool.columns == labels
    np.testing.assert_array_equal(pool.X, [[0, 1], [1, 0], [0, 1]])
    again = pool.read("X", pa.table({"c": column[1:]}))
    np.testing.assert_array_equal(again, [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 0, 2], pa.int8()),
        pa.array([1, 0, 2], pa.uint64()),
        pa.array([1, 0, 2], pa.float32()),
        pa.array(np.array([1, 0, 2], dtype=np.float16)),
        pa.array([decimal.Decimal("1.0"), decimal.Decimal("0.0"), decimal.Decimal("2.0")]),
        pa.array([decimal.Decimal(1), decimal.Decimal(0), decimal.Decimal(2)], pa.decimal256(60)),
    ],
    ids=lambda column: str(column.type),
)
def test_numbers_of_any_width_are_features_as_they_are(column: pa.Array) -> None:
    """Parquet narrows, databases send decimals."""
    np.testing.assert_array_equal(nr.Pool.from_frame(pa.table({"c": column})).X, [[1], [0], [2]])


def test_constant_columns_are_kept() -> None:
    """A level that all have, a number that never changes: harmless, and there when rows come."""
    frame = pa.table({"salt": ["KF", "KF"], "heat": [20.0, 20.0]})
    np.testing.assert_array_equal(nr.Pool.from_frame(frame).X, [[1, 20], [1, 20]])
    np.testing.assert_array_equal(nr.Pool.from_frame(frame, scale="unit").X, [[1, 0], [1, 0]])


def test_pandas_row_labels_are_no_feature() -> None:
    """A frame that was filtered carries its old row numbers along."""
    whole = pd.DataFrame({"heat": [20, 40, 80, 60]})
    filtered = whole[whole["heat"] != 80]
    assert "__index_level_0__" in pa.table(filtered).column_names
    assert nr.Pool.from_frame(filtered).columns == ("heat",)
    named = whole.set_index(pd.Index(["p", "q", "r", "s"], name="id"))
    pool = nr.Pool.from_frame(named, name="id")
    assert pool.columns == ("heat",)
    assert pool.find("q").tolist() == [1]


@pytest.mark.parametrize("name", ["id", None])
def test_dropped_rows_leave_ids_as_they_were(
    name: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """`frame.iloc[batch.ids]` must be the candidates that were asked for."""
    frame = pd.DataFrame({"id": ["p", None, "r", "s", "t"], "x": [0.0, 1.0, np.nan, 3.0, np.inf]})
    with caplog.at_level(logging.WARNING):
        pool = nr.Pool.from_frame(frame, features=["x"], name=name, missing="drop")
    lost = "3 of 5 rows" if name else "2 of 5 rows"
    assert lost in caplog.text
    assert "left out: rows" in caplog.text
    keys = ["p", "s"] if name else [0, 1, 3]
    assert pool.keys(np.arange(len(pool))).tolist() == keys
    optimizer = nr.mini_gp_ucb(pool, kernel=nr.RBF(1.0), noise_std=0.1, seed=1)
    for _ in range(8):
        batch = optimizer.ask(at_most=2)
        by = frame.set_index("id") if name else frame
        np.testing.assert_array_equal(by.loc[batch.sequence.tolist(), "x"], [x[0] for x in batch])
        optimizer.tell(batch, [x[0] for x in batch])
    for series in (pd.Series, pl.Series):
        optimizer.tell(series(keys), series([0.5] * len(keys)))
    optimizer.exclude(pd.Series(keys[:1]))
    assert optimizer.unique == len(keys)
    assert optimizer.best().id != keys[0]


def test_dropping_nothing_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    frame = pa.table({"x": [0.0, 1.0]})
    dropped = nr.Pool.from_frame(frame, missing="drop")
    assert dropped.fingerprint() == nr.Pool([[0.0], [1.0]]).fingerprint()
    assert caplog.text == ""


def test_rows_to_come_are_encoded_like_the_pool() -> None:
    """Points off the pool are told, and asked about, in the user's own columns."""
    frame = pd.DataFrame({"heat": [20, 40, 80], "salt": ["KF", "CsF", "KF"]})
    pool = nr.Pool.from_frame(frame, scale="unit")
    rows = pl.DataFrame({"salt": ["CsF", "KF"], "note": ["x", "y"], "heat": [50, 80]})
    expected = [[0.5, 1.0, 0.0], [1.0, 0.0, 1.0]]
    np.testing.assert_array_equal(pool.read("X", rows), expected)
    np.testing.assert_array_equal(pool.read("X", expected), expected)
    optimizer = nr.mini_gp_ucb(pool, kernel=nr.RBF(0.5), noise_std=0.1)
    optimizer.tell(rows, [1.0, 3.0])
    twin = nr.mini_gp_ucb(nr.Pool(pool.X), kernel=nr.RBF(0.5), noise_std=0.1)
    twin.tell(expected, [1.0, 3.0])
    assert optimizer.best().id == twin.best().id == 2
    for view in ("mean", "variance", "std"):
        got, wanted = getattr(optimizer.posterior, view), getattr(twin.posterior, view)
        np.testing.assert_array_equal(got(frame), wanted(pool.X))
        np.testing.assert_array_equal(got(rows), wanted(expected))


@every_library
def test_any_frame_can_be_told(make: Any) -> None:
    pool = nr.Pool.from_frame(pa.table(TABLE), features=["salt", "heat"])
    frame = make({"salt": ["NaF"], "heat": [60]})
    if not hasattr(frame, "columns") and not hasattr(frame, "__dataframe__"):
        frame = pa.table(frame)  # a bare stream could as well be a column of ids
    optimizer = nr.uniform(pool)
    optimizer.tell(frame, [1.0])
    assert optimizer.best().id == 3


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_blocks_of_any_size_give_one_pool(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level or a gap on the edge of a block is a level or a gap."""
    rng = np.random.default_rng(rows)
    table: Table = {
        "salt": [None if u < 0.2 else f"s{int(9 * u)}" for u in rng.random(23)],
        "heat": [None if u < 0.2 else u for u in rng.random(23)],
    }
    X, _, kept = by_hand(table, ["salt", "heat"])
    for room in ("sources", "scan"):
        monkeypatch.setattr(f"noregret.pools.tables.{room}.chunk_rows", lambda _: rows)
    pool = nr.Pool.from_frame(pa.table(table), missing="drop")
    np.testing.assert_array_equal(pool.X, X)
    assert pool.keys(np.arange(len(pool))).tolist() == kept

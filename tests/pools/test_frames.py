"""Pools from data frames: one pool whatever the library, equal to one made by hand."""

from __future__ import annotations

import datetime
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
from noregret.errors import ArgumentError, PoolError
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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"heat": [1.0]}, r"tell\(X, \.\.\.\) must have one column 'salt'"),
        (
            {"heat": [1.0], "salt": ["LiF"]},
            "row 0 has 'LiF' in column 'salt'.* levels: 'CsF', 'KF'",
        ),
        ({"heat": ["warm"], "salt": ["KF"]}, "'heat' must hold numbers, got"),
        ({"heat": [1.0], "salt": [3]}, "'salt' must hold levels such as 'CsF', got int64"),
        (
            {"heat": [1.0, None], "salt": ["KF", "KF"]},
            "row 1 has None in column 'heat'.*finite number",
        ),
        ({"heat": [1.0], "salt": [None]}, "row 0 has None in column 'salt'"),
        ({"heat": [2**53 + 1], "salt": ["KF"]}, r"above 2\^53.*value 9007199254740993"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: Table, message: str) -> None:
    """An unknown level encoded as zeros would be a candidate that nobody has."""
    pool = nr.Pool.from_frame(pa.table({"heat": [20.0, 40.0], "salt": ["KF", "CsF"]}))
    optimizer = nr.uniform(pool)
    with pytest.raises(ArgumentError, match=message):
        optimizer.tell(pa.table(rows), [0.0] * len(rows["heat"]))
    assert optimizer.evaluations == 0


DAY = datetime.date(2024, 2, 29)
FRAMES: dict[str, tuple[object, str]] = {
    "a list": ([[1.0]], "must be a data frame of pandas.*got list"),
    "an array": (np.zeros((2, 2)), "noregret.Pool"),
    "a lazy frame": (pl.LazyFrame({"x": [1]}), "got LazyFrame.*collected first"),
    "a column": (pl.Series([1.0]), r"from_frame\(frame\) cannot be read"),
    "a time": (pd.DataFrame({"v": pd.to_datetime(["2024-01-01"])}), "'v' is of type timestamp"),
    "a duration": (pl.DataFrame({"v": [datetime.timedelta(1)]}), "'v' is of type duration"),
    "lists": (pl.DataFrame({"v": [[1.0, 2.0]]}), "'v' is of type .*list.*column of its own"),
    "periods": (pd.DataFrame({"v": [pd.Period("2024")]}), "'v' is of type extension"),
    "mixed objects": (pd.DataFrame({"v": [1, "x"]}), "cannot be read: .*'x'.*of one kind"),
    "complex numbers": (pd.DataFrame({"v": [1j]}), "cannot be read"),
    "128 bits": (pl.DataFrame({"v": [1]}).cast(pl.Int128), "cannot be read"),
    "columns of one name": (pa.table([[1], [2]], names=["x", "x"]), "2 columns named 'x'"),
    "pandas columns of one name": (pd.DataFrame([[1, 2]], columns=["x", "x"]), "Duplicate"),
}
X: dict[str, object] = {"x": [1]}
NAME: dict[str, object] = {"name": "id"}
TABLES: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "no columns": ({}, {}, "no column that could be a feature"),
    "names alone": ({"id": ["a"]}, NAME, "no column that could be a feature"),
    "no rows": ({"x": pa.array([], pa.float64())}, {}, "has no rows"),
    "nothing but nulls": ({"x": [None, None]}, {}, r"all 2 of 2 rows.*'x' \(2\)"),
    "none left": (
        {"x": [1.0, None], "y": [None, 1.0]},
        {"missing": "drop"},
        "No candidate is left",
    ),
    "a date": ({"v": [DAY]}, {}, r"date32.*days since.*leave it out by features=\[\.\.\.\]"),
    "structs": ({"v": [{"a": 1}]}, {}, "'v' is of type struct"),
    "bytes": ({"v": [b"x"]}, {}, "'v' is of type binary.*numbers or strings first"),
    "levels of dates": (
        {"v": pa.array([DAY]).dictionary_encode()},
        {},
        "'v' is of type dictionary",
    ),
    "decimals": ({"v": [decimal.Decimal(1)]}, {"categorical": ["v"]}, "'v' is of type decimal"),
    "huge numbers": ({"v": [2**53 + 1]}, {}, "'v' holds .*rounded .*9007199254740993"),
    "very negative numbers": ({"v": [-(2**63)]}, {}, "-9223372036854775808"),
    "huge unsigned": ({"v": pa.array([2**64 - 1], pa.uint64())}, {}, "18446744073709551615"),
    "too wide": ({"v": [-1.5e308, 1.5e308]}, {"scale": "unit"}, "'v' spans too much"),
    "too many levels": (
        {"smiles": [f"C{i}" for i in range(1001)]},
        {},
        "'smiles' has more than 1000 levels.*name='smiles'.*codes",
    ),
    "a column without name": ({"": [0], "x": [1]}, {}, "column 0 has no name"),
    "an unknown feature": (X, {"features": ["y"]}, "no column 'y'; it has 'x'"),
    "an unknown name": (X, NAME, "no column 'id'"),
    "an unknown category": (X, {"categorical": ["c"]}, "no column 'c'"),
    "a category that is no feature": (
        {"x": [1], "c": [2]},
        {"features": ["x"], "categorical": ["c"]},
        "categorical names 'c', which is not a feature",
    ),
    "no features": (X, {"features": []}, "at least one column"),
    "one string": (X, {"features": "x"}, "must be a list of column names"),
    "one number": (X, {"features": 1}, "must be a list of column names"),
    "a number": (X, {"features": [0]}, "as strings, got 0"),
    "a feature twice": (X, {"features": ["x", "x"]}, "'x' more than once"),
    "a name that is a list": (X, {"name": ["x"]}, "name must be the name of"),
    "an unknown encoding": (X, {"categories": "hash"}, "'onehot', 'codes'"),
    "an unknown policy": (X, {"missing": "mean"}, "'refuse', 'drop'"),
    "an unknown scale": (X, {"scale": "log"}, "scale must be one of 'unit'"),
    "names twice": ({"id": ["a", "b", "a"], "x": [1, 2, 3]}, NAME, "name='id'.*'a' occurs 2 times"),
    "names that are reals": (
        {"id": [0.5], "x": [1]},
        NAME,
        "names must be strings or whole numbers, got double",
    ),
    "names that are dates": ({"id": [DAY], "x": [1]}, NAME, "got date32"),
    "names that are too large": (
        {"id": pa.array([2**63], pa.uint64()), "x": [1]},
        NAME,
        "'id' holds whole numbers of 2.63 or more; turn them into strings",
    ),
    "a name that is missing": (
        {"id": ["a", None], "x": [1, 2]},
        NAME,
        r"1 of 2 rows miss something.*rows 1; columns 'id' \(1\)",
    ),
}
BAD: dict[str, tuple[object, dict[str, object], str]] = {
    name: (frame, {}, message) for name, (frame, message) in FRAMES.items()
} | {
    name: (pa.table(columns), settings, message)
    for name, (columns, settings, message) in TABLES.items()
}


@pytest.mark.parametrize(("frame", "settings", "message"), BAD.values(), ids=BAD)
def test_bad_frames_are_refused(frame: object, settings: dict[str, object], message: str) -> None:
    with pytest.raises((PoolError, ArgumentError), match=f"(?s){message}"):
        nr.Pool.from_frame(frame, **settings)  # type: ignore[arg-type]  # some are wrong on purpose


def test_missing_values_are_located() -> None:
    frame = pa.table(
        {
            "x": [None if i % 3 == 0 else float(i) for i in range(40)],
            "y": [float("nan") if i == 7 else 0.5 for i in range(40)],
            "z": ["w"] * 40,
        }
    )
    message = (
        r"15 of 40 rows miss something \(null, NaN or infinite\): rows 0, 3, 6, 7, 9, 12, \.\.\.; "
        r"columns 'x' \(14\), 'y' \(1\)\. .*missing=\"drop\""
    )
    with pytest.raises(PoolError, match=message):
        nr.Pool.from_frame(frame)


def test_the_array_pool_points_frames_to_their_door() -> None:
    with pytest.raises(PoolError, match=r"Pool\.from_frame"):
        nr.Pool(pd.DataFrame({"salt": ["KF"]}))


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

"""Frames that no pool can be made of, and what is said of them."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noregret as nr
from noregret.errors import ArgumentError, PoolError
from table_strategies import Table

X: dict[str, object] = {"x": [1]}


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

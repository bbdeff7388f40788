"""Pools from files: what was written is what is read, a block at a time."""

from __future__ import annotations

import csv
import gzip
import logging
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret import progress as bars
from noregret.errors import ArgumentError, PoolError
from noregret.pools.tables.scan import scan_table
from noregret.pools.tables.sources import csv_source, parquet_source
from table_strategies import TABLE, Table, by_hand, tables


def write_csv(table: Table, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow(["" if cell is None else cell for cell in row])


def write_gz(table: Table, path: Path) -> None:
    plain = path.with_suffix("")
    write_csv(table, plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))


def write_parquet(table: Table, path: Path) -> None:
    pq.write_table(pa.table(table), path, row_group_size=3)


WRITERS: dict[str, Callable[[Table, Path], None]] = {
    "t.csv": write_csv,
    "t.CSV": write_csv,
    "t.csv.gz": write_gz,
    "t.parquet": write_parquet,
    "pandas.csv": lambda table, path: pd.DataFrame(table).to_csv(path, index=False),
    "pandas.csv.gz": lambda table, path: pd.DataFrame(table).to_csv(path, index=False),
    "pandas.parquet": lambda table, path: pd.DataFrame(table).to_parquet(path),
    "polars.csv": lambda table, path: pl.DataFrame(table).write_csv(path),
    "polars.parquet": lambda table, path: pl.DataFrame(table).write_parquet(path),
}


@pytest.mark.parametrize("into", [None, "features.npy"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_the_pool_of_its_frame(name: str, into: str | None, tmp_path: Path) -> None:
    """CSV today, Parquet tomorrow, on disk or in memory: one pool."""
    WRITERS[name](TABLE, tmp_path / name)
    target = None if into is None else tmp_path / into
    pool = nr.read_pool(tmp_path / name, features=["salt", "grams", "dry"], name="id", into=target)
    twin = nr.Pool.from_frame(pa.table(TABLE), features=["salt", "grams", "dry"], name="id")
    assert isinstance(pool, nr.Pool if into is None else nr.MappedPool)
    assert pool.fingerprint() == twin.fingerprint()
    assert (pool.columns, pool.groups, pool.levels) == (twin.columns, twin.groups, twin.levels)
    np.testing.assert_array_equal(pool.rows(np.arange(4)), twin.X)
    rows = pd.DataFrame({"salt": ["NaF"], "grams": [2], "dry": [True]})
    np.testing.assert_array_equal(pool.read("X", rows), [[0, 0, 1, 2, 1]])
    assert [path.name for path in tmp_path.glob("*.npy*")] == ([] if into is None else [into])
    assert "salt (3 levels), grams, dry, named" in repr(pool)


@given(tables(), st.sampled_from(["t.csv", "t.csv.gz", "t.parquet"]), st.booleans(), st.booleans())
def test_any_table_comes_back_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, table: Table, name: str, unit: bool, disk: bool
) -> None:
    """Every bit of a number, every level, every row number, through text and binary."""
    folder = tmp_path_factory.mktemp("files")
    WRITERS[name](table, folder / name)
    X, names, rows = by_hand(table, list(table), unit=unit)
    into = folder / "features.npy" if disk else None
    if not rows:
        with pytest.raises(PoolError, match="rows"):
            nr.read_pool(folder / name, missing="drop", into=into)
        assert into is None or not into.exists()
        return
    pool = nr.read_pool(folder / name, missing="drop", scale="unit" if unit else None, into=into)
    np.testing.assert_array_equal(pool.rows(np.arange(len(pool))), X)
    assert pool.columns == tuple(names)
    assert pool.keys(np.arange(len(pool))).tolist() == rows


def test_text_in_csv_may_hold_anything(tmp_path: Path) -> None:
    """Commas, quotes, line breaks, other scripts, and a byte-order mark at the front."""
    levels = ["x,y", 'say "no"', "two\nlines", "é", "水", "a b", "007x"]
    table: Table = {"level": list(levels), "x": list(range(7))}
    write_csv(table, tmp_path / "t.csv")
    marked = b"\xef\xbb\xbf" + (tmp_path / "t.csv").read_bytes()
    (tmp_path / "marked.csv").write_bytes(marked)
    X, names, _ = by_hand(table, ["level", "x"])
    for name in ("t.csv", "marked.csv"):
        pool = nr.read_pool(tmp_path / name)
        np.testing.assert_array_equal(pool.rows(np.arange(7)), X)
        assert pool.columns == tuple(names)


LATE: dict[str, tuple[str, str]] = {
    "a real among whole numbers": ("1", "2.5"),
    "a word among numbers": ("1", "two"),
    "a word among truths": ("true", "perhaps"),
    "whole numbers after nothing": ("", "7"),
    "truths after nothing": ("", "true"),
    "a number too large for 64 bits": ("1", "123456789012345678901234567890"),
}


@pytest.mark.parametrize(("early", "late"), LATE.values(), ids=LATE)
def test_types_are_settled_by_the_whole_file(
    early: str, late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that shows its kind in the last block is read as if it had from the first."""
    path = tmp_path / "t.csv"
    lines = [f"{i},{early if i < 300 else late}" for i in range(310)]
    path.write_text("\n".join(["x,late", *lines]) + "\n")
    whole = nr.read_pool(path, missing="drop")
    monkeypatch.setattr("noregret.pools.tables.sources.BLOCK_BYTES", 256)
    blocks = nr.read_pool(path, missing="drop")
    assert blocks.columns == whole.columns
    assert blocks.fingerprint() == whole.fingerprint()
    assert len(whole) == (10 if early == "" else 310)


def test_small_blocks_give_the_same_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks end anywhere: between rows that are dropped, before a level that is new."""
    rng = np.random.default_rng(3)
    table: Table = {
        "id": [f"c{i}" for i in range(500)],
        "salt": [None if u < 0.1 else f"s{int(30 * u * u)}" for u in rng.random(500)],
        "heat": [None if u < 0.1 else float(u) for u in rng.random(500)],
    }
    monkeypatch.setattr("noregret.pools.tables.sources.BLOCK_BYTES", 300)
    for room in ("tables.sources", "tables.scan", "mapped"):
        monkeypatch.setattr(f"noregret.pools.{room}.chunk_rows", lambda _: 7)
    X, _, rows = by_hand(table, ["salt", "heat"])
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        WRITERS[name](table, tmp_path / name)
        for into in (None, tmp_path / "features.npy"):
            pool = nr.read_pool(tmp_path / name, name="id", missing="drop", into=into)
            np.testing.assert_array_equal(pool.rows(np.arange(len(pool))), X)
            assert pool.keys(np.arange(len(pool))).tolist() == [f"c{row}" for row in rows]
            assert pool.fingerprint() == nr.Pool(X, names=[f"c{r}" for r in rows]).fingerprint()


def test_rows_are_dropped_with_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Row numbers count from 0, the header apart."""
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\nNA,3\n4,inf\n5,6\n")
    with pytest.raises(PoolError, match=r"t\.csv: 2 of 4 rows miss something.*rows 1, 2; columns"):
        nr.read_pool(path)
    with caplog.at_level(logging.WARNING):
        pool = nr.read_pool(path, missing="drop")
    assert "2 of 4 rows" in caplog.text
    assert pool.keys(np.arange(2)).tolist() == [0, 3]


def test_npy_is_mapped(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    path = tmp_path / "x.npy"
    np.save(path, X)
    pool = nr.read_pool(path)
    assert isinstance(pool, nr.MappedPool)
    assert pool.fingerprint() == nr.Pool(X).fingerprint()
    settings = {"features": ["x"], "name": "id", "missing": "drop", "scale": "unit"}
    settings |= {"categories": "codes", "into": str(tmp_path / "y.npy")}
    for name, value in settings.items():
        with pytest.raises(ArgumentError, match=r"\.npy file: its features are taken as they are"):
            nr.read_pool(path, **{name: value})  # type: ignore[arg-type]  # one each


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_memory_does_not_grow_with_the_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file larger than memory must be read all the same: blocks are let go."""
    monkeypatch.setattr("noregret.pools.tables.sources.BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr("noregret.pools.tables.sources.chunk_rows", lambda _: 1 << 12)
    X = np.random.default_rng(0).random((1 << 17, 4))  # 4 MiB
    table, path = pa.table({f"x{i}": X[:, i] for i in range(4)}), tmp_path / name
    if name == "t.parquet":
        pq.write_table(table, path, row_group_size=1 << 13, use_dictionary=False)
    else:
        pa_csv.write_csv(table, path)
    source = parquet_source(path) if name == "t.parquet" else csv_source(path)
    before, held = pa.total_allocated_bytes(), []
    for batch in source.batches(table.column_names):
        assert batch.num_columns == 4
        held.append(pa.total_allocated_bytes() - before)
    assert len(held) >= 32
    assert max(held) < X.nbytes / 2


def test_a_pandas_index_in_parquet_is_no_feature(tmp_path: Path) -> None:
    """Written by default, and seldom meant."""
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    frame[frame["x"] != 3.0].to_parquet(tmp_path / "t.parquet")
    assert len(pq.read_schema(tmp_path / "t.parquet").names) == 2
    assert nr.read_pool(tmp_path / "t.parquet").columns == ("x",)


BAD: dict[str, tuple[str, bytes | None, dict[str, object], str]] = {
    "no file": ("t.csv", None, {}, "there is no file .*t.csv"),
    "empty csv": ("t.csv", b"", {}, "t.csv is empty"),
    "empty npy": ("t.npy", b"", {}, "t.npy is empty"),
    "empty parquet": ("t.parquet", b"", {}, "t.parquet is empty"),
    "blank csv": ("t.csv", b"\n\n", {}, "t.csv cannot be read as .csv"),
    "a header alone": ("t.csv", b"x,y\n", {}, "t.csv has no rows"),
    "another format": ("t.xlsx", b"x", {}, "must end in .npy, .parquet, .csv, .csv.gz.*from_frame"),
    "an archive": ("t.npz", b"x", {}, "must end in"),
    "ragged": ("t.csv", b"x,y\n1,2\n3\n", {}, "Expected 2 columns, got 1"),
    "ragged, too long": ("t.csv", b"x,y\n1,2\n3,4,5\n", {}, "Expected 2 columns, got 3"),
    "no parquet": ("t.parquet", b"x,y\n1,2\n", {}, "t.parquet cannot be read as .parquet"),
    "no gzip": ("t.csv.gz", b"x,y\n1,2\n", {}, "t.csv.gz cannot be read as .csv.gz"),
    "gzip cut off": (
        "t.csv.gz",
        gzip.compress(b"x,y\n" + b"1,2\n" * 4000)[:-20],
        {},
        "t.csv.gz cannot be read as .csv.gz",
    ),
    "Latin-1": ("t.csv", "x,y\n1,é\n".encode("latin-1"), {}, "t.csv"),
    "semicolons": ("t.csv", b"x;y\n1;2\n", {}, "separated by commas.*from_frame"),
    "no header": ("t.csv", b"0.5,1\n2,3\n", {}, "first line holds numbers only"),
    "a column without name": ("t.csv", b",x\n0,1\n", {}, "column 0 has no name"),
    "one name twice": ("t.csv", b"x,x\n0,1\n", {}, "2 columns named 'x'"),
    "dates": ("t.csv", b"day\n2024-01-01\n", {}, "'day' is of type date32"),
    "names alone": ("t.csv", b"id\na\n", {"name": "id"}, "no column that could be a feature"),
    "an unknown column": ("t.csv", b"x\n1\n", {"features": ["y"]}, "no column 'y'"),
    "names twice": ("t.csv", b"id,x\na,1\na,2\n", {"name": "id"}, "'a' occurs 2 times"),
    "huge": ("t.csv", b"x\n9007199254740993\n", {}, "9007199254740993"),
    "into text": ("t.csv", b"x\n1\n", {"into": "t.txt"}, "into must name an .npy file"),
    "into nowhere": ("t.csv", b"x\n1\n", {"into": "no/where/t.npy"}, "there is no folder"),
}


@pytest.mark.parametrize(("name", "content", "settings", "message"), BAD.values(), ids=BAD)
def test_bad_files_are_refused(
    name: str, content: bytes | None, settings: dict[str, object], message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises((PoolError, ArgumentError), match=f"(?s){message}"):
        nr.read_pool(tmp_path / name, **settings)  # type: ignore[arg-type]  # wrong on purpose


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """Some tools write a folder of Parquet files."""
    (tmp_path / "t.parquet").mkdir()
    with pytest.raises(PoolError, match="is not a file"):
        nr.read_pool(tmp_path / "t.parquet")


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """All or nothing: names found to repeat at the very end, a disk that is full."""
    target = tmp_path / "features.npy"
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("id,x\na,1\nb,2\n")
    bad.write_text("id,x\na,1\na,2\n")
    pool = nr.read_pool(good, name="id", into=target)
    before = target.read_bytes()
    with pytest.raises(PoolError, match="'a' occurs 2 times"):
        nr.read_pool(bad, name="id", into=target)
    assert target.read_bytes() == before
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["bad.csv", "features.npy", "good.csv"]
    np.testing.assert_array_equal(np.load(target), [[1.0], [2.0]])
    again = nr.read_pool(good, name="id", scale="unit", into=target)
    np.testing.assert_array_equal(again.rows(np.arange(2)), [[0.0], [1.0]])
    np.testing.assert_array_equal(pool.rows(np.arange(2)), [[1.0], [2.0]])  # its file lives on


def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n")
    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("noregret.pools.tables.reading.os.replace", full)
    with pytest.raises(PoolError, match=r"cannot write .*features\.npy.*No space left"):
        nr.read_pool(path, into=tmp_path / "features.npy")
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("change", [b"x\n1\n2\n3\n", b"x\n1\n", b"x\n1\nNA\n"])
def test_a_file_that_changes_between_the_passes_is_refused(
    change: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows would end up beside the wrong names."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"x\n1\n2\n")

    def then_change(*args: object, **settings: object) -> object:
        taken = scan_table(*args, **settings)  # type: ignore[arg-type]  # as they come
        path.write_bytes(change)
        return taken

    monkeypatch.setattr("noregret.pools.tables.reading.scan_table", then_change)
    with pytest.raises(PoolError, match="changed while it was read"):
        nr.read_pool(path)


def test_without_pyarrow_npy_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert len(nr.read_pool(tmp_path / "x.npy")) == 2


@pytest.mark.parametrize("progress", [True, False])
def test_long_reading_is_shown(
    progress: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_csv(TABLE, tmp_path / "t.csv")
    monkeypatch.setattr(bars, "SILENT_SECONDS", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    nr.read_pool(tmp_path / "t.csv", name="id", progress=progress)
    out, err = capsys.readouterr()
    assert out == ""
    assert (err == "") is not progress
    if progress:
        assert "rows read" in err
        assert "rows encoded" in err

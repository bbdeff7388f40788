"""Small tables of every kind, and the pools that they become by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from noregret.arrays import Matrix

Cell = str | int | float | bool | None


Table = dict[str, list[Cell]]


TABLE: Table = {
    "id": ["p", "q", "r", "s"],
    "salt": ["KF", "CsF", "KF", "NaF"],
    "heat": [20, 40, 80, 60],
    "dry": [True, False, False, True],
    "grams": [0.5, 1.25, -3.0, 1e-300],
}


@dataclass(frozen=True)
class StreamOnly:
    """A frame of some library that speaks the Arrow stream alone."""

    table: pa.Table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class InterchangeOnly:
    """A frame of some library that speaks the older interchange protocol alone."""

    table: pa.Table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        return self.table.__dataframe__(nan_as_null, allow_copy)


MAKERS: dict[str, Callable[[Table], object]] = {
    "pandas": lambda table: pd.DataFrame(table),
    "pandas, Arrow inside": lambda table: pa.table(table).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table: pl.DataFrame(table, strict=False),
    "polars, in chunks": lambda table: pl.concat(
        [pl.DataFrame(table, strict=False)[:1], pl.DataFrame(table, strict=False)[1:]],
        rechunk=False,
    ),
    "pyarrow": lambda table: pa.table(table),
    "a record batch": lambda table: pa.RecordBatch.from_pydict(table),
    "a stream": lambda table: StreamOnly(pa.table(table)),
    "interchange": lambda table: InterchangeOnly(pa.table(table)),
}


def is_missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def by_hand(
    table: Table, features: Sequence[str], *, codes: bool = False, unit: bool = False
) -> tuple[Matrix, list[str], list[int]]:
    """Return features, their names and the rows that miss nothing, cell by cell."""
    count = len(next(iter(table.values())))
    rows = [r for r in range(count) if not any(is_missing(table[name][r]) for name in features)]
    out: list[list[float]] = [[] for _ in rows]
    names: list[str] = []
    for name in features:
        cells = [table[name][row] for row in rows]
        if any(isinstance(cell, str) for cell in cells):
            levels = sorted({str(cell) for cell in cells})
            names += [name] if codes else [f"{name}={level}" for level in levels]
            for line, cell in zip(out, cells, strict=True):
                place = levels.index(str(cell))
                line += [place] if codes else [float(at == place) for at in range(len(levels))]
        else:
            numbers = [float(cell) for cell in cells if cell is not None]
            low, high = min(numbers, default=0.0), max(numbers, default=0.0)
            span = high - low if high > low else 1.0
            names.append(name)
            for line, number in zip(out, numbers, strict=True):
                line.append((number - low) / span if unit else number)
    return np.array(out, dtype=np.float64).reshape(len(rows), len(names)), names, rows


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table of numbers, truths and words, with gaps."""
    count, words = draw(st.integers(1, 8)), ["KF", "CsF", "NaOH", "water", "a b", "é"]
    columns: dict[str, st.SearchStrategy[Cell]] = {
        "small": st.integers(-3, 3),
        "whole": st.integers(-(2**53), 2**53),
        "real": st.floats(-1e150, 1e150) | st.sampled_from([math.nan, math.inf, -math.inf]),
        "flag": st.booleans(),
        "word": st.sampled_from(words),
        "odd. name": st.sampled_from(words[:3]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, unique=True))
    lists = {
        name: st.lists(columns[name] | st.none(), min_size=count, max_size=count) for name in chosen
    }
    return {name: draw(lists[name]) for name in chosen}

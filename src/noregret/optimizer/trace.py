"""What happened, batch by batch: a small table that grows with a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.errors import ArgumentError, require_extra

if TYPE_CHECKING:
    from pandas import DataFrame

BATCH: Final = np.dtype(  # one row of the trace
    [
        ("batch", np.int64),
        ("worker", np.int32),  # words by their number
        ("size", np.int64),
        ("runs", np.int64),
        ("beta", np.float64),
        ("information", np.float64),
        ("dictionary", np.int64),
        ("unique", np.int64),
        ("switches", np.int64),
        ("paid", np.float64),
        ("told", np.int64),
        ("seconds", np.float64),
        ("waited", np.float64),
        ("reason", np.int32),
    ]
)
COLUMNS: Final = BATCH.names or ()
WORDS: Final = ("worker", "reason")
SHOWN = 5  # rows at either end of a printed table
LONGEST = 36  # letters of a reason in it
TraceColumn: TypeAlias = npt.NDArray[Any]  # numbers, or words


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One row per batch, in the order asked; a picture of the moment, which does not grow.

    | column | says |
    | --- | --- |
    | `batch`, `worker` | its number, and who asked for it |
    | `size`, `runs` | evaluations in it, and runs of one candidate each |
    | `beta` | by how much deviations were multiplied to choose it |
    | `information` | ½ log det(I + W^½KW^½/ridge), nats learnt of f before it |
    | `dictionary` | points that carried the posterior: the dictionary's, or all unique ones |
    | `unique`, `told` | candidates evaluated, and values told, when it was opened |
    | `switches` | changes of candidate from a worker's evaluation to its next, up to its end |
    | `paid` | what these cost, by the `switch_cost` of the run; not printed without one |
    | `seconds`, `waited` | time to choose it, and between the last batch and this question |
    | `reason` | why it ended |

    Baselines have no model: beta and information are NaN, the dictionary is 0. `waited` is NaN for
    the first batch, and for the first after a run was loaded.

    >>> opt = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=3)
    >>> for _ in range(4):
    ...     batch = opt.ask()
    ...     opt.tell(batch, [x[0] for x in batch])
    >>> len(opt.trace), opt.trace["told"], opt.trace.columns[:3]
    (4, array([0, 3, 6, 9]), ('batch', 'worker', 'size'))
    >>> opt.trace.to_pandas()["size"].tolist()
    [3, 3, 3, 3]

    `trace.to_pandas()` makes a data frame of it; `polars.DataFrame(trace)`, `pyarrow.table(trace)`
    and whatever else reads Arrow streams take it as it is.
    """

    _batches: npt.NDArray[np.void]  # as BATCH
    _words: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return COLUMNS

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[str]:
        """Walk the names of the columns, as data frames do."""
        return iter(COLUMNS)

    def __getitem__(self, column: str) -> TraceColumn:
        """Return a column."""
        if column not in COLUMNS:
            raise ArgumentError(f"a trace has the columns {', '.join(COLUMNS)}; got {column!r}.")
        found: TraceColumn = self._batches[column]
        words = np.array([*self._words, ""], dtype=np.str_)  # never without an entry
        return words[found] if column in WORDS else found

    def to_pandas(self) -> DataFrame:
        """Return a pandas data frame, one row per batch (needs the extra `pandas`)."""
        pandas = require_extra("pandas", extra="pandas", what="trace.to_pandas()")
        frame: DataFrame = pandas.DataFrame({name: self[name] for name in COLUMNS})
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to any library that reads Arrow streams (needs the extra `tables`)."""
        pyarrow = require_extra("pyarrow", extra="tables", what="reading a trace as Arrow")
        table = pyarrow.table({name: np.ascontiguousarray(self[name]) for name in COLUMNS})
        stream: object = table.__arrow_c_stream__(requested_schema)
        return stream

    def __repr__(self) -> str:
        n = len(self)
        rows = np.arange(n) if n <= 2 * SHOWN else np.r_[:SHOWN, n - SHOWN : n]
        unsaid = {"worker"} if len(set(self["worker"])) <= 1 else set()
        unsaid |= set() if self["paid"].any() else {"paid"}
        names = [name for name in COLUMNS if name not in unsaid]
        few = Trace(self._batches[rows], self._words)
        columns = [few[name] for name in names]
        cells = [names, *([_cell(value) for value in row] for row in zip(*columns, strict=True))]
        if n > 2 * SHOWN:
            cells.insert(1 + SHOWN, ["…"] * len(names))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [_line(row, widths) for row in cells]
        return "\n".join([*lines, f"{n} {'batch' if n == 1 else 'batches'}"])


def _cell(value: Any) -> str:
    if isinstance(value, np.floating):
        return "–" if np.isnan(value) else f"{value:.3g}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _line(cells: list[str], widths: list[int]) -> str:
    """Lay out a row: numbers to the right, the reason behind them to the left."""
    *front, last = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([*front, last.strip()]).rstrip()

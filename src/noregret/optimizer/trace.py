"""What happened, batch by batch: a small table that grows with a run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from noregret.arrays import Indices, Matrix, Vector, extended
from noregret.errors import ArgumentError, require_extra
from noregret.optimizer.pending import PendingBatch
from noregret.policies import ChoiceDiagnostics
from noregret.storable import storable

if TYPE_CHECKING:
    from pandas import DataFrame


WORDS: Final = ("worker", "reason")
COUNTS: Final = (*WORDS, "size", "runs", "dictionary", "unique", "switches", "told")
NUMBERS: Final = ("beta", "information", "seconds", "waited")
COLUMNS: Final = (
    *("batch", "worker", "size", "runs", "beta", "information", "dictionary"),
    *("unique", "switches", "told", "seconds", "waited", "reason"),
)
SHOWN = 5  # rows at either end of a printed table
LONGEST = 36  # letters of a reason in it
TraceColumn: TypeAlias = npt.NDArray[Any]  # numbers, or words


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One row a batch, in the order asked; a picture of the moment, which does not grow.

    | column | says |
    | --- | --- |
    | `batch`, `worker` | its number, and who asked for it |
    | `size`, `runs` | evaluations in it, and runs of one candidate each |
    | `beta` | by how much deviations were multiplied to choose it |
    | `information` | ½ log det(I + W^½KW^½/ridge), nats learnt of f before it |
    | `dictionary` | points that carried the posterior: the dictionary's, or all unique ones |
    | `unique`, `told` | candidates evaluated, and values told, when it was opened |
    | `switches` | changes of candidate from one evaluation to the next, up to its end |
    | `seconds`, `waited` | time to choose it, and between the last batch and this question |
    | `reason` | why it ended |

    Baselines have no model: beta and information are NaN, the dictionary is 0. `waited` is NaN for
    the first batch, and for the first after a run was loaded.

    >>> opt = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=3)
    >>> for _ in range(4):
    ...     batch = opt.ask()
    ...     opt.tell(batch, [x[0] for x in batch])
    >>> len(opt.trace), opt.trace["told"]
    (4, array([0, 3, 6, 9]))

    `trace.to_pandas()` makes a data frame of it; `polars.DataFrame(trace)`, `pyarrow.table(trace)`
    and whatever else reads Arrow streams take it as it is.
    """

    _counts: Indices  # (batches, 8) as COUNTS; words by their number
    _numbers: Matrix  # (batches, 4) as NUMBERS
    _words: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns.

        >>> nr.uniform(nr.Pool([[0.0]])).trace.columns[:4]
        ('batch', 'worker', 'size', 'runs')
        """
        return COLUMNS

    def __len__(self) -> int:
        return len(self._counts)

    def __iter__(self) -> Iterator[str]:
        """Walk the names of the columns, as data frames do."""
        return iter(COLUMNS)

    def __getitem__(self, column: str) -> TraceColumn:
        """Return a column."""
        if column == "batch":
            return np.arange(len(self))
        if column in WORDS:
            words = np.array([*self._words, ""], dtype=np.str_)  # never without an entry
            return words[self._counts[:, COUNTS.index(column)]]
        if column in COUNTS:
            return self._counts[:, COUNTS.index(column)]
        if column in NUMBERS:
            return self._numbers[:, NUMBERS.index(column)]
        raise ArgumentError(f"a trace has the columns {', '.join(COLUMNS)}; got {column!r}.")

    def to_pandas(self) -> DataFrame:
        """Return a pandas data frame, one row a batch (needs the extra `pandas`).

        >>> opt = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=3)
        >>> opt.tell(opt.ask(), [0.1, 0.2, 0.3])
        >>> opt.trace.to_pandas()["size"].tolist()
        [3]
        """
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
        workers = self._counts[:, COUNTS.index("worker")]
        names = [name for name in COLUMNS if name != "worker" or len(np.unique(workers)) > 1]
        few = Trace(self._counts[rows], self._numbers[rows], self._words)
        columns = [rows if name == "batch" else few[name] for name in names]
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


@final
@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """When a candidate was asked for: one entry a batch, in order."""

    batches: Indices  # their numbers
    evaluations: Indices  # of the candidate, in each
    std: Vector  # its standard deviation when the batch was opened; NaN without a model …
    beta: Vector  # … and the width then
    reasons: npt.NDArray[np.str_]  # why the batch ended


@final
@storable("Records")
@dataclass(slots=True, eq=False)
class Records:
    """The trace as it grows: some 100 bytes a batch, and 24 a run of one candidate in it.

    Times are looked at by nobody but the user; no choice depends on them.
    """

    counts: Indices = field(default_factory=lambda: np.empty((0, len(COUNTS)), dtype=np.int64))
    numbers: Matrix = field(default_factory=lambda: np.empty((0, len(NUMBERS))))
    runs: Indices = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))  # row, repeats
    variances: Vector = field(default_factory=lambda: np.empty(0))  # (runs,) σ²_stale
    words: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(init=False)  # of each word
    _handed_out: float = field(init=False, default=math.nan)  # when the last batch was

    def __post_init__(self) -> None:
        self.counts, self.numbers = self.counts.copy(), self.numbers.copy()
        self.runs, self.variances = self.runs.copy(), self.variances.copy()
        self._number = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.counts)

    def add(
        self,
        pending: PendingBatch,
        diagnostics: ChoiceDiagnostics,
        *,
        told: int,
        unique: int,
        asked: float,
        now: float,
    ) -> None:
        """Write down a batch that was asked for at one time of a clock and is handed out now."""
        rows, repeats = pending.rows, pending.repeats
        counts = (
            *(self._numbered(pending.worker), self._numbered(pending.reason)),
            *(int(repeats.sum()), len(rows), diagnostics.dictionary, unique),
            *(self._switches(rows), told),
        )
        numbers = (diagnostics.beta, diagnostics.log_det / 2, now - asked, asked - self._handed_out)
        self.counts = extended(self.counts, np.array([counts]))
        self.numbers = extended(self.numbers, np.array([numbers]))
        self.runs = extended(self.runs, np.stack([rows, repeats], axis=1))
        self.variances = extended(self.variances, pending.variances)
        self._handed_out = now

    def shown(self) -> Trace:
        """Return the trace as it is now, without copying it."""
        counts, numbers = self.counts[:], self.numbers[:]
        counts.flags.writeable = numbers.flags.writeable = False
        return Trace(counts, numbers, tuple(self.words))

    def asked(self, row: int) -> Asked:
        """Return when a row was asked for, by a walk over all runs."""
        at = np.flatnonzero(self.runs[:, 0] == row)
        ends = np.cumsum(self.counts[:, COUNTS.index("runs")])
        batches, first, place = np.unique(
            np.searchsorted(ends, at, side="right"), return_index=True, return_inverse=True
        )
        evaluations = np.zeros(len(batches), dtype=np.int64)
        np.add.at(evaluations, place, self.runs[at, 1])
        trace, beta = self.shown(), self.numbers[batches, NUMBERS.index("beta")]
        std = np.where(np.isnan(beta), np.nan, np.sqrt(self.variances[at[first]]))
        return Asked(batches, evaluations, std, beta, trace["reason"][batches])

    def _switches(self, rows: Indices) -> int:
        inside = int(np.count_nonzero(rows[1:] != rows[:-1]))
        return self.switches + inside + (int(rows[0] != self.last) if len(self) else 0)

    @property
    def switches(self) -> int:
        """Changes of candidate from one evaluation asked for to the next."""
        return int(self.counts[-1, COUNTS.index("switches")]) if len(self) else 0

    @property
    def last(self) -> int:
        """The candidate that was asked for last."""
        return int(self.runs[-1, 0])

    def _numbered(self, word: str) -> int:
        number = self._number.setdefault(word, len(self.words))
        if number == len(self.words):
            self.words.append(word)
        return number

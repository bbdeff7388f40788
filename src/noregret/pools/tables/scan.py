"""Two passes over a table, so that it is never held in memory beside its features.

The first finds levels, ranges and missing values, the second gives the features.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from noregret.arrays import Indices, Mask, Matrix, chunk_rows
from noregret.errors import PoolError
from noregret.pools.base import Keys
from noregret.pools.stored import Names
from noregret.pools.tables.encoding import SHOWN, Choice, Encoding, Number, names_of, present
from noregret.pools.tables.feature_spec import FeatureSpec
from noregret.pools.tables.sources import Source, arrow

if TYPE_CHECKING:
    pass

log = logging.getLogger("noregret")


@final
@dataclass(frozen=True, slots=True, eq=False)
class TableScan:
    """A table, how it becomes features, and how many of its rows are candidates."""

    source: Source
    encoding: Encoding
    name: str | None
    kept: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.kept, len(self.encoding.labels)

    def blocks(self, *, progress: bool) -> Iterator[tuple[Matrix, Keys]]:
        """Walk the candidates: features and keys, a block at a time.

        Keys are the names; without a column of names, row numbers of the table.
        """
        start = given = 0
        size = chunk_rows(self.shape[1])
        wanted = _with(self.name, [column.name for column in self.encoding.columns])
        for batch in self.source.walk(wanted, "rows encoded", progress=progress):
            for first in range(0, batch.num_rows, size):
                part = batch.slice(first, size)
                X = self.encoding.encode(part)
                kept = np.isfinite(X).all(axis=1)
                keys: Keys = start + np.flatnonzero(kept)
                if self.name is not None:
                    names = names_of(self.name, part.column(self.name))
                    kept &= present(names)
                    plain = names.filter(arrow().array(kept)).to_numpy(zero_copy_only=False)
                    keys = plain.astype(np.int64 if plain.dtype.kind == "i" else np.str_)
                start, given = start + part.num_rows, given + len(keys)
                self._require_unchanged(given <= self.kept)
                yield X if kept.all() else X[kept], keys
        self._require_unchanged(given == self.kept)

    def names(self, keys: list[Keys]) -> Names:
        """Return the names of candidates from the keys of all blocks."""
        if self.name is None and self.kept == self.source.rows:
            return Names(None, self.kept)  # row numbers are what they would be anyway
        joined: Keys = np.concatenate(keys)  # type: ignore[assignment]  # all of one kind
        try:
            return Names(joined, self.kept)
        except PoolError as error:
            raise PoolError(f"{self.source.label}, name={self.name!r}: {error}") from None

    def _require_unchanged(self, same: bool) -> None:
        if not same:
            raise PoolError(f"{self.source.label} changed while it was read; read it again.")


def scan_table(source: Source, spec: FeatureSpec, *, progress: bool) -> TableScan:
    """Read a table once; raise if rows miss something and `spec` does not let them be dropped."""
    onehot, scaled = spec.categories == "onehot", spec.scale is not None
    columns: dict[str, Any] = {
        name: Number(name, scaled) if kind == "number" else Choice(name, onehot)
        for name, kind in spec.kinds(source).items()
    }
    incomplete = _Incomplete()
    for batch in source.walk(_with(spec.name, list(columns)), "rows read", progress=progress):
        looked = {name: column.look(batch.column(name)) for name, column in columns.items()}
        masks = {name: mask for name, (_, mask) in looked.items()}
        if spec.name is not None:
            masks[spec.name] = present(names_of(spec.name, batch.column(spec.name)))
        kept = incomplete.add(masks, batch.num_rows)
        for name, (values, _) in looked.items():
            columns[name] = columns[name].extended(values, kept)
    incomplete.judge(source.label, spec)
    encoding = Encoding(tuple(columns.values()), spec.name)
    return TableScan(
        replace(source, rows=incomplete.rows),
        encoding,
        spec.name,
        incomplete.rows - incomplete.missing,
    )


def _with(name: str | None, columns: list[str]) -> list[str]:
    return columns if name is None or name in columns else [*columns, name]


@final
@dataclass(slots=True)
class _Incomplete:
    """Rows that miss a feature or their name."""

    rows: int = 0
    missing: int = 0
    first: list[int] = field(default_factory=list)
    columns: Counter[str] = field(default_factory=Counter)

    def add(self, masks: dict[str, Mask], rows: int) -> Mask:
        """Count what is missing in some rows; return which rows miss nothing."""
        kept: Mask = np.ones(rows, dtype=np.bool_)
        for name, mask in masks.items():
            kept &= mask
            if not mask.all():
                self.columns[name] += int((~mask).sum())
        lost: Indices = np.flatnonzero(~kept)
        self.first = [*self.first, *(self.rows + lost[:SHOWN]).tolist()][:SHOWN]
        self.rows, self.missing = self.rows + rows, self.missing + len(lost)
        return kept

    def judge(self, label: str, spec: FeatureSpec) -> None:
        """Raise where too much is missing."""
        if self.rows == 0:
            raise PoolError(f"{label} has no rows.")
        if not self.missing:
            return
        rows = ", ".join(map(str, self.first)) + (", ..." if self.missing > SHOWN else "")
        worst = self.columns.most_common(SHOWN)
        where = f"rows {rows}; columns " + ", ".join(f"{name!r} ({n})" for name, n in worst)
        what = f"{self.missing} of {self.rows} rows miss something (null, NaN or infinite)"
        if self.missing == self.rows:
            raise PoolError(f"{label}: all {what}: {where}. No candidate is left.")
        if spec.missing == "refuse":
            raise PoolError(
                f"{label}: {what}: {where}. Impute them first, leave columns out by "
                'features=[...], or leave these rows out by missing="drop".'
            )
        log.warning("%s: %s and are left out: %s", label, what, where)

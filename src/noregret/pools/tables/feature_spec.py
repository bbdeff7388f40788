"""Which columns of a table become features, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from noregret.errors import ArgumentError, PoolError, require_choice
from noregret.pools.tables.sources import Source, arrow

if TYPE_CHECKING:
    import pyarrow as pa

Missing: TypeAlias = Literal["refuse", "drop"]
Categories: TypeAlias = Literal["onehot", "codes"]
Scale: TypeAlias = Literal["unit"]
Kind: TypeAlias = Literal["number", "choice"]


@final
@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """How a table becomes features; the arguments of `Pool.from_frame` by the same names."""

    features: Iterable[str] | None = None
    name: str | None = None
    categorical: Iterable[str] = ()
    categories: Categories = "onehot"
    missing: Missing = "refuse"
    scale: Scale | None = None

    def __post_init__(self) -> None:
        if self.features is not None:
            object.__setattr__(self, "features", _names("features", self.features))
            if not self.features:
                raise ArgumentError("features must name at least one column, got none.")
        object.__setattr__(self, "categorical", _names("categorical", self.categorical))
        if self.name is not None and not isinstance(self.name, str):
            raise ArgumentError(f"name must be the name of a column, got {self.name!r}.")
        require_choice("categories", self.categories, ("onehot", "codes"))
        require_choice("missing", self.missing, ("refuse", "drop"))
        if self.scale is not None:
            require_choice("scale", self.scale, ("unit",))

    def kinds(self, source: Source) -> dict[str, Kind]:
        """Return the columns that become features, in order, and what each is read as."""
        schema, label = source.schema, source.label
        known = list(schema.names)
        chosen = self._chosen(label, schema)
        categorical = set(self.categorical)
        for column in (*chosen, *categorical, *([] if self.name is None else [self.name])):
            _require_column(label, column, known)
        for column in sorted(categorical.difference(chosen)):
            raise ArgumentError(f"categorical names {column!r}, which is not a feature.")
        return {
            column: _kind(label, column, schema.field(column).type, column in categorical)
            for column in chosen
        }

    def _chosen(self, label: str, schema: pa.Schema) -> list[str]:
        if self.features is not None:
            return list(self.features)
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        left_out = {self.name, *(entry for entry in index if isinstance(entry, str))}
        chosen = [column for column in schema.names if column not in left_out]
        if not chosen:
            raise PoolError(f"{label} has no column that could be a feature.")
        if "" in chosen:
            raise PoolError(
                f"{label}: column {chosen.index('')} has no name; row numbers are often written "
                "so. Say which columns are features by features=[...], or give it a name."
            )
        return chosen


def _names(argument: str, names: object) -> tuple[str, ...]:
    """Return column names that a user listed, checked."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentError(f"{argument} must be a list of column names, got {names!r:.80}.")
    listed = tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise ArgumentError(f"{argument} must list column names, as strings, got {name!r}.")
    for name, count in Counter(listed).items():
        if count > 1:
            raise ArgumentError(f"{argument} names the column {name!r} more than once.")
    return listed


def _require_column(label: str, column: str, known: list[str]) -> None:
    count = known.count(column)
    if count > 1:
        raise PoolError(f"{label} has {count} columns named {column!r}; names must differ.")
    if not count:
        names = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
        raise PoolError(f"{label} has no column {column!r}; it has {names or 'none'}.")


def _kind(label: str, column: str, type_: pa.DataType, categorical: bool) -> Kind:
    """Return what a column of this type is read as, or say what to do with it."""
    types = arrow().types
    inner = type_.value_type if types.is_dictionary(type_) else type_
    if is_string(inner):
        return "choice"
    plain = types.is_integer(inner) or types.is_floating(inner) or types.is_boolean(inner)
    if plain and (categorical or types.is_dictionary(type_)):
        return "choice"
    if plain or ((types.is_decimal(type_) or types.is_null(type_)) and not categorical):
        return "number"
    way_out = "Turn it into numbers or strings first"
    if types.is_temporal(inner):
        way_out = "Turn it into a number first, such as days since a fixed date"
    elif types.is_nested(inner):
        way_out = "Give each of its entries a column of its own"
    raise PoolError(
        f"{label}: column {column!r} is of type {type_}, which cannot be a feature. {way_out}, "
        "or leave it out by features=[...]."
    )


def is_string(type_: pa.DataType) -> bool:
    """Tell whether a type is one of Arrow's types of text."""
    types = arrow().types
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )

"""Pools from files: CSV, Parquet, and .npy."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from noregret.errors import ArgumentError, PoolError
from noregret.pools.array import Pool, pool_of
from noregret.pools.base import Keys
from noregret.pools.mapped import MappedPool, mapped
from noregret.pools.tables.feature_spec import Categories, FeatureSpec, Missing, Scale
from noregret.pools.tables.scan import TableScan, scan_table
from noregret.pools.tables.sources import UnsettledError, arrow, csv_source, parquet_source, settled

ENDINGS = (".npy", ".parquet", ".csv", ".csv.gz")


def read_pool(
    path: str | os.PathLike[str],
    *,
    features: Iterable[str] | None = None,
    name: str | None = None,
    categorical: Iterable[str] = (),
    categories: Categories = "onehot",
    missing: Missing = "refuse",
    scale: Scale | None = None,
    into: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Pool | MappedPool:
    """Read candidates from a file: .csv, .csv.gz, .parquet or .npy.

    Tables are read in two passes, a block of rows at a time, as by `Pool.from_frame`, which
    explains `features`, `name`, `categorical`, `categories`, `missing` and `scale`. Only columns
    that are needed are read; the features are held once, and the table never. Where they do not
    fit memory, `into="features.npy"` writes them to that file and maps it; an older file of that
    name is replaced once all is written. An .npy file holds features alone and is mapped, not
    loaded: a `MappedPool`.

    A CSV file needs a header; fields are separated by commas, and empty ones, NA, NaN or null are
    missing. Reading tables needs the extra `tables` (PyArrow).

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "salts.csv"
    >>> _ = path.write_text("id,salt,heat,yield\\na,KF,20,3.5\\nb,CsF,40,0.2\\n")
    >>> read_pool(path, features=["heat", "salt"], name="id")
    Pool(2 candidates × 3 features: heat, salt (2 levels), named)
    """
    file = Path(path)
    spec = FeatureSpec(features, name, categorical, categories, missing, scale)
    ending = _ending(file)
    if ending == ".npy":
        if spec != FeatureSpec() or into is not None:
            raise ArgumentError(
                f"{file} is an .npy file: its features are taken as they are, without names. Of "
                "the arguments of read_pool only progress applies; noregret.MappedPool(path, "
                "names=...) gives names."
            )
        return MappedPool(file, progress=progress)
    target = None if into is None else _target(Path(into))
    pa = arrow()
    try:
        scan = _scan(file, ending, spec, progress)
        if target is not None:
            return _written(scan, target, progress)
        return pool_of(scan, progress=progress)
    except (pa.ArrowException, OSError) as error:
        raise PoolError(f"{file} cannot be read as {ending}: {error}.") from error


def _scan(file: Path, ending: str, spec: FeatureSpec, progress: bool) -> TableScan:
    if ending == ".parquet":
        return scan_table(parquet_source(file), spec, progress=progress)
    source = csv_source(file)
    try:
        return scan_table(source, spec, progress=progress)
    except UnsettledError:
        return scan_table(settled(file, source.schema), spec, progress=progress)


def _ending(file: Path) -> str:
    ending = next((end for end in ENDINGS if file.name.lower().endswith(end)), None)
    if ending is None:
        raise PoolError(
            f"{file}: the name of a file must end in {', '.join(ENDINGS)}. Read others with "
            "pandas or Polars, and give the frame to noregret.Pool.from_frame."
        )
    if not file.exists():
        raise PoolError(f"there is no file {file}.")
    if not file.is_file():
        raise PoolError(f"{file} is not a file.")
    if file.stat().st_size == 0:
        raise PoolError(f"{file} is empty.")
    return ending


def _target(into: Path) -> Path:
    if not into.name.lower().endswith(".npy"):
        raise ArgumentError(f"into must name an .npy file, got {str(into)!r}.")
    if not into.parent.is_dir():
        raise ArgumentError(f"into={str(into)!r}: there is no folder {into.parent}.")
    return into


def _written(scan: TableScan, target: Path, progress: bool) -> MappedPool:
    """Write features to a file as they come, and map it."""
    draft, keys = target.with_name(f".{target.name}.{secrets.token_hex(6)}"), list[Keys]()
    header = {"descr": "<f8", "fortran_order": False, "shape": scan.shape}
    try:
        with draft.open("xb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for X, block in scan.blocks(progress=progress):
                file.write(X.astype("<f8").data)
                keys.append(block)
        names = scan.names(keys)
        os.replace(draft, target)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PoolError(f"cannot write {target}: {error}.") from error
        raise
    return mapped(target, names, scan.encoding)

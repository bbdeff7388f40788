"""A pool that stays on disk: the pool in memory, row by row and choice by choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import noregret as nr
from noregret import progress as bars
from noregret.errors import PoolError
from noregret.testing.base import play
from strategies import MODELS

X = np.random.default_rng(0).random((300, 3))
NAMES = [f"c{i}" for i in range(300)]
KINDS = ["f8", "f4", "f2", ">f8", ">f4", "i1", "u2", "i8", "u8", "?"]


def saved(folder: Path, array: np.ndarray) -> Path:
    path = folder / "features.npy"
    np.save(path, array)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_pool_in_memory(kind: str, tmp_path: Path) -> None:
    """Rows, chunks, keys and fingerprint: a saved run goes on with either."""
    array = (100 * X).astype(kind)
    mapped, pool = nr.MappedPool(saved(tmp_path, array)), nr.Pool(array)
    index = np.array([7, 299, 0, 7])
    for found in (mapped.rows(index), next(mapped.chunks(300))[1][index]):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, pool.rows(index))
    assert (len(mapped), mapped.dim) == (300, 3)
    assert mapped.fingerprint() == mapped.fingerprint() == pool.fingerprint()
    assert repr(mapped) == "MappedPool('features.npy', 300 candidates × 3 features)"
    assert mapped.columns == ()
    assert mapped.groups == mapped.levels == {}


@given(
    arrays.arrays(
        st.sampled_from([np.float64, np.float32, np.int16]),
        st.tuples(st.integers(1, 9), st.integers(1, 4)),
    )
)
def test_any_finite_matrix_is_the_pool_in_memory(
    tmp_path_factory: pytest.TempPathFactory,
    array: np.ndarray,
) -> None:
    """What memory accepts, disk accepts; what it refuses, disk refuses."""
    path = saved(tmp_path_factory.mktemp("mapped"), array)
    if not np.isfinite(array).all():
        with pytest.raises(PoolError, match="must be finite"):
            nr.MappedPool(path)
        return
    mapped, pool = nr.MappedPool(path), nr.Pool(array)
    np.testing.assert_array_equal(mapped.rows(np.arange(len(pool))), pool.X)
    assert mapped.fingerprint() == pool.fingerprint()


def test_names_and_points_off_the_pool(tmp_path: Path) -> None:
    mapped = nr.MappedPool(saved(tmp_path, X), names=NAMES)
    assert mapped.fingerprint() == nr.Pool(X, names=NAMES).fingerprint()
    assert repr(mapped).endswith("features, named)")
    optimizer = nr.mini_gp_ucb(mapped, kernel=nr.RBF(0.3), noise_std=0.1)
    optimizer.tell(["c3"], [0.5])
    optimizer.tell(np.stack([X[17], [0.5, 0.5, 0.5]]), [2.0, 0.1])
    assert optimizer.best().id == "c17"
    assert optimizer.unique == 3
    np.testing.assert_array_equal(optimizer.best().x, X[17])
    with pytest.raises(PoolError, match="301 names for 300"):
        nr.MappedPool(mapped.path, names=[*NAMES, "more"])


def test_the_file_cannot_be_written_to(tmp_path: Path) -> None:
    """Chunks are the file itself; rows are the reader's own."""
    path = saved(tmp_path, X)
    before, mapped = path.read_bytes(), nr.MappedPool(path)
    mapped.rows(np.array([1]))[:] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        next(mapped.chunks(1000))[1][0, 0] = 7.0
    assert path.read_bytes() == before


MAKERS = {**MODELS, "uniform": lambda pool, **_: nr.uniform(pool, seed=1)}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_choices_are_those_in_memory(make: Callable[..., nr.Optimizer], tmp_path: Path) -> None:
    """Where the candidates live changes nothing, and a run moves from disk to memory and back."""
    array = X.astype(np.float32)
    mapped, pool = nr.MappedPool(saved(tmp_path, array)), nr.Pool(array)
    on_disk, in_memory = (
        make(domain, kernel=nr.RBF(0.3), noise_std=0.3, seed=1) for domain in (mapped, pool)
    )
    assert play(on_disk, 8, at_most=16) == play(in_memory, 8, at_most=16)
    assert on_disk.best().id == in_memory.best().id
    on_disk.save(tmp_path / "run.nr")
    moved = nr.load(tmp_path / "run.nr", pool=pool)
    assert play(moved, 5) == play(in_memory, 5) == play(on_disk, 5)


BAD: dict[str, tuple[object, str]] = {
    "one dimension": (np.zeros(4), r"two dimensions.*got shape \(4,\)"),
    "three dimensions": (np.zeros((2, 2, 2)), "two dimensions"),
    "no rows": (np.zeros((0, 3)), r"at least one candidate.*\(0, 3\)"),
    "no columns": (np.zeros((3, 0)), "at least one candidate"),
    "strings": (np.array([["a", "b"]]), "must hold numbers, got dtype <U1"),
    "complex": (np.zeros((2, 2), dtype=complex), "got dtype complex128"),
    "dates": (np.zeros((2, 2), dtype="M8[s]"), "got dtype datetime64"),
    "records": (np.zeros((2, 2), dtype=[("a", "f8")]), "must hold numbers"),
    "Fortran order": (np.asfortranarray(X), "Fortran order.*ascontiguousarray"),
    "NaN": (np.array([[1.0, 2.0], [3.0, np.nan]]), "row 1, column 1 holds nan"),
    "infinite": (np.array([[1.0, -np.inf]], dtype=np.float32), "row 0, column 1 holds -inf"),
    "huge": (np.array([[1, 2**53 + 2]]), "holds 9007199254740994.*at most 2.53"),
    "huge unsigned": (np.array([[2**64 - 1]], dtype=np.uint64), "18446744073709551615"),
}


@pytest.mark.parametrize(("array", "message"), BAD.values(), ids=BAD)
def test_bad_arrays_are_refused(array: np.ndarray, message: str, tmp_path: Path) -> None:
    with pytest.raises(PoolError, match=f"(?s)features.npy.*{message}"):
        nr.MappedPool(saved(tmp_path, array))


def test_bad_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "features.npy"
    with pytest.raises(PoolError, match=r"there is no file .*features\.npy"):
        nr.MappedPool(path)
    whole = saved(tmp_path, X).read_bytes()
    np.savez(tmp_path / "two.npz", a=X, b=X)
    objects = np.array([[1, "x"]], dtype=object)
    np.save(tmp_path / "objects.npy", objects, allow_pickle=True)
    for content in (
        b"",
        b"a,b\n1,2\n",
        whole[:60],
        whole[:-8],
        (tmp_path / "two.npz").read_bytes(),
        (tmp_path / "objects.npy").read_bytes(),
    ):
        path.write_bytes(content)
        with pytest.raises(PoolError, match=r"features\.npy"):
            nr.MappedPool(path)
    with pytest.raises(PoolError, match="cannot be read"):
        nr.MappedPool(tmp_path)


def test_a_long_check_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opening a hundred gigabytes must not look like a hang; a small file writes nothing."""
    path = saved(tmp_path, X)
    nr.MappedPool(path)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(bars, "SILENT_SECONDS", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    nr.MappedPool(path, progress=False)
    assert capsys.readouterr() == ("", "")
    nr.MappedPool(path)
    out, err = capsys.readouterr()
    assert out == ""
    assert "rows checked" in err

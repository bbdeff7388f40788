"""A saved run: it goes on bit for bit, or it is not there at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import zipfile
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SnapshotError
from small_stories import ALGORITHMS, POOL, X, rewritten, run

EVENTS = 13


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_loaded_run_is_the_unbroken_one_bit_for_bit(name: str, tmp_path: Path) -> None:
    """The night's run died at four; at nine it must go on as if nothing had happened."""
    unbroken = run(ALGORITHMS[name](POOL, seed=3, offset=0.1), 0, EVENTS)
    for cut in (0, 3, 7, 10):
        optimizer = ALGORITHMS[name](POOL, seed=3, offset=0.1)
        before = run(optimizer, 0, cut)
        optimizer.ask(at_most=5, worker="ab"[cut % 2])  # so that it is saved in mid-batch too
        optimizer.save(tmp_path / "run")
        del optimizer
        again = nr.load(tmp_path / "run", pool=nr.Pool(X.copy()))
        assert before + run(again, cut, EVENTS) == unbroken


@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-global", "gp_ei", "epsilon_greedy"])
def test_saved_and_loaded_at_every_event(name: str, tmp_path: Path) -> None:
    """A job that is put to sleep and woken every hour loses nothing by it."""
    unbroken = run(ALGORITHMS[name](POOL, goal="min", seed=5), 0, EVENTS)
    optimizer, broken = ALGORITHMS[name](POOL, goal="min", seed=5), list[tuple[object, ...]]()
    for i in range(EVENTS):
        optimizer.save(tmp_path / "run")
        optimizer = nr.load(tmp_path / "run", pool=POOL)
        broken += run(optimizer, i, i + 1)
    assert broken == unbroken


@pytest.mark.parametrize("name", ALGORITHMS)
def test_saving_again_writes_the_same(name: str, tmp_path: Path) -> None:
    """What one load loses, a hundred loads lose a hundred times."""
    optimizer = ALGORITHMS[name](POOL)
    run(optimizer, 0, 9)
    contents = []
    for i in range(3):
        path = tmp_path / str(i)
        optimizer.save(path)
        with zipfile.ZipFile(path) as archive:
            contents.append({entry: archive.read(entry) for entry in archive.namelist()})
        optimizer = nr.load(path, pool=POOL)
    assert contents[0] == contents[1] == contents[2]


def test_receipts_and_names_survive(tmp_path: Path) -> None:
    """A worker retries its message, about samples and not rows, after the server was restarted."""
    pool = nr.Pool(X, names=[f"s{i}" for i in range(50)])
    optimizer = ALGORITHMS["uniform"](pool)
    first = optimizer.ask()
    optimizer.tell(first, np.arange(5.0))
    second = optimizer.ask()
    optimizer.tell(second[:2], [1.0, 2.0])
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=pool)
    again.tell(first, np.arange(5.0))
    again.tell(second[:2], [1.0, 2.0])
    assert again.evaluations == 7
    with pytest.raises(nr.NoRegretError, match="batch 0 was told before with other values"):
        again.tell(first, np.arange(5.0) + 1)
    again.tell(second[2:], [3.0] * 3)
    assert again.best().id == first.sequence[4]


def test_a_run_saved_before_residuals_were_kept_goes_on_as_it_was(tmp_path: Path) -> None:
    """Files from before lack a field of the sparse posterior, and rest on another band."""
    optimizer = nr.bbkb(POOL, kernel=nr.RBF(0.3), noise_std=0.3)
    run(optimizer, 0, 4)
    optimizer.save(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run") as archive:
        fields = re.findall(
            rb', "observed_residuals": {"array": "a[0-9]+"}', archive.read("run.json")
        )
    assert fields
    for field in fields:
        rewritten(tmp_path / "run", field, b"")
    band = b'{"tag": "NystromWidth", "fields": {"delta": 0.1}}'
    old = b'{"tag": "BBKBWidth", "fields": {"delta": 0.1, "limit": 2.0, "fresh": true}}'
    again = nr.Optimizer.load(rewritten(tmp_path / "run", band, old), pool=POOL)
    assert "BBKB (2020) Theorem 2" in again.certificate().theorem
    chosen = [turn[:5] for turn in run(optimizer, 4, 8)]
    assert [turn[:5] for turn in run(again, 4, 8)] == chosen


FORMAT_7 = """{"format": 7,
"pool": "031f6e22bfc3b0e7216181fb5ce4635a42b997cde412ee0069c55bcb155f3b48",
"extra": {"array": "a0"}, "parts": {"class": "Parts", "fields": {"policy": {"class": "Uniform",
"fields": {"size": 1}}, "state": {"class": "Nothing", "fields": {}}}}}"""


@pytest.mark.parametrize(
    ("found", "reader"),
    [
        ("7", "noregret at commit 4270a93 reads it"),
        *[("6", "An older or newer"), ("9", "An older or newer"), ("null", "An old")],
    ],
)
def test_runs_of_other_formats_are_refused_with_who_reads_them(
    found: str, reader: str, tmp_path: Path
) -> None:
    """A run of a month must not be lost to an update."""
    with zipfile.ZipFile(tmp_path / "run", "w") as archive:
        archive.writestr("run.json", FORMAT_7.replace('"format": 7', f'"format": {found}'))
    with pytest.raises(SnapshotError, match=rf"has format \w+; this version reads 8. {reader}"):
        nr.load(tmp_path / "run", pool=nr.Pool([[0.0], [0.5], [1.0]]))


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (os, "fsync"),
        (os, "replace"),
        (np, "save"),
        (zipfile.ZipFile, "writestr"),
        (Path, "open"),
    ],
)
@pytest.mark.parametrize(
    ("failure", "raised", "match"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), SnapshotError, "No space left"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
    ids=["a full disk", "Ctrl-C"],
)
def test_a_save_that_fails_leaves_the_old_run(
    failure: BaseException,
    raised: type[BaseException],
    match: str | None,
    where: object,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last good save is all there is; it must survive the next bad one."""
    path = tmp_path / "run"
    optimizer = ALGORITHMS["mini_gp_ucb"](POOL)
    run(optimizer, 0, 3)
    optimizer.save(path)
    old = path.read_bytes()
    later = run(optimizer, 3, 6)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, Mock(side_effect=failure))
        with pytest.raises(raised, match=match) as caught:
            optimizer.save(path)
        assert failure in (caught.value, caught.value.__cause__)
    assert path.read_bytes() == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    assert run(nr.load(path, pool=POOL), 3, 6) == later
    optimizer.save(path)
    assert path.read_bytes() != old


def test_saving_into_nowhere_says_so(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="missing"):
        ALGORITHMS["uniform"](POOL).save(tmp_path / "missing" / "run")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SnapshotError, match="folder"):
        ALGORITHMS["uniform"](POOL).save(tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_saved_run_is_a_file_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Colleagues share a folder; only the umask may keep them out. Paths are typed as people do."""
    monkeypatch.chdir(tmp_path)
    plain = tmp_path / "plain"
    plain.touch()
    ALGORITHMS["uniform"](POOL).save("run.noregret")
    assert nr.load("run.noregret", pool=POOL).spent == 0
    run_mode, plain_mode = (path.stat().st_mode for path in (tmp_path / "run.noregret", plain))
    assert stat.S_IMODE(run_mode) == stat.S_IMODE(plain_mode)

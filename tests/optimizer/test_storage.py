"""A saved run: it goes on bit for bit, or it is not there at all."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import noregret as nr
from noregret.arrays import Matrix, Vector
from noregret.errors import SnapshotError
from noregret.kernels import Kernel
from noregret.storable import storable

X = np.random.default_rng(2).random((50, 2))
POOL = nr.Pool(X)
F = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
KERNEL = nr.Matern(nu=2.5, lengthscale=0.4)


def modelled(
    algorithm: Callable[..., nr.Optimizer], **settings: object
) -> Callable[..., nr.Optimizer]:
    return partial(algorithm, **{"kernel": KERNEL, "noise_std": 0.5, **settings})


ALGORITHMS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": modelled(nr.gp_ucb),
    "gp_ei": modelled(nr.gp_ei),
    "gp_bucb-product": modelled(nr.gp_bucb, limit=9.0),
    "gp_bucb-global": modelled(nr.gp_bucb, rule="global", limit=9.0),
    "gp_bucb-local": modelled(nr.gp_bucb, rule="local", limit=4.0),
    "bkb": modelled(nr.bkb),
    "bbkb-global": modelled(nr.bbkb, limit=9.0),
    "bbkb-local": modelled(nr.bbkb, rule="local", limit=4.0),
    "bbkb-theory": modelled(nr.bbkb, preset="theory", horizon=60),
    "bbkb-start": modelled(nr.bbkb, min_batch=2, start=[4, 9], limit=9.0),
    "gp_ucb-uniform": modelled(nr.gp_ucb, start=nr.UniformDesign(12)),
    "gp_bucb-sobol": modelled(nr.gp_bucb, start=nr.SobolDesign(14), limit=9.0),
    "bbkb-farthest": modelled(nr.bbkb, start=nr.FarthestDesign(11), min_batch=2, limit=9.0),
    "mini-uncertain": modelled(nr.mini_gp_ucb, start=nr.UncertaintyDesign(13), limit=9.0),
    "mini_gp_ucb": modelled(nr.mini_gp_ucb, limit=9.0),
    "mini_gp_ei": modelled(nr.mini_gp_ei, limit=9.0),
    "mini-gradient": modelled(nr.mini, acquisition=nr.KnowledgeGradient(50.0, 0.25), limit=9.0),
    "mini-switch": modelled(nr.mini_gp_ucb, limit=9.0, switch_cost=2.5),
    "mini-ei-switch": modelled(nr.mini_gp_ei, limit=9.0, switch_cost=float("inf")),
    "mini-bayesian": modelled(
        nr.mini_gp_ucb, width=0.5 * nr.BayesianWidth(0.2), norm_bound="double"
    ),
    "uniform": partial(nr.uniform, batch_size=5),
    "lin_ucb": partial(nr.lin_ucb, noise_std=0.5, bias=1.0),
    "ts_qff": modelled(nr.ts_qff, kernel=2.0 * nr.RBF((0.3, 0.5)), batch_size=3),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=5),
    "random_search": partial(nr.random_search, batch_size=5),
    "evolution": partial(nr.regularized_evolution, batch_size=5, population=7, sample=3),
    "evolution-groups": partial(
        nr.regularized_evolution, batch_size=5, population=4, groups=[[0], 1]
    ),
}
EVENTS = 13


def event(optimizer: nr.Optimizer, i: int) -> tuple[object, ...]:
    """Something happens to the run; returns what a user could see of it, to the last bit."""
    batch = optimizer.ask(at_most=5, worker="ab"[i % 2])
    noise = np.random.default_rng(i).standard_normal(len(batch))
    values = F[batch.sequence.astype(np.int64)] + 0.5 * noise
    part = batch[: 1 + i % 4]
    if i % 6 == 4:
        optimizer.fail(batch[len(part) :])
    optimizer.tell(part, values[: len(part)])
    if i % 5 == 3:
        optimizer.tell([i, i + 1], [F[i], nr.FAILED])
    if i % 7 == 2:
        optimizer.exclude([2 * i])
    seen = (batch.ticket, batch.start, batch.sequence.tolist(), batch.reason, optimizer.spent)
    if not isinstance(optimizer.policy, nr.Bandit):  # without a certificate
        return (*seen, optimizer.best().id, optimizer.best().mean)
    posterior, certificate = optimizer.posterior, optimizer.certificate()
    bits = (posterior.mean(X).tobytes(), posterior.variance(X).tobytes())
    return (*seen, *bits, certificate.gap, certificate.beta, optimizer.best().lower)


def run(optimizer: nr.Optimizer, start: int, stop: int) -> list[tuple[object, ...]]:
    return [event(optimizer, i) for i in range(start, stop)]


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


KERNELS: list[Kernel] = [
    nr.RBF(0.3),
    nr.RBF((0.3, 0.7)),
    nr.Matern(nu=0.5, lengthscale=(0.1, 2.0)),
    nr.Linear(0.5),
    2.5 * nr.Matern(nu=1.5, lengthscale=0.3),
    nr.RBF(0.3) + nr.Linear(1.0),
    nr.RBF(0.3) * nr.Matern(lengthscale=(1 / 3, 0.1)),
    0.1 * (nr.RBF(1 / 3) + 2.0 * nr.Linear()) * (nr.Matern(nu=0.5) + 3.0 * nr.RBF((0.2, 0.9))),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("make", [nr.mini_gp_ucb, nr.bbkb])
def test_own_kernels_come_back_whole(
    make: Callable[..., nr.Optimizer], kernel: Kernel, tmp_path: Path
) -> None:
    """A lengthscale that lost its last digit gives other choices."""
    optimizer = make(POOL, kernel=kernel, noise_std=0.3, limit=9.0)
    run(optimizer, 0, 5)
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    np.testing.assert_array_equal(
        again.posterior.covariance(X, X), optimizer.posterior.covariance(X, X)
    )
    assert run(again, 5, 9) == run(optimizer, 5, 9)


@dataclass(frozen=True)
class Foreign:
    """Somebody else's kernel."""

    rate: float = 3.0

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        gaps: Matrix = np.abs(X[:, None, :] - Z[None, :, :]).sum(axis=2)
        return np.exp(-self.rate * gaps)

    def diagonal(self, X: Matrix) -> Vector:
        return np.ones(len(X))


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (partial(nr.gp_bucb, min_batch=2, limit=9.0), Foreign()),
        (partial(nr.bbkb, min_batch=2, limit=9.0), Foreign()),
        (nr.gp_ucb, 2.0 * nr.Sum(Foreign(), nr.Linear())),
        (nr.gp_ucb, nr.Sum(Foreign(1.0), Foreign(9.0))),
    ],
)
def test_kernels_of_others_are_given_again_whole(
    make: Callable[..., nr.Optimizer], kernel: Kernel, tmp_path: Path
) -> None:
    """Their code cannot be kept in a file without running whatever the file says.

    What the algorithm was given is what load() is given; anything else is another model.
    """
    optimizer = make(POOL, kernel=kernel, noise_std=0.3)
    run(optimizer, 0, 6)
    optimizer.save(tmp_path / "run")
    with pytest.raises(SnapshotError, match="give it again"):
        nr.load(tmp_path / "run", pool=POOL)
    for other in () if isinstance(kernel, Foreign) else (Foreign(), nr.Scaled(kernel, 2.0)):
        with pytest.raises(SnapshotError, match="is not the kernel of the saved run"):
            nr.load(tmp_path / "run", pool=POOL, kernel=other)
    again = nr.load(tmp_path / "run", pool=POOL, kernel=deepcopy(kernel))
    assert run(again, 6, 10) == run(optimizer, 6, 10)


NUMBERS: list[Any] = [np.float32(0.5), np.int64(1)]


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (nr.mini_gp_ucb, {"limit": np.float32(2.0)}),
        (nr.mini_gp_ucb, {"limit": np.int64(3)}),
        (nr.gp_bucb, {"limit": np.int64(3)}),
        (nr.gp_ucb, {"ridge": np.float32(0.5)}),
        (nr.gp_ucb, {"noise_std": np.float32(0.5)}),
        (nr.gp_ucb, {"delta": np.float32(0.5), "seed": np.int64(3), "offset": np.float32(1)}),
        (nr.gp_ucb, {"norm_bound": np.int64(2), "start": np.array([1, 2])}),
        (nr.gp_ucb, {"kernel": nr.RBF(NUMBERS[0])}),
        (nr.gp_ucb, {"kernel": nr.Scaled(nr.RBF(), NUMBERS[0])}),
        (nr.gp_ucb, {"kernel": nr.RBF() + nr.Linear(NUMBERS[1])}),
        (nr.gp_ucb, {"kernel": nr.Matern(nu=NUMBERS[0])}),
        (nr.bkb, {"horizon": np.int64(50)}),
        (nr.bbkb, {"oversample": np.int64(3)}),
        (nr.bbkb, {"min_batch": np.int64(1)}),
        (nr.gp_ucb, {"width": nr.RKHSWidth(NUMBERS[0])}),
        (nr.uniform, {"batch_size": np.int64(4)}),
        (nr.epsilon_greedy, {"batch_size": np.int64(4)}),
    ],
)
def test_numbers_out_of_numpy_are_numbers(
    make: Callable[..., nr.Optimizer], settings: dict[str, object], tmp_path: Path
) -> None:
    """Settings come out of arrays; what runs must be able to be saved."""
    given = {} if "batch_size" in settings else {"kernel": nr.RBF(0.3), "noise_std": 0.5}
    optimizer = make(POOL, **{**given, **settings})
    run(optimizer, 0, 3)
    optimizer.save(tmp_path / "run")
    again = nr.load(tmp_path / "run", pool=POOL)
    assert run(again, 3, 5) == run(optimizer, 3, 5)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_is_pickled(name: str, tmp_path: Path) -> None:
    """A file from a stranger must not be able to run code."""
    optimizer = ALGORITHMS[name](POOL)
    run(optimizer, 0, 6)
    optimizer.save(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run") as archive:
        assert archive.testzip() is None
        for entry in archive.namelist():
            if entry == "run.json":
                json.loads(archive.read(entry))
            else:
                array = np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
                assert not array.dtype.hasobject


@storable("test.Steps")
@dataclass(frozen=True)
class Steps(Foreign):
    """A kernel of somebody who marked it."""


def test_parts_of_others_are_saved_where_they_are_marked(tmp_path: Path) -> None:
    optimizer = nr.gp_ucb(POOL, kernel=2.0 * nr.Sum(Steps(2.0), nr.Linear()), noise_std=0.3)
    run(optimizer, 0, 4)
    optimizer.save(tmp_path / "run")
    again = nr.Optimizer.load(tmp_path / "run", pool=POOL)
    assert run(again, 4, 8) == run(optimizer, 4, 8)


def rewritten(path: Path, old: bytes, new: bytes) -> Path:
    """Change what a file says."""
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content.replace(old, new))
    return path


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


def test_a_class_that_is_not_marked_is_not_built(tmp_path: Path) -> None:
    """The tree names classes by tags; only those marked may be made from it."""
    ALGORITHMS["uniform"](POOL).save(tmp_path / "run")
    path = rewritten(tmp_path / "run", b'"Uniform"', b'"Popen"')
    with pytest.raises(SnapshotError, match="a part that is not known here, 'Popen'"):
        nr.load(path, pool=POOL)


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

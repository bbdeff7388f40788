"""Which candidates can be added, and to which pools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import noregret as nr
from noregret.arrays import Indices, Matrix
from noregret.pools import Extensible
from small_extensions import FIRST, X, made
from small_optimizers import (
    refused,
    refused_by,
)


def test_the_pool_that_was_given_is_not_changed() -> None:
    """Another run may be on it, and extend it in its own way."""
    pool = nr.Pool(X[:FIRST])
    print_ = pool.fingerprint()
    one, other = made("gp_ucb", pool), made("gp_ucb", pool)
    one.extend(X[FIRST:40])
    other.extend(X[40:])
    one.extend(X[40:])
    assert (len(pool), pool.fingerprint()) == (FIRST, print_)
    assert one.pool.fingerprint() == nr.Pool(X).fingerprint()
    assert other.pool.fingerprint() == nr.Pool(np.delete(X, range(FIRST, 40), 0)).fingerprint()


def test_candidates_too_far_for_the_kernel_are_refused(tmp_path: Path) -> None:
    """Their distance to others overflows, and a belief that is NaN says nothing of anybody."""
    run = nr.gp_ucb(nr.Pool(X[:FIRST]), kernel=nr.Matern(lengthscale=0.3), noise_std=0.1)
    with refused_by(run, tmp_path, "the kernel is NaN or infinite at some of these points"):
        run.extend(np.full((2, X.shape[1]), 1e160))


def test_a_saved_run_wants_the_whole_pool(tmp_path: Path) -> None:
    run = made("mini_gp_ucb", nr.Pool(X[:FIRST]))
    run.extend(X[FIRST:])
    run.save(tmp_path / "run")
    with refused("another pool"):
        nr.load(tmp_path / "run", pool=nr.Pool(X[:FIRST]))
    assert nr.load(tmp_path / "run", pool=run.pool).peek().ids == run.peek().ids


FRAME = pa.table({"id": ["a", "b", "c"], "salt": ["KF", "CsF", "KF"], "heat": [20.0, 40.0, 80.0]})
WRONG: dict[str, tuple[Callable[[], Any], object, object, str]] = {
    "nan": (lambda: nr.Pool(X), [[0.1, np.nan]], None, r"extend\(more\) must be finite"),
    "width": (lambda: nr.Pool(X), [[0.1, 0.2, 0.3]], None, r"extend\(more\).*2 columns, got 3"),
    "nothing": (lambda: nr.Pool(X), np.empty((0, 2)), None, "at least one candidate"),
    "words": (lambda: nr.Pool(X), [["a", "b"]], None, r"extend\(more\) must hold numbers"),
    "names too many": (lambda: nr.Pool(X), X[:1], ["a"], "has no names.*from 48 on"),
    "no names": (lambda: nr.Pool(X[:1], names=["a"]), X[:1], None, "need one each"),
    "again": (lambda: nr.Pool(X[:2], names=["a", "b"]), X[:1], ["b"], "a candidate 'b' already"),
    "twice": (lambda: nr.Pool(X[:1], names=["a"]), X[:2], ["b", "b"], r"extend\(names=...\).*uniq"),
    "few": (lambda: nr.Pool(X[:1], names=["a"]), X[:2], ["b"], "1 names for 2 candidates"),
    "numbers": (lambda: nr.Pool(X[:1], names=["a"]), X[:1], [7], "must be like the names"),
    "column": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        FRAME.drop(["salt"]),
        None,
        r"extend\(more\) must have one column 'salt'",
    ),
    "level": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        pa.table({"id": ["d"], "salt": ["LiF"], "heat": [1.0]}),
        None,
        "row 0 has 'LiF' in column 'salt'.*one of the pool's levels",
    ),
    "numbers for a table": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        [[1.0, 1.0, 30.0]],  # both salts at once
        ["d"],
        r"extend\(more\) must be a table with the columns salt \(2 levels\), heat,",
    ),
    "pool of numbers for a table": (
        lambda: nr.Pool.from_frame(FRAME.drop(["salt"]), name="id", scale="unit"),
        nr.Pool([[0.3]], names=["d"]),
        None,
        r"extend\(more\) must be a table with the columns heat.*Give a data frame",
    ),
    "missing": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        pa.table({"id": ["d", "e"], "salt": ["KF", "KF"], "heat": [1.0, None]}),
        None,
        "row 1 has None in column 'heat'",
    ),
    "none of a table": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        FRAME.slice(0, 0),
        None,
        "needs at least one candidate, got none",
    ),
    "unnamed": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        pa.table({"salt": ["KF"], "heat": [1.0]}),
        None,
        "must have one column 'id'",
    ),
    "null name": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        pa.table({"id": ["d", None], "salt": ["KF", "KF"], "heat": [1.0, 2.0]}),
        None,
        "row 1 has no name in column 'id'",
    ),
    "float names": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        pa.table({"id": [0.5], "salt": ["KF"], "heat": [1.0]}),
        None,
        "names must be strings or whole numbers",
    ),
    "other table": (
        lambda: nr.Pool.from_frame(FRAME, name="id"),
        nr.Pool.from_frame(FRAME.slice(0, 2), features=["heat", "salt"], name="id"),
        None,
        "must have the features of the pool",
    ),
    "bits": (
        lambda: nr.BitPool([[0, 1, 1]]),
        [[0, 1]],
        None,
        r"extend\(more\) must have 3 columns",
    ),
    "twos": (lambda: nr.BitPool([[0, 1, 1]]), [[0, 1, 2]], None, "0 and 1 only"),
    "fewer bits": (lambda: nr.BitPool([[0, 1, 1]]), nr.BitPool([[0, 1]]), None, "must have 3 bits"),
    "box": (lambda: nr.Box([(0, 1)]), [[0.3]], None, "a box holds all points between its bounds"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_added_is_refused_and_changes_nothing(case: str, tmp_path: Path) -> None:
    """As when the pool was made: what is wrong is named, and the run is what it was."""
    make, more, names, match = WRONG[case]
    run = nr.uniform(make())
    with refused_by(run, tmp_path, match):
        run.extend(more, names=names)


def test_a_kernel_looks_at_new_candidates_before_they_are_taken(tmp_path: Path) -> None:
    gram = nr.Precomputed(np.eye(3))
    run = nr.gp_ucb(nr.Pool.numbered(2), kernel=gram, noise_std=1.0)
    run.extend([[2.0]])
    run.tell([2], [0.5])
    with refused_by(run, tmp_path, "3"):
        run.extend([[3.0]])
    with refused_by(nr.auto(nr.Pool(X)), tmp_path, "too large to be compared"):
        nr.auto(nr.Pool(X)).extend([[1e200, 0.0]])


class Halves:
    """A pool of somebody else: the numbers 0, ½, 1, ... of which there may be more."""

    def __init__(self, count: int) -> None:
        self.count, self.dim = count, 1
        self.names = nr.pools.Names(None, count)
        self.keys, self.find = self.names.of, self.names.find

    def __len__(self) -> int:
        return self.count

    def rows(self, index: Indices) -> Matrix:
        return np.asarray(index)[:, None] / 2.0

    def chunks(self, size: int) -> Any:
        for start in range(0, self.count, size):
            yield start, self.rows(np.arange(start, min(start + size, self.count)))

    def read(self, name: str, X: object) -> Matrix:
        return nr.arrays.as_matrix(name, X, columns=1)

    def shown(self, X: Matrix) -> Matrix:
        return X

    def fingerprint(self) -> str:
        return f"halves {self.count}"


class MoreHalves(Halves):
    def extended(self, more: object, names: object = None) -> MoreHalves:
        assert isinstance(more, int)
        assert names is None
        return MoreHalves(self.count + more)


def test_pools_of_others_can_be_extended_where_they_say_how(tmp_path: Path) -> None:
    run = nr.uniform(Halves(3))
    with refused_by(run, tmp_path, "Halves is a pool of your own without a method extended"):
        run.extend([[1.5]])
    assert isinstance(MoreHalves(3), Extensible)
    other = nr.gp_ucb(MoreHalves(3), kernel=nr.RBF(1.0), noise_std=0.1)
    other.tell([0, 1, 2], [0.0, 0.4, 0.8])
    other.extend(4)
    assert other.ask().ids[0] > 2

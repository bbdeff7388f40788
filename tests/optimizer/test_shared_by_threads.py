"""Threads that share a run take turns."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import noregret as nr


@pytest.mark.parametrize("algorithm", [nr.auto, nr.uniform])
def test_threads_may_share_a_run(algorithm: Callable[..., nr.Optimizer]) -> None:
    """A rig with a thread a robot: posteriors half told by another thread are none."""
    X = np.random.default_rng(0).random((200, 3))
    f = np.sin(5 * X[:, 0]) * X[:, 1]
    opt, failures = algorithm(nr.Pool(X)), list[Exception]()

    def work(robot: str) -> None:
        try:
            for _ in range(8):
                batch = opt.ask(at_most=2, worker=robot)
                opt.tell(batch, f[batch.sequence])
                opt.best()
        except Exception as failure:
            failures.append(failure)

    robots = [threading.Thread(target=work, args=(name,), daemon=True) for name in "abcd"]
    for robot in robots:
        robot.start()
    for robot in robots:
        robot.join(timeout=60)
    assert failures == []
    assert opt.batches == 32
    assert opt.evaluations == len(opt.sequence)
    told = opt.evaluated
    np.testing.assert_allclose(told.averages, f[np.array(told.ids)], rtol=1e-12)


def test_who_looks_waits_for_who_tells() -> None:
    """Two threads inside a run at once is what must not be."""
    opt = nr.uniform(nr.Pool([[0.0], [1.0]]))
    opt.tell([0], [1.0])
    looked = threading.Thread(target=opt.best, daemon=True)

    def values() -> Iterator[float]:  # read in the middle of tell()
        opt.best()  # the same thread may
        looked.start()
        looked.join(timeout=0.2)
        assert looked.is_alive()
        yield 2.0

    opt.tell([1], values())
    looked.join(timeout=60)
    assert not looked.is_alive()


def test_a_copy_takes_turns_by_itself() -> None:
    """To try something on a copy of a run, or send one to another process."""
    opt = nr.auto(nr.Pool([[0.0], [0.5], [1.0]]))
    opt.tell([0, 1], [1.0, 2.0])
    for other in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert_free_while(opt, other)
        assert other.ask().ids.tolist() == opt.peek().ids.tolist()


def assert_free_while(opt: nr.Optimizer, other: nr.Optimizer) -> None:
    """While one is told of, another thread may look at the other."""

    def values() -> Iterator[float]:
        looked = threading.Thread(target=other.best, daemon=True)
        looked.start()
        looked.join(timeout=60)
        assert not looked.is_alive()
        yield 3.0

    opt.tell([2], values())
    other.tell([2], [3.0])

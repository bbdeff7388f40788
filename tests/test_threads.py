"""Threads: work spread over them is done in order, and those that share a run take turns."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from noregret import threads
from noregret.threads import Scratch, spread, steady


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two, whatever the machine has and BLAS was told."""
    controller, _ = threads._machine()
    monkeypatch.setattr(threads, "_machine", lambda: (controller, 2))


def test_results_come_in_order() -> None:
    """Bounds of one piece of a pool must not be taken for those of another."""
    assert spread(lambda piece: piece**2, range(100)) == [piece**2 for piece in range(100)]


def test_work_may_spread_its_own_work() -> None:
    """Threads that wait for threads of the same few would never end."""
    done: list[list[int]] = []
    outer = threading.Thread(
        target=lambda: done.extend(spread(lambda n: spread(lambda k: n * k, range(9)), range(9))),
        daemon=True,
    )
    outer.start()
    outer.join(timeout=60)
    assert done == [[n * k for k in range(9)] for n in range(9)]


def test_an_error_in_a_piece_is_raised() -> None:
    """A pass that lost a piece has not looked at the pool."""
    with pytest.raises(ZeroDivisionError):
        spread(lambda piece: 1 // piece, [1, 1, 0, 1])


def test_blas_is_given_back_what_it_had() -> None:
    """A user's own products must not stay slow after an ask."""
    controller, _ = threads._machine()
    before = [library["num_threads"] for library in controller.info()]
    with steady():
        pass
    assert [library["num_threads"] for library in controller.info()] == before


def test_scratch_is_a_threads_own() -> None:
    """Two threads in the same memory would mix two pieces of a pool."""
    scratch = Scratch()
    mine = scratch.matrix("a", 3, 4)
    mine[:] = 1.0
    other: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: other.append(scratch.matrix("a", 3, 4)))
    thread.start()
    thread.join()
    other[0][:] = 2.0
    assert (mine == 1.0).all()
    assert np.shares_memory(mine, scratch.matrix("a", 2, 5))
    assert not np.shares_memory(mine, scratch.matrix("b", 3, 4))
    assert scratch.matrix("a", 30, 40).shape == (30, 40)


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
    with opt.turn:
        opt.best()  # the same thread may
        looked.start()
        looked.join(timeout=0.2)
        assert looked.is_alive()
    looked.join(timeout=60)
    assert not looked.is_alive()


def test_a_copy_takes_turns_by_itself() -> None:
    """To try something on a copy of a run, or send one to another process."""
    opt = nr.auto(nr.Pool([[0.0], [0.5], [1.0]]))
    opt.tell([0, 1], [1.0, 2.0])
    for other in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert other.turn is not opt.turn
        assert other.ask().ids.tolist() == opt.peek().ids.tolist()

"""Work spread over threads: in order, whoever asks, and without waiting for ever."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from noregret import threads
from noregret.threads import Scratch, parallel_map, single_threaded_blas


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two, whatever the machine has and BLAS was told."""
    blas, _ = threads.machine()
    monkeypatch.setattr(threads, "machine", lambda: (blas, 2))


def test_results_come_in_order() -> None:
    """Bounds of one piece of a pool must not be taken for those of another."""
    assert parallel_map(lambda piece: piece**2, range(100)) == [piece**2 for piece in range(100)]


def test_work_may_spread_its_own_work() -> None:
    """Threads that wait for threads of the same few would never end."""
    done: list[list[int]] = []
    outer = threading.Thread(
        target=lambda: done.extend(
            parallel_map(lambda n: parallel_map(lambda k: n * k, range(9)), range(9))
        ),
        daemon=True,
    )
    outer.start()
    outer.join(timeout=60)
    assert done == [[n * k for k in range(9)] for n in range(9)]


def test_an_error_in_a_piece_is_raised() -> None:
    """A pass that lost a piece has not looked at the pool."""
    with pytest.raises(ZeroDivisionError):
        parallel_map(lambda piece: 1 // piece, [1, 1, 0, 1])


@pytest.mark.parametrize("given", [1, 2])
def test_blas_is_given_back_what_it_had(given: int) -> None:
    """A user's own products must not stay slow after an ask, one that failed too."""
    blas, _ = threads.machine()

    def asked() -> None:
        with single_threaded_blas():
            assert [library.num_threads for library in blas] == [1] * len(blas)
            raise ZeroDivisionError

    with threadpool_limits(given, user_api="blas"):
        with pytest.raises(ZeroDivisionError):
            asked()
        assert [library.num_threads for library in blas] == [given] * len(blas)
    assert blas


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

"""One thread per matrix product, several per pass over a pool, and locks for shared runs.

The products of a step are small: waking the threads of BLAS takes longer than the product itself. A
pass over a pool is cut into pieces that fit a cache, and threads that take a piece each do not wait
for one another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import current_thread, local
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, final

import numpy as np

from noregret.arrays import Matrix

if TYPE_CHECKING:
    from threadpoolctl import LibController

NAME = "noregret"  # with which the names of the threads begin
Piece = TypeVar("Piece")
Result = TypeVar("Result")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let BLAS use one thread, whatever it was told, until the block ends."""
    blas, _ = machine()
    given = [(library, library.num_threads) for library in blas]
    for library, number in given:
        if number != 1:
            library.set_num_threads(1)
    try:
        yield
    finally:
        for library, number in given:
            if number != 1:
                library.set_num_threads(number)


def parallel_map(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Return work(piece) for each piece, in order, several at a time.

    As many at a time as BLAS may use threads: OPENBLAS_NUM_THREADS and the like are heeded. A call
    inside of `work` uses one thread: threads that wait for each other would wait for ever.
    """
    _, workers = machine()
    if workers == 1 or len(pieces) < 2 or current_thread().name.startswith(NAME):
        return [work(piece) for piece in pieces]

    def share(first: int) -> list[Result]:
        return [work(piece) for piece in pieces[first::workers]]

    others = [_executor(os.getpid(), workers).submit(share, first) for first in range(1, workers)]
    try:
        shares = [share(0)]
    finally:  # nobody may go on with pieces that are still written to
        wait(others)
    shares += [other.result() for other in others]
    return [shares[at % workers][at // workers] for at in range(len(pieces))]


@final
class Scratch(local):
    """Memory per thread for short-lived matrices: fresh pages cost as much as filling them."""

    def __init__(self) -> None:
        self._memory: dict[str, Matrix] = {}

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        """Return a matrix to write in, valid until this thread asks for the next of this name."""
        size = rows * columns
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = np.empty(size)
        return memory[:size].reshape(rows, columns)


@lru_cache(maxsize=1)
def machine() -> tuple[list[LibController], int]:
    """Return the libraries of BLAS, and the number of threads that they may use."""
    from threadpoolctl import ThreadpoolController  # takes a while to load, so not before use

    blas = ThreadpoolController().select(user_api="blas").lib_controllers
    given = [library.num_threads for library in blas]
    return blas, max(1, min([*given, os.cpu_count() or 1]))


@lru_cache(maxsize=1)
def _executor(process: int, workers: int) -> ThreadPoolExecutor:
    """Return the threads beside the caller's; a forked process makes new ones."""
    return ThreadPoolExecutor(workers - 1, thread_name_prefix=f"{NAME}-{process}")


Arguments = ParamSpec("Arguments")


def in_turn(
    method: Callable[Concatenate[Any, Arguments], Result],
) -> Callable[Concatenate[Any, Arguments], Result]:
    """Hold the lock of the object, its `_lock`, while the method runs."""

    @wraps(method)
    def alone(whole: Any, /, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        with whole._lock:
            return method(whole, *args, **named)

    return alone

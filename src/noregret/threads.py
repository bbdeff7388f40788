"""One thread in each product, several over a pass, and turns for threads that share a run.

The products of a step are small: waking BLAS's own threads takes longer than the product itself. A
pass over a pool is cut into pieces that fit a cache, and threads that take a piece each do not wait
for one another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import RLock, current_thread, local
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast, final

import numpy as np

from noregret.arrays import Matrix

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController


NAME = "noregret"  # that the threads begin with
Piece = TypeVar("Piece")
Result = TypeVar("Result")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let BLAS use one thread, whatever it was told, for the time being."""
    controller, _ = machine()
    with controller.limit(limits=1, user_api="blas"):
        yield


def parallel_map(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Return work(piece) for each piece, in order, several at a time.

    As many at a time as BLAS may use threads: OPENBLAS_NUM_THREADS and the like are heeded. Work
    that spreads its own work does so alone: threads that wait for each other would wait for ever.
    """
    _, workers = machine()
    if workers == 1 or len(pieces) < 2 or current_thread().name.startswith(NAME):
        return [work(piece) for piece in pieces]
    results: list[Result | None] = [None] * len(pieces)

    def share(first: int) -> None:
        for at in range(first, len(pieces), workers):
            results[at] = work(pieces[at])

    others = [_executor(os.getpid(), workers).submit(share, first) for first in range(1, workers)]
    try:
        share(0)
    finally:  # nobody may go on with pieces that are still written to
        failures = [other.exception() for other in others]
    for failure in failures:
        if failure is not None:
            raise failure
    return cast("list[Result]", results)


@final
class Scratch(local):
    """Memory of a thread's own for what is soon forgotten: fresh pages cost as much as a fill."""

    def __init__(self) -> None:
        self._memory: dict[str, Matrix] = {}

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        """Return a matrix to write in; the next of this name in this thread is written over it."""
        size = rows * columns
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = np.empty(size)
        return memory[:size].reshape(rows, columns)


@lru_cache(maxsize=1)
def machine() -> tuple[ThreadpoolController, int]:
    """Return what controls BLAS, and the number of threads that it was given."""
    from threadpoolctl import ThreadpoolController  # takes a while to load, so not before use

    controller = ThreadpoolController()
    blas = [library for library in controller.info() if library["user_api"] == "blas"]
    given = [library["num_threads"] for library in blas]
    return controller, max(1, min([*given, os.cpu_count() or 1]))


@lru_cache(maxsize=1)
def _executor(process: int, workers: int) -> ThreadPoolExecutor:
    """Return the threads beside the one that asks; a fork has to make its own."""
    from concurrent.futures import ThreadPoolExecutor  # not before use, as above

    return ThreadPoolExecutor(workers - 1, thread_name_prefix=f"{NAME}-{process}")


class Shared(Protocol):
    """What threads may share."""

    _lock: RLock


Whole = TypeVar("Whole", bound=Shared)
Arguments = ParamSpec("Arguments")


def in_turn(
    method: Callable[Concatenate[Whole, Arguments], Result],
) -> Callable[Concatenate[Whole, Arguments], Result]:
    """Let no other thread into the same object while the method works."""

    @wraps(method)
    def alone(whole: Whole, /, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        with whole._lock:
            return method(whole, *args, **named)

    return alone

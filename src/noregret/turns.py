"""Threads that share a run take turns: posteriors half told by another thread are none."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import Concatenate, ParamSpec, Protocol, TypeVar, final

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@final
class Turn:
    """One thread at a time, and that one as often as it likes; a copy takes turns by itself."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


class TakesTurns(Protocol):
    """What threads may share: its methods marked `in_turn` wait for one another."""

    @property
    def turn(self) -> Turn: ...


Shared = TypeVar("Shared", bound=TakesTurns)


def in_turn(
    method: Callable[Concatenate[Shared, Arguments], Result],
) -> Callable[Concatenate[Shared, Arguments], Result]:
    """Let no other thread into the same object while the method works."""

    @wraps(method)
    def alone(shared: Shared, /, *args: Arguments.args, **named: Arguments.kwargs) -> Result:
        with shared.turn:
            return method(shared, *args, **named)

    return alone

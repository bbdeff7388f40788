"""A limit on processor time, after which what is being done ends, whatever it is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Late(BaseException):  # not an `Exception`: nobody who catches those may go on
    """The limit is reached."""


@contextmanager
def at_most_seconds(seconds: float) -> Iterator[None]:
    """Raise `Late` after so many seconds of processor time; for the main thread of a process."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise Late

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

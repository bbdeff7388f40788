"""A progress bar for what takes long."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

SILENT_SECONDS = 2.0


@final
class Display(AbstractContextManager["Display"]):
    """A bar on stderr that appears once its work has taken two seconds, and goes when it is done.

    >>> with Display("rows", total=3) as display:
    ...     for row in range(3):
    ...         display.advance()
    """

    def __init__(self, label: str, *, total: int | None, shown: bool = True) -> None:
        """Count up to `total`, if that is known; nothing is written unless `shown`."""
        self._label, self._total, self._shown = label, total, shown
        self._began = time.monotonic()
        self._done = 0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def advance(self, steps: int = 1) -> None:
        """Say that so much more is done."""
        self._done += steps
        if not self._shown:
            return
        if self._bar is None and time.monotonic() - self._began > SILENT_SECONDS:
            self._appear()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done)

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._bar = Progress(self._label, *columns, console=console, transient=True)
        self._task = self._bar.add_task("", total=self._total)
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

"""Rounds: what each question of a run is about, where it has contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from itertools import count
from typing import Any, Final, TypeAlias, final

import numpy as np

from noregret.arrays import as_floats
from noregret.errors import ArgumentError
from noregret.optimizer import Batch, Optimizer
from noregret.pools import NO_CONTEXTS, is_frame

Contexts: TypeAlias = "Iterable[Any] | Callable[[int], Any]"
NONE_LEFT: Final = object()
RULE: Final = "one context per evaluation, in order, or a function from the round to its context"


@final
class Rounds:
    """The contexts of a run, one per evaluation; a run without them asks for as much as it may."""

    def __init__(self, contexts: object, optimizer: Optimizer, room: int) -> None:
        if contexts is None and optimizer.takes_contexts:
            raise ArgumentError(f"this run has contexts (context_kernel=...): contexts={RULE}.")
        if contexts is not None and not optimizer.takes_contexts:
            raise ArgumentError(f"contexts=...: {NO_CONTEXTS}")
        self._optimizer = optimizer
        self._contexts = None if contexts is None else _stream(contexts, room)
        self._now: object = None
        self._round = -1

    def ask(self, room: int) -> Batch | None:
        """Return what to evaluate next, at most `room` evaluations; None if no context is left."""
        if self._contexts is None:
            return self._optimizer.ask(at_most=room)
        self._now, self._round = next(self._contexts, NONE_LEFT), self._round + 1
        if self._now is NONE_LEFT:
            return None
        try:
            return self._optimizer.ask(at_most=1, context=self._now)
        except ArgumentError as error:
            error.add_note(f"by what contexts=... says of round {self._round}: {self._now!r:.80}")
            raise

    def measure(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        """Return f of a candidate, under the context of now."""
        if self._contexts is None:
            return f
        now = self._now
        return lambda candidate: f(candidate, now)


def _stream(contexts: Any, room: int) -> Iterator[Any]:
    """Return contexts one by one; raise at once where some are missing or no numbers."""
    if callable(contexts):
        return map(contexts, count())
    if is_frame(contexts):
        raise ArgumentError(
            "contexts=... takes no data frame: give its rows, frame.to_dict('records') of pandas "
            "or frame.to_dicts() of Polars, or an array."
        )
    if isinstance(contexts, Mapping | str) or not isinstance(contexts, Iterable):
        raise ArgumentError(f"contexts=... must be {RULE}; got {contexts!r:.80}.")
    if isinstance(contexts, Sized):
        if len(contexts) < room:
            raise ArgumentError(
                f"contexts=... holds {len(contexts)} contexts, and the budget leaves {room} "
                "evaluations: one context each. Give more, or a smaller budget."
            )
        if not any(isinstance(context, Mapping) for context in contexts):
            _require_numbers(contexts)
    return iter(contexts)


def _require_numbers(contexts: Any) -> None:
    X = as_floats("contexts=...", contexts)
    if X.ndim > 2 or (X.ndim == 2 and not np.size(X, 1)):
        raise ArgumentError(
            f"contexts=... must hold one context per row, the numbers that describe it, got shape "
            f"{X.shape}."
        )

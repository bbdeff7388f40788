"""The classes that a saved run may hold, each under a tag that never changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from noregret.errors import ArgumentError

Part = TypeVar("Part")
_BY_TAG: dict[str, type[Any]] = {}
_TAGS: dict[type[Any], str] = {}


def storable(tag: str) -> Callable[[type[Part]], type[Part]]:
    """Let a dataclass be saved in a run by its fields, under a tag that is fixed for ever.

    Files hold the tag, so that the class may be renamed or moved; the fields keep their names.

    >>> tag_of(nr.RBF(0.2)), class_of("RBF") is nr.RBF
    ('RBF', True)
    """

    def register(part: type[Part]) -> type[Part]:
        if not dataclasses.is_dataclass(part):
            raise ArgumentError(f"storable({tag!r}) is for dataclasses, got {part!r}.")
        known = _BY_TAG.get(tag, part)
        if repr(known) != repr(part):  # the same name: defined again, as in notebooks
            raise ArgumentError(f"storable({tag!r}): {known!r} has this tag. Choose another.")
        _BY_TAG[tag], _TAGS[part] = part, tag
        return part

    return register


def tag_of(value: object) -> str | None:
    """Return the tag of a value's class; None where it may not be saved."""
    return _TAGS.get(type(value))


def class_of(tag: str) -> type[Any] | None:
    """Return the class of a tag; None where no class has it."""
    return _BY_TAG.get(tag)


def all_tags() -> tuple[str, ...]:
    """Return every tag in use."""
    return tuple(_BY_TAG)

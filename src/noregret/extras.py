"""Packages that not everybody needs."""

from __future__ import annotations

import importlib
from typing import Any

from noregret.errors import MissingExtraError


def require_extra(package: str, *, extra: str, what: str) -> Any:
    """Import an optional package, or say what to install for `what` to work."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{what} needs {package.partition('.')[0]}, which is not installed: "
            f'pip install "noregret[{extra}]".'
        ) from error

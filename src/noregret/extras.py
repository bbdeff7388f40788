"""Packages that not everybody needs, imported when they are."""

from __future__ import annotations

import importlib
from types import ModuleType

from noregret.errors import ExtraError


def require_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return a module of an optional package, or say what to install.

    >>> require_extra("json", extra="tables", purpose="reading tables").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ExtraError(
            f"{purpose} needs {package}, which could not be imported ({error}). "
            f"Install it with: pip install 'noregret[{extra}]'."
        ) from error

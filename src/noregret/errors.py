"""Errors, checks of arguments, and packages that not everybody needs.

A message says what is wrong, with numbers; the rule; and the way out.
"""

from __future__ import annotations

import importlib
import math
from numbers import Integral, Real
from typing import Any


class NoRegretError(Exception):
    """Anything this library refuses, with the rule and the way out in its message.

    Each kind is a ValueError too (a missing package an ImportError).

    >>> try:
    ...     nr.RBF(lengthscale=-1.0)
    ... except nr.NoRegretError as error:
    ...     print(error)
    RBF(lengthscale=...) must be above 0, got -1.0.
    """


class ArgumentError(NoRegretError, ValueError):
    """An argument breaks its rule."""


class PoolError(NoRegretError, ValueError):
    """The candidates, or a reference to one of them, cannot be used."""


class KernelError(NoRegretError, ValueError):
    """A kernel does not behave as a positive definite function."""


class AskError(NoRegretError, ValueError):
    """There is nothing to ask for."""


class ExhaustedError(AskError):
    """Nothing is left that is worth evaluating."""


class TellError(NoRegretError, ValueError):
    """The values told do not fit what was asked, or are not numbers."""


class NothingToldError(NoRegretError, ValueError):
    """The question needs at least one evaluation."""


class CertificateError(NoRegretError, ValueError):
    """The algorithm has no theorem to certify with."""


class SnapshotError(NoRegretError, ValueError):
    """A saved run cannot be written, or read back with what was given."""


class MissingExtraError(NoRegretError, ImportError):
    """An optional package is not installed."""


class NumericalWarning(UserWarning):
    """Rounding had to be repaired; results stay usable but have lost digits."""


def require_number(name: str, value: object) -> float:
    """Return `value` as a finite float."""
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ArgumentError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def require_positive(name: str, value: object) -> float:
    """Return `value` as a finite float above 0."""
    return require_above(name, value, 0)


def require_at_least(name: str, value: object, least: float) -> float:
    """Return `value` as a finite float of at least `least`."""
    number = require_number(name, value)
    if number < least:
        raise ArgumentError(f"{name} must be at least {least}, got {value!r}.")
    return number


def require_above(name: str, value: object, bound: float) -> float:
    """Return `value` as a finite float above `bound`."""
    number = require_number(name, value)
    if number <= bound:
        raise ArgumentError(f"{name} must be above {bound}, got {value!r}.")
    return number


def require_probability(name: str, value: object) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = require_number(name, value)
    if not 0 < number < 1:
        raise ArgumentError(f"{name} must lie strictly between 0 and 1, got {value!r}.")
    return number


def require_count(name: str, value: object, least: int = 1) -> int:
    """Return `value` as a whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ArgumentError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise ArgumentError(f"{name} must be at least {least}, got {value!r}.")
    return int(value)


def require_flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} must be True or False, got {value!r}.")
    return value


def require_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ArgumentError(f"{name} must be one of {listed}, got {value!r}.")
    return value


def require_extra(package: str, *, extra: str, what: str) -> Any:
    """Import an optional package, or say what to install for `what` to work."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{what} needs {package.partition('.')[0]}, which is not installed: "
            f'pip install {package.partition(".")[0]}, or noregret with the extra "{extra}".'
        ) from error

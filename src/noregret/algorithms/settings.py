"""What algorithms can be told: one table of types, defaults, checks and sentences."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import fill
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)

import numpy as np

from noregret.errors import (
    ArgumentError,
    require_choice,
    require_count,
    require_flag,
    require_number,
    require_positive,
    require_probability,
)
from noregret.kernels import Kernel, as_kernel
from noregret.optimizer import Goal
from noregret.policies import Start, UncertaintyDesign
from noregret.widths import Width

Preset: TypeAlias = Literal["experiments", "theory"]
Initial: TypeAlias = Sequence[object] | Start | UncertaintyDesign | None
P = ParamSpec("P")
R = TypeVar("R")
Given = TypeVar("Given", bound="RunSettings")


def _require_bound(name: str, value: object) -> object:
    if isinstance(value, str):
        if value not in ("double", "grow"):
            raise ArgumentError(f'{name} must be a number, "double" or "grow", got {value!r}.')
        return value
    return require_positive(name, value)


def _unchecked(name: str, value: object) -> object:
    return value  # looked at when the candidates are known


def _require_kernel(name: str, value: object) -> Kernel:
    try:
        return as_kernel(value)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None


def _require_width(name: str, value: object) -> object:
    if isinstance(value, type) or not isinstance(value, Width):
        raise ArgumentError(
            f"{name} must be a width such as noregret.BayesianWidth(), or a multiple of one, "
            f"0.5 * noregret.RKHSWidth(); got {value!r}."
        )
    return value


def _require_start(name: str, value: object) -> object:
    if isinstance(value, type):
        raise ArgumentError(
            f"{name} must be ids or a design, such as {value.__name__}(8), got the class."
        )
    if isinstance(value, int | float | str | np.generic):
        raise ArgumentError(
            f"{name} must be a list of ids, or a design such as SobolDesign(16), got {value!r}."
        )
    return value


class RunSettings(TypedDict, total=False):
    """What every algorithm takes: of each its type, its default, its check and its sentence."""

    goal: Annotated[Goal, "max", partial(require_choice, choices=get_args(Goal)), '"max" or "min"']
    offset: Annotated[
        float, 0.0, require_number, "a typical value of f, believed far from all evaluations"
    ]
    seed: Annotated[int, 0, partial(require_count, least=0), "the same seed makes the same choices"]
    at_most_each: Annotated[
        int | None,
        None,
        require_count,
        "evaluations that one candidate can have, those under way counted in; any number if not "
        "given",
    ]
    deterministic: Annotated[
        bool,
        False,
        require_flag,
        "the same candidate always has the same value: nothing is evaluated twice, values that "
        "contradict each other are refused, and noise_std may be 0",
    ]
    switch_cost: Annotated[
        object,
        None,
        _unchecked,
        "what changing the candidate costs: a number; by column, {'temperature': 60}; a matrix of "
        "costs from row to row of a pool; or a function of two candidates. Batches are run in the "
        "order that costs least, and MINI stays until a switch was worth it",
    ]


class Settings(RunSettings, total=False):
    """What every Gaussian-process algorithm takes; None is not checked where it is the default."""

    horizon: Annotated[
        int | None, None, partial(require_count, least=2), "evaluations planned; delta is 1/horizon"
    ]
    delta: Annotated[
        float | None,
        None,
        require_probability,
        "probability with which guarantees may fail; 0.1 without a horizon",
    ]
    context_kernel: Annotated[
        Kernel | None,
        None,
        _require_kernel,
        "how alike contexts are, which ask(context=[...]) is told; the model's kernel is then "
        "kernel × context_kernel",
    ]
    norm_bound: Annotated[
        float | Literal["double", "grow"],
        1.0,
        _require_bound,
        "F, how wiggly f is at most: its norm in the kernel's function space (RKHS), at least "
        'max |f − offset|/√variance; "double" starts at 1 and doubles when refuted; '
        '"grow" needs no kernel that is right: lengthscales shrink and the bound grows with log t',
    ]
    preset: Annotated[
        Preset,
        "experiments",
        partial(require_choice, choices=get_args(Preset)),
        '"experiments": the papers\' practical constants; "theory": their theorems\'',
    ]
    width: Annotated[
        Width | None,
        None,
        _require_width,
        "a width in place of the preset's, such as BayesianWidth() or 0.5 * RKHSWidth()",
    ]
    ridge: Annotated[
        float | None, None, require_positive, "λ, the regulariser; noise_std² if not given"
    ]
    start: Annotated[
        Initial,
        None,
        _require_start,
        "ids of candidates to evaluate first, or a design of so many: UniformDesign(8), "
        "SobolDesign(8), FarthestDesign(8) or UncertaintyDesign(8); one drawn uniformly if not "
        "given",
    ]
    min_batch: Annotated[
        int | None,
        None,
        require_count,
        "evaluate the most uncertain candidates first, until every batch holds this many; takes "
        "long where noise is small against the spread of f",
    ]


MODEL = {  # what an algorithm has to be given
    "kernel": "how alike candidates are; `variance * RBF(lengthscale)`, where √variance is the "
    "spread of f and lengthscale the distance over which it changes; kernels of scikit-learn are "
    "taken as they are, functions as `FunctionKernel(k)`",
    "noise_std": "standard deviation of one evaluation; that of replicates, if you have some",
}


def _table(settings: type) -> dict[str, Any]:
    """Return the type, default, check and sentence of each setting, by its name."""
    hints = get_type_hints(settings, include_extras=True)
    return {name: (hint.__origin__, *hint.__metadata__) for name, hint in hints.items()}


def shows_settings(settings: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let help() and editors list the settings by name, where the source says **settings."""

    def shown(algorithm: Callable[P, R]) -> Callable[P, R]:
        signature, table = inspect.signature(algorithm), _table(settings)
        own = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type
            )
            for name, (type, default, _, _) in table.items()
        ]
        sentences = {p.name: MODEL[p.name] for p in own if p.name in MODEL}
        sentences |= {name: sentence for name, (_, _, _, sentence) in table.items()}
        listed = [
            fill(says, 96, initial_indent=f"    {name:<16}", subsequent_indent=" " * 16)
            for name, says in sentences.items()
        ]
        algorithm.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]  # functions take any
        algorithm.__doc__ = "\n".join(
            [(algorithm.__doc__ or "").rstrip(), "", "    Settings", "    --------", *listed]
        )
        return algorithm

    return shown


def checked(settings: type[Given], given: Given) -> Given:
    """Return all settings, those given and the defaults of the others."""
    table = _table(settings)
    unknown = set(given) - set(table)
    if unknown:
        raise ArgumentError(
            f"unknown argument {sorted(unknown)[0]!r}. Besides its own arguments, which help() "
            f"lists, this algorithm takes {', '.join(table)}."
        )
    values: dict[str, object] = {}
    for name, (_, default, check, _) in table.items():
        value = given.get(name, default)
        values[name] = None if value is None and default is None else check(name, value)
    return cast(Given, values)

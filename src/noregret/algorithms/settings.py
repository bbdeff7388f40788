"""From a user's settings to the parts of a Gaussian-process algorithm."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import (
    Annotated,
    Literal,
    ParamSpec,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    final,
    get_args,
    get_type_hints,
)

import numpy as np

from noregret.acquisitions import Acquisition, Thompson
from noregret.arrays import chunk_rows
from noregret.batching import BatchRule
from noregret.errors import (
    ArgumentError,
    require_at_least,
    require_choice,
    require_count,
    require_number,
    require_positive,
    require_probability,
)
from noregret.kernels import Kernel, as_kernel, probe
from noregret.optimizer import Goal, Optimizer
from noregret.policies import (
    Bandit,
    GivenStart,
    Start,
    UncertaintyDesign,
    UncertaintySampling,
    UniformStart,
)
from noregret.pools import Domain, Points, require_domain
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample
from noregret.search import Search, search_of
from noregret.widths import BayesianWidth, GuessAndDouble, KnownNorm, ScaledWidth, Width

Preset: TypeAlias = Literal["experiments", "theory"]
Initial: TypeAlias = Sequence[object] | Start | UncertaintyDesign | None
PROBED = 64  # candidates on which a kernel is tried before a run starts
P = ParamSpec("P")
R = TypeVar("R")


def _require_bound(name: str, value: object) -> object:
    if isinstance(value, str):
        if value != "double":
            raise ArgumentError(f'{name} must be a number or "double", got {value!r}.')
        return value
    return require_positive(name, value)


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


class Settings(TypedDict, total=False):
    """What every Gaussian-process algorithm takes besides what is its own.

    Settings
    --------
    kernel      how alike candidates are; `variance * RBF(lengthscale)`, where √variance is the
                spread of f and lengthscale the distance over which it changes; kernels of
                scikit-learn are taken as they are, functions as `FunctionKernel(k)`
    noise_std   standard deviation of one evaluation; that of replicates, if you have some
    offset      a typical value of f; the model believes it far from all evaluations
    goal        "max" or "min"
    seed        the same seed makes the same choices
    horizon     evaluations planned; delta is then 1/horizon
    delta       probability with which guarantees may fail; 0.1 without a horizon
    norm_bound  F, how wiggly f is at most: its norm in the kernel's function space (RKHS), at
                least max |f − offset|/√variance; "double" starts at 1 and doubles when refuted
    preset      "experiments": the papers' practical constants; "theory": their theorems'
    width       a width in place of the preset's, such as BayesianWidth() or 0.5 * RKHSWidth()
    ridge       λ, the regulariser; noise_std² if not given
    start       ids of candidates to evaluate first, or a design of so many: UniformDesign(8),
                SobolDesign(8), FarthestDesign(8) or UncertaintyDesign(8); one drawn uniformly if
                not given
    min_batch   evaluate the most uncertain candidates first, until every batch holds this many;
                takes long where noise is small against the spread of f
    """

    # Each with its type, its default and its check; None is not checked where it is the default.
    offset: Annotated[float, 0.0, require_number]
    goal: Annotated[Goal, "max", partial(require_choice, choices=get_args(Goal))]
    seed: Annotated[int, 0, partial(require_count, least=0)]
    horizon: Annotated[int | None, None, partial(require_count, least=2)]
    delta: Annotated[float | None, None, require_probability]
    norm_bound: Annotated[float | Literal["double"], 1.0, _require_bound]
    preset: Annotated[Preset, "experiments", partial(require_choice, choices=get_args(Preset))]
    width: Annotated[Width | None, None, _require_width]
    ridge: Annotated[float | None, None, require_positive]
    start: Annotated[Initial, None, _require_start]
    min_batch: Annotated[int | None, None, require_count]


_SETTINGS = {
    name: hint.__metadata__ for name, hint in get_type_hints(Settings, include_extras=True).items()
}


def shows_settings(algorithm: Callable[P, R]) -> Callable[P, R]:
    """Let help() and editors list the settings by name, where the source says **settings."""
    own = [p for p in inspect.signature(algorithm).parameters.values() if p.kind != p.VAR_KEYWORD]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, (default, _) in _SETTINGS.items()
    ]
    listed = (Settings.__doc__ or "").partition("\n\n")[2]
    algorithm.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # functions take any
    algorithm.__doc__ = f"{(algorithm.__doc__ or '').rstrip()}\n\n{listed}"
    return algorithm


@final
@dataclass(frozen=True, slots=True, eq=False)
class ResolvedSettings:
    """Settings checked and resolved: what the algorithms' sentences are made of."""

    pool: Points
    kernel: Kernel
    noise_std: float
    ridge: float
    given: Settings  # all of them, checked

    @property
    def theory(self) -> bool:
        return self.given["preset"] == "theory"

    @property
    def delta(self) -> float:
        delta, horizon = self.given["delta"], self.given["horizon"]
        return delta or (0.1 if horizon is None else 1.0 / horizon)

    @property
    def kappa_squared(self) -> float:
        """κ², the largest prior variance in the pool (on a box, at some points of it)."""
        chunks = (X for _, X in self.pool.chunks(chunk_rows(self.pool.dim)))
        return max(
            float(self.kernel.diagonal(X).max()) for X in (self.pool.glance(PROBED), *chunks)
        )

    def exact(self) -> ExactPosterior:
        return ExactPosterior.prior(
            self.kernel, noise_std=self.noise_std, ridge=self.ridge, dim=self.pool.dim
        )

    def nystrom(
        self, oversample: float | None, per_log: float, *, sticky: bool = False
    ) -> NystromPosterior:
        """A Nyström prior with q̄ as given, else 2 for experiments and per_log·log(4t/δ)."""
        if oversample is not None:
            require_positive("oversample", oversample)
        plain = oversample is not None or not self.theory
        value = (2.0 if oversample is None else oversample) if plain else per_log
        return NystromPosterior.prior(
            self.kernel,
            noise_std=self.noise_std,
            ridge=self.ridge,
            dim=self.pool.dim,
            oversample=Oversample(value, not plain, self.given["horizon"], self.delta),
            sticky=sticky,
        )

    def optimizer(
        self,
        prior: ExactPosterior | NystromPosterior,
        acquisition: Acquisition | Thompson,
        width: Width,
        batching: BatchRule,
        *,
        band: Width,
    ) -> Optimizer:
        """Put the parts together; a width given by the user steers in place of `width`.

        Bounds and certificates are by `band`, a theorem's width, or by the user's own width where
        that is the Bayesian theorem's.
        """
        if isinstance(acquisition, type) or not isinstance(acquisition, Acquisition | Thompson):
            raise ArgumentError(
                f"acquisition must be one such as noregret.UCB(), got {acquisition!r}."
            )
        search, own, bound = search_of(self.pool), self.given["width"], self.given["norm_bound"]
        bandit = Bandit(
            search=search,
            prior=prior,
            acquisition=acquisition,
            width=own or width,
            band=own if isinstance(own, BayesianWidth) else band,
            batching=batching,
            norm=GuessAndDouble() if bound == "double" else KnownNorm(bound),
            starts=self._starts(prior, acquisition, batching, search),
        )
        return Optimizer(
            self.pool,
            bandit,
            seed=self.given["seed"],
            goal=self.given["goal"],
            offset=self.given["offset"],
        )

    def _starts(
        self,
        prior: ExactPosterior | NystromPosterior,
        acquisition: Acquisition | Thompson,
        batching: BatchRule,
        search: Search,
    ) -> tuple[Start, ...]:
        start, min_batch = self._start(), self.given["min_batch"]
        if isinstance(start, UncertaintyDesign):
            start = start.under(search, self.kernel, self.ridge)
        if min_batch is None:
            by_chance = isinstance(acquisition, Thompson)  # the prior's draws are a start by chance
            return () if by_chance and isinstance(start, UniformStart) else (start,)
        admitted = batching.admits(min_batch)
        if admitted <= 0:
            raise ArgumentError(
                f"min_batch={min_batch} needs a batch rule that can hold so many: a limit above 1, "
                f"a switch_cost above {min_batch - 1} or none. bkb, gp_ucb and gp_ei evaluate one "
                "candidate at a time."
            )
        safety = 3.0 if isinstance(prior, NystromPosterior) else 1.0
        sampling = UncertaintySampling(search, self.kernel, self.ridge, admitted / safety)
        given = () if isinstance(start, UniformStart) else (start,)
        return (*given, sampling)

    def _start(self) -> Start | UncertaintyDesign:
        given = self.given["start"]
        if given is None:
            return UniformStart()
        if isinstance(given, Start | UncertaintyDesign):
            return given
        pool = self.pool
        rows = pool.find(given) if pool.candidates else pool.register(pool.read("start", given))
        return GivenStart(tuple(dict.fromkeys(rows.tolist())))


def resolved(
    pool: Domain,
    kernel: Kernel,
    noise_std: float,
    given: Settings,
    *,
    least_ridge_in_theory: float = 0.0,
) -> ResolvedSettings:
    """Check what a user gave and resolve what was left open."""
    require_domain(pool)
    unknown = set(given) - set(_SETTINGS)
    if unknown:
        raise ArgumentError(
            f"unknown argument {sorted(unknown)[0]!r}; every algorithm takes, besides its "
            f"own arguments, {', '.join(_SETTINGS)}."
        )
    values: dict[str, object] = {}
    for name, (default, check) in _SETTINGS.items():
        value = given.get(name, default)
        values[name] = None if value is None and default is None else check(name, value)
    checked = cast(Settings, values)
    points, noise = Points(pool), require_positive("noise_std", noise_std)
    _require_candidates(checked["width"], points)
    least = least_ridge_in_theory if checked["preset"] == "theory" else 0.0
    ridge = checked["ridge"]
    if ridge is not None and least:
        require_at_least('ridge (with preset="theory", bbkb)', ridge, least)
    own = as_kernel(kernel)
    probe(own, points.glance(PROBED))
    return ResolvedSettings(points, own, noise, ridge or max(noise**2, least), checked)


def _require_candidates(width: Width | None, points: Points) -> None:
    while isinstance(width, ScaledWidth):
        width = width.width
    if isinstance(width, BayesianWidth) and not points.candidates:
        raise ArgumentError(
            "BayesianWidth counts candidates and needs a finite pool; on a box use RKHSWidth(), or "
            "ConstantWidth(beta)."
        )

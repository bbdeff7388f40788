"""From a user's settings to the parts of a Gaussian-process algorithm."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeAlias, TypedDict, TypeVar, final

import numpy as np

from noregret.acquisitions import Acquisition, Thompson
from noregret.arrays import chunk_rows
from noregret.batching import BatchRule
from noregret.errors import (
    ArgumentError,
    require_at_least,
    require_choice,
    require_count,
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
from noregret.widths import BayesianWidth, GuessAndDouble, KnownNorm, NormBound, ScaledWidth, Width

Preset = Literal["experiments", "theory"]
Initial: TypeAlias = Sequence[object] | Start | UncertaintyDesign | None
PROBED = 64  # candidates on which a kernel is tried before a run starts


class Settings(TypedDict, total=False):
    """What every Gaussian-process algorithm takes besides pool, kernel and noise_std."""

    ridge: float | None  # λ; noise_std² if not given
    norm_bound: float | Literal["double"]  # F; "double" guesses and doubles
    delta: float | None  # 1/horizon, or 0.1 without a horizon
    horizon: int | None  # planned evaluations
    preset: Preset  # constants of the papers' experiments, or of their theorems
    width: Width | None  # instead of the preset's
    start: Initial  # ids to evaluate first, or a design; one drawn uniformly if not given
    min_batch: int | None  # uncertainty sampling first, so that batches hold this many
    goal: Goal
    offset: float  # prior mean, in units of the values
    seed: int


DEFAULTS: Settings = {
    "ridge": None,
    "norm_bound": 1.0,
    "delta": None,
    "horizon": None,
    "preset": "experiments",
    "width": None,
    "start": None,
    "min_batch": None,
    "goal": "max",
    "offset": 0.0,
    "seed": 0,
}
MEANING = """
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
P = ParamSpec("P")
R = TypeVar("R")


def shows_settings(algorithm: Callable[P, R]) -> Callable[P, R]:
    """Let help() and editors list the settings by name, where the source says **settings."""
    own = [p for p in inspect.signature(algorithm).parameters.values() if p.kind != p.VAR_KEYWORD]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in DEFAULTS.items()
    ]
    algorithm.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # functions take any
    algorithm.__doc__ = (algorithm.__doc__ or "").rstrip() + "\n" + MEANING
    return algorithm


@final
@dataclass(frozen=True, slots=True, eq=False)
class ResolvedSettings:
    """Settings checked and resolved: what the sentences below are made of."""

    pool: Points
    kernel: Kernel
    noise_std: float
    ridge: float
    norm: NormBound
    delta: float
    horizon: int | None
    theory: bool
    width: Width | None
    start: Start | UncertaintyDesign
    min_batch: int | None
    goal: Goal
    offset: float
    seed: int

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
            oversample=Oversample(value, not plain, self.horizon, self.delta),
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
            raise ArgumentError(f"acquisition must be one, such as UCB(), got {acquisition!r}.")
        search = search_of(self.pool)
        bandit = Bandit(
            search=search,
            prior=prior,
            acquisition=acquisition,
            width=self.width or width,
            band=self.width if isinstance(self.width, BayesianWidth) else band,
            batching=batching,
            norm=self.norm,
            starts=self._starts(prior, acquisition, batching, search),
        )
        return Optimizer(self.pool, bandit, seed=self.seed, goal=self.goal, offset=self.offset)

    def _starts(
        self,
        prior: ExactPosterior | NystromPosterior,
        acquisition: Acquisition | Thompson,
        batching: BatchRule,
        search: Search,
    ) -> tuple[Start, ...]:
        start = self.start
        if isinstance(start, UncertaintyDesign):
            start = start.under(search, self.kernel, self.ridge)
        if self.min_batch is None:
            by_chance = isinstance(acquisition, Thompson)  # the prior's draws are a start by chance
            return () if by_chance and isinstance(start, UniformStart) else (start,)
        admitted = batching.admits(self.min_batch)
        if admitted <= 0:
            raise ArgumentError(
                f"min_batch={self.min_batch} needs a batch rule that can hold so many: a limit "
                f"above 1, a switch_cost above {self.min_batch - 1} or none. bkb, gp_ucb and gp_ei "
                "evaluate one candidate at a time."
            )
        safety = 3.0 if isinstance(prior, NystromPosterior) else 1.0
        sampling = UncertaintySampling(search, self.kernel, self.ridge, admitted / safety)
        given = () if isinstance(start, UniformStart) else (start,)
        return (*given, sampling)


def plan(
    pool: Domain,
    kernel: Kernel,
    noise_std: float,
    given: Settings,
    *,
    least_ridge_in_theory: float = 0.0,
) -> ResolvedSettings:
    """Check what a user gave and resolve what was left open."""
    require_domain(pool)
    points, settings = Points(pool), _checked(given)
    noise = require_positive("noise_std", noise_std)
    theory = require_choice("preset", settings["preset"], ("experiments", "theory")) == "theory"
    least = least_ridge_in_theory if theory else 0.0
    own = as_kernel(kernel)
    probe(own, points.glance(PROBED))
    return ResolvedSettings(
        pool=points,
        kernel=own,
        noise_std=noise,
        ridge=_ridge(settings["ridge"], noise, least),
        norm=_norm(settings["norm_bound"]),
        delta=_delta(settings["delta"], settings["horizon"]),
        horizon=settings["horizon"],
        theory=theory,
        width=_width(settings["width"], points),
        start=_start(points, settings["start"]),
        min_batch=settings["min_batch"],
        goal=settings["goal"],
        offset=settings["offset"],
        seed=settings["seed"],
    )


def _checked(given: Settings) -> Settings:
    unknown = set(given) - set(DEFAULTS)
    if unknown:
        raise ArgumentError(
            f"unknown argument {sorted(unknown)[0]!r}; beside its own, every algorithm takes "
            f"{', '.join(DEFAULTS)}."
        )
    settings: Settings = {**DEFAULTS, **given}
    if settings["min_batch"] is not None:
        require_count("min_batch", settings["min_batch"])
    return settings


def _ridge(ridge: float | None, noise_std: float, least: float) -> float:
    if ridge is None:
        return max(noise_std**2, least)
    if least:
        require_at_least('ridge (with preset="theory", bbkb)', ridge, least)
    return require_positive("ridge", ridge)


def _delta(delta: float | None, horizon: int | None) -> float:
    if horizon is not None:
        require_count("horizon", horizon, least=2)
    if delta is None:
        return 0.1 if horizon is None else 1.0 / horizon
    return require_probability("delta", delta)


def _width(width: Width | None, pool: Points) -> Width | None:
    if width is not None and (isinstance(width, type) or not isinstance(width, Width)):
        raise ArgumentError(
            f"width must be a width such as noregret.BayesianWidth(), or a multiple of one, "
            f"0.5 * noregret.RKHSWidth(); got {width!r}."
        )
    inner = width
    while isinstance(inner, ScaledWidth):
        inner = inner.width
    if isinstance(inner, BayesianWidth) and not pool.candidates:
        raise ArgumentError(
            "BayesianWidth counts candidates and needs a finite pool; on a box use RKHSWidth(), or "
            "ConstantWidth(beta)."
        )
    return width


def _norm(norm_bound: float | Literal["double"]) -> NormBound:
    if isinstance(norm_bound, str):
        if norm_bound != "double":
            raise ArgumentError(f'norm_bound must be a number or "double", got {norm_bound!r}.')
        return GuessAndDouble()
    return KnownNorm(require_positive("norm_bound", norm_bound))


def _start(pool: Points, given: Initial) -> Start | UncertaintyDesign:
    if given is None:
        return UniformStart()
    if isinstance(given, type):
        raise ArgumentError(
            f"start must be ids or a design, such as {given.__name__}(8), got the class."
        )
    if isinstance(given, Start | UncertaintyDesign):
        return given
    if isinstance(given, int | float | str | np.generic):
        raise ArgumentError(
            f"start must be a list of ids, or a design such as SobolDesign(16), got {given!r}."
        )
    rows = pool.find(given) if pool.candidates else pool.register(pool.read("start", given))
    return GivenStart(tuple(dict.fromkeys(rows.tolist())))

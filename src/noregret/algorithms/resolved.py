"""From a user's settings to the parts of a Gaussian-process algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

from noregret.acquisitions import Acquisition, Thompson
from noregret.algorithms.agreement import (
    require_gradient,
    require_growth,
    require_no_contexts,
    require_stays,
)
from noregret.algorithms.settings import RunSettings, Settings, checked
from noregret.arrays import chunk_rows
from noregret.automatic.constants import DEFAULTS
from noregret.batching import BatchRule, FixedSize, Stay
from noregret.errors import (
    ArgumentError,
    require_at_least,
    require_choice,
    require_number,
    require_positive,
)
from noregret.kernels import InContext, Kernel, as_kernel, probe
from noregret.optimizer import Optimizer
from noregret.policies import (
    Bandit,
    GivenStart,
    GrowingBandit,
    Start,
    UncertaintyDesign,
    UncertaintySampling,
    UniformStart,
)
from noregret.pools import ContextPoints, Domain, Points, SwitchCosts, as_switch_costs
from noregret.posteriors import ExactPosterior, NystromPosterior, Oversample
from noregret.search import Search, search_of
from noregret.widths import (
    BayesianWidth,
    BBKBExperimentsWidth,
    BBKBWidth,
    ConstantWidth,
    GrowthSchedule,
    GuessAndDouble,
    KnownNorm,
    NystromBayesianWidth,
    NystromWidth,
    RKHSWidth,
    ScaledWidth,
    Width,
)

PosteriorKind: TypeAlias = Literal["exact", "nystrom"]
DictionaryKind: TypeAlias = Literal["fresh", "sticky", "incremental"]
PROBED = 64  # candidates on which a kernel is tried before a run starts


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

    @property
    def switch_costs(self) -> SwitchCosts | None:
        return as_switch_costs(self.given["switch_cost"], self.pool)

    def exact(self) -> ExactPosterior:
        return ExactPosterior.prior(
            self.kernel, noise_std=self.noise_std, ridge=self.ridge, dim=self.pool.dim
        )

    def nystrom(
        self, oversample: float | None, per_log: float, *, dictionary: DictionaryKind = "fresh"
    ) -> NystromPosterior:
        """A Nyström prior with q̄ as given, else 2 for experiments and per_log·log(4t/δ)."""
        require_choice("dictionary", dictionary, get_args(DictionaryKind))
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
            sticky=dictionary == "sticky",
            incremental=dictionary == "incremental",
        )

    def posterior_and_widths(
        self,
        posterior: PosteriorKind,
        limit: float,
        oversample: float | None,
        dictionary: DictionaryKind = "fresh",
    ) -> tuple[ExactPosterior | NystromPosterior, Width, Width]:
        """Return the prior of that name, the width that steers where no feedback is stale, and the
        theorem's band."""
        if require_choice("posterior", posterior, get_args(PosteriorKind)) == "nystrom":
            prior = self.nystrom(oversample, per_log=72 * limit, dictionary=dictionary)
            band = NystromWidth(self.delta)
            if self.theory:
                return prior, BBKBWidth(self.delta, limit, fresh=True), band
            return prior, BBKBExperimentsWidth(self.delta), band
        require_choice("dictionary", dictionary, get_args(DictionaryKind))
        if oversample is not None or dictionary != "fresh":
            told = oversample is not None
            name, value = ("oversample", oversample) if told else ("dictionary", dictionary)
            raise ArgumentError(
                f"{name}={value!r} is about a dictionary, and an exact posterior has none: "
                f'give posterior="nystrom" too, or leave {name} out.'
            )
        width = RKHSWidth(self.delta)
        return self.exact(), width, width

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

        Thompson sampling proper has beta 1, whatever the algorithm's width.
        Bounds and certificates are by `band`, a theorem's width, or by the Bayesian theorem's where
        that is the user's own width.
        """
        if isinstance(acquisition, type) or not isinstance(acquisition, Acquisition | Thompson):
            raise ArgumentError(
                f"acquisition must be one such as noregret.UCB(), got {acquisition!r}."
            )
        search, own, bound = search_of(self.pool), self.given["width"], self.given["norm_bound"]
        require_gradient(self.given, self.noise_std, acquisition)
        require_stays(self.given, batching, self.switch_costs)
        if bound == "grow":
            require_growth(self.given, self.kernel, self.pool.dim, acquisition)
        if isinstance(acquisition, Thompson):
            width = ConstantWidth(1.0, self.delta)
        bandit = Bandit(
            search=search,
            prior=prior,
            acquisition=acquisition,
            width=own or width,
            band=_bayesian(own, prior) or band,
            batching=batching,
            norm=KnownNorm(bound) if isinstance(bound, float) else GuessAndDouble(),
            starts=self._starts(prior, acquisition, batching, search),
        )
        grows = GrowthSchedule(self.pool.dim)
        return Optimizer(
            self.pool,
            GrowingBandit(bandit, grows) if bound == "grow" else bandit,
            seed=self.given["seed"],
            goal=self.given["goal"],
            offset=self.given["offset"],
            at_most_each=self.given["at_most_each"],
            deterministic=self.given["deterministic"],
            switch_cost=self.switch_costs,
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
                f"min_batch={min_batch} needs a batch rule that can hold so many: "
                f"{_too_small(batching, min_batch)}"
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
        rows = (
            pool.find(given) if pool.candidates else pool.register(pool.domain.read("start", given))
        )
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
    points, settings = Points.of(pool), checked(Settings, given)
    noise = noise_of(noise_std, settings)
    _require_candidates(settings["width"], points)
    least = least_ridge_in_theory if settings["preset"] == "theory" else 0.0
    ridge = settings["ridge"]
    if ridge is not None and least:
        require_at_least('ridge (with preset="theory" and a dictionary)', ridge, least)
    own, of_contexts = as_kernel(kernel), settings["context_kernel"]
    probe(own, points.glance(PROBED))
    if of_contexts is not None:
        points = _with_contexts(points, settings)
        own = InContext(own, of_contexts, points.dim)
    if settings["deterministic"]:
        variance = float(own.diagonal(points.glance(PROBED)).max())
        least = max(least, DEFAULTS.exact_ridge * variance)
    return ResolvedSettings(points, own, noise, ridge or max(noise**2, least), settings)


def least_ridge(posterior: PosteriorKind) -> float:
    """Return the least ridge under which the theorem of a posterior holds; 0 for any."""
    kinds: dict[str, float] = {"exact": 0.0, "nystrom": 1.0}
    return kinds[require_choice("posterior", posterior, tuple(kinds))]


def noise_of(noise_std: object, given: RunSettings) -> float:
    """Return the noise of one evaluation, which may be 0 where values are deterministic."""
    if given["deterministic"]:
        return require_at_least("noise_std", noise_std, 0.0)
    if require_number("noise_std", noise_std) == 0:
        raise ArgumentError(
            f"noise_std must be above 0, got {noise_std!r}. Where the same candidate always has "
            "the same value, say deterministic=True."
        )
    return require_positive("noise_std", noise_std)


def _too_small(batching: BatchRule, min_batch: int) -> str:
    """Return why a rule does not hold so many evaluations, and the way out."""
    if isinstance(batching, Stay):
        above = f"Give a number above {min_batch - 1}, or leave out switch_cost or min_batch."
        if batching.by_pair:
            return (
                "a switch_cost that depends on the pair ends a stay after one evaluation where the "
                f"switch cost no more than that. {above}"
            )
        return f"switch_cost={batching.switch_cost:g} ends a stay sooner. {above}"
    if isinstance(batching, FixedSize):
        one = "one candidate" if batching.size == 1 else f"{batching.size} candidates"
        return (
            f"this algorithm evaluates {one} at a time. Leave it out, or take one that chooses the "
            "size of its batches, such as gp_bucb, bbkb or mini_gp_ucb."
        )
    return f"{batching!r} does not. Give a limit above 1."


def _bayesian(
    own: Width | None, prior: ExactPosterior | NystromPosterior
) -> BayesianWidth | NystromBayesianWidth | None:
    """Return the Bayesian width that speaks of this posterior, where the user's own is one."""
    if not isinstance(own, BayesianWidth | NystromBayesianWidth):
        return None
    sparse = isinstance(prior, NystromPosterior)
    return NystromBayesianWidth(own.delta) if sparse else BayesianWidth(own.delta)


def _with_contexts(points: Points, settings: Settings) -> ContextPoints:
    if not points.candidates:
        raise ArgumentError(
            "context_kernel= needs a finite pool: spread points over the box and give Pool(points)."
        )
    require_no_contexts(settings)
    return ContextPoints(points.domain)


def _require_candidates(width: Width | None, points: Points) -> None:
    while isinstance(width, ScaledWidth):
        width = width.width
    if isinstance(width, BayesianWidth | NystromBayesianWidth) and not points.candidates:
        raise ArgumentError(
            f"{type(width).__name__} counts candidates and needs a finite pool; on a box use "
            "RKHSWidth(), or ConstantWidth(beta)."
        )

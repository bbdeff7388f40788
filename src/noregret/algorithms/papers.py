"""The algorithms of the papers, each a sentence: a posterior, an acquisition, a batch rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack

from noregret.acquisitions import UCB, Acquisition, ExpectedImprovement, Thompson
from noregret.algorithms.resolved import DictionaryKind, PosteriorKind, least_ridge, resolved
from noregret.algorithms.settings import Settings, shows_settings
from noregret.batching import (
    BatchRule,
    FixedSize,
    GlobalRatio,
    LocalRatio,
    ProductBound,
    Repeat,
    Stay,
)
from noregret.errors import ArgumentError, require_at_least, require_choice
from noregret.kernels import Kernel
from noregret.optimizer import Optimizer
from noregret.pools import Domain, FlatSwitchCost, SwitchCosts
from noregret.widths import EIWidth, RKHSWidth


@shows_settings(Settings)
def gp_ucb(
    pool: Domain, *, kernel: Kernel, noise_std: float, **settings: Unpack[Settings]
) -> Optimizer:
    """Evaluate the highest upper confidence bound, one at a time, on the exact posterior.

    Source: Srinivas et al. 2010; width of Chowdhury & Gopalan 2017 (MINI 2022, Theorem 4.4).

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.gp_ucb(pool, kernel=0.1 * nr.RBF(0.3), noise_std=0.05)
    >>> while opt.spent < 40:
    ...     batch = opt.ask(at_most=40 - opt.spent)
    ...     opt.tell(batch, [-((x[0] - 0.7) ** 2) for x in batch])
    >>> opt.best().x
    array([0.7])
    """
    p = resolved(pool, kernel, noise_std, settings)
    width = RKHSWidth(p.delta)
    return p.optimizer(p.exact(), UCB(), width, FixedSize(1), band=width)


@shows_settings(Settings)
def gp_ei(
    pool: Domain, *, kernel: Kernel, noise_std: float, **settings: Unpack[Settings]
) -> Optimizer:
    """Evaluate the highest expected improvement, one at a time, on the exact posterior.

    Source: Wang & de Freitas 2014; MINI 2022, Eq. 3 and Theorem 4.6.

    >>> opt = nr.gp_ei(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.3), noise_std=0.1)
    >>> opt.tell([0, 1], [0.2, 0.4])
    >>> opt.ask().ids
    array([2])
    """
    p = resolved(pool, kernel, noise_std, settings)
    width, band = EIWidth(p.delta), RKHSWidth(p.delta)
    return p.optimizer(p.exact(), ExpectedImprovement(), width, FixedSize(1), band=band)


@shows_settings(Settings)
def gp_bucb(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    limit: float = 2.0,
    rule: Literal["product", "global", "local"] | BatchRule = "product",
    **settings: Unpack[Settings],
) -> Optimizer:
    """GP-UCB in batches that end before stale variances are off by more than `limit`.

    The width is √limit times GP-UCB's, which covers the worst ratio of standard deviations.
    `rule=FixedSize(8)` takes eight at a time, whatever the ratio: handy, without its guarantee;
    other rules are Repeat, Stay and RarelySwitching (with limit=1), for one candidate at a time.

    Source: Desautels et al. 2014; `rule="global"` is BBKB 2020, Lemma 1, on the exact posterior.

    >>> opt = nr.gp_bucb(nr.Pool([[0.0], [0.5], [1.0]]), kernel=nr.RBF(0.3), noise_std=1.0)
    >>> opt.tell([0, 1, 2], means=[0.2, 0.4, 0.3], counts=[9, 9, 9])
    >>> batch = opt.ask()
    >>> len(batch), batch.reason
    (9, 'limit reached (product bound)')
    """
    p = resolved(pool, kernel, noise_std, settings)
    batching = _rule(rule, limit)
    band = RKHSWidth(p.delta)
    return p.optimizer(p.exact(), UCB(), limit**0.5 * band, batching, band=band)


@shows_settings(Settings)
def mini(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    acquisition: Acquisition | Thompson,
    limit: float = 2.0,
    posterior: PosteriorKind = "exact",
    oversample: float | None = None,
    dictionary: DictionaryKind = "fresh",
    **settings: Unpack[Settings],
) -> Optimizer:
    """Any acquisition, staying on a candidate until switching pays.

    Regret is guaranteed where the acquisition satisfies MINI 2022, Eq. 5; UCB and
    ExpectedImprovement do. Thompson draws from the posterior, with beta 1. KnowledgeGradient has
    no guarantee; give it `noise=noise_std**2`, and here `width=ConstantWidth(1.0)`. `limit` (C² of
    the paper) and `switch_cost` are as in `mini_gp_ucb`.

    An exact posterior holds thousands of unique points. `posterior="nystrom"` sees them through a
    dictionary, as `bbkb` does (`oversample`, `dictionary`), for 10⁵ and more. MINI's theorems are
    for exact posteriors. What holds instead: a stay is a batch of BBKB that ends early, so that
    BBKB's band is right where its theorem's conditions are met, and with that width UCB and
    ExpectedImprovement satisfy Eq. 5 (docs/papers/mini.md). Certificates hold for any dictionary.

    Source: Calandriello et al., ICML 2022, Algorithm 2.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.mini(
    ...     pool, kernel=nr.RBF(0.3), noise_std=1.0, acquisition=nr.UCB(), limit=9.0, start=[]
    ... )
    >>> batch = opt.ask()
    >>> batch.repeats, batch.reason
    (array([8]), 'repeat rule')
    """
    p = resolved(pool, kernel, noise_std, settings, least_ridge_in_theory=least_ridge(posterior))
    prior, width, band = p.posterior_and_widths(posterior, limit, oversample, dictionary)
    return p.optimizer(prior, acquisition, width, _stays(limit, p.switch_costs), band=band)


@shows_settings(Settings)
def mini_gp_ucb(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    limit: float = 2.0,
    **settings: Unpack[Settings],
) -> Optimizer:
    """GP-UCB that stays on a candidate until switching pays: few unique points, exact and fast.

    Stays are as long as `limit` allows, as in the paper; `switch_cost`, in evaluations, ends them
    once the switch was worth it: 0 where switching is free. Where it depends on the pair, that is
    the cost of the switch that led to the candidate (to the first, the median of those that would).

    Source: Calandriello et al., ICML 2022, Theorems 4.4 and 4.5. `limit` is C².

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.mini_gp_ucb(pool, kernel=0.1 * nr.RBF(0.3), noise_std=0.05)
    >>> while opt.spent < 1000:
    ...     batch = opt.ask(at_most=1000 - opt.spent)
    ...     opt.tell(batch, [-((x[0] - 0.7) ** 2) for x in batch])
    >>> opt.best().x, opt.unique < opt.evaluations / 20
    (array([0.7]), True)
    """
    p = resolved(pool, kernel, noise_std, settings)
    band = RKHSWidth(p.delta)
    return p.optimizer(p.exact(), UCB(), band, _stays(limit, p.switch_costs), band=band)


@shows_settings(Settings)
def mini_gp_ei(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    limit: float = 2.0,
    **settings: Unpack[Settings],
) -> Optimizer:
    """Expected improvement that stays on a candidate until switching pays.

    `switch_cost` is as in `mini_gp_ucb`.

    Source: Calandriello et al., ICML 2022, Theorem 4.6. `limit` is C².

    >>> pool = nr.Pool([[0.0], [0.5], [1.0]])
    >>> opt = nr.mini_gp_ei(pool, kernel=nr.RBF(0.3), noise_std=1.0, limit=4.0)
    >>> opt.tell([0, 1], means=[0.2, 0.4], counts=[9, 9])
    >>> opt.ask().sequence
    array([2, 2, 2])
    """
    p = resolved(pool, kernel, noise_std, settings)
    width, band = EIWidth(p.delta), RKHSWidth(p.delta)
    batching = _stays(limit, p.switch_costs)
    return p.optimizer(p.exact(), ExpectedImprovement(), width, batching, band=band)


@shows_settings(Settings)
def batch_thompson(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    batch_size: int | None = None,
    rule: Literal["product", "global", "local"] | BatchRule | None = None,
    limit: float | None = None,
    posterior: PosteriorKind = "exact",
    oversample: float | None = None,
    **settings: Unpack[Settings],
) -> Optimizer:
    """Thompson sampling in batches: each evaluation is the best of a function of its own.

    Functions are drawn from the posterior at a cost linear in the pool. Batches hold `batch_size`
    evaluations, one if not given, or as many as a ratio `rule` with its `limit`, 2 if not given,
    admits. `posterior="nystrom"` holds
    the posterior on a dictionary, drawn again for every batch, for many distinct points. Draws have
    beta 1; the papers ran it with a tenth of a theorem's, `width=0.1 * noregret.RKHSWidth()`.

    Source: Kandasamy et al. 2018, ASYNC-TS in the experiments of BBKB 2020.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.batch_thompson(pool, kernel=0.1 * nr.RBF(0.3), noise_std=0.05, batch_size=4)
    >>> opt.tell([4, 14], [-0.25, 0.0])
    >>> opt.ask().sequence
    array([12, 20, 15, 11])
    """
    p = resolved(pool, kernel, noise_std, settings)
    if rule is not None and batch_size is not None:
        raise ArgumentError(
            f"batch_size={batch_size} and rule={rule!r} both say when a batch ends. Give one of "
            "the two."
        )
    if limit is not None and not isinstance(rule, str):
        raise ArgumentError(
            f"limit={limit:g} is that of a ratio rule by its name, and rule={rule!r} is none: give "
            'rule="product", "global" or "local" too, or leave limit out.'
        )
    ratio = 2.0 if limit is None else limit
    prior, width, band = p.posterior_and_widths(posterior, ratio, oversample)
    batching = (
        FixedSize(1 if batch_size is None else batch_size) if rule is None else _rule(rule, ratio)
    )
    return p.optimizer(prior, Thompson(), width, batching, band=band)


RULES: dict[str, Callable[[float], BatchRule]] = {
    "product": ProductBound,
    "global": GlobalRatio,
    "local": LocalRatio,
}


def _rule(rule: str | BatchRule, limit: float) -> BatchRule:
    """Return the ratio rule of that name, or the rule itself where one is given."""
    if isinstance(rule, type):
        raise ArgumentError(f"rule must be made first, as FixedSize(8) is; got {rule.__name__}.")
    if isinstance(rule, BatchRule):
        require_at_least("limit", limit, 1.0)  # the width needs it all the same
        return rule
    return RULES[require_choice("rule", rule, tuple(RULES))](limit)


def _stays(limit: float, costs: SwitchCosts | None) -> Repeat | Stay:
    """Return the paper's rule, or the one that ends a stay once the switch was worth it."""
    if costs is None:
        return Repeat(limit)
    flat = costs.cost if isinstance(costs, FlatSwitchCost) else 0.0
    return Stay(limit, flat, by_pair=costs.by_pair)

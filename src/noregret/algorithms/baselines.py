"""The baselines: what the papers compare with or cite, and what others would try first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from noregret.algorithms.papers import gp_ucb
from noregret.algorithms.resolved import noise_of
from noregret.algorithms.settings import RunSettings, Settings, checked, shows_settings
from noregret.automatic.constants import DEFAULTS
from noregret.errors import ArgumentError, require_positive
from noregret.kernels import Kernel, Linear, quadrature, require_kernel
from noregret.optimizer import Optimizer
from noregret.policies import (
    LEAST_RIDGE,
    Evolution,
    RandomSearch,
    ThompsonQFF,
    as_groups,
    baselines,
)
from noregret.pools import BitPool, Candidates, Domain, MappedPool, Points, Pool, require_domain


@shows_settings(RunSettings)
def random_search(
    pool: Domain, *, batch_size: int = 1, **settings: Unpack[RunSettings]
) -> Optimizer:
    """Draw without replacement: nothing comes twice before all has come once.

    `uniform` draws with replacement, as the papers' baseline does. On a box they differ only where
    all dimensions are whole numbers.

    >>> optimizer = nr.random_search(nr.Pool([[0.0], [1.0], [2.0]]), batch_size=3)
    >>> sorted(optimizer.ask().ids.tolist())
    [0, 1, 2]
    """
    return Optimizer(pool, RandomSearch(batch_size), **checked(RunSettings, settings))


@shows_settings(RunSettings)
def regularized_evolution(
    pool: Domain,
    *,
    population: int = 100,
    sample: int = 10,
    groups: Sequence[int | Sequence[int]] | Mapping[str, Sequence[int]] | None = None,
    neighbours: int = 10,
    batch_size: int = 1,
    **settings: Unpack[RunSettings],
) -> Optimizer:
    """Mutate the best of `sample` members of an ageing `population`, drawn uniformly at first.

    `groups` lists columns that change together, each column in one group: the columns of a one-hot
    code, or single columns of codes (`range(d)`); a pool made of a table has its own.
    A mutation then leads to a candidate that differs in one group alone; where the pool has none,
    or without groups, to one of the nearest `neighbours`. On a box one dimension takes a step.
    Values told without an ask join the population. One child costs a pass over the pool.

    Source: Real et al., AAAI 2019; 100 and 10 are the settings BBKB 2020 compared with.

    >>> pool = nr.Pool([[a, b] for a in range(5) for b in range(5)])
    >>> result = nr.maximize(lambda x: x[0] - (x[1] - 2) ** 2, pool, budget=80, groups=range(2),
    ...                      algorithm=nr.regularized_evolution, population=10, sample=5)
    >>> result.best().x
    array([4., 2.])
    """
    require_domain(pool)
    if groups is not None and not isinstance(pool, Candidates):
        raise ArgumentError(
            "regularized_evolution(groups=...) is for pools; on a box every dimension changes by "
            "itself."
        )
    if groups is None and isinstance(pool, Pool | MappedPool):
        groups = pool.groups or None  # a table knows its own
    width = pool.bits if isinstance(pool, BitPool) else pool.dim
    grouped = None if groups is None else as_groups(groups, width)
    policy = Evolution(population, sample, grouped, neighbours, batch_size)
    return Optimizer(pool, policy, **checked(RunSettings, settings))


@shows_settings(Settings)
def lin_ucb(
    pool: Domain, *, noise_std: float, bias: float = 0.0, **settings: Unpack[Settings]
) -> Optimizer:
    """Evaluate the highest upper confidence bound of a ridge regression, one at a time.

    With V = λI + Σ x xᵀ and θ = V⁻¹ Σ y x,  μ(x) = xᵀθ and σ²(x) = λ·xᵀV⁻¹x: GP-UCB with the linear
    kernel x·z + bias, whose width is then that of OFUL. A bias above 0 is the prior variance of a
    constant term. Costs grow with the unique candidates evaluated, also beyond the number of
    features; `bkb(kernel=Linear(bias))` keeps a dictionary instead.

    Source: Li et al. 2010 (LinUCB); Abbasi-Yadkori et al. 2011 (OFUL), Theorem 2.

    >>> pool = nr.Pool([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> optimizer = nr.lin_ucb(pool, noise_std=0.1, start=[0])
    >>> optimizer.tell(optimizer.ask(), [0.5])
    >>> optimizer.ask().ids
    array([2])
    """
    return gp_ucb(pool, kernel=Linear(bias), noise_std=noise_std, **settings)


@shows_settings(RunSettings)
def ts_qff(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    nodes: int | Sequence[int] | None = None,
    ridge: float | None = None,
    batch_size: int = 1,
    **settings: Unpack[RunSettings],
) -> Optimizer:
    """Thompson sampling on quadrature Fourier features, for at most three features and RBF kernels.

    Every evaluation is the best candidate of one function drawn from the posterior. `nodes` a
    dimension (a number, or one each) make nodes^d features; if not given, as many as bring their
    product within 10⁻⁴ of the kernel on this pool. One batch costs a factor of their covariance
    and a pass over the pool, however much was evaluated before.

    Source: Mutný & Krause, NeurIPS 2018, cited by BKB, BBKB and MINI as the scalable baseline.

    >>> pool = nr.Pool([[x / 100] for x in range(101)])
    >>> result = nr.maximize(lambda x: -((x[0] - 0.7) ** 2), pool, algorithm=nr.ts_qff, budget=60,
    ...                      kernel=nr.RBF(0.3), noise_std=0.01)
    >>> bool(abs(result.best().x[0] - 0.7) < 0.05)
    True
    """
    require_domain(pool)
    if not isinstance(pool, Candidates):
        raise ArgumentError(
            "ts_qff looks at every candidate, so it needs a pool: spread points over the box and "
            "give Pool(points)."
        )
    require_kernel(kernel)
    run = checked(RunSettings, settings)
    noise = noise_of(noise_std, run)
    features = quadrature(kernel, Points(pool), nodes)
    least = DEFAULTS.exact_ridge * features.variance if run["deterministic"] else 0.0
    lam = max(noise**2, least) if ridge is None else require_positive("ridge", ridge)
    if lam < LEAST_RIDGE * features.variance:
        raise ArgumentError(
            f"ts_qff needs a ridge (noise_std², if not given) of at least {LEAST_RIDGE:g} of the "
            f"kernel's variance, got {lam / features.variance:.3g}: below, rounding drowns the "
            "prior of the weights. Raise noise_std, or use mini_gp_ucb."
        )
    given = None if nodes is None else features.nodes
    policy = ThompsonQFF(features, noise, lam, batch_size, given)
    return Optimizer(pool, policy, **run)


@shows_settings(RunSettings)
def uniform(pool: Domain, *, batch_size: int = 1, **settings: Unpack[RunSettings]) -> Optimizer:
    """Draw every evaluation uniformly: the policy that regret ratios are measured against.

    >>> opt = nr.uniform(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=5, seed=0)
    >>> len(opt.ask())
    5
    """
    policy = baselines.Uniform(batch_size)
    return Optimizer(pool, policy, **checked(RunSettings, settings))


@shows_settings(RunSettings)
def epsilon_greedy(
    pool: Domain,
    *,
    a: float = 1.0,
    b: float = 0.5,
    batch_size: int = 1,
    **settings: Unpack[RunSettings],
) -> Optimizer:
    """Explore uniformly with probability min(1, a/t^b), else repeat the best average so far.

    Source: the papers' baseline (MINI 2022, appendix B.1); `tune` finds a and b as they did, on
    their grid.

    >>> opt = nr.epsilon_greedy(nr.Pool([[0.0], [0.5], [1.0]]), batch_size=50, seed=0)
    >>> for _ in range(4):
    ...     batch = opt.ask()
    ...     opt.tell(batch, [x[0] for x in batch])
    >>> print(opt.best())
    2: average 1, evaluated 163 times
    """
    policy = baselines.EpsilonGreedy(a, b, batch_size)
    return Optimizer(pool, policy, **checked(RunSettings, settings))

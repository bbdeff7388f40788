"""The algorithms on a sparse posterior, each a sentence: BKB and BBKB."""

from __future__ import annotations

from typing import Literal, Unpack

from noregret.acquisitions import UCB, Acquisition, Thompson
from noregret.algorithms.resolved import DictionaryKind, least_ridge, resolved
from noregret.algorithms.settings import Settings, shows_settings
from noregret.batching import FixedSize, GlobalRatio, LocalRatio
from noregret.errors import require_choice
from noregret.kernels import Kernel
from noregret.optimizer import Optimizer
from noregret.pools import Domain
from noregret.widths import (
    ALPHA,
    EPSILON,
    BBKBExperimentsWidth,
    BBKBWidth,
    BKBExperimentsWidth,
    BKBWidth,
    NystromWidth,
)


@shows_settings(Settings)
def bkb(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    oversample: float | None = None,
    dictionary: DictionaryKind = "fresh",
    **settings: Unpack[Settings],
) -> Optimizer:
    """GP-UCB on a Nyström posterior whose dictionary is drawn again at every step.

    `dictionary` is as in `bbkb`. Bounds and certificates are by NystromWidth, which holds for any
    dictionary and any ridge.

    Source: Calandriello et al., COLT 2019, Algorithm 1.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.bkb(pool, kernel=0.1 * nr.RBF(0.3), noise_std=0.05)
    >>> opt.tell(range(21), [-((x - 14) ** 2) / 400 for x in range(21)])
    >>> batch = opt.ask()
    >>> opt.unique, opt.trace["dictionary"]
    (21, array([16]))
    """
    p = resolved(pool, kernel, noise_std, settings)
    width = BKBWidth(p.delta, p.kappa_squared) if p.theory else BKBExperimentsWidth(p.delta)
    prior = p.nystrom(oversample, per_log=6 * ALPHA / EPSILON**2, dictionary=dictionary)
    return p.optimizer(prior, UCB(), width, FixedSize(1), band=NystromWidth(p.delta))


@shows_settings(Settings)
def bbkb(
    pool: Domain,
    *,
    kernel: Kernel,
    noise_std: float,
    limit: float = 2.0,
    rule: Literal["global", "local"] = "global",
    acquisition: Acquisition | Thompson | None = None,
    oversample: float | None = None,
    dictionary: DictionaryKind = "fresh",
    **settings: Unpack[Settings],
) -> Optimizer:
    """BKB in batches: dictionary and feedback are frozen until a running bound says stop.

    Batches grow as variances fall below the noise: at first, or with little noise, they hold one
    evaluation. `rule="local"` gives larger ones and costs more. `limit` is C̃ and `oversample` q̄ of
    the paper. A "fresh" dictionary is drawn from scratch for every batch, as in the paper; members
    of a "sticky" one stay: what changed is then passed over in O(N·m) each, but the theorem does
    not bound its size. An "incremental" one is thinned and added to as probabilities change (BKB
    2019, §3.2): a batch then costs O((N + n)·m) for a few members that go and come, where a fresh
    one costs O((N + n)·m²) on n unique points. Members without which
    variances would rise stay. Whether variances stay accurate, the paper leaves open; certificates
    hold for any dictionary.

    In place of the upper confidence bound another `acquisition` may choose. Expected improvement
    with the theorem's width has regret of the same order up to √log t (docs/papers/bbkb.md).
    Thompson() draws with beta 1, and KnowledgeGradient needs `noise=noise_std**2` and
    `width=ConstantWidth(1.0)`: no theorem covers them.
    Bounds and certificates are by NystromWidth, whatever chooses: for any dictionary and any ridge.

    Source: Calandriello et al., ICML 2020, Algorithm 1; other acquisitions are named in its §6.

    >>> pool = nr.Pool([[x / 20] for x in range(21)])
    >>> opt = nr.bbkb(pool, kernel=0.1 * nr.RBF(0.3), noise_std=0.05)
    >>> while opt.spent < 200:
    ...     batch = opt.ask(at_most=200 - opt.spent)
    ...     opt.tell(batch, [-((x[0] - 0.7) ** 2) for x in batch])
    >>> opt.evaluations, opt.batches < 40
    (200, True)
    """
    p = resolved(pool, kernel, noise_std, settings, least_ridge_in_theory=least_ridge("nystrom"))
    local = require_choice("rule", rule, ("global", "local")) == "local"
    batching = (LocalRatio if local else GlobalRatio)(limit)
    width = (BBKBWidth if p.theory else BBKBExperimentsWidth)(p.delta, limit)
    prior = p.nystrom(oversample, per_log=72 * limit, dictionary=dictionary)
    how = UCB() if acquisition is None else acquisition
    return p.optimizer(prior, how, width, batching, band=NystromWidth(p.delta))

"""How often, and is the batch full?

A batch b₁ … b_k is chosen with no new feedback. `stale` is the posterior at the last feedback,
`now` the one after the choices so far. Each ratio rule holds a bound on σ²_stale(x)/σ²_now(x), so
that the batch ends before it is built on a confidence it does not have. The choice that crosses
the limit stays: it was made while the bound held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

from noregret.batching.base import (
    Choice,
    Fill,
    by_sum,
    ignore_pending,
    opened,
    ratio,
    times_in_a_row,
    with_rounding,
)
from noregret.batching.local_bound import LocalSums, Opening
from noregret.errors import require_at_least, require_count
from noregret.storable import storable


@final
@storable("FixedSize")
@dataclass(frozen=True, slots=True)
class FixedSize:
    """Take `size` choices, each on variances shrunk by those before; 1 is sequential.

    Bounds no ratio: guarantees are those of size 1 and one worker.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> rule = nr.FixedSize(size=4)
    >>> opt = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[])
    >>> batch = opt.ask()
    >>> len(batch), len(batch.ids), batch.reason
    (4, 4, 'fixed size 4 reached')
    """

    size: int = 1
    open = opened
    count_pending = ignore_pending

    def __post_init__(self) -> None:
        require_count("FixedSize(size=...)", self.size)

    @property
    def reason(self) -> str:
        return f"fixed size {self.size} reached"

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        return 1, replace(fill, size=fill.size + 1)

    def is_full(self, fill: Fill) -> bool:
        return fill.size >= self.size

    def admits(self, batch: int) -> float:
        return math.inf if batch <= self.size else 0.0


@final
@storable("ProductBound")
@dataclass(frozen=True, slots=True)
class ProductBound:
    """Close the batch once Π(1 + σ²_now(bᵢ)/ridge) exceeds `limit`: GP-BUCB's rule.

    For every x,  σ²_stale(x)/σ²_now(x) ≤ Πᵢ (1 + σ²_{i−1}(bᵢ)/ridge) = det(I + C/ridge)     (1)

    Source: Desautels et al. 2014, Proposition 1, as quoted in BBKB 2020, Proposition 1.
    Differs: printed as a bound on the ratio of standard deviations; it bounds that of variances.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> rule = nr.ProductBound(limit=8.0)
    >>> opt = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[])
    >>> batch = opt.ask()
    >>> len(batch), len(batch.ids), batch.reason
    (4, 4, 'limit reached (product bound)')
    """

    limit: float = 2.0
    reason = "limit reached (product bound)"
    open = opened

    def __post_init__(self) -> None:
        require_at_least("ProductBound(limit=...)", self.limit, 1.0)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return replace(fill, bound=fill.bound * (1 + count * choice.now / fill.ridge))

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        share = choice.now / fill.ridge
        count = times_in_a_row(choice, ratio(with_rounding(self.limit) / fill.bound - 1.0, share))
        bound = fill.bound * (1 + count * share)  # (1): repeats of one choice telescope
        return count, replace(fill, size=fill.size + count, bound=bound)

    def is_full(self, fill: Fill) -> bool:
        return fill.bound > with_rounding(self.limit)

    def admits(self, batch: int) -> float:
        return math.log(self.limit) / batch  # Π(1 + v) ≤ exp(Σ v)


@final
@storable("GlobalRatio")
@dataclass(frozen=True, slots=True)
class GlobalRatio:
    """Close the batch once stale variances may be off by more than a factor `limit`.

    For every x,  σ²_stale(x)/σ²_now(x)  ≤  1 + Σᵢ σ²_stale(bᵢ)/ridge                       (2)

    so a running sum over the chosen points bounds the error on the whole pool: O(1) a choice.

    Source: BBKB 2020, Lemma 1; `limit` is C̃ of Algorithm 1.
    Differs: the lemma's sum is over the chosen x_s, from s = fb(t) + 1 on.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> rule = nr.GlobalRatio(limit=8.0)
    >>> opt = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[])
    >>> batch = opt.ask()
    >>> len(batch), len(batch.ids), batch.reason
    (8, 8, 'limit reached (global ratio)')
    """

    limit: float = 2.0
    reason = "limit reached (global ratio)"
    open = opened

    def __post_init__(self) -> None:
        require_at_least("GlobalRatio(limit=...)", self.limit, 1.0)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return replace(fill, bound=fill.bound + count * choice.stale / fill.ridge)

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        share = choice.stale / fill.ridge
        count = times_in_a_row(choice, ratio(with_rounding(self.limit) - fill.bound, share))
        bound = fill.bound + count * share  # (2)
        return count, replace(fill, size=fill.size + count, bound=bound)

    def is_full(self, fill: Fill) -> bool:
        return fill.bound > with_rounding(self.limit)

    admits = by_sum


@final
@storable("LocalRatio")
@dataclass(frozen=True, slots=True)
class LocalRatio:
    """Close the batch once some candidate's own variance may be off by more than `limit`.

    While the global bound (2) holds nothing else is looked at; after that, for every x,

        σ²_stale(x)/σ²_now(x) ≤ 1 + max(Σⱼ c̃ⱼ², Σⱼ k̃ⱼ²)/(ridge·σ²_stale(x))                 (3)

    with c̃ⱼ the model covariance and k̃ⱼ the covariance between x and bⱼ under `stale`. Batches are
    larger than by (2), at the cost of looking at the pool where `LocalSums` cannot tell without.

    Source: BBKB 2020, Lemma 3 and appendix B.3.
    Differs: the printed lemma has Σ k̃² alone and claims that it dominates Σ c̃²; for a Nyström
    posterior the residual k − zᵀz can be negative, and then it does not. c̃ bounds the ratio of
    the Nyström variances, k̃ (for an accurate dictionary, up to its factors) that of the exact
    ones. Both are tested at the switch from (2) too.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> rule = nr.LocalRatio(limit=8.0)
    >>> opt = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[])
    >>> batch = opt.ask()
    >>> len(batch), len(batch.ids), batch.reason
    (17, 17, 'limit reached (local ratio)')
    """

    limit: float = 2.0
    reason = "limit reached (local ratio)"

    def __post_init__(self) -> None:
        require_at_least("LocalRatio(limit=...)", self.limit, 1.0)

    def open(self, opening: Opening) -> Fill:
        return Fill(ridge=opening.ridge, local=LocalSums(opening))

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        assert fill.local is not None
        fill.local.note(choice.row, count)
        bound = fill.bound + count * choice.stale / fill.ridge
        limit = with_rounding(self.limit)
        over = bound > limit and fill.local.exceed(limit, bound)
        return replace(fill, bound=bound, over=over)

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        assert fill.local is not None
        left = with_rounding(self.limit) - fill.local.ceiling(fill.bound)
        count = times_in_a_row(choice, ratio(left, choice.stale / fill.ridge))
        return count, replace(self.count_pending(fill, choice, count), size=fill.size + count)

    def is_full(self, fill: Fill) -> bool:
        return fill.over

    admits = by_sum

"""Rules that hold a bound on σ²_stale(x)/σ²_now(x), and one that counts; words as in `base`."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import final

from noregret.batching.base import BatchRuleBase, Choice, Fill
from noregret.batching.local_bound import LocalSums
from noregret.errors import require_at_least, require_count
from noregret.storable import storable


@final
@storable("FixedSize")
@dataclass(frozen=True, slots=True)
class FixedSize(BatchRuleBase):
    """Take `size` choices, each on variances shrunk by those before; 1 is sequential.

    Bounds no ratio: guarantees are those of size 1 and one worker.

    >>> pool, rule = nr.Pool.numbered(11), nr.FixedSize(size=4)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (4, 4, 'fixed size 4 reached')
    """

    size: int = 1

    def __post_init__(self) -> None:
        require_count("FixedSize(size=...)", self.size)

    @property
    def reason(self) -> str:
        return f"fixed size {self.size} reached"

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return fill

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        return 1, replace(fill, size=fill.size + 1, over=fill.size + 1 >= self.size)

    def admits(self, batch: int) -> float:
        return math.inf if batch <= self.size else 0.0


@dataclass(frozen=True, slots=True)
class RatioRule(BatchRuleBase):
    """Takes choices until a bound on the ratio of variances passes `limit`."""

    limit: float = 2.0

    @final
    def __post_init__(self) -> None:
        require_at_least(f"{type(self).__name__}(limit=...)", self.limit, 1.0)

    @abstractmethod
    def left(self, fill: Fill, choice: Choice) -> float:
        """Return how often the limit lets the choice be taken."""

    @final
    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        """Take a choice as often as it would be chosen in a row, and as the limit lets it.

        Once more than that, since the choice that crosses the limit stays. A value known exactly
        changes nothing: it wins all the room.

        Source: one choice after the other in BBKB 2020, Algorithm 1; taking runs at once changes
        none.
        """
        most = choice.room
        if choice.stale > 0:
            left = self.left(fill, choice)
            if left < most:
                most = min(most, 1 + max(math.floor(left), 0))
            most = choice.repeats_while_best(most) if most > 1 else 1
        return most, self.count_pending(fill, choice, most)

    @property
    def rounded_limit(self) -> float:
        """The limit with rounding added: sums that meet it exactly do so in any order."""
        return self.limit + 1e-12 * (self.limit - 1.0)


@final
@storable("ProductBound")
@dataclass(frozen=True, slots=True)
class ProductBound(RatioRule):
    """Close the batch once Π(1 + σ²_now(bᵢ)/ridge) exceeds `limit`: GP-BUCB's rule.

    For every x,  σ²_stale(x)/σ²_now(x) ≤ Πᵢ (1 + σ²_{i−1}(bᵢ)/ridge) = det(I + C/ridge)     (1)

    Source: Desautels et al. 2014, Proposition 1, as quoted in BBKB 2020, Proposition 1.
    Differs: printed as a bound on the ratio of standard deviations; it bounds that of variances.

    >>> pool, rule = nr.Pool.numbered(11), nr.ProductBound(limit=8.0)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (4, 4, 'limit reached (product bound)')
    """

    reason = "limit reached (product bound)"

    def left(self, fill: Fill, choice: Choice) -> float:
        return ratio(self.rounded_limit / fill.bound - 1.0, choice.now / fill.ridge)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        share = choice.now / fill.ridge
        bound = fill.bound * (1 + count * share)  # (1): repeats of one choice telescope
        return replace(fill, bound=bound, over=bound > self.rounded_limit)

    def admits(self, batch: int) -> float:
        return math.log(self.limit) / batch  # Π(1 + v) ≤ exp(Σ v)


@final
@storable("GlobalRatio")
@dataclass(frozen=True, slots=True)
class GlobalRatio(RatioRule):
    """Close the batch once stale variances may be off by more than a factor `limit`.

    For every x,  σ²_stale(x)/σ²_now(x)  ≤  1 + Σᵢ σ²_stale(bᵢ)/ridge                       (2)

    so a running sum over the chosen points bounds the error on the whole pool: O(1) per choice.

    Source: BBKB 2020, Lemma 1; `limit` is C̃ of Algorithm 1.
    Differs: the lemma's sum is over the chosen x_s, from s = fb(t) + 1 on.

    >>> pool, rule = nr.Pool.numbered(11), nr.GlobalRatio(limit=8.0)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (8, 8, 'limit reached (global ratio)')
    """

    reason = "limit reached (global ratio)"

    def left(self, fill: Fill, choice: Choice) -> float:
        return ratio(self.rounded_limit - fill.bound, choice.stale / fill.ridge)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        bound = fill.bound + count * choice.stale / fill.ridge  # (2)
        return replace(fill, bound=bound, over=bound > self.rounded_limit)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch  # by (2)


@final
@storable("LocalRatio")
@dataclass(frozen=True, slots=True)
class LocalRatio(RatioRule):
    """Close the batch once the variance of some candidate may be off by more than `limit`.

    While the global bound (2) holds nothing else is looked at; after that, for every x,

        σ²_stale(x)/σ²_now(x) ≤ 1 + max(Σⱼ c̃ⱼ², Σⱼ k̃ⱼ²)/(ridge·σ²_stale(x))                 (3)

    with c̃ⱼ the model covariance and k̃ⱼ the covariance between x and bⱼ under `stale`. Batches are
    larger than by (2), at the cost of looking at the pool where `LocalSums` cannot tell without.

    Source: BBKB 2020, Lemma 3 and appendix B.3.
    Differs: the printed lemma has Σ k̃² alone and claims that it dominates Σ c̃²; for a Nyström
    posterior the residual k − zᵀz can be negative, and then it does not. c̃ bounds the ratio of
    the Nyström variances, k̃ (for an accurate dictionary, up to its factors) that of the exact
    ones. Both are tested at the switch from (2) too.

    >>> pool, rule = nr.Pool.numbered(11), nr.LocalRatio(limit=8.0)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (17, 17, 'limit reached (local ratio)')
    """

    reason = "limit reached (local ratio)"

    def left(self, fill: Fill, choice: Choice) -> float:
        ceiling = fill.bound if fill.local is None else fill.local.ceiling(fill.bound)
        return ratio(self.rounded_limit - ceiling, choice.stale / fill.ridge)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        local, limit = fill.local or LocalSums(fill.opening), self.rounded_limit
        local.note(choice.row, count)
        bound = fill.bound + count * choice.stale / fill.ridge
        over = bound > limit and local.exceed(limit, bound)
        return replace(fill, bound=bound, over=over, local=local)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch


def ratio(left: float, share: float) -> float:
    return left / share if share > 0 else math.inf

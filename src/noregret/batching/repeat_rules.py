"""How long to stay on a candidate where switching to another one costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import final

import numpy as np

from noregret.batching.base import BatchRuleBase, Choice, Fill
from noregret.batching.ratio_rules import ProductBound
from noregret.errors import require_above, require_at_least
from noregret.storable import storable


class RepeatBase(BatchRuleBase):
    """One choice, many evaluations."""

    __slots__ = ()

    @final
    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return replace(fill, bound=fill.bound + count * choice.stale / fill.ridge)


@final
@storable("Repeat")
@dataclass(frozen=True, slots=True)
class Repeat(RepeatBase):
    """Stay on one candidate as long as switching could not pay: one choice, many evaluations.

    B = ⌊(limit − 1)·ridge/σ²(x)⌋ evaluations of x, at least 1, keep every variance within a factor
    `limit` of its stale value, by (2). As many as are asked for where σ²(x) = 0. Evaluations under
    way elsewhere count towards the limit; one evaluation is given however many there are.

    Source: MINI 2022, Algorithm 2; `limit` is C².
    Differs: σ² there is divided by λ; here it is the variance of f, so ridge multiplies.

    >>> pool, rule = nr.Pool.numbered(11), nr.Repeat(limit=8.0)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (7, 1, 'repeat rule')
    """

    limit: float = 2.0
    reason = "repeat rule"

    def __post_init__(self) -> None:
        require_above("Repeat(limit=...)", self.limit, 1.0)

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        stays = math.inf
        if choice.stale > 0:
            with np.errstate(over="ignore"):
                stays = float(np.float64((self.limit - fill.bound) * fill.ridge) / choice.stale)
        count = max(1, math.floor(min(stays, choice.room)))
        wants_more = stays >= choice.room + 1
        is_cut = wants_more and choice.is_capped
        return count, replace(fill, over=is_cut or not wants_more, is_cut=is_cut)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch  # by (2)


@final
@storable("Stay")
@dataclass(frozen=True, slots=True)
class Stay(RepeatBase):
    """Stay on one candidate until its evaluations are worth the switch, as far as is safe.

    A switch costs as much as `switch_cost` evaluations, so that x is evaluated

        max(1, min(⌈switch_cost⌉, B)),   B = ⌊(limit − 1)·ridge/σ²(x)⌋                          (1)

    times before feedback is looked at. Where B allows it, at most half of all that is spent goes
    into switches. B is `Repeat`'s: within it every variance keeps within a factor `limit`, so
    that the regret of MINI's theorems holds for any cost, and a costly switch does not buy stays
    that they do not cover. A larger `limit` allows longer ones, at √limit times the regret.

    An infinite cost is `Repeat`; a cost of at most 1 evaluates one at a time. After T evaluations
    there were at most T/⌈switch_cost⌉ stays of full length, beside `Repeat`'s number of stays that
    B cut short. A candidate that is the best choice again is stayed on, which is no switch, for as
    many more. Where costs are by pair, (1) is by that of the switch that led to x; the first of a
    run counts as many as the middle one of all that lead there.

    Source: MINI 2022, Algorithm 2; Lemma 4.2 holds for any B_h up to its bound, Lemma 4.3 bounds
    the stays that reach it.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> for cost in (0.0, 4.2, 100.0):
    ...     rule = nr.Stay(limit=8.0, switch_cost=cost)
    ...     batch = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[]).ask()
    ...     print(len(batch), len(batch.ids), batch.reason)
    1 1 stay rule, switch cost 0
    5 1 stay rule, switch cost 4.2
    7 1 stay rule, switch cost 100
    """

    limit: float = 2.0
    switch_cost: float = 1.0
    by_pair: bool = False  # the run knows the cost of each switch, which takes this one's place

    def __post_init__(self) -> None:
        require_above("Stay(limit=...)", self.limit, 1.0)
        if not (isinstance(self.switch_cost, float) and self.switch_cost == math.inf):
            require_at_least("Stay(switch_cost=...)", self.switch_cost, 0.0)

    @property
    def reason(self) -> str:
        return f"stay rule, switch cost {'by pair' if self.by_pair else f'{self.switch_cost:g}'}"

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        of_pair = choice.switch_cost if self.by_pair else None
        most = _worth(self.switch_cost if of_pair is None else of_pair())
        choice = replace(choice, is_capped=choice.is_capped and choice.room < most)
        room = int(min(choice.room, most))
        count, taken = Repeat(self.limit).take(fill, replace(choice, room=room))  # (1)
        return count, replace(taken, over=taken.over or most <= choice.room)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch if batch <= _worth(self.switch_cost) else 0.0


@final
@storable("Settle")
@dataclass(frozen=True, slots=True)
class Settle(RepeatBase):
    """Stay for as long as `short` allows; where switches cost, until worth it, up to `long`.

    B(c) = ⌊(c − 1)·ridge/σ²(x)⌋ evaluations of x keep every variance within a factor c, and

        max(1, B(short), min(⌈switch_cost⌉, B(long)))                                           (2)

    are taken before feedback is looked at: a stay that costs nothing, or one that pays for the
    switch. Both are within MINI's bound with limit = long, so that its theorems hold.

    >>> pool = nr.Pool([[x / 10] for x in range(11)])
    >>> for cost in (0.0, 2.0, 100.0):
    ...     rule = nr.Settle(switch_cost=cost)
    ...     opt = nr.gp_bucb(pool, kernel=nr.RBF(0.3), noise_std=1.0, rule=rule, start=[])
    ...     print(len(opt.ask()))
    1
    2
    3
    """

    short: float = 1.25
    long: float = 4.0
    switch_cost: float = 0.0

    def __post_init__(self) -> None:
        require_above("Settle(short=...)", self.short, 1.0)
        require_at_least("Settle(long=...)", self.long, self.short)
        Stay(self.long, self.switch_cost)

    @property
    def reason(self) -> str:
        cost = f", switch cost {self.switch_cost:g}" if self.switch_cost else ""
        return f"stay rule{cost}"

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        return max((rule.take(fill, choice) for rule in self._rules), key=itemgetter(0))  # (2)

    def admits(self, batch: int) -> float:
        return max(rule.admits(batch) for rule in self._rules)

    @property
    def _rules(self) -> tuple[Repeat, Stay]:
        return Repeat(self.short), Stay(self.long, self.switch_cost)


@final
@storable("RarelySwitching")
@dataclass(frozen=True, slots=True)
class RarelySwitching(BatchRuleBase):
    """Stay until det(V) has grown by more than a factor `limit`: rarely switching OFUL.

    With V the precision of the features, the determinant of all evaluations grows by

        det V_t / det V_τ = det(I + C/ridge) = 1 + B·σ²(x)/ridge                                (3)

    for B evaluations of one candidate x, C being their covariance. Every batch that nothing cuts
    grows it by more than `limit`, so that T evaluations hold at most 1 + L_T/log(limit) batches if
    none is cut (by `ask(at_most=)`, a cap, the end of a stage of "grow"). By (3)
    stale variances are off by at most `limit` up to the evaluation that crosses it, which stays.

    Without other workers its candidate is chosen on a fresh posterior, so that the width needs no
    factor: `gp_bucb(rule=RarelySwitching(), limit=1)` is the algorithm of the source.

    Source: Abbasi-Yadkori, Pál & Szepesvári 2011, the rarely switching OFUL; `limit` is 1 + C.
    Differs: for any kernel, as MINI 2022, §3.1, extends it; evaluations under way elsewhere count.

    >>> pool, rule = nr.Pool.numbered(11), nr.RarelySwitching(limit=8.0)
    >>> batch = nr.gp_bucb(pool, kernel=nr.RBF(3.0), noise_std=1.0, rule=rule, start=[]).ask()
    >>> len(batch), len(batch.ids), batch.reason
    (8, 1, 'determinant grew by the limit')
    """

    limit: float = 2.0
    reason = "determinant grew by the limit"

    def __post_init__(self) -> None:
        require_above("RarelySwitching(limit=...)", self.limit, 1.0)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return ProductBound(self.limit).count_pending(fill, choice, count)

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        kept = replace(choice, repeats_while_best=lambda most: most)
        return ProductBound(self.limit).take(fill, kept)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch  # by (3)


def _worth(cost: float) -> float:
    """Return how many evaluations make a switch worth its cost."""
    return cost if cost == math.inf else max(1, math.ceil(cost))

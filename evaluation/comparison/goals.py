"""What is aimed at over all pools, and whether it is reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from evaluation.comparison.summary import Standings, average_ranks, difference, figure, quantile
from evaluation.methods.contestants import AUTO, CONTESTANTS, TPE, UNIFORM

HALF, COVERAGE = 0.5, 0.9
SECONDS = {200: 1.0, 10_000: 10.0}
LEVELS = {"median": 0.5, "90th percentile": 0.9}


@final
@dataclass(frozen=True, slots=True)
class Goal:
    """What is aimed at, what was measured, and whether that is enough."""

    says: str
    found: str
    met: bool
    pools: int  # behind it

    @property
    def verdict(self) -> str:
        return "met" if self.met else "**missed**"


def goals(standings: Standings) -> list[Goal]:
    """Return every goal that there are runs for."""
    return [
        *_ranks(standings),
        *_half_of_tpe(standings),
        *_simple(standings),
        *_not_worse_than_uniform(standings),
        *_coverage(standings),
        *_time(standings),
    ]


def _ranks(standings: Standings) -> Iterator[Goal]:
    for T in standings.budgets:
        ranks = average_ranks(standings, "regret", T)
        if AUTO in ranks and len(ranks) > 1:
            rival = min((one for one in ranks if one != AUTO), key=lambda one: ranks[one].value)
            found = f"{ranks[AUTO]}; next {title(rival)} {ranks[rival]}"
            met = ranks[AUTO].value <= ranks[rival].value
            pools = len(standings.pools(T))
            yield Goal(f"T = {T}: best average rank in cumulative regret", found, met, pools)


def _half_of_tpe(standings: Standings) -> Iterator[Goal]:
    for T in standings.budgets:
        if pools := _shared(standings, T, TPE):
            ours = standings.means("regret", T, AUTO, pools)
            ratio = figure(np.median(ours / standings.means("regret", T, TPE, pools), axis=1))
            says = f"T = {T}: cumulative regret at most half of TPE's, median over pools"
            yield Goal(says, f"{ratio} of it", ratio.value <= HALF, len(pools))


def _simple(standings: Standings) -> Iterator[Goal]:
    for T in standings.budgets:
        pools, rivals = standings.pools(T), standings.contestants(T)
        rivals = [one for one in rivals if CONTESTANTS[one].competitor]
        if not pools or AUTO not in standings.contestants(T) or not rivals:
            continue
        for word, level in LEVELS.items():
            theirs = {one: quantile(standings, "simple", T, one, pools, level) for one in rivals}
            best = min(theirs, key=theirs.__getitem__)
            ours = quantile(standings, "simple", T, AUTO, pools, level)
            found = f"{ours:.3g}; best of the others {title(best)} {theirs[best]:.3g}"
            says = f"T = {T}: simple regret not worse than the best of the others, {word}"
            yield Goal(says, found, ours <= theirs[best], len(pools))


def _not_worse_than_uniform(standings: Standings) -> Iterator[Goal]:
    for T in standings.budgets:
        pools = _shared(standings, T, UNIFORM)
        for measure in ("regret", "simple") if pools else ():
            pair = (AUTO, UNIFORM)
            worse = [
                name for name in pools if difference(standings, measure, T, name, pair).low > 0
            ]
            found = f"worse on {', '.join(worse)}" if worse else "on none"
            words = {"regret": "cumulative", "simple": "simple"}[measure]
            says = f"T = {T}: on no pool worse than uniform in {words} regret"
            yield Goal(says, found, not worse, len(pools))


def _coverage(standings: Standings) -> Iterator[Goal]:
    for T in standings.budgets:
        if pools := standings.pools(T, [AUTO]):
            held = [bool(one) for name in pools for one in standings[name, AUTO, T].covered]
            share = float(np.mean(held))
            says = f"T = {T}: the recommendation's interval covers the truth in ≥ 90 % of runs"
            yield Goal(says, f"{share:.1%} of {len(held)}", share >= COVERAGE, len(pools))


def _time(standings: Standings) -> Iterator[Goal]:
    for T, limit in SECONDS.items():
        if pools := standings.pools(T, [AUTO]):
            took = {name: float(np.median(standings[name, AUTO, T].seconds)) for name in pools}
            worst = max(took, key=took.__getitem__)
            middle = float(np.median(list(took.values())))
            found = f"{middle:.3g} s in the median over pools, {took[worst]:.3g} s on {worst}"
            says = f"T = {T}: optimiser time under {limit:g} s on every pool"
            yield Goal(says, found, took[worst] < limit, len(pools))


def _shared(standings: Standings, budget: int, other: str) -> list[str]:
    """Return the pools on which both we and another have been run."""
    if not {AUTO, other} <= set(standings.contestants(budget)):
        return []
    return standings.pools(budget, [AUTO, other])


def title(who: str) -> str:
    return CONTESTANTS[who].title

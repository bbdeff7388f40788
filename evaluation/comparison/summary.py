"""What the runs say: regrets over uniform's and ranks, with intervals over seeds; and the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from evaluation.methods.contestants import AUTO, CONTESTANTS, TPE, UNIFORM
from evaluation.reports.intervals import Figure
from evaluation.reports.markdown import Claim
from evaluation.reports.standings import AtBudget
from evaluation.runs.cells import Line, Store
from evaluation.runs.reading import Reading
from noregret.arrays import Vector

Place: TypeAlias = tuple[str, str, int]  # a problem, a contestant, a budget
HALF, COVERAGE = 0.5, 0.9
SECONDS = {200: 1.0, 10_000: 10.0}
LEVELS = {"median": 0.5, "90th percentile": 0.9}
MEASURES = {"regret": "cumulative regret", "simple": "simple regret"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Repetitions at one budget, in the order of their seeds."""

    regret: Vector  # cumulative, over uniform's expected
    simple: Vector  # of the recommendation, over uniform's expected gap
    seconds: Vector
    unique: Vector
    covered: tuple[bool | None, ...]

    @classmethod
    def of(cls, readings: Sequence[Reading], at: int) -> Sample:
        """Take what was read off at the budget that comes so far down the list."""
        budget, uniform = readings[0]["budgets"][at], readings[0]["uniform"]
        return cls(
            regret=np.array([one["regret"][at] for one in readings]) / (budget * uniform),
            simple=np.array([one["simple"][at] for one in readings]) / uniform,
            seconds=np.array([one["seconds"][at] for one in readings]),
            unique=np.array([one["unique"][at] for one in readings], dtype=np.float64),
            covered=tuple(one["covered"][at] for one in readings),
        )

    def __len__(self) -> int:
        return len(self.regret)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """All samples there are."""

    samples: dict[Place, Sample]

    @classmethod
    def of(cls, lines: Iterable[Line], store: Store) -> Standings:
        """Read what is stored."""
        samples = {}
        for line in lines:
            readings = [store.load(cell) for cell in line.wanted(store) if store.holds(cell)]
            for at, budget in enumerate(readings[0]["budgets"] if readings else ()):
                samples[line.problem, line.label, budget] = Sample.of(readings, at)
        return cls(samples)

    @property
    def budgets(self) -> list[AtBudget[Sample]]:
        """The samples budget by budget, the smallest first."""
        held: dict[int, dict[tuple[str, str], Sample]] = {}
        for (name, who, T), sample in self.samples.items():
            held.setdefault(T, {})[name, who] = sample
        return [AtBudget(T, held[T]) for T in sorted(held)]


def goals(standings: Standings) -> list[Claim]:
    """Return every goal that there are runs for, one kind after the other."""
    budgets = [at for at in standings.budgets if AUTO in at.contestants]
    return [goal for kind in KINDS for at in budgets for goal in kind(at)]


def _ranks(at: AtBudget[Sample]) -> Iterator[Claim]:
    ranks = at.ranks("regret")
    ours = ranks.pop(AUTO, None)
    if ours and ranks:
        second = min(ranks, key=lambda one: ranks[one].value)
        found = f"{ours}; next {title(second)} {ranks[second]}"
        says = f"T = {at.T}: best average rank in cumulative regret"
        yield Claim(says, found, ours.value <= ranks[second].value, pools=len(at.pools()))


def _half_of_tpe(at: AtBudget[Sample]) -> Iterator[Claim]:
    if pools := at.pools(AUTO, TPE):
        ours, theirs = (at.means("regret", who, pools) for who in (AUTO, TPE))
        ratio = Figure.of(np.median(ours / theirs, axis=1))
        says = f"T = {at.T}: cumulative regret at most half of TPE's, median over pools"
        yield Claim(says, f"{ratio} of it", ratio.value <= HALF, pools=len(pools))


def _simple(at: AtBudget[Sample]) -> Iterator[Claim]:
    others = [one for one in at.contestants if CONTESTANTS[one].competitor]
    if (pools := at.pools()) and others:
        for word, level in LEVELS.items():
            theirs = {one: at.quantile("simple", one, pools, level) for one in others}
            best = min(theirs, key=theirs.__getitem__)
            ours = at.quantile("simple", AUTO, pools, level)
            found = f"{ours:.3g}; best of the others {title(best)} {theirs[best]:.3g}"
            says = f"T = {at.T}: simple regret not worse than the best of the others, {word}"
            yield Claim(says, found, ours <= theirs[best], pools=len(pools))


def _not_worse_than_uniform(at: AtBudget[Sample]) -> Iterator[Claim]:
    pools = at.pools(AUTO, UNIFORM)
    for measure, word in MEASURES.items() if pools else ():
        worse = [one for one in pools if at.difference(measure, one, AUTO, UNIFORM).low > 0]
        found = f"worse on {', '.join(worse)}" if worse else "on none"
        says = f"T = {at.T}: on no pool worse than uniform in {word}"
        yield Claim(says, found, not worse, pools=len(pools))


def _coverage(at: AtBudget[Sample]) -> Iterator[Claim]:
    pools = at.pools(AUTO)
    held = [bool(one) for name in pools for one in at.samples[name, AUTO].covered]
    share = float(np.mean(held))
    says = f"T = {at.T}: the recommendation's interval covers the truth in ≥ 90 % of runs"
    yield Claim(says, f"{share:.1%} of {len(held)}", share >= COVERAGE, pools=len(pools))


def _time(at: AtBudget[Sample]) -> Iterator[Claim]:
    if limit := SECONDS.get(at.T):
        pools = at.pools(AUTO)
        took = {name: float(np.median(at.values("seconds", AUTO, name))) for name in pools}
        worst = max(took, key=took.__getitem__)
        middle = float(np.median(list(took.values())))
        found = f"{middle:.3g} s in the median over pools, {took[worst]:.3g} s on {worst}"
        says = f"T = {at.T}: optimiser time under {limit:g} s on every pool"
        yield Claim(says, found, took[worst] < limit, pools=len(pools))


KINDS: tuple[Callable[[AtBudget[Sample]], Iterator[Claim]], ...] = (
    *(_ranks, _half_of_tpe, _simple, _not_worse_than_uniform, _coverage, _time),
)


def title(who: str) -> str:
    return CONTESTANTS[who].title

"""Why a candidate was chosen, or why not, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from noregret.arrays import Indices, Rows, Vector
from noregret.errors import ExhaustedError
from noregret.optimizer.asked import Asked
from noregret.optimizer.results import Units
from noregret.optimizer.run_state import Records
from noregret.policies import SCORES, Evidence, ModelView
from noregret.pools import Points
from noregret.text import counted, digits, times

NEAREST = 5  # evaluated candidates that are named
UNLIKE = 0.1  # the correlation below which one tells next to nothing
NAMED = 3  # batches and candidates that a sentence lists


@final
@dataclass(frozen=True, slots=True, eq=False)
class Neighbour:
    """An evaluated point, and how much it says about another one.

    `correlation` is k(x, z)/√(k(x, x)·k(z, z)): 1 where the kernel takes them for the same, 0 where
    one tells nothing about the other. `id` is None for a point off the pool. `auto` may count an
    average far worse than the others as less bad than it is: that is `counts_as`, else NaN.
    """

    id: int | str | None
    x: Vector
    correlation: float
    average: float
    evaluations: int
    counts_as: float = np.nan

    def __str__(self) -> str:
        name = f"a point at {self.x.tolist()}" if self.id is None else f"{self.id}"
        counts = "" if np.isnan(self.counts_as) else f", which counts as {self.counts_as:.4g}"
        return (
            f"{name} (correlation {self.correlation:.2f}, evaluated {times(self.evaluations)}, "
            f"average {self.average:.6g}{counts})"
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Leader:
    """The candidate that would be chosen next; `id` is None for a new point of a box."""

    id: int | str | None
    x: Vector
    mean: float
    std: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What is believed of a candidate, from which evaluations, and why it was chosen or not.

    `std` is the model's standard deviation. `lower` and `upper` lie `width` = beta·std from the
    mean: they steer the choices. (The bounds of `best()` are a theorem's, and the ± of `auto` there
    is wider by how far a model of so few points may be off.) `rank` is 1 for the next choice, None
    on boxes and where pool × (points of the posterior)² passes 10⁹. Evaluations under way are
    counted but not hallucinated. Baselines have no model: NaN, None and empty.

    Costs what an `ask` costs, a walk over all runs asked for, and the rank O(N·m²).

    >>> pool = nr.Pool([[0.0], [0.1], [1.0]], names=["a", "b", "c"])
    >>> opt = nr.gp_ucb(pool, kernel=nr.RBF(0.3), noise_std=0.1, start=["a"])
    >>> opt.tell(opt.ask(), [1.0])
    >>> why = opt.explain("b")
    >>> why.evaluations, [(near.id, round(near.correlation, 2)) for near in why.nearest]
    (0, [('a', 0.95)])
    >>> print(why)
    b: estimated at 0.936594 ± 0.34; choices look at -0.426 to 2.3 (± 4 standard deviations).
    Never evaluated. Most similar to it: a (correlation 0.95, evaluated once, average 1).
    This run has never asked for it.
    It ranks 2 of 3 as the next choice: its upper bound, 2.3, is below 4.04, that of c.
    """

    id: int | str
    x: Vector
    mean: float
    std: float
    beta: float
    width: float
    lower: float
    upper: float
    evaluations: int
    weight: float  # of them, by their noise: 1 each where nothing was told of it
    average: float  # of its own values; NaN where there are none
    counts_as: float  # what the model takes that for, being far worse than others; NaN: itself
    failed: int  # evaluations
    under_way: int  # evaluations asked for and not yet told
    excluded: bool
    at_most_each: int | None  # evaluations of one candidate that the run allows
    nearest: tuple[Neighbour, ...]
    asked: Asked
    score: str  # what ranks candidates; empty without a model
    rank: int | None
    candidates: int  # among which it ranks
    leader: Leader | None
    goal: str
    note: str = ""  # what the model is now, where that changes during a run

    def __str__(self) -> str:
        said = (self._belief(), self._evidence(), self._history(), self._next_choice())
        lines = (*said, self.note)
        return "\n".join(line for line in lines if line)

    def _belief(self) -> str:
        if not self.score:
            known = f", average {self.average:.6g}" if self.evaluations else ""
            often = (
                f"evaluated {times(self.evaluations)}" if self.evaluations else "never evaluated"
            )
            return f"{self.id}: {often}{known}. This algorithm has no model to estimate it with."
        if np.isinf(self.std):
            return f"{self.id}: estimated at {self.mean:.6g}; how far off is not known yet."
        low, high = (digits(bound, self.std, 3) for bound in (self.lower, self.upper))
        many = f"{self.beta:.2g}"
        return (
            f"{self.id}: estimated at {digits(self.mean, self.std)} ± {self.std:.2g}; choices look "
            f"at {low} to {high} (± {many} standard deviation{'' if many == '1' else 's'})."
        )

    def _evidence(self) -> str:
        said = []
        if self.score and self.evaluations:
            average = f"average {digits(self.average, self.std)}"
            weight = f", weighing {self.weight:.3g}" if self.weight != self.evaluations else ""
            said.append(f"Evaluated {times(self.evaluations)}{weight}, {average}.")
            if not np.isnan(self.counts_as):
                said.append(
                    f"Being far worse than the best, its average counts as {self.counts_as:.4g}."
                )
        elif self.score and not self.failed:
            said.append("Never evaluated.")
        if self.failed:
            said.append(f"Failed {times(self.failed)}.")
        if self.under_way:
            said.append(f"{counted(self.under_way, 'evaluation')} under way.")
        if self.nearest and abs(self.nearest[0].correlation) >= UNLIKE:
            said.append(f"Most similar to it: {', '.join(map(str, self.nearest[:NAMED]))}.")
        elif self.score:
            said.append("Nothing similar to it has been evaluated.")
        return " ".join(said)

    def _history(self) -> str:
        asked = self.asked
        if not len(asked.batches):
            return "This run has never asked for it."
        often = f"Asked for {times(int(asked.evaluations.sum()))}, in {_batches(asked.batches)}."
        if np.isnan(asked.std[-1]):
            return often
        return (
            f"{often} When batch {asked.batches[-1]} was chosen ({asked.reasons[-1]}), its "
            f"standard deviation was {asked.std[-1]:.2g} and beta {asked.beta[-1]:.2g}."
        )

    def _next_choice(self) -> str:
        if self.excluded:
            return "It is excluded: it will not be asked for."
        if self.at_most_each is not None and self.evaluations + self.under_way >= self.at_most_each:
            return f"at_most_each={self.at_most_each} is reached: it will not be asked for again."
        if self.at_most_each is not None and self.failed >= self.at_most_each:
            return f"It failed {times(self.failed)}: it will not be asked for again."
        first = self.leader
        if first is None:
            return ""
        side, word = ("upper", "below") if self.goal == "max" else ("lower", "above")
        by = f"{side} bound" if self.score == "UCB" else SCORES.get(self.score, self.score)
        leader = "a new point" if first.id is None else f"{first.id}"
        if first.id == self.id:
            return f"It is the next choice: no candidate has a better {by}."
        if self.rank == 1:
            return f"No candidate has a better {by}; {leader}, whose is the same, comes first."
        if self.score != "UCB":
            rank = "" if self.rank is None else f"It ranks {self.rank} of {self.candidates}. "
            off = "" if np.isinf(first.std) else f" ± {first.std:.2g}"
            return f"{rank}The next choice, by {by}, is {leader}: {first.mean:.6g}{off}."
        rank = "It is not the next choice"
        if self.rank is not None:
            rank = f"It ranks {self.rank} of {self.candidates} as the next choice"
        bounds = (self.upper, first.upper) if side == "upper" else (self.lower, first.lower)
        ours, other = _apart(*bounds)
        return f"{rank}: its {by}, {ours}, is {word} {other}, that of {leader}."


def explained(
    view: ModelView | None, evidence: Evidence, row: int, records: Records, units: Units
) -> Explanation:
    """Put what is believed of a row into the user's sign, units and names."""
    points, told, open_ = evidence.points, evidence.told, evidence.open_
    its_place, at = np.flatnonzero(told.rows == row), np.array([row])
    average = float(told.y[its_place[0]]) if its_place.size else np.nan
    mean = outwards = float(units.outwards(average))
    std = lower = upper = beta = np.nan
    if view is not None:
        beta = view.beta
        mean, std, lower, upper = _believed(view, points.rows(at), units)
    return Explanation(
        id=points.keys(at)[0].item(),
        x=points.domain.shown(points.rows(at))[0],
        mean=mean,
        std=std,
        beta=beta,
        width=beta * std,
        lower=lower,
        upper=upper,
        evaluations=int(told.counts[its_place].sum()),
        weight=float(told.w[its_place].sum()),
        average=outwards,
        counts_as=np.nan if view is None else _counts_as(view, average, units),
        failed=int(evidence.failed_counts[evidence.failed_rows == row].sum()),
        under_way=int(open_.w[open_.rows == row].sum()),
        excluded=bool(row < points.candidates and evidence.excluded[row]),
        at_most_each=evidence.at_most_each,
        nearest=() if view is None else _nearest(view, evidence, row, units),
        asked=Asked.of(records, row),
        score="" if view is None else view.score,
        rank=None if view is None else view.rank(row),
        candidates=int(np.count_nonzero(~evidence.unavailable)),
        leader=None if view is None else _leader(view, points, units),
        goal="max" if units.sign > 0 else "min",
        note="" if view is None else view.note,
    )


def _counts_as(view: ModelView, average: float, units: Units) -> float:
    """Return what an average counts as, where it does not count as itself; else NaN."""
    return float(units.outwards(view.floor)) if average < view.floor else np.nan


def _nearest(view: ModelView, evidence: Evidence, row: int, units: Units) -> tuple[Neighbour, ...]:
    """Return the evaluated points of largest correlation, either sign, but for the row itself."""
    told, points = evidence.told, evidence.points
    correlations = view.correlations(points.rows(np.array([row])), told.X)
    others = np.flatnonzero(told.rows != row)
    order = np.lexsort((told.rows[others], -np.abs(correlations[others])))
    at = others[order[:NEAREST]]
    ids, shown = points.ids(told.rows[at]), points.domain.shown(told.X[at])
    averages = units.outwards(told.y[at])
    return tuple(
        Neighbour(
            id=ids[i],
            x=shown[i],
            correlation=float(correlations[j]),
            average=float(averages[i]),
            evaluations=int(told.counts[j]),
            counts_as=_counts_as(view, float(told.y[j]), units),
        )
        for i, j in enumerate(at.tolist())
    )


def _leader(view: ModelView, points: Points, units: Units) -> Leader | None:
    try:
        first = view.next_choice()
    except ExhaustedError:  # of a box of whole numbers, all of them
        return None
    if first is None:
        return None
    is_known = int(first.rows[0]) < len(points)  # else a new point of a box
    id = points.keys(first.rows)[0].item() if is_known else None
    return Leader(id, points.domain.shown(first.X)[0], *_believed(view, first.X, units))


def _believed(view: ModelView, X: Rows, units: Units) -> tuple[float, float, float, float]:
    """Return mean, standard deviation and the bounds that steer choices, of one point."""
    mean, std = view.marginals(X)
    bounds = units.interval(mean - view.beta * std, mean + view.beta * std)
    return float(units.outwards(mean)), std, *bounds


def _apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with the digits that tell them apart."""
    for count in (3, 6, 9, 12):
        if f"{one:.{count}g}" != f"{other:.{count}g}":
            break
    return f"{one:.{count}g}", f"{other:.{count}g}"


def _batches(numbers: Indices) -> str:
    """Name a few batches by number."""
    if len(numbers) == 1:
        return f"batch {numbers[0]}"
    if len(numbers) > NAMED:
        return f"{len(numbers)} batches, from {numbers[0]} to {numbers[-1]}"
    *front, last = map(str, numbers)
    return f"batches {', '.join(front)} and {last}"

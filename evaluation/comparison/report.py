"""What is published: pictures, numbers, and the tables of docs/results/comparison.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.comparison import drawing
from evaluation.comparison.summary import MEASURES, Sample, Standings, goals, title
from evaluation.methods.contestants import CONTESTANTS
from evaluation.reports.intervals import Figure
from evaluation.reports.markdown import Claim, rounded, table, write_numbers
from evaluation.reports.standings import AtBudget, table_of_means

PAGE = Path(__file__).parents[2] / "docs" / "results" / "comparison.md"
MARK = "comparison"


def publish(standings: Standings, folder: Path) -> list[Claim]:
    """Write pictures and numbers into a folder; return the goals."""
    folder.mkdir(parents=True, exist_ok=True)
    drawing.ranks(standings).savefig(folder / "ranks.png", dpi=110)
    drawing.times(standings).savefig(folder / "times.png", dpi=110)
    for measure in MEASURES:
        drawing.pools(standings, measure).savefig(folder / f"{measure}.png", dpi=110)
    reached = goals(standings)
    write_numbers(folder / "results.json", numbers(standings, reached))
    return reached


def numbers(standings: Standings, reached: list[Claim]) -> dict[str, object]:
    """Return every number of the page and what it is made of."""
    budgets = {at.T: at for at in standings.budgets}
    return {
        "goals": [
            {"goal": one.says, "measured": one.found, "met": one.holds, "pools": one.pools}
            for one in reached
        ],
        "ranks": [
            {"budget": at.T, "measure": measure, "contestant": who, **_interval(rank)}
            for at in budgets.values()
            for measure in MEASURES
            for who, rank in at.ranks(measure).items()
        ],
        "pools": [
            {
                **{"problem": name, "contestant": who, "budget": T, "repetitions": len(sample)},
                **{m: _interval(budgets[T].on(m, who, name)) for m in MEASURES},
                "seconds": rounded(float(np.median(sample.seconds))),
                "unique": float(np.median(sample.unique)),
                "covered": sum(held is True for held in sample.covered),
            }
            for (name, who, T), sample in standings.samples.items()
        ],
    }


def _interval(found: Figure) -> dict[str, float]:
    return {name: rounded(getattr(found, name)) for name in ("value", "low", "high")}


def section(standings: Standings, reached: list[Claim], folder: str) -> str:
    """Return the page's part that is made of runs, in Markdown; pictures lie in a folder."""
    budgets = standings.budgets
    rows = [
        (one.says, one.found, str(one.pools), "met" if one.holds else "**missed**")
        for one in reached
    ]
    parts = ["## Goals", table(("goal", "measured", "pools", ""), rows), "## All pools"]
    parts += [f"![{name}]({folder}/{name}.png)" for name in ("ranks", "times")]
    parts += [_budget(at) for at in budgets]
    parts += ["## Pool by pool", *(f"![{name}]({folder}/{name}.png)" for name in MEASURES)]
    parts += [
        f"### T = {at.T}: {word} over uniform's{gap}\n\n{_pools(at, measure)}"
        for at in budgets
        for (measure, word), gap in zip(MEASURES.items(), ("", " gap"), strict=True)
    ]
    parts.append(f"Numbers with intervals are in [JSON]({folder}/results.json).")
    return "\n\n".join(parts)


def _budget(at: AtBudget[Sample]) -> str:
    """Return a table of all contestants that run at a budget, best rank first."""
    pools = at.pools()
    heading = f"### T = {at.T}, {len(pools)} pools"
    if not pools:
        return f"{heading}\n\nNo pool has been run by everybody yet."
    ranks, simple = (at.ranks(measure) for measure in MEASURES)
    rows = [
        (
            *(title(who), str(ranks[who]), str(simple[who])),
            *(str(at.across(measure, who, pools)) for measure in MEASURES),
            f"{at.quantile('simple', who, pools, 0.9):.3g}",
            f"{at.across('seconds', who, pools).value:.3g}",
            _repetitions(at, who),
        )
        for who in sorted(ranks, key=lambda one: ranks[one].value)
    ]
    head = [
        *("", "rank, cumulative", "rank, simple", "cumulative, median", "simple, median"),
        *("simple, 90th percentile of runs", "seconds, median", "repetitions"),
    ]
    return f"{heading}\n\n{table(head, rows)}"


def _pools(at: AtBudget[Sample], measure: str) -> str:
    who = [one for one in CONTESTANTS if one in at.contestants]
    heads = {one: f"{title(one)} ({_repetitions(at, one)})" for one in who}
    return table_of_means(at, measure, heads)


def _repetitions(at: AtBudget[Sample], who: str) -> str:
    counts = {len(sample) for (_, one), sample in at.samples.items() if one == who}
    return " to ".join(map(str, sorted({min(counts), max(counts)})))

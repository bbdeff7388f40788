"""What is published: pictures, numbers, and the tables of docs/results/comparison.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from evaluation.comparison import drawing
from evaluation.comparison.goals import Goal, goals, title
from evaluation.comparison.summary import Figure, Standings, across, average_ranks, figure, quantile
from evaluation.methods.contestants import CONTESTANTS

PAGE = Path(__file__).parents[2] / "docs" / "results" / "comparison.md"
MARK = "comparison"
MEASURES = {
    "regret": "cumulative regret over uniform's",
    "simple": "simple regret over uniform's gap",
}


def publish(standings: Standings, folder: Path) -> list[Goal]:
    """Write pictures and numbers into a folder; return the goals."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "ranks": drawing.ranks(standings),
        "regret": drawing.pools(standings, "regret"),
        "simple": drawing.pools(standings, "simple"),
        "times": drawing.times(standings),
    }
    for name, picture in pictures.items():
        picture.savefig(folder / f"{name}.png", dpi=110)
    reached = goals(standings)
    text = json.dumps(numbers(standings, reached), indent=1)
    (folder / "results.json").write_text(text + "\n")
    return reached


def numbers(standings: Standings, reached: list[Goal]) -> dict[str, object]:
    """Return every number of the page and what it is made of."""
    return {
        "goals": [
            {"goal": one.says, "measured": one.found, "met": one.met, "pools": one.pools}
            for one in reached
        ],
        "ranks": [
            {"budget": T, "measure": measure, "contestant": who, **_interval(rank)}
            for T in standings.budgets
            for measure in MEASURES
            for who, rank in average_ranks(standings, measure, T).items()
        ],
        "pools": [
            {
                **{"problem": name, "contestant": who, "budget": T, "repetitions": len(sample)},
                **{m: _interval(_on_pool(standings, m, T, who, name)) for m in MEASURES},
                "seconds": _short(float(np.median(sample.seconds))),
                "unique": float(np.median(sample.unique)),
                "covered": sum(held is True for held in sample.covered),
            }
            for (name, who, T), sample in standings.samples.items()
        ],
    }


def section(standings: Standings, reached: list[Goal], folder: str) -> str:
    """Return the page's part that is made of runs, in Markdown; pictures lie in a folder."""
    parts = ["## Goals", _goals(reached), "## All pools", _pictures(folder, "ranks", "times")]
    parts += [_budget(standings, T) for T in standings.budgets]
    parts += ["## Pool by pool", _pictures(folder, "regret", "simple")]
    for T in standings.budgets:
        for measure, words in MEASURES.items():
            parts += [f"### T = {T}: {words}", _pools(standings, measure, T)]
    parts.append(f"Numbers with intervals are in [JSON]({folder}/results.json).")
    return "\n\n".join(parts)


def _goals(reached: list[Goal]) -> str:
    rows = [f"| {one.says} | {one.found} | {one.pools} | {one.verdict} |" for one in reached]
    return _table(["goal", "measured", "pools", ""], rows)


def _budget(standings: Standings, T: int) -> str:
    """Return a table of all contestants that run at a budget, best rank first."""
    pools = standings.pools(T)
    heading = f"### T = {T}, {len(pools)} pools"
    if not pools:
        return f"{heading}\n\nNo pool has been run by everybody yet."
    ranks = average_ranks(standings, "regret", T)
    simple = average_ranks(standings, "simple", T)
    rows = []
    for who in sorted(ranks, key=lambda one: ranks[one].value):
        tail = quantile(standings, "simple", T, who, pools, 0.9)
        cells = [
            *(title(who), str(ranks[who]), str(simple[who])),
            *(str(across(standings, measure, T, who, pools)) for measure in MEASURES),
            f"{tail:.3g}",
            f"{across(standings, 'seconds', T, who, pools).value:.3g}",
            _repetitions(standings, T, who, pools),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    head = [
        *("", "rank, cumulative", "rank, simple", "cumulative, median", "simple, median"),
        *("simple, 90th percentile of runs", "seconds, median", "repetitions"),
    ]
    return f"{heading}\n\n{_table(head, rows)}"


def _pools(standings: Standings, measure: str, T: int) -> str:
    """Return a table of means, pools by contestants, the lowest of a pool in bold."""
    who = [one for one in CONTESTANTS if one in standings.contestants(T)]
    names = list(dict.fromkeys(name for name, _, budget in standings.samples if budget == T))
    rows = []
    for name in names:
        means = {
            one: float(standings[name, one, T].of(measure).mean())
            for one in who
            if (name, one, T) in standings.samples
        }
        least = min(means.values())
        cells = [
            ("**{:.3g}**" if means[one] == least else "{:.3g}").format(means[one])
            if one in means
            else ""
            for one in who
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    head = ["", *(f"{title(one)} ({_repetitions(standings, T, one, names)})" for one in who)]
    return _table(head, rows)


def _repetitions(standings: Standings, T: int, who: str, pools: list[str]) -> str:
    held = [
        standings.samples[name, who, T] for name in pools if (name, who, T) in standings.samples
    ]
    counts = [len(one) for one in held]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _on_pool(standings: Standings, measure: str, T: int, who: str, name: str) -> Figure:
    return figure(standings.means(measure, T, who, [name])[:, 0])


def _interval(found: Figure) -> dict[str, float]:
    return {"value": _short(found.value), "low": _short(found.low), "high": _short(found.high)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _pictures(folder: str, *names: str) -> str:
    return "\n\n".join(f"![{name}]({folder}/{name}.png)" for name in names)


def _table(head: list[str], rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows])

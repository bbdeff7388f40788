"""What is published: pictures, numbers, and the tables of docs/results/plates.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self, final

import numpy as np

from evaluation.methods.by_plate import FILLERS
from evaluation.plates import drawing
from evaluation.plates.goals import goals
from evaluation.plates.summary import MEASURES, Sample, Shown, Standings, times, title
from evaluation.problems.large import LARGE, SMALL
from evaluation.reports.intervals import Figure
from evaluation.reports.markdown import Claim, rounded, table, write_numbers
from evaluation.reports.standings import AtBudget, table_of_means
from evaluation.runs.by_plate import ALONE
from evaluation.runs.cells import Line, Store
from evaluation.runs.timed import Times

PAGE = Path(__file__).parents[2] / "docs" / "results" / "plates.md"
MARK = "plates"
BATCHES = (1, 2, 5, 10, 20, 50, 100)  # of clicks, that have a column


@final
@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """All that is stored."""

    standings: Standings
    shown: Shown
    times: dict[tuple[str, str], list[Times]]

    @classmethod
    def of(
        cls, pools: Iterable[Line], clicks: Iterable[Line], timed: Iterable[Line], store: Store
    ) -> Self:
        return cls(Standings.of(pools, store), Shown.of(clicks, store), times(timed, store))

    @property
    def any(self) -> bool:
        return bool(self.standings.samples or self.shown.rates or self.times)


def publish(results: Results, folder: Path) -> list[Claim]:
    """Write pictures and numbers into a folder; return the goals."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in drawing.pictures(results.standings, results.shown):
        picture.savefig(folder / f"{name}.png", dpi=110)
    reached = goals(results.standings, results.shown, results.times)
    write_numbers(folder / "results.json", numbers(results, reached))
    return reached


def numbers(results: Results, reached: list[Claim]) -> dict[str, object]:
    """Return every number of the page and what it is made of."""
    standings = results.standings
    return {
        "goals": [
            {"goal": one.says, "measured": one.found, "met": one.holds, "pools": one.pools}
            for one in reached
        ],
        "pools": [
            {
                **{"problem": name, "contestant": who, "size": size, "plates": plates},
                **{"repetitions": len(sample), "late": sample.late},
                **{
                    m: _interval(standings.at(size, plates).on(m, who, name))
                    for m in (*MEASURES, "distinct")
                },
                "seconds": rounded(float(np.median(sample.seconds))),
            }
            for (name, who, size, plates), sample in standings.samples.items()
            if plates == standings.plates or size * plates in ALONE  # the runs have all of them
        ],
        "clicks": [
            {"world": name, "contestant": who, "rates": rounded(rates.tolist())}
            for (name, who), rates in results.shown.rates.items()
        ],
        "times": [
            {"pool": name, "contestant": who, **rounded(dict(one))}
            for (name, who), found in results.times.items()
            for one in found
        ],
    }


def _interval(found: Figure) -> dict[str, float]:
    return {name: rounded(getattr(found, name)) for name in ("value", "low", "high")}


def section(results: Results, reached: list[Claim], folder: str) -> str:
    """Return the page's part that is made of runs, in Markdown; pictures lie in a folder."""
    standings, shown = results.standings, results.shown
    rows = [
        (one.says, one.found, str(one.pools), "met" if one.holds else "**missed**")
        for one in reached
    ]
    parts = ["## Goals", table(("goal", "measured", "pools", ""), rows)]
    if standings.sizes:
        parts += [
            "## All pools",
            *(f"![{name}]({folder}/{name}.png)" for name in ("ranks", "plates")),
        ]
        parts += [_size(size, standings.at(size), standings.plates) for size in standings.sizes]
    if shown.rates:
        parts += ["## Clicks", f"![clicks]({folder}/clicks.png)"]
        parts += [_world(shown, name) for name in shown.worlds]
    if results.times:
        parts += ["## Time", _times(results.times)]
    if standings.sizes:
        parts.append("## Pool by pool")
    for size in standings.sizes:
        for measure, word in MEASURES.items():
            of = "" if measure == "missed" else " over uniform's"
            pools = _pools(standings.at(size), measure)
            parts.append(f"### By {size}: {word}{of}\n\n{pools}")
    parts.append(f"Numbers with intervals are in [JSON]({folder}/results.json).")
    return "\n\n".join(parts)


def _size(size: int, at: AtBudget[Sample], plates: int) -> str:
    """Return a table of all contestants that fill plates of a size, best rank first.

    Ranks are among those that are run on all pools; the others have none.
    """
    everywhere = [one for one in at.contestants if not FILLERS[one].limited]
    ranks, simple = (at.ranks(measure, *everywhere) for measure in ("regret", "simple"))
    head = [
        *("", "rank, cumulative", "rank, simple", "cumulative, median", "simple, median"),
        *("top hundredth found, median", "fewest distinct in a plate, median"),
        *("seconds per plate, median", "pools", "repetitions", "not back in time"),
    ]
    rows = []
    for who in sorted(at.contestants, key=lambda one: _rank(ranks, one)):
        pools = at.pools(*everywhere) if who in ranks else at.pools(who)
        samples = [at.samples[name, who] for name in pools]
        rows.append(
            (
                *(title(who), str(ranks.get(who, "")), str(simple.get(who, ""))),
                *(str(at.across(measure, who, pools)) for measure in ("regret", "simple")),
                f"{1 - at.across('missed', who, pools).value:.3g}",
                f"{at.across('distinct', who, pools).value:.3g}",
                f"{at.across('seconds', who, pools).value:.3g}",
                str(len(pools)),
                _repetitions(samples),
                str(sum(one.late for one in samples) or ""),
            )
        )
    return f"### {plates} plates of {size}\n\n{table(head, rows)}"


def _rank(ranks: dict[str, Figure], who: str) -> float:
    return ranks[who].value if who in ranks else np.inf


def _pools(at: AtBudget[Sample], measure: str) -> str:
    heads = {one: title(one) for one in FILLERS if one in at.contestants}
    return table_of_means(at, measure, heads)


def _world(shown: Shown, name: str) -> str:
    """Return a table of rates over the best one, by contestant and batch."""
    who = [one for one in FILLERS if (name, one) in shown.rates]
    there = max(shown.rates[name, one].shape[1] for one in who)
    batches = [batch for batch in BATCHES if batch <= there]
    rows = [
        (title(one), *(f"{shown.of_batch(name, one, batch):.3g}" for batch in batches))
        for one in who
    ]
    return f"### {name}\n\n{table(['average rate over the best, batch', *map(str, batches)], rows)}"


def _times(times: dict[tuple[str, str], list[Times]]) -> str:
    rows = []
    for (name, who), found in times.items():
        at = (LARGE | SMALL)[name]
        for one in found:
            took = [f"{seconds:.3g}" for seconds in one["seconds"]]
            took += [f"not back after {one['late']:g}"] if one["late"] else []
            distinct = ", ".join(map(str, one["distinct"]))
            memory = f"{max(one['memory'], default=0.0) / 1e9:.2g}"
            rows.append((name, str(at.size), title(who), ", ".join(took), distinct, memory))
    head = ("pool", "by", "", "seconds of each ask", "distinct candidates", "GB beyond features")
    return table(head, rows)


def _repetitions(samples: list[Sample]) -> str:
    counts = {len(one) for one in samples}
    return " to ".join(map(str, sorted({min(counts), max(counts)}))) if counts else ""

"""The figures of BBKB (Calandriello et al., ICML 2020) that are made of runs.

Claims are what its section 5 and appendix D say of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from evaluation.papers.curves import Band, Runs
from evaluation.papers.plates import plates
from evaluation.reports.markdown import Claim

OURS = GLOBAL, LOCAL = "Global-BBKB", "GlobalLocal-BBKB"
EVOLUTION, GREEDY = "REG-EVOLUTION", "EPS-GREEDY"
FIRST, INIT = 2000, 2000
WORKERS = "hours on 128 workers"
NEARLY = 1.5  # times the best


def smallest_regret(runs: Runs) -> Iterator[Claim]:
    """The means decide: an overlap of intervals is shown, not counted."""
    for one in runs.each():
        best = next(iter(one.ends("regret ratio")))
        says = "BBKB achieves the smallest regret"
        yield one.claim(says, one.reads("regret ratio"), best in OURS)


def fraction_of_the_time(runs: Runs) -> Iterator[Claim]:
    """A fraction: less than half of what any other method with a model takes."""
    for one in runs.each():
        spent = one.ends("seconds", FIRST)
        quickest = min(spent[label] for label in OURS)
        others = min(spent[label] for label in spent if label not in (*OURS, GREEDY))
        says = "BBKB takes only a fraction of the time of the baselines (with a model)"
        text = f"seconds for {FIRST} steps: {one.reads('seconds', step=FIRST)}"
        yield one.claim(says, text, quickest < 0.5 * others)


def robust(runs: Runs) -> Iterator[Claim]:
    """Robust for a wider range of σ: nearly the best of all methods at more bandwidths."""
    widths = runs.names("panel")
    counts: dict[str, int] = {}
    for width in widths:
        part = runs.of(panel=width)
        last = part.ends("regret ratio")
        last.pop(GREEDY, None)
        least = min(last.values())
        for label in part.names("label"):
            if label in last:
                counts[label] = counts.get(label, 0) + (last[label] <= NEARLY * least)
    ascending = sorted(counts, key=counts.__getitem__)
    text = ", ".join(f"{label} {counts[label]}" for label in reversed(ascending))
    most = max(counts[label] for label in OURS)
    others = max(count for label, count in counts.items() if label not in OURS)
    within = f"bandwidths of {len(widths)} within {NEARLY} times the best method's regret"
    says = "BBKB remains robust for a wider range of σ"
    yield runs.claim(says, f"{within}: {text}", most > others)


def whatever_was_taken(runs: Runs) -> Iterator[Claim]:
    """Figure 1's claim under each choice that the paper leaves open, against GP-BUCB alone."""
    for one, limit in product(runs.each(), runs.names("panel")):
        part = one.of(panel=limit)
        last = part.ends("regret ratio")
        says = f"{part.title}, {limit}: BBKB achieves a smaller regret than GP-BUCB"
        least = min(last[label] for label in OURS)
        yield Claim(says, part.reads("regret ratio"), least < last["GP-BUCB"], ours=True)


def batches_and_time(runs: Runs, history: int) -> Iterator[Claim]:
    """The claims of Figures 3 and 7, for every problem.

    Batch sizes are linear if a straight line that rises explains nine tenths of their variance.
    Evolution asks for one training at a time, so that more workers do not help it.
    """
    for one in runs.each(history):
        spent, total = one.ends("seconds"), one.ends(WORKERS)
        seconds, hours = (f"{what}: {one.reads(what, OURS)}" for what in ("seconds", WORKERS))
        baselines = min(value for label, value in spent.items() if label not in OURS)
        says = "both BBKB variants outperform baselines in runtime"
        slowest = max(spent[label] for label in OURS)
        yield one.claim(says, f"seconds: {one.reads('seconds')}", slowest < baselines)
        slower = "GlobalLocal-BBKB is slower than Global-BBKB"
        yield one.claim(slower, seconds, spent[LOCAL] > spent[GLOBAL])
        curves, sizes = one.bands("batch size"), one.ends("batch size")
        grown = {label: growth(curves[label]) for label in OURS}
        gains = (
            f"{label} gains {slope:.0f} in 1000 steps (R² {fits:.2f})"
            for label, (slope, fits) in grown.items()
        )
        linear = all(slope > 0 and fits > 0.9 for slope, fits in grown.values())
        yield one.claim("batch sizes increase linearly", ", ".join(gains), linear)
        says = "the local rule gives larger batches than the global rule"
        text = f"batch at the end: {one.reads('batch size', OURS)}"
        yield one.claim(says, text, sizes[LOCAL] > sizes[GLOBAL])
        says = f"with training time, batched algorithms beat sequential {EVOLUTION}"
        longest = max(value for label, value in total.items() if label != EVOLUTION)
        yield one.claim(says, f"{WORKERS}: {one.reads(WORKERS)}", longest < total[EVOLUTION])
        faster = "with training time, GlobalLocal-BBKB is faster than Global-BBKB"
        yield one.claim(faster, hours, total[LOCAL] < total[GLOBAL])


def growth(curve: Band) -> tuple[float, float]:
    """Return how many evaluations a batch gains in a thousand steps, and R² of that line."""
    t, size = curve.steps / 1000, curve.mean
    slope, start = np.polyfit(t, size, 1)
    left, all_of_it = np.sum((size - start - slope * t) ** 2), np.sum((size - size.mean()) ** 2)
    return float(slope), float(1 - left / all_of_it) if all_of_it > 0 else 0.0


def evolution(runs: Runs) -> Iterator[Claim]:
    """Regret and simple regret against regularised evolution, with past evaluations and without."""
    who = (*OURS, EVOLUTION)
    for after, bare in zip(runs.each(INIT), runs.each(), strict=True):
        ratio, simple = after.bands("regret ratio"), after.bands("simple regret")
        late, early = after.ends("simple regret"), bare.ends("simple regret")
        with_them, without = (one.reads("simple regret", who) for one in (after, bare))
        better = any(_above(ratio[EVOLUTION], ratio[label]) for label in OURS)
        matched = not all(_above(simple[label], simple[EVOLUTION]) for label in OURS)
        changed = early[EVOLUTION] > late[EVOLUTION] and any(early[x] < late[x] for x in OURS)
        won = min(early[label] for label in OURS) < early[EVOLUTION]
        for says, text, agrees in (
            ("BBKB's regret is significantly better", after.reads("regret ratio", who), better),
            (f"BBKB matches {EVOLUTION}'s simple regret", with_them, matched),
            (
                f"without past evaluations {EVOLUTION} does worse, BBKB better",
                f"{without}; with them {with_them}",
                changed,
            ),
            (f"without past evaluations BBKB outperforms {EVOLUTION}", without, won),
        ):
            yield after.claim(says, text, agrees)


def _above(one: Band, other: Band) -> bool:
    """Say whether an interval at the end lies wholly above another."""
    (a, b), (c, d) = one.at(), other.at()
    return bool(a - np.nan_to_num(b) > c + np.nan_to_num(d))


PLATES = plates(
    "bbkb",
    {
        "fig1": smallest_regret,
        "fig2": fraction_of_the_time,
        "fig3": partial(batches_and_time, history=INIT),
        "fig4": evolution,
        "fig5": robust,
        "fig6": robust,
        "unstated": whatever_was_taken,
        "fig7": partial(batches_and_time, history=0),
    },
)

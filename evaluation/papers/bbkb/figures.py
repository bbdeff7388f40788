"""The figures of BBKB (Calandriello et al., ICML 2020) that are made of runs.

Claims are what its section 5 and appendix D say of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.linalg import cho_factor, cho_solve

import noregret as nr
from evaluation.papers.curves import Band, Runs
from evaluation.papers.plates import plates
from evaluation.problems.papers import problem
from evaluation.reports.markdown import Claim
from evaluation.runs.cells import Line, Store

OURS = GLOBAL, LOCAL = "Global-BBKB", "GlobalLocal-BBKB"
EVOLUTION, GREEDY = "REG-EVOLUTION", "EPS-GREEDY"
FIRST, INIT = 2000, 2000
WORKERS = "hours on 128 workers"
NEARLY = 1.5  # times the best
CADATA = {GLOBAL: "σ² = 12.5", "ASYNC-TS": "σ² = 10"}  # Table 1; the others are as BBKB


def smallest_regret(runs: Runs) -> Iterator[Claim]:
    """The means decide: an overlap of intervals is shown, not counted."""
    for one in runs.each():
        best = next(iter(one.ends("regret ratio")))
        says = "BBKB achieves the smallest regret"
        yield one.claim(says, one.reads("regret ratio"), best in OURS)


def fraction_of_the_time(runs: Runs) -> Iterator[Claim]:
    """A fraction: less than half of what any other method with a model takes."""
    for one in runs.each():
        first = min(FIRST, one.lines[0].horizon)
        spent = one.ends("seconds", first)
        quickest = min(spent[label] for label in OURS if label in spent)
        others = min(spent[label] for label in spent if label not in (*OURS, GREEDY))
        says = "BBKB takes only a fraction of the time of the baselines (with a model)"
        text = f"seconds for {first} steps: {one.reads('seconds', step=first)}"
        yield one.claim(says, text, quickest < 0.5 * others)


def both(runs: Runs) -> Iterator[Claim]:
    """The claims of Figures 1 and 2."""
    yield from smallest_regret(runs)
    yield from fraction_of_the_time(runs)


def table_1(runs: Runs) -> Iterator[Claim]:
    """The claims of Figures 1 and 2 on Cadata, from a sweep over σ² that holds Table 1."""
    printed = (one for one in runs.lines if one.panel == CADATA.get(one.label, CADATA[GLOBAL]))
    yield from both(Runs(tuple(printed), runs.store))


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
        yield from _why_as_fast(one, spent)
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


def _why_as_fast(one: Runs, spent: dict[str, float]) -> Iterator[Claim]:
    """What stands behind the two claims about time where they fail."""
    modelled = min(value for label, value in spent.items() if label not in (*OURS, EVOLUTION))
    says = f"both are faster than all with a model; {EVOLUTION} has none"
    fastest = max(spent[label] for label in OURS) < modelled
    found = ", ".join(
        f"{label} {1000 * spent[label] / one.lines[0].horizon:.2f}" for label in sorted(spent)
    )
    yield one.aside(says, f"milliseconds per evaluation: {found}", fastest)
    batches = one.ends("batches")
    each = {label: 1000 * spent[label] / batches[label] for label in OURS}
    found = ", ".join(
        f"{label} {batches[label]:.0f} batches of {each[label]:.1f} ms" for label in OURS
    )
    says = "a batch of GlobalLocal-BBKB takes longer, but it opens fewer"
    fewer = batches[LOCAL] < batches[GLOBAL]
    yield one.aside(says, found, each[LOCAL] > each[GLOBAL] and fewer)


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
        yield _known_from_the_start(after)


def _known_from_the_start(after: Runs) -> Claim:
    """Where the past evaluations hold the best already, nobody can do better without them."""
    runs = [run for line in after.lines for run in line.runs(after.store)]
    share = float(np.mean([run["simple"][0] == 0 for run in runs]))
    says = "the past evaluations seldom hold the best already"
    return after.aside(says, f"in {100 * share:.0f} % of the runs", share < 0.5)


def larger_norm(runs: Runs) -> Iterator[Claim]:
    """Whether runs settle on a worse row for want of a larger F."""
    yield _norm(runs)
    for label in runs.names("label"):
        part = runs.of(label=label)
        worse = [_worse(line, runs.store) for line in part.lines]
        found = ", ".join(
            f"{line.panel}: {count}" for line, count in zip(part.lines, worse, strict=True)
        )
        text = f"runs of {part.lines[0].repetitions}: {found}"
        says = f"the larger F, the fewer runs of {label} settle on a row below the two best values"
        yield part.aside(says, text, worse == sorted(worse, reverse=True) and worse[-1] == 0)


def _norm(runs: Runs) -> Claim:
    """Say how large F would have to be at least: ‖f‖² ≥ fᵀ(K + λI)⁻¹f for every λ."""
    line = runs.lines[0]
    where, bandwidth = problem(line.problem), float(line.settings[0]["bandwidth"])
    K = nr.RBF(bandwidth)(where.numbers, where.numbers)
    K[np.diag_indices_from(K)] += where.noise_std**2
    weights = cho_solve(cho_factor(K, lower=True, overwrite_a=True), where.values)
    least = float(where.values @ weights) ** 0.5
    says = f"F = 1 is less than the norm of the target at σ = {bandwidth:g}"
    return runs.aside(says, f"at least {least:.3g}", least > 1)


def _worse(line: Line, store: Store) -> int:
    """Return how many runs end nearer to the third best value, or below it, than to the second."""
    third, second, best = np.unique(problem(line.problem).values)[-3:]
    allowed = float(best - (second + third) / 2)
    return sum(
        (run["regret"][-1] - run["regret"][-2]) / (run["steps"][-1] - run["steps"][-2]) > allowed
        for run in line.runs(store)
    )


def narrower(runs: Runs) -> Iterator[Claim]:
    """Whether regret on Cadata is the price of the width: BBKB's at GP-UCB's width."""
    wide, narrow = (runs.of(panel=panel) for panel in runs.names("panel"))
    own, ucb = wide.ends("regret ratio"), wide.ends("regret ratio")["GP-UCB"]
    cut = narrow.ends("regret ratio")
    for label in (GLOBAL, "GP-BUCB"):
        says = f"without √C̃ in its width {label} is nearer to GP-UCB than half way"
        text = f"{own[label]:.3g} with it, {cut[label]:.3g} without; GP-UCB {ucb:.3g}"
        yield wide.aside(says, text, abs(cut[label] - ucb) < abs(own[label] - ucb) / 2)


def _above(one: Band, other: Band) -> bool:
    """Say whether an interval at the end lies wholly above another."""
    (a, b), (c, d) = one.at(), other.at()
    return bool(a - np.nan_to_num(b) > c + np.nan_to_num(d))


PLATES = plates(
    "bbkb",
    {
        "fig1": smallest_regret,
        "fig2": fraction_of_the_time,
        "every": fraction_of_the_time,
        "fig1-squared": both,
        "cadata-squared": table_1,
        "fig3": partial(batches_and_time, history=INIT),
        "fig4": evolution,
        "fig5": robust,
        "fig6": robust,
        "fig5-squared": robust,
        "norm": larger_norm,
        "widths": narrower,
        "unstated": whatever_was_taken,
        "fig7": partial(batches_and_time, history=0),
        "fig3-small-limit": partial(batches_and_time, history=INIT),
        "fig4-small-limit": evolution,
        "fig7-small-limit": partial(batches_and_time, history=0),
        "fig3-stand-ins": partial(batches_and_time, history=INIT),
        "fig4-stand-ins": evolution,
        "fig7-stand-ins": partial(batches_and_time, history=0),
    },
)

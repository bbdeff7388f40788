"""What BBKB's section 5 and appendix D say of its figures, held against the runs."""

from __future__ import annotations

import numpy as np

from evaluation.papers.plates import Claim, ascending, ends, reads
from evaluation.papers.settings import Sweep
from evaluation.papers.summary import Band, bands
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line

OURS = GLOBAL, LOCAL = "Global-BBKB", "GlobalLocal-BBKB"
RIVAL = "REG-EVOLUTION"
FIRST, INIT = 2000, 2000
WORKERS = "hours on 128 workers"
NEARLY = 1.5  # times the best


def smallest_regret(sweep: Sweep, store: Store) -> list[Claim]:
    """The means decide: an overlap of intervals is shown, not counted."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "regret ratio")
        order = ascending(ends(curves))
        says = f"{problem(name).title}: BBKB achieves the smallest regret"
        found.append(Claim(says, reads(curves, order), order[0] in OURS))
    return found


def fraction_of_the_time(sweep: Sweep, store: Store) -> list[Claim]:
    """A fraction: less than half of what any other method with a model takes."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "seconds")
        spent = ends(curves, FIRST)
        rivals = [spent[label] for label in spent if label not in (*OURS, "EPS-GREEDY")]
        quickest = min(spent[label] for label in OURS)
        says = f"{problem(name).title}: BBKB takes only a fraction of the time of the baselines"
        text = f"seconds for {FIRST} steps: {reads(curves, ascending(spent), FIRST)}"
        found.append(Claim(f"{says} (with a model)", text, quickest < 0.5 * min(rivals)))
    return found


def robust(sweep: Sweep, store: Store) -> list[Claim]:
    """Robust for a wider range of σ: nearly the best of all methods at more bandwidths."""
    (name,) = sweep.problems
    counts: dict[str, int] = {}
    for width in sweep.panels:
        last = ends(bands(sweep.of(name, panel=width), store, "regret ratio"))
        last.pop("EPS-GREEDY", None)
        for label, value in last.items():
            counts[label] = counts.get(label, 0) + (value <= NEARLY * min(last.values()))
    text = ", ".join(f"{label} {counts[label]}" for label in reversed(ascending(counts)))
    says = f"{problem(name).title}: BBKB remains robust for a wider range of σ"
    most = max(counts[label] for label in OURS)
    rivals = max(count for label, count in counts.items() if label not in OURS)
    measured = f"bandwidths of {len(sweep.panels)} within {NEARLY} times the best method's regret: "
    return [Claim(says, measured + text, most > rivals)]


def whatever_was_taken(sweep: Sweep, store: Store) -> list[Claim]:
    """Figure 1's claim under each choice that the paper leaves open, against GP-BUCB alone."""
    found = []
    for name in sweep.problems:
        for limit in sweep.panels:
            curves = bands(sweep.of(name, panel=limit), store, "regret ratio")
            last = ends(curves)
            says = f"{problem(name).title}, {limit}: BBKB achieves a smaller regret than GP-BUCB"
            least = min(last[label] for label in OURS)
            text = reads(curves, ascending(last))
            found.append(Claim(says, text, least < last["GP-BUCB"], ours=True))
    return found


def growth(curve: Band) -> tuple[float, float]:
    """Return how many evaluations a batch gains in a thousand steps, and R² of that line."""
    t, size = curve.steps / 1000, curve.mean
    slope, start = np.polyfit(t, size, 1)
    left, spread = np.sum((size - start - slope * t) ** 2), np.sum((size - size.mean()) ** 2)
    return float(slope), float(1 - left / spread) if spread > 0 else 0.0


def with_history(sweep: Sweep, store: Store) -> list[Claim]:
    return _batches_and_time(sweep, store, INIT)


def from_nothing(sweep: Sweep, store: Store) -> list[Claim]:
    return _batches_and_time(sweep, store, 0)


def _batches_and_time(sweep: Sweep, store: Store, history: int) -> list[Claim]:
    """The claims of Figures 3 and 7, for every problem."""
    found = []
    for name in sweep.problems:
        lines, title = sweep.of(name, history=history), problem(name).title
        found += _runtime(lines, store, title)
        found += _batches(lines, store, title)
        found += _total(lines, store, title)
    return found


def _runtime(lines: list[Line], store: Store, title: str) -> list[Claim]:
    curves = bands(lines, store, "seconds")
    spent = ends(curves)
    rivals = [value for label, value in spent.items() if label not in OURS]
    both = f"{title}: both BBKB variants outperform baselines in runtime"
    slower = f"{title}: GlobalLocal-BBKB is slower than Global-BBKB"
    text = f"seconds: {reads(curves, ascending(spent))}"
    return [
        Claim(both, text, max(spent[label] for label in OURS) < min(rivals)),
        Claim(slower, f"seconds: {reads(curves, OURS)}", spent[LOCAL] > spent[GLOBAL]),
    ]


def _batches(lines: list[Line], store: Store, title: str) -> list[Claim]:
    """Linear: a straight line that rises explains nine tenths of the mean batch sizes' spread."""
    curves = bands(lines, store, "batch size")
    grown = {label: growth(curves[label]) for label in OURS}
    text = ", ".join(
        f"{label} gains {slope:.0f} in 1000 steps (R² {fits:.2f})"
        for label, (slope, fits) in grown.items()
    )
    linear = all(slope > 0 and fits > 0.9 for slope, fits in grown.values())
    larger = f"{title}: the local rule gives larger batches than the global rule"
    last = ends(curves)
    return [
        Claim(f"{title}: batch sizes increase linearly", text, linear),
        Claim(larger, f"batch at the end: {reads(curves, OURS)}", last[LOCAL] > last[GLOBAL]),
    ]


def _total(lines: list[Line], store: Store, title: str) -> list[Claim]:
    """Evolution asks for one training at a time, so that more workers do not help it."""
    curves = bands(lines, store, WORKERS)
    last = ends(curves)
    batched = [value for label, value in last.items() if label != RIVAL]
    says = f"{title}: with training time, batched algorithms beat sequential {RIVAL}"
    faster = f"{title}: with training time, GlobalLocal-BBKB is faster than Global-BBKB"
    return [
        Claim(says, f"{WORKERS}: {reads(curves, ascending(last))}", max(batched) < last[RIVAL]),
        Claim(faster, f"{WORKERS}: {reads(curves, OURS)}", last[LOCAL] < last[GLOBAL]),
    ]


def evolution(sweep: Sweep, store: Store) -> list[Claim]:
    """Regret and simple regret against regularised evolution, with past evaluations and without."""
    found = []
    for name in sweep.problems:
        title = problem(name).title
        ratio = bands(sweep.of(name, history=INIT), store, "regret ratio")
        simple = bands(sweep.of(name, history=INIT), store, "simple regret")
        bare = bands(sweep.of(name), store, "simple regret")
        late, early = ends(simple), ends(bare)
        who = (*OURS, RIVAL)
        better = any(_above(ratio[RIVAL], ratio[label]) for label in OURS)
        matched = not all(_above(simple[label], simple[RIVAL]) for label in OURS)
        changed = early[RIVAL] > late[RIVAL] and any(early[one] < late[one] for one in OURS)
        won = min(early[label] for label in OURS) < early[RIVAL]
        both = f"{reads(bare, who)}; with them {reads(simple, who)}"
        without = f"{title}: without past evaluations"
        found += [
            Claim(f"{title}: BBKB's regret is significantly better", reads(ratio, who), better),
            Claim(f"{title}: BBKB matches {RIVAL}'s simple regret", reads(simple, who), matched),
            Claim(f"{without} {RIVAL} does worse, BBKB better", both, changed),
            Claim(f"{without} BBKB outperforms {RIVAL}", reads(bare, who), won),
        ]
    return found


def _above(one: Band, other: Band) -> bool:
    """Say whether an interval at the end lies wholly above another."""
    (a, b), (c, d) = one.at(), other.at()
    return bool(a - np.nan_to_num(b) > c + np.nan_to_num(d))

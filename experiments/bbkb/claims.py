"""What BBKB's section 5 and appendix D say of its figures, held against the runs."""

from __future__ import annotations

import numpy as np

from experiments.plates import Claim, ascending, ends, reads
from experiments.problems import problem
from experiments.settings import Sweep
from experiments.store import Store
from experiments.summary import Band, bands

OURS = ("Global-BBKB", "GlobalLocal-BBKB")
FIRST, INIT = 2000, 2000
WORKERS = "hours on 128 workers"


def smallest_regret(sweep: Sweep, store: Store) -> list[Claim]:
    """The means decide: an overlap of intervals is shown, not counted."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "regret ratio")
        last = ends(curves)
        least = min(last, key=last.__getitem__)
        text = reads(curves, ascending(last))
        says = f"{problem(name).title}: BBKB achieves the smallest regret"
        found.append(Claim(says, text, least in OURS))
    return found


def fraction_of_the_time(sweep: Sweep, store: Store) -> list[Claim]:
    """A fraction: less than half of what any other method with a model takes."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "seconds")
        curves.pop("EPS-GREEDY", None)
        spent = ends(curves, FIRST)
        rivals = [spent[label] for label in spent if label not in OURS]
        slowest = max(spent[label] for label in OURS if label in spent)
        says = f"{problem(name).title}: BBKB takes only a fraction of the time of the baselines"
        text = f"seconds for {FIRST} steps: " + reads(curves, ascending(spent), FIRST)
        found.append(Claim(says, text, slowest < 0.5 * min(rivals)))
    return found


def robust(sweep: Sweep, store: Store) -> list[Claim]:
    """Robust for a wider range of σ: the worst bandwidth costs less than it costs the others."""
    (name,) = sweep.problems
    worst: dict[str, float] = {}
    for width in sweep.panels:
        for label, value in ends(bands(sweep.of(name, panel=width), store, "regret ratio")).items():
            worst[label] = max(worst.get(label, 0.0), value)
    worst.pop("EPS-GREEDY", None)
    text = ", ".join(f"{label} {worst[label]:.3g}" for label in ascending(worst))
    says = f"{problem(name).title}: BBKB remains robust for a wider range of σ"
    least = min(worst, key=worst.__getitem__)
    return [Claim(says, f"regret ratio at each method's worst bandwidth: {text}", least in OURS)]


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
            found.append(Claim(says, text, least < last["GP-BUCB"]))
    return found


def growth(curve: Band) -> float:
    """Return the slope of log batch size against log t over the last nine tenths of the steps."""
    late = curve.steps > curve.steps[-1] // 10
    return float(np.polyfit(np.log(curve.steps[late]), np.log(curve.mean[late]), 1)[0])


def batches_and_time(sweep: Sweep, store: Store, history: int = INIT) -> list[Claim]:
    """The claims of Figures 3 and 7, for every problem that stands in."""
    found = []
    for name in sweep.problems:
        lines, title = sweep.of(name, history=history), problem(name).title.split(",")[0]
        seconds = bands(lines, store, "seconds")
        spent = ends(seconds)
        rivals = [value for label, value in spent.items() if label not in OURS]
        found.append(
            Claim(
                f"{title}: both BBKB variants outperform baselines in runtime",
                "seconds: " + reads(seconds, ascending(spent)),
                max(spent[label] for label in OURS) < min(rivals),
            )
        )
        found.append(
            Claim(
                f"{title}: GlobalLocal-BBKB is slower than Global-BBKB",
                "seconds: " + reads(seconds, OURS),
                spent[OURS[1]] > spent[OURS[0]],
            )
        )
        batch = bands(lines, store, "batch size")
        slopes = {label: growth(batch[label]) for label in OURS}
        text = ", ".join(f"{label} grows as t^{slope:.2f}" for label, slope in slopes.items())
        linear = all(0.5 < slope < 1.5 for slope in slopes.values())
        found.append(Claim(f"{title}: batch sizes increase linearly", text, linear))
        found.append(
            Claim(
                f"{title}: the local rule gives larger batches than the global rule",
                "batch at the end: " + reads(batch, OURS),
                ends(batch)[OURS[1]] > ends(batch)[OURS[0]],
            )
        )
        total = bands(lines, store, WORKERS)
        sequential = bands(lines, store, "hours on 1 worker")["REG-EVOLUTION"]
        total["REG-EVOLUTION"] = sequential  # one training after another, as in the paper
        last = ends(total)
        text = f"{WORKERS}: " + reads(total, ascending(last))
        batched = max(value for label, value in last.items() if label != "REG-EVOLUTION")
        says = f"{title}: with training time, batched algorithms beat sequential REG-EVOLUTION"
        found.append(Claim(says, text, batched < last["REG-EVOLUTION"]))
        says = f"{title}: with training time, GlobalLocal-BBKB is faster than Global-BBKB"
        found.append(Claim(says, reads(total, OURS), last[OURS[1]] < last[OURS[0]]))
    return found


def from_nothing(sweep: Sweep, store: Store) -> list[Claim]:
    return batches_and_time(sweep, store, history=0)


def evolution(sweep: Sweep, store: Store) -> list[Claim]:
    """Regret and simple regret against regularised evolution."""
    found = []
    rival = "REG-EVOLUTION"
    for name in sweep.problems:
        title = problem(name).title.split(",")[0]
        ratio = bands(sweep.of(name, history=INIT), store, "regret ratio")
        simple = bands(sweep.of(name, history=INIT), store, "simple regret")
        bare = bands(sweep.of(name), store, "simple regret")
        last, late, early = ends(ratio), ends(simple), ends(bare)
        found += [
            Claim(
                f"{title}: cumulative regret of BBKB is significantly better",
                reads(ratio, (*OURS, rival)),
                max(last[label] for label in OURS) < last[rival],
            ),
            Claim(
                f"{title}: BBKB matches REG-EVOLUTION's simple regret",
                reads(simple, (*OURS, rival)),
                _reaches(simple[OURS[0]], simple[rival])
                or _reaches(simple[OURS[1]], simple[rival]),
            ),
            Claim(
                f"{title}: without past evaluations REG-EVOLUTION does worse, BBKB better",
                f"{reads(bare, (*OURS, rival))}; with them {reads(simple, (*OURS, rival))}",
                early[rival] > late[rival] and early[OURS[0]] < late[OURS[0]],
            ),
            Claim(
                f"{title}: without past evaluations BBKB outperforms REG-EVOLUTION",
                reads(bare, (*OURS, rival)),
                min(early[label] for label in OURS) < early[rival],
            ),
        ]
    return found


def _reaches(ours: Band, theirs: Band) -> bool:
    """Say whether intervals overlap at the end, or ours is lower."""
    (a, b), (c, d) = ours.last, theirs.last
    return bool(a - np.nan_to_num(b) <= c + np.nan_to_num(d))

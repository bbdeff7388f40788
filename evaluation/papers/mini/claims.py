"""What MINI's section 5 and appendix B say of its figures, held against the runs."""

from __future__ import annotations

import numpy as np

from evaluation.papers.plates import Claim, ascending, ends, reads
from evaluation.papers.settings import Sweep
from evaluation.papers.summary import Band, bands
from evaluation.problems.papers import problem
from evaluation.runs.cells import Store
from evaluation.runs.lines import Line

OURS = ("MINI-GP-UCB", "MINI-GP-EI")
GREEDY = "EPS-GREEDY"
COMPARABLE = 1.5  # times as much


def architectures(sweep: Sweep, store: Store) -> list[Claim]:
    """The claims of Figures (a) to (e), for every problem."""
    found = []
    for name in sweep.problems:
        lines, title = sweep.of(name), problem(name).title
        found += _regret(lines, store, title)
        found += _few(lines, store, title)
        found += _fast(lines, store, title)
    return found


def _regret(lines: list[Line], store: Store, title: str) -> list[Claim]:
    curves = bands(lines, store, "regret ratio")
    last = ends(curves)
    worst = max(last[label] for label in OURS)
    alike, better = "both MINI variants are comparable to BBKB", "both are better than ε-greedy"
    text = f"regret ratio: {reads(curves, ascending(last))}"
    return [
        Claim(f"{title} (a): {alike}", text, worst <= COMPARABLE * last["BBKB"]),
        Claim(f"{title} (a): {better}", text, worst < last[GREEDY]),
    ]


def _few(lines: list[Line], store: Store, title: str) -> list[Claim]:
    """Unique candidates and batches; the gap between them is to grow in the later stages."""
    unique, batches = bands(lines, store, "unique candidates"), bands(lines, store, "batches")
    few = ends(unique)
    T = int(unique["BBKB"].steps[-1])
    both = f"{title} (b): both select even fewer unique candidates than BBKB"
    few_anyway = f"{title} (b): BBKB does not select a very large number of unique candidates"
    text = f"unique: {reads(unique, ascending(few))}"
    found = [
        Claim(both, text, max(few[label] for label in OURS) < few["BBKB"]),
        Claim(few_anyway, f"{few['BBKB']:.0f} of {T} evaluations", few["BBKB"] < 0.1 * T),
    ]
    for label, letter in zip(OURS, "de", strict=True):
        gaps = {t: batches[label].at(t)[0] - unique[label].at(t)[0] for t in (T // 10, T)}
        q, h = few[label], batches[label].at()[0]
        text = f"h = {h:.0f}, q = {q:.0f}; the gap is {gaps[T // 10]:.0f} at t = {T // 10}"
        says = (
            f"{title} ({letter}): {label} has far more batches h than unique candidates q, later on"
        )
        found.append(Claim(says, text, h > COMPARABLE * q and gaps[T] > 2 * gaps[T // 10]))
    return found


def _fast(lines: list[Line], store: Store, title: str) -> list[Claim]:
    """Faster to the end, and to the regret that both reach."""
    curves, ratio = bands(lines, store, "seconds"), bands(lines, store, "regret ratio")
    spent, last = ends(curves), ends(ratio)
    both = f"{title} (c): both are faster than BBKB, terminating earlier"
    text = f"seconds: {reads(curves, ascending(spent))}"
    found = [Claim(both, text, max(spent[label] for label in OURS) < spent["BBKB"])]
    for label in OURS:
        level = max(last[label], last["BBKB"])
        mine = _reached(ratio[label], curves[label], level)
        theirs = _reached(ratio["BBKB"], curves["BBKB"], level)
        says = f"{title} (c): {label} achieves lower regret in the same span of time as BBKB"
        text = f"regret ratio {level:.3g} after {mine:.2g} s, BBKB after {theirs:.2g} s"
        found.append(Claim(says, text, mine < theirs))
    return found


def _reached(ratio: Band, seconds: Band, level: float) -> float:
    """Return after how many seconds the mean curve stays at or below a level."""
    above = np.flatnonzero(ratio.mean > level * (1 + 1e-9))
    return float(seconds.mean[above[-1] + 1 if above.size else 0])


def functions(sweep: Sweep, store: Store) -> list[Claim]:
    """Regret against that of the other methods with a model, and on Rosenbrock against ε-greedy."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "average regret")
        last = ends(curves)
        models = {label: value for label, value in last.items() if label != GREEDY}
        best = min(value for label, value in models.items() if label not in OURS)
        text, title = reads(curves, ascending(last)), problem(name).title
        near = min(last[label] for label in OURS) <= COMPARABLE * best
        found.append(Claim(f"{title}: MINI's regret is comparable to other GP methods", text, near))
        if name == "f104":
            alike = all(1 / 2 < value / last[GREEDY] < 2 for value in models.values())
            says = f"{title}: all GP methods do only roughly as well as a tuned ε-greedy"
            found.append(Claim(says, text, alike))
    return found


def times(sweep: Sweep, store: Store) -> list[Claim]:
    """Runtime against that of the other methods with a model."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "seconds")
        spent = ends(curves)
        others = [v for label, v in spent.items() if label not in (*OURS, GREEDY)]
        says = f"{problem(name).title}: MINI's runtime is comparable to other GP methods"
        text = f"seconds: {reads(curves, ascending(spent))}"
        least = min(spent[label] for label in OURS)
        found.append(Claim(says, text, least <= COMPARABLE * min(others)))
    return found

"""The figures of MINI (Calandriello et al., ICML 2022).

Claims are what its section 5 and appendix B say of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from evaluation.papers.curves import Band, Runs
from evaluation.papers.plates import Panel, plates, under_all
from evaluation.problems.papers import STAND_INS
from evaluation.reports.drawing import canvas
from evaluation.reports.markdown import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = ("MINI-GP-UCB", "MINI-GP-EI")
GREEDY, BBKB = "EPS-GREEDY", "BBKB"
COMPARABLE = 1.5  # times as much
ROSENBROCK = "f104"


def _architectures(runs: Runs) -> Figure:
    """Panels (a) to (e), a row for every problem that stands in."""
    parts = [*runs.each()]
    figure = canvas(len(parts), 5, width=3.1)
    for row, part in zip(figure.subplots(len(parts), 5, squeeze=False), parts, strict=True):
        Panel("regret ratio").draw(row[0], part)
        Panel("unique candidates").draw(row[1], part)
        Panel("regret ratio", against="seconds").draw(row[2], part)
        for axes, label in zip(row[3:], OURS, strict=True):  # unique candidates and batches of one
            for quantity in ("unique candidates", "batches"):
                Panel(quantity, "linear").draw(axes, part.of(label=label))
                curve = part.bands(quantity)[label]
                end = (curve.steps[-1], curve.mean[-1])
                axes.annotate(quantity, end, ha="right", va="bottom", fontsize=7)
            axes.set_ylabel("")
            axes.set_title(label, fontsize=8)
        row[0].set_title(part.title, fontsize=7)
        for axes, letter in zip(row, "abcde", strict=True):
            axes.set_title(f"({letter})", loc="left", fontsize=8, x=-0.15)
    under_all(figure)
    return figure


def architectures(runs: Runs) -> Iterator[Claim]:
    """The claims of Figures (a) to (e), for every problem; counted are those on the paper's."""
    for one in runs.each():
        ours = one.lines[0].problem in STAND_INS
        for claim in (*_regret(one), *_few(one), *_fast(one)):
            yield replace(claim, ours=ours)


def _regret(one: Runs) -> Iterator[Claim]:
    last, text = one.ends("regret ratio"), f"regret ratio: {one.reads('regret ratio')}"
    worst = max(last[label] for label in OURS)
    comparable = worst <= COMPARABLE * last[BBKB]
    yield one.claim("both MINI variants are comparable to BBKB", text, comparable, " (a)")
    yield one.claim("both are better than ε-greedy", text, worst < last[GREEDY], " (a)")


def _few(one: Runs) -> Iterator[Claim]:
    """Unique candidates and batches; the gap between them is to grow in the later stages."""
    unique, batches = one.bands("unique candidates"), one.bands("batches")
    few, T = one.ends("unique candidates"), int(unique[BBKB].steps[-1])
    says, fewer = "both select even fewer unique candidates than BBKB", max(few[x] for x in OURS)
    yield one.claim(says, f"unique: {one.reads('unique candidates')}", fewer < few[BBKB], " (b)")
    says = "BBKB does not select a very large number of unique candidates"
    yield one.claim(says, f"{few[BBKB]:.0f} of {T} evaluations", few[BBKB] < 0.1 * T, " (b)")
    for label, letter in zip(OURS, "de", strict=True):
        early, late = (batches[label].at(t)[0] - unique[label].at(t)[0] for t in (T // 10, T))
        q, h = few[label], batches[label].at()[0]
        says = f"{label} has far more batches h than unique candidates q, later on"
        text = f"h = {h:.0f}, q = {q:.0f}; the gap is {early:.0f} at t = {T // 10}"
        yield one.claim(says, text, h > COMPARABLE * q and late > 2 * early, f" ({letter})")


def _fast(one: Runs) -> Iterator[Claim]:
    """Faster to the end, and to the regret that both reach."""
    curves, ratio = one.bands("seconds"), one.bands("regret ratio")
    spent, last = one.ends("seconds"), one.ends("regret ratio")
    quicker = max(spent[label] for label in OURS) < spent[BBKB]
    both = "both are faster than BBKB, terminating earlier"
    yield one.claim(both, f"seconds: {one.reads('seconds')}", quicker, " (c)")
    for label in OURS:
        level = max(last[label], last[BBKB])
        mine, theirs = (_reached(ratio[who], curves[who], level) for who in (label, BBKB))
        says = f"{label} achieves lower regret in the same span of time as BBKB"
        text = f"regret ratio {level:.3g} after {mine:.2g} s, BBKB after {theirs:.2g} s"
        yield one.claim(says, text, mine < theirs, " (c)")


def _reached(ratio: Band, seconds: Band, level: float) -> float:
    """Return after how many seconds the mean curve stays at or below a level."""
    above = np.flatnonzero(ratio.mean > level * (1 + 1e-9))
    return float(seconds.mean[above[-1] + 1 if above.size else 0])


def readings(runs: Runs) -> Iterator[Claim]:
    """The claims of regret and of unique candidates under each reading of λ; not counted."""
    for one, reading in product(runs.each(), runs.names("panel")):
        part = one.of(panel=reading)
        on_grid = one.lines[0].problem == ROSENBROCK
        for claim in functions(part) if on_grid else (*_regret(part), *_few(part)):
            yield replace(claim, says=f"{reading}, {claim.says}", ours=True)


def later(runs: Runs) -> Iterator[Claim]:
    """The claims of unique candidates after more steps; they are not counted."""
    for one in runs.each():
        T = one.lines[0].horizon
        yield from (replace(claim, says=f"T = {T}, {claim.says}", ours=True) for claim in _few(one))


def functions(runs: Runs) -> Iterator[Claim]:
    """Regret against that of the other methods with a model, and on Rosenbrock against ε-greedy."""
    for one in runs.each():
        last, text = one.ends("average regret"), one.reads("average regret")
        greedy = last.pop(GREEDY)
        best = min(value for label, value in last.items() if label not in OURS)
        near = min(last[label] for label in OURS) <= COMPARABLE * best
        yield one.claim("MINI's regret is comparable to other GP methods", text, near)
        if one.lines[0].problem == ROSENBROCK:
            alike = all(1 / 2 < value / greedy < 2 for value in last.values())
            says = "all GP methods do only roughly as well as a tuned ε-greedy"
            yield one.claim(says, text, alike)


def times(runs: Runs) -> Iterator[Claim]:
    """Runtime against that of the other methods with a model."""
    for one in runs.each():
        spent = one.ends("seconds")
        others = min(value for label, value in spent.items() if label not in (*OURS, GREEDY))
        says = "MINI's runtime is comparable to other GP methods"
        least = min(spent[label] for label in OURS)
        yield one.claim(says, f"seconds: {one.reads('seconds')}", least <= COMPARABLE * others)


CLAIMS = {
    "nas": architectures,
    "reading": readings,
    "later": later,
    "fig3": functions,
    "fig4": times,
}
PLATES = plates("mini", CLAIMS, {"nas": _architectures})

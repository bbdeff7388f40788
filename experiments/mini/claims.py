"""What MINI's section 5 and appendix B say of its figures, held against the runs."""

from __future__ import annotations

from experiments.plates import Claim, ascending, ends, reads
from experiments.problems import problem
from experiments.settings import Sweep
from experiments.store import Store
from experiments.summary import bands

OURS = ("MINI-GP-UCB", "MINI-GP-EI")
COMPARABLE = 1.5  # times as much


def architectures(sweep: Sweep, store: Store) -> list[Claim]:
    """The claims of Figures (a) to (e), for every problem that stands in."""
    found = []
    for name in sweep.problems:
        lines, title = sweep.of(name), problem(name).title.split(",")[0]
        ratio, unique = (
            bands(lines, store, "regret ratio"),
            bands(lines, store, "unique candidates"),
        )
        seconds, switches = bands(lines, store, "seconds"), bands(lines, store, "switches")
        regret, few, spent = ends(ratio), ends(unique), ends(seconds)
        worst = max(regret[label] for label in OURS)
        rivals = [value for label, value in few.items() if label not in (*OURS, "EPS-GREEDY")]
        found += [
            Claim(
                f"{title} (a): both MINI variants are comparable to BBKB",
                "regret ratio: " + reads(ratio, (*OURS, "BBKB")),
                worst <= COMPARABLE * regret["BBKB"],
            ),
            Claim(
                f"{title} (a): both are better than a tuned ε-greedy",
                "regret ratio: " + reads(ratio, (*OURS, "EPS-GREEDY")),
                worst < regret["EPS-GREEDY"],
            ),
            Claim(
                f"{title} (b): both select fewer unique candidates than all others with a model",
                "unique: " + reads(unique, ascending(few)),
                max(few[label] for label in OURS) < min(rivals),
            ),
            Claim(
                f"{title} (c): both are faster than BBKB",
                "seconds: " + reads(seconds, ascending(spent)),
                max(spent[label] for label in OURS) < spent["BBKB"],
            ),
        ]
        for label, letter in zip(OURS, "de", strict=True):
            h, q = ends(switches)[label], few[label]
            text = f"{h:.0f} switches, {q:.0f} unique candidates"
            says = (
                f"{title} ({letter}): {label} switches far more often than it tries new candidates"
            )
            found.append(Claim(says, text, h > COMPARABLE * q))
    return found


def functions(sweep: Sweep, store: Store) -> list[Claim]:
    """Regret against that of the other methods with a model, and on Rosenbrock against ε-greedy."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "average regret")
        last = ends(curves)
        models = {label: value for label, value in last.items() if label != "EPS-GREEDY"}
        best = min(value for label, value in models.items() if label not in OURS)
        text = reads(curves, ascending(last))
        says = f"{problem(name).title}: MINI's regret is comparable to other GP methods"
        found.append(Claim(says, text, min(last[label] for label in OURS) <= COMPARABLE * best))
        if name == "f104":
            rough = last["EPS-GREEDY"]
            says = f"{problem(name).title}: all GP methods do only roughly as well as ε-greedy"
            alike = all(1 / 2 < value / rough < 2 for value in models.values())
            found.append(Claim(says, text, alike))
    return found


def times(sweep: Sweep, store: Store) -> list[Claim]:
    """Runtime against that of the other methods with a model."""
    found = []
    for name in sweep.problems:
        curves = bands(sweep.of(name), store, "seconds")
        spent = ends(curves)
        others = [v for label, v in spent.items() if label not in (*OURS, "EPS-GREEDY")]
        says = f"{problem(name).title}: MINI's runtime is comparable to other GP methods"
        text = "seconds: " + reads(curves, ascending(spent))
        worst = max(spent[label] for label in OURS)
        found.append(Claim(says, text, worst <= COMPARABLE * min(others)))
    return found

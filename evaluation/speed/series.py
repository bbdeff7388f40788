"""Points of a scaling case: time against what grows, a line an algorithm."""

from __future__ import annotations

from evaluation.speed.case import Case
from evaluation.speed.goals import seconds
from evaluation.speed.results import Results

Observations = list[tuple[float, float]]


def series_of(case: Case, results: Results) -> dict[str, Observations]:
    """Return, for each series, (size, seconds) where it could run."""
    found: dict[str, Observations] = {}
    for subject in case.subjects:
        line = found.setdefault(subject.series, [])
        if case.against == "unique":
            for figures in results.done(subject):
                line += [(float(t), taken) for t, taken in figures.get("later", [])]
            continue
        at, taken = subject.settings[case.against], seconds(subject).of(results)
        if isinstance(at, int) and taken is not None:
            line.append((float(at), taken))
    return {name: line for name, line in found.items() if line}

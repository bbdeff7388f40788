"""Verdicts: a goal is met, missed or not known, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.speed.goals import (
    Goal,
    integrated,
    judge,
    median,
    of_all,
    peak_gb,
    ratio,
    same_choices,
    seconds,
    slope,
    slope_in,
    so_far,
    touched,
)
from evaluation.speed.results import Figures, Results, Subject

FAST = Subject("fast", "loop", {"N": 100, "T": 10})
SLOW = Subject("slow", "loop", {"N": 100, "T": 1000})


def results_of(**taken: list[float]) -> Results:
    results = Results(Path("nowhere.json"))
    for subject in (FAST, SLOW):
        for seed, value in enumerate(taken[subject.label]):
            results.cells[subject.key(seed)] = Figures(
                seconds=value, peak=int(value * 1e9), marks=["a", "b"], evaluations=10
            )
    return results


def test_a_ratio_of_medians_is_met_or_missed() -> None:
    results = results_of(fast=[1.0, 2.0, 90.0], slow=[30.0, 40.0, 50.0])
    gain = ratio(seconds(SLOW), seconds(FAST))
    assert judge(Goal("", gain, "≥ 20"), results).word == "met"
    missed = judge(Goal("", gain, "≥ 20.5"), results)
    assert (missed.figure, missed.word) == (20.0, "missed")
    assert judge(Goal("", gain, "≤ 19"), results).word == "missed"
    peak = of_all(max, median(FAST, peak_gb), median(SLOW, peak_gb))
    assert judge(Goal("", peak, "≤ 40"), results).word == "met"


def test_a_run_that_was_stopped_can_miss_but_not_meet() -> None:
    """Its time is a lower bound, and so is its memory."""
    results = results_of(fast=[900.0, 1.0, 1.0], slow=[])
    results.cells[FAST.key(0)]["stopped"] = 3
    tight, loose = (Goal("", so_far(FAST, "seconds"), limit) for limit in ("≤ 300", "≤ 1000"))
    assert [judge(goal, results).word for goal in (tight, loose)] == ["missed", "–"]
    del results.cells[FAST.key(0)]["stopped"]
    assert judge(loose, results).word == "met"


def test_what_is_not_known_is_not_judged() -> None:
    """A seed that failed or was stopped must not leave a median of the lucky ones."""
    goal = Goal("", seconds(FAST), "≤ 5")
    results = results_of(fast=[1.0, 1.0], slow=[])
    assert judge(goal, results).word == "–"
    results.cells[FAST.key(2)] = {"error": "MemoryError: no room"}
    assert judge(goal, results).word == "–"
    assert results.trouble(FAST) == "MemoryError: no room"
    results.cells[FAST.key(2)] = {"seconds": 1.0, "stopped": 3}
    assert judge(goal, results).word == "–"
    results.cells[FAST.key(2)] = {"seconds": 1.0}
    assert judge(goal, results).word == "met"
    results.quick = True
    assert judge(goal, results).word == "–"
    assert judge(Goal("", seconds(FAST), "reported"), results).word == "–"


def test_slopes_are_those_of_powers() -> None:
    assert slope([(10.0, 3.0), (100.0, 3.0 * 10**0.7)]) == pytest.approx(0.7)
    assert slope([(10.0, 3.0)]) is None
    results = results_of(fast=[2.0] * 3, slow=[2.0] * 3)
    assert slope_in("T", (FAST, SLOW)).of(results) == pytest.approx(0.0, abs=1e-12)


def test_integration_sums_a_power_law_exactly() -> None:
    """BoTorch's total stands on this sum."""
    steps = [(t, 1e-3 * t**2) for t in (1, 10, 100)]
    assert integrated(steps, 100) == pytest.approx(1e-3 * sum(t**2 for t in range(1, 101)))
    assert integrated(steps, 101) is None
    assert integrated([], 10) is None


def test_touched_rows_are_a_share_of_the_pool() -> None:
    work = {"rankings": 4, "refreshed": 12, "scanned": 0, "bytes": 0, "flops": 0}
    results = results_of(fast=[], slow=[])
    for key in FAST.keys:
        results.cells[key] = {"seconds": 1.0, "work": work}
    assert median(FAST, touched).of(results) == pytest.approx(3.0)
    assert median(SLOW, touched).of(results) is None


def test_same_choices_are_counted_up_to_the_first_difference() -> None:
    results = results_of(fast=[1.0] * 3, slow=[1.0] * 3)
    assert same_choices(FAST, SLOW).of(results) == 100
    results.cells[SLOW.key(1)]["marks"] = ["a", "c"]
    assert same_choices(FAST, SLOW).of(results) == 50
    del results.cells[SLOW.key(0)]
    assert same_choices(FAST, SLOW).of(results) is None

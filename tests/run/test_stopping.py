"""Stops: they end a run where a patient person with a notebook would, and change nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import CertificateError
from noregret.run.stopping import GROWTH
from small_stopping import ALGORITHMS, POOL, Noisy, stopped

UNCERTIFIED = ("ts_qff", "uniform", "random_search", "epsilon_greedy", "evolution")
CERTIFIED = [name for name in ALGORITHMS if name not in UNCERTIFIED]
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


@dataclass
class Notebook:
    """What is believed after every batch of a run without stops."""

    spent: list[int] = field(default_factory=list)
    told: list[int] = field(default_factory=list)
    best: list[nr.Best | None] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def __call__(self, optimizer: nr.Optimizer, *_: object) -> None:
        self.spent.append(optimizer.spent)
        self.told.append(optimizer.evaluations)
        self.best.append(optimizer.best() if optimizer.evaluations else None)
        certified = optimizer.evaluations and isinstance(optimizer.policy, nr.Bandit)
        self.gaps.append(optimizer.certificate().gap if certified else math.inf)


@cache
def watched(name: str, budget: int, seed: int = 0, fails: int = 0) -> tuple[nr.Result, Notebook]:
    """A run without stops, and all that could be seen of it."""
    notes, algorithm = Notebook(), ALGORITHMS[name]
    f = Noisy(seed=seed, fails=fails)
    return nr.maximize(f, POOL, algorithm=algorithm, budget=budget, callback=notes), notes


@cache
def plain(name: str, seed: int, fails: int) -> nr.Result:
    """A run at which nobody looks."""
    return stopped(name, 25, None, seed=seed, fails=fails)


stops = st.one_of(
    st.builds(nr.Target, st.floats(-0.5, 1.5), st.floats(0.0, 3.0)),
    st.builds(nr.Patience, st.integers(1, 30)),
    st.builds(nr.GapBelow, st.floats(0.3, 3.0)),
)


@every_algorithm
@given(st.lists(stops, max_size=3), st.integers(0, 2), st.sampled_from([0, 3]))
def test_a_stopped_run_is_the_beginning_of_the_whole_one(
    name: str, given_stops: list[Any], seed: int, fails: int
) -> None:
    """Whoever stops early must not be sent elsewhere on the way."""
    if name in UNCERTIFIED:
        given_stops = [stop for stop in given_stops if not isinstance(stop, nr.GapBelow)]
    part, whole = stopped(name, 25, given_stops, seed=seed, fails=fails), plain(name, seed, fails)
    np.testing.assert_array_equal(part.ids, whole.ids[: len(part.ids)])
    np.testing.assert_array_equal(part.values, whole.values[: len(part.values)])
    assert len(part.ids) == 25 or part.ended != "budget spent"


@every_algorithm
@pytest.mark.parametrize("value", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("deviations", [0.0, 2.0])
def test_a_target_ends_the_run_after_the_first_batch_that_reaches_it(
    name: str, value: float, deviations: float
) -> None:
    """Not on the strength of a value, but of what is believed of the recommendation."""
    whole, notes = watched(name, 80)
    end, ended = 80, "budget spent"
    for spent, best in zip(notes.spent, notes.best, strict=True):
        assert best is not None
        std = 0.0 if math.isnan(best.std) else best.std
        if best.mean - deviations * std >= value:
            end, ended = spent, f"target {value:g} reached"
            break
    part = stopped(name, 80, nr.Target(value, deviations))
    assert len(part.values) == end
    assert part.ids.tolist() == whole.ids[:end].tolist()
    assert part.ended == ended


@pytest.mark.parametrize("name", ["gp_ucb", "mini_gp_ucb", "bbkb", "uniform"])
@pytest.mark.parametrize("stop", [nr.Target(0.6), nr.Patience(25), nr.GapBelow(2.0)])
def test_minimising_mirrors_maximising(name: str, stop: Any) -> None:
    if name == "uniform" and isinstance(stop, nr.GapBelow):
        return
    up = stopped(name, 300, stop)
    turned = nr.Target(-0.6) if isinstance(stop, nr.Target) else stop
    down = stopped(name, 300, turned, run=nr.minimize, sign=-1.0)
    assert len(up.values) < 300
    np.testing.assert_array_equal(up.ids, down.ids)
    assert down.ended == up.ended.replace("target 0.6", "target -0.6")


def test_a_lucky_value_does_not_end_a_run() -> None:
    """A target that no candidate reaches: values do, by chance, in every run; beliefs hardly do."""
    value, by_luck, by_belief = 1.15, 0, 0
    for seed in range(20):
        result = stopped("gp_ucb", 60, nr.Target(value), seed=seed)
        by_luck += bool((result.values >= value).any())
        by_belief += result.ended != "budget spent"
    assert by_luck >= 18
    assert by_belief <= 1


def test_a_target_that_is_there_is_found_and_believed() -> None:
    """A stop that never stops would pass the test above."""
    ended = [stopped("mini_gp_ucb", 400, nr.Target(0.8), seed=seed) for seed in range(10)]
    assert all(result.ended == "target 0.8 reached" for result in ended)
    assert np.median([len(result.values) for result in ended]) < 100
    reached = [math.sin(4 * float(result.best().x[0])) for result in ended]
    assert min(reached) > 0.75


def waited(notes: Notebook, patience: int, budget: int) -> int:
    """Patience with the whole notebook at hand: after each batch, walk it from its start."""
    for now in range(len(notes.spent)):
        level, since = -math.inf, 0
        for spent, best in zip(notes.spent[: now + 1], notes.best[: now + 1], strict=True):
            if best is None:
                continue
            low = best.mean if math.isnan(best.std) else best.mean - best.std
            high = math.inf if math.isnan(best.std) else best.mean + best.std
            level, since = (best.mean, spent) if low > level else (min(level, high), since)
        if notes.spent[now] - since >= patience:
            return notes.spent[now]
    return budget


@every_algorithm
@pytest.mark.parametrize("patience", [1, 8, 20, 45])
@pytest.mark.parametrize("fails", [0, 4])
def test_patience_is_counted_from_the_last_improvement(
    name: str, patience: int, fails: int
) -> None:
    _, notes = watched(name, 90, fails=fails)
    end = waited(notes, patience, 90)
    part = stopped(name, 90, nr.Patience(patience), fails=fails)
    assert len(part.values) == end
    if end < 90:
        assert part.ended.startswith("patience: ")
        assert patience <= int(part.ended.split()[1])
        assert part.ended.endswith(" evaluations without improvement")


def test_patience_ends_a_run_that_finds_nothing_and_one_that_only_fails() -> None:
    """A constant function, and a broken robot, are worth so many evaluations and no more."""
    flat = stopped("gp_ucb", 500, nr.Patience(30), lambda _: 0.0)
    assert flat.ended == "patience: 30 evaluations without improvement"
    assert len(flat.values) < 100
    broken = stopped("gp_ucb", 500, nr.Patience(30), lambda _: nr.FAILED)
    assert (broken.ended, len(broken.values)) == (flat.ended, 30)


@pytest.mark.parametrize(
    ("story", "improved"),
    [
        ([(0.0, 0.1), (0.05, 0.1), (0.09, 0.1)], [1, 0, 0]),  # within its own uncertainty
        ([(0.0, 0.1), (0.06, 0.1), (0.12, 0.1), (0.18, 0.1)], [1, 0, 1, 0]),  # small steps add up
        ([(0.5, 0.3), (0.52, 0.01)], [1, 1]),  # better known, and better
        ([(0.5, 0.3), (0.5, 0.01), (0.5, 0.001)], [1, 0, 0]),  # better known alone
        ([(1.0, 0.5), (0.2, 0.1), (0.35, 0.1), (0.45, 0.1)], [1, 0, 0, 1]),  # the level was luck
        ([(1.0, 0.5), (0.95, 0.1), (1.05, 0.1)], [1, 0, 0]),  # it was not
        ([(1.0, math.nan), (0.2, math.nan), (0.9, math.nan), (1.1, math.nan)], [1, 0, 0, 1]),
    ],
)
def test_what_an_improvement_is(story: list[tuple[float, float]], improved: list[int]) -> None:
    for sign in (1.0, -1.0):
        stop: Any = nr.Patience(10**6)
        look: Any = SimpleNamespace(spent=0, best=None, sign=sign)
        level, since = stop.begin(look), []
        for at, (mean, std) in enumerate(story, start=1):
            look.spent, look.best = at, SimpleNamespace(mean=sign * mean, std=std)
            _, level = stop.check(look, level)
            since.append(int(level.since == at))
        assert since == improved


@pytest.mark.parametrize("name", CERTIFIED)
@pytest.mark.parametrize("part_of_run", [0.1, 0.4, 0.8])
def test_a_gap_ends_the_run_at_the_first_certificate_below_it(
    name: str, part_of_run: float
) -> None:
    _, notes = watched(name, 300)
    gap = round(notes.gaps[int(part_of_run * len(notes.gaps))], 3) + 1e-3
    end, due, looks, first = 300, 0.0, 0, math.inf
    for spent, told, found in zip(notes.spent, notes.told, notes.gaps, strict=True):
        first = min(first, told) if found <= gap else math.inf  # a gap may open again
        if told < due:
            continue
        due, looks = GROWTH * told, looks + 1
        if found <= gap:
            end = spent
            break
    part = stopped(name, 300, nr.GapBelow(gap))
    certificate = part.certificate()
    assert len(part.values) == end < 300
    warning = "" if certificate.is_sound else ", but an assumption of the certificate does not hold"
    assert part.ended == f"gap {certificate.gap:.3g} <= {gap:g}{warning}"
    assert certificate.gap <= gap
    assert not warning
    largest = max(np.diff(notes.spent))
    assert end <= max(GROWTH * first, first + largest) + largest
    assert looks <= 21 + math.log(max(end, 21) / 20) / math.log(GROWTH)


@pytest.mark.parametrize("name", UNCERTIFIED)
def test_a_gap_without_a_theorem_is_refused_before_anything_is_measured(name: str) -> None:
    """Not on the second day of the run."""
    measure = Noisy()
    with pytest.raises(CertificateError, match=r"stop_when=GapBelow\(gap=0\.5\).*mini_gp_ucb"):
        stopped(name, 9, [nr.Target(0.5), nr.GapBelow(0.5)], measure)
    assert measure.calls == 0
    optimizer = ALGORITHMS[name](POOL)
    optimizer.tell([0], [0.1])
    with pytest.raises(CertificateError, match="mini_gp_ucb"):
        optimizer.certificate()


def test_a_refuted_certificate_is_not_passed_off_as_a_good_one() -> None:
    """A spread far too small makes gaps small, and false."""
    kernel = nr.RBF(0.25)
    make = partial(nr.gp_ucb, kernel=kernel, noise_std=0.1, start=nr.UniformDesign(20))
    result = nr.maximize(
        lambda x: 50 * math.sin(9 * x[0]),
        POOL,
        algorithm=make,
        budget=40,
        stop_when=nr.GapBelow(1.0),
    )
    assert result.ended.startswith("gap 0.")
    assert result.ended.endswith(" <= 1, but an assumption of the certificate does not hold")


@pytest.mark.parametrize(
    "domain",
    [
        nr.Pool([[0.5]]),
        nr.Pool([[0.5]] * 6),
        nr.Pool(np.linspace(0, 1, 7)[:, None], names=list("abcdefg")),
        nr.Box([(0.0, 1.0)]),
    ],
    ids=["one", "duplicates", "names", "box"],
)
@pytest.mark.parametrize("value", [0.0, 1e6])
def test_any_domain_and_constant_values(domain: Any, value: float) -> None:
    """Nothing to find is a case too: every stop is met or not, and none breaks."""
    settings: dict[str, Any] = {"algorithm": ALGORITHMS["mini-switch"], "budget": 30}
    ended = [
        nr.maximize(lambda _: value, domain, offset=value, stop_when=stop, **settings).ended
        for stop in (nr.Target(value - 3.0), nr.Patience(9), nr.GapBelow(2.9))
    ]
    assert ended[0] == f"target {value - 3.0:g} reached"
    assert ended[1].startswith("patience: ")
    assert ended[2].startswith("gap 2.")


def test_the_first_stop_that_is_met_ends_the_run() -> None:
    target, patience = nr.Target(-9.0), nr.Patience(7)
    both = stopped("gp_ucb", 40, [patience, target])
    assert (both.ended, len(both.values)) == ("target -9 reached", 1)
    assert stopped("gp_ucb", 40, (nr.Target(-8.0), target)).ended == "target -8 reached"
    assert stopped("gp_ucb", 40, (target, nr.Target(-8.0))).ended == "target -9 reached"
    never = [nr.Target(99.0), nr.Patience(10**9), nr.GapBelow(1e-9)]
    assert stopped("gp_ucb", 10, never).ended == "budget spent"
    assert stopped("gp_ucb", 10, []).ended == "budget spent"


@every_algorithm
def test_a_budget_of_one(name: str) -> None:
    assert stopped(name, 1, nr.Target(-9.0)).ended == "target -9 reached"
    assert stopped(name, 1, nr.Target(9.0)).ended == "budget spent"
    assert stopped(name, 1, nr.Patience(1)).ended == "budget spent"
    if name == "gp_ucb":
        assert stopped(name, 1, nr.GapBelow(100.0)).ended.endswith("<= 100")


def test_a_target_at_its_word_is_met_by_equal_values() -> None:
    """Auto knows no deviation of values that are all the same."""
    target = nr.Target(0.5, deviations=0)
    result = nr.maximize(lambda _: 1.0, POOL, 30, stop_when=target, progress=False)
    assert result.ended == "target 0.5 reached"

"""ask, tell, fail, exclude, best, certificate: what a user may rely on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.arrays import Indices, Vector
from slow_references import DenseGP
from strategies import drive, rkhs_problem

X = np.random.default_rng(5).random((40, 2))
POOL = nr.Pool(X)
KERNEL = nr.RBF(0.3)
F = np.sin(4 * X[:, 0]) + np.cos(5 * X[:, 1])

MODELS: dict[str, Callable[..., nr.Optimizer]] = {
    "gp_ucb": nr.gp_ucb,
    "gp_ei": nr.gp_ei,
    "gp_bucb-product": partial(nr.gp_bucb, rule="product", limit=8.0),
    "gp_bucb-local": partial(nr.gp_bucb, rule="local", limit=2.5),
    "bkb": nr.bkb,
    "bbkb-global": partial(nr.bbkb, rule="global", limit=8.0),
    "bbkb-local": partial(nr.bbkb, rule="local", limit=4.0),
    "mini_gp_ucb": partial(nr.mini_gp_ucb, limit=8.0),
    "mini_gp_ei": partial(nr.mini_gp_ei, limit=8.0),
}
BASELINES: dict[str, Callable[..., nr.Optimizer]] = {
    "uniform": partial(nr.uniform, batch_size=6),
    "epsilon_greedy": partial(nr.epsilon_greedy, batch_size=6),
}
every_model = pytest.mark.parametrize("name", MODELS)
every_algorithm = pytest.mark.parametrize("name", [*MODELS, *BASELINES])


def build(
    name: str,
    pool: nr.Pool = POOL,
    *,
    goal: Literal["max", "min"] = "max",
    offset: float = 0.0,
    seed: int = 1,
    noise_std: float = 1.0,
) -> nr.Optimizer:
    if name in BASELINES:
        return BASELINES[name](pool, goal=goal, offset=offset, seed=seed)
    return MODELS[name](
        pool, kernel=KERNEL, noise_std=noise_std, goal=goal, offset=offset, seed=seed
    )


def value(row: int, time: int) -> float:
    """A noisy value of a row, the same in every run; a multiple of 2⁻²⁰, so that sums are exact."""
    noise = np.random.default_rng([row, time]).standard_normal()
    return round(2**20 * float(F[row] + 0.3 * noise)) / 2**20


def values(batch: nr.Batch, time: int) -> list[float]:
    return [value(int(row), time + i) for i, row in enumerate(batch.sequence)]


def step(optimizer: nr.Optimizer, at_most: int = 7) -> list[int]:
    """One turn of the loop; returns the rows evaluated."""
    batch = optimizer.ask(at_most=at_most)
    optimizer.tell(batch, values(batch, optimizer.spent))
    return [int(row) for row in batch.sequence]


def warm(name: str, turns: int = 4, **settings: object) -> nr.Optimizer:
    optimizer = build(name, **settings)  # type: ignore[arg-type]  # the settings of build
    for _ in range(turns):
        step(optimizer)
    return optimizer


def rows_of(batch: nr.Batch) -> list[int]:
    return [int(row) for row in batch.sequence]


@every_algorithm
def test_a_worker_is_given_its_batch_until_it_tells(name: str) -> None:
    """A worker that crashed and came back must go on with what it had."""
    optimizer = warm(name)
    first = optimizer.ask(at_most=5)
    for _ in range(3):
        again = optimizer.ask()
        assert (again.ticket, again.start) == (first.ticket, first.start)
        np.testing.assert_array_equal(again.sequence, first.sequence)
        np.testing.assert_array_equal(again.x, X[again.ids])
    np.testing.assert_array_equal(optimizer.ask(at_most=1).sequence, first.sequence[:1])
    opened = optimizer.batches
    optimizer.tell(first, values(first, 0))
    assert optimizer.ask().ticket == first.ticket + 1 == opened


@every_algorithm
def test_a_partial_tell_leaves_the_rest_open(name: str) -> None:
    """Half a plate is read, the other half is still in the oven."""
    optimizer = warm(name)
    batch = optimizer.ask(at_most=4)
    told = values(batch, 0)
    spent = optimizer.spent
    for i in range(len(batch)):
        rest = optimizer.ask()
        assert rest.start == i
        np.testing.assert_array_equal(rest.sequence, batch.sequence[i:])
        optimizer.tell(rest[:1], told[i : i + 1])
        assert optimizer.spent == spent + i + 1
    assert optimizer.ask().ticket == batch.ticket + 1


def test_a_hole_in_the_middle_is_asked_for_first_part_first() -> None:
    """Wells told out of order must neither be lost nor be asked for twice."""
    optimizer = nr.uniform(POOL, batch_size=6)
    batch = optimizer.ask()
    told = values(batch, 0)
    optimizer.tell(batch[2:4], told[2:4])
    np.testing.assert_array_equal(optimizer.ask().sequence, batch.sequence[:2])
    optimizer.tell(batch[4:], told[4:])
    optimizer.tell(batch[:2], told[:2])
    assert optimizer.evaluations == 6
    assert optimizer.ask().ticket == batch.ticket + 1


@pytest.mark.parametrize("told", [0, 1, 6])
def test_another_worker_gets_work_as_if_open_evaluations_had_happened(told: int) -> None:
    """Ten robots on the same posterior must not all be sent to the same well."""
    optimizer = nr.gp_ucb(POOL, kernel=KERNEL, noise_std=0.3, start=[], seed=0)
    history = [3, 9, 14, 20, 27, 33][:told]
    y = np.array([value(row, 0) for row in history])
    if told:
        optimizer.tell(history, y)
    stale = DenseGP(KERNEL, 0.09, X[history], y)
    beta = 1 + math.sqrt(stale.log_det() + 2 * math.log(10))
    mean, under_way = stale.mean(X), list[int]()
    before = optimizer.posterior.mean(X)
    for worker in ["a", "b", "c", "d"]:
        rows = history + under_way
        now = DenseGP(KERNEL, 0.09, X[rows], np.zeros(len(rows)))
        expected = int(np.argmax(mean + beta * np.sqrt(now.variance(X))))
        batch = optimizer.ask(worker=worker)
        assert rows_of(batch) == [expected]
        under_way.append(expected)
    assert len(set(under_way)) == 4
    np.testing.assert_array_equal(optimizer.posterior.mean(X), before)
    np.testing.assert_allclose(before, mean, atol=1e-12)
    for worker, row in zip("abcd", under_way, strict=True):
        assert rows_of(optimizer.ask(worker=worker)) == [row]


@every_model
def test_open_evaluations_shorten_the_batches_of_others(name: str) -> None:
    """The bound on stale variances must count what colleagues have under way."""
    alone, together = warm(name, turns=8), warm(name, turns=8)
    mine = alone.ask(at_most=500)
    theirs = together.ask(worker="other", at_most=500)
    np.testing.assert_array_equal(mine.sequence, theirs.sequence)
    second = together.ask(at_most=500)
    assert len(second) >= 1
    if name.startswith(("gp_bucb", "bbkb")):
        assert "limit" in mine.reason  # so the bound is used up, and one evaluation is left
        assert len(second) == 1


@every_algorithm
def test_splitting_a_tell_changes_nothing(name: str) -> None:
    """Bit for bit: whether a plate is reported well by well or as a whole is not information."""

    def at_once(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        o.tell(b, v)

    def as_array(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        o.tell(b, np.array(v))

    def as_tuple(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        o.tell(b[:], tuple(v))

    def in_two(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        o.tell(b[:2], v[:2])
        o.tell(b[2:], v[2:])

    def one_by_one(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        for i in range(len(b)):
            o.tell(b[i : i + 1], v[i])

    def by_ids(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        o.tell(b.sequence, v)

    def by_single_ids(o: nr.Optimizer, b: nr.Batch, v: list[float]) -> None:
        for row, number in zip(rows_of(b), v, strict=True):
            o.tell(row, number)

    ways = [at_once, as_array, as_tuple, in_two, one_by_one, by_ids, by_single_ids]
    traces = []
    for way in ways:
        optimizer, trace = build(name), list[list[int]]()
        for _ in range(7):
            batch = optimizer.ask(at_most=5)
            way(optimizer, batch, values(batch, optimizer.spent))
            trace.append(rows_of(batch))
        bits = b"" if name in BASELINES else optimizer.posterior.mean(X).tobytes()
        traces.append((trace, bits))
    for way, outcome in zip(ways, traces, strict=True):
        assert outcome == traces[0], way.__name__


@every_algorithm
def test_looking_changes_no_choice(name: str, tmp_path: Path) -> None:
    """A dashboard that refreshes every second must not steer the run."""
    seen, unseen = build(name), build(name)
    for _ in range(6):
        batch, same = seen.ask(at_most=5), unseen.ask(at_most=5)
        for _ in range(2):
            repr(seen)
            seen.save(tmp_path / "run")
            if seen.evaluations:
                seen.best()
            if seen.evaluations and name in MODELS:
                seen.certificate()
                seen.posterior.variance(X)
        assert rows_of(batch) == rows_of(same)
        told = values(batch, seen.spent)
        seen.tell(batch[:2], told[:2])
        seen.best()
        seen.tell(batch[2:], told[2:])
        unseen.tell(same, told)
    if name in MODELS:
        np.testing.assert_array_equal(seen.posterior.mean(X), unseen.posterior.mean(X))


@every_algorithm
def test_the_seed_decides(name: str) -> None:
    """A published curve must be had again from its seed, and error bars need different ones."""
    runs = []
    for seed in (0, 0, 1, 2, 3):
        optimizer = build(name, seed=seed)
        runs.append([step(optimizer) for _ in range(5)])
    assert runs[0] == runs[1]
    assert any(runs[0] != other for other in runs[2:])


@every_algorithm
def test_minimising_mirrors_maximising(name: str) -> None:
    """One sign at the rim; everything a user sees must come back with it."""
    up, down = build(name, offset=0.5), build(name, goal="min", offset=-0.5)
    for _ in range(6):
        batch, mirror = up.ask(at_most=5), down.ask(at_most=5)
        assert rows_of(batch) == rows_of(mirror)
        told = values(batch, up.spent)
        up.tell(batch, told)
        down.tell(mirror, [-v for v in told])
    best, worst = up.best(), down.best()
    assert (best.id, best.evaluations) == (worst.id, worst.evaluations)
    assert best.mean == -worst.mean
    if name in BASELINES:
        return
    assert best.std == worst.std
    assert (best.lower, best.upper) == (-worst.upper, -worst.lower)
    np.testing.assert_array_equal(up.posterior.mean(X), -down.posterior.mean(X))
    np.testing.assert_array_equal(up.posterior.variance(X), down.posterior.variance(X))
    a, b = up.certificate(), down.certificate()
    assert (a.gap, a.id, a.beta) == (b.gap, b.id, b.beta)
    assert (a.guaranteed, a.reachable) == (-b.guaranteed, -b.reachable)
    assert b.reachable <= b.guaranteed


@every_algorithm
def test_an_offset_shifts_and_nothing_else(name: str) -> None:
    """Celsius or Kelvin: values and prior mean shifted alike give the same experiment."""
    plain, shifted = build(name), build(name, offset=256.0)
    for _ in range(6):
        batch, same = plain.ask(at_most=5), shifted.ask(at_most=5)
        assert rows_of(batch) == rows_of(same)
        told = values(batch, plain.spent)
        plain.tell(batch, told)
        shifted.tell(same, [v + 256.0 for v in told])
    assert shifted.best().id == plain.best().id
    assert shifted.best().mean == pytest.approx(plain.best().mean + 256.0, abs=1e-12)
    if name in MODELS:
        assert shifted.certificate().gap == plain.certificate().gap
        assert shifted.certificate().reachable == plain.certificate().reachable + 256.0


def test_ids_close_open_evaluations_oldest_first() -> None:
    """A colleague reports by sample number; what the robots hold must shrink accordingly."""
    optimizer = nr.gp_ucb(nr.Pool([[0.0]]), kernel=KERNEL, noise_std=0.5)
    first, second, third = (optimizer.ask(worker=w) for w in "abc")
    optimizer.tell([0], [0.3])
    assert optimizer.ask(worker="b").ticket == second.ticket
    assert optimizer.ask(worker="c").ticket == third.ticket
    fourth = optimizer.ask(worker="a")
    assert fourth.ticket > third.ticket > first.ticket
    optimizer.tell([0, 0], [0.1, 0.2])
    assert optimizer.ask(worker="a").ticket == fourth.ticket
    assert optimizer.ask(worker="b").ticket > fourth.ticket


@every_algorithm
def test_values_never_asked_for_are_taken(name: str) -> None:
    """Last year's measurements, and those a chemist made on a hunch."""
    optimizer = build(name)
    rows = [7, 3, 7, 30]
    optimizer.tell(rows, [value(row, i) for i, row in enumerate(rows)])
    assert (optimizer.evaluations, optimizer.unique, optimizer.spent) == (4, 3, 4)
    batch = optimizer.ask(at_most=3)
    optimizer.tell([11], [9.0])
    np.testing.assert_array_equal(optimizer.ask().sequence, batch.sequence)
    optimizer.tell(batch, values(batch, 4))
    assert optimizer.best().id == 11
    if name in MODELS:
        assert optimizer.batches == 1
        assert "start" not in batch.reason


def test_batches_told_out_of_order() -> None:
    """The last robot to start may be the first to finish."""
    run, twin = warm("gp_ucb"), warm("gp_ucb")
    first, second, third = (run.ask(worker=w) for w in "abc")
    for w in "abc":
        twin.ask(worker=w)
    for batch in (third, first, second):
        run.tell(batch, values(batch, batch.ticket))
    for batch in (first, second, third):
        twin.tell(batch, values(batch, batch.ticket))
    np.testing.assert_allclose(run.posterior.mean(X), twin.posterior.mean(X), atol=1e-12)
    np.testing.assert_allclose(run.posterior.variance(X), twin.posterior.variance(X), atol=1e-12)
    assert run.best().id == twin.best().id


@every_algorithm
def test_a_failure_is_spent_but_teaches_nothing(name: str) -> None:
    """A vial broke: the point keeps its earlier count and may be asked for again."""
    optimizer = warm(name)
    before = None if name in BASELINES else optimizer.posterior.mean(X)
    spent, told = optimizer.spent, optimizer.evaluations
    batch = optimizer.ask(at_most=4)
    optimizer.tell(batch, [nr.FAILED] * len(batch))
    assert (optimizer.spent, optimizer.evaluations) == (spent + len(batch), told)
    if name in ("gp_ucb", "gp_ei", "mini_gp_ucb", "mini_gp_ei"):
        np.testing.assert_array_equal(optimizer.posterior.mean(X), before)
        np.testing.assert_array_equal(optimizer.ask(at_most=4).sequence, batch.sequence)


def test_tell_failed_and_fail_are_the_same() -> None:
    """Two ways to say it, one meaning."""
    runs = [warm("mini_gp_ucb") for _ in range(3)]
    for i, optimizer in enumerate(runs):
        batch = optimizer.ask(at_most=3)
        if i == 0:
            optimizer.fail(batch)
            optimizer.fail(batch)
        elif i == 1:
            optimizer.tell(batch, [nr.FAILED] * len(batch))
        else:
            optimizer.tell(batch.sequence, [nr.FAILED] * len(batch))
    assert len({optimizer.spent for optimizer in runs}) == 1
    choices = [step(optimizer) for optimizer in runs]
    assert choices[0] == choices[1] == choices[2]


def test_part_of_a_batch_fails() -> None:
    """Two of six wells leaked; the other four are values like any."""
    optimizer, twin = nr.uniform(POOL, batch_size=6), nr.uniform(POOL, batch_size=6)
    batch, same = optimizer.ask(), twin.ask()
    v = values(batch, 0)
    optimizer.tell(batch, [v[0], nr.FAILED, v[2], v[3], nr.FAILED, v[5]])
    assert (optimizer.evaluations, optimizer.spent) == (4, 6)
    twin.fail(same[1:2])
    np.testing.assert_array_equal(twin.ask().sequence, same.sequence[:1])
    twin.fail(same[4:5])
    for i in (0, 2, 3, 5):
        twin.tell(same[i : i + 1], v[i])
    assert (twin.evaluations, twin.spent) == (4, 6)
    assert twin.best().id == optimizer.best().id
    assert twin.best().mean == optimizer.best().mean


@every_algorithm
def test_a_late_value_for_a_failure_is_taken(name: str) -> None:
    """It was only the network: the value is counted, and the failure no longer."""
    optimizer, twin = warm(name), warm(name)
    batch, same = optimizer.ask(at_most=2), twin.ask(at_most=2)
    optimizer.fail(batch)
    optimizer.tell(batch, values(batch, 0))
    twin.tell(same, values(same, 0))
    assert (optimizer.spent, optimizer.evaluations) == (twin.spent, twin.evaluations)
    assert step(optimizer) == step(twin)


def test_a_late_value_is_taken_batches_later() -> None:
    """Days may pass before the lost message is found."""
    optimizer = nr.bbkb(POOL, kernel=KERNEL, noise_std=0.3, limit=8.0)
    step(optimizer)
    lost = optimizer.ask(at_most=3)
    optimizer.fail(lost)
    for _ in range(3):
        step(optimizer)
    spent, told = optimizer.spent, optimizer.evaluations
    optimizer.tell(lost[:1], values(lost[:1], 0))
    assert (optimizer.spent, optimizer.evaluations) == (spent, told + 1)
    step(optimizer)
    assert optimizer.certificate().gap > 0


@every_algorithm
def test_the_excluded_is_never_asked_for_and_never_best(name: str) -> None:
    """Too toxic, or sold out: not one more evaluation of it, and no recommendation."""
    optimizer = warm(name)
    optimizer.tell([17], [50.0])
    assert optimizer.best().id == 17
    gone = [17, *np.argsort(-F)[:10].tolist()]
    optimizer.exclude(gone)
    assert optimizer.best().id not in gone
    for _ in range(8):
        assert not set(step(optimizer)) & set(gone)
        assert optimizer.best().id not in gone
    if name in MODELS:
        assert optimizer.certificate().id not in gone


@every_algorithm
def test_the_excluded_is_not_asked_for_again_out_of_an_open_batch(name: str) -> None:
    """The worker stopped because the sample was dangerous; it must not be handed it again."""
    optimizer = warm(name)
    batch = optimizer.ask(at_most=4)
    gone = int(batch.ids[0])
    optimizer.exclude([gone])
    assert gone not in rows_of(optimizer.ask(at_most=4))


@every_algorithm
def test_names_and_rows_are_the_same_run(name: str) -> None:
    """Names are how people speak; they must not be how we choose."""
    names = [f"sample {i:02d}" for i in np.random.default_rng(0).permutation(40)]
    plain, named = build(name), build(name, nr.Pool(X, names=names))
    for _ in range(5):
        batch, same = plain.ask(at_most=5), named.ask(at_most=5)
        assert [names[row] for row in batch.ids] == same.ids.tolist()
        told = values(batch, plain.spent)
        plain.tell(batch, told)
        named.tell(same.sequence.tolist(), told)
    row = int(plain.best().id)
    assert named.best().id == names[row]
    assert named.best().mean == plain.best().mean
    np.testing.assert_array_equal(named.best().x, X[row])
    named.exclude(names[row])
    assert named.best().id != names[row]


@every_model
def test_averages_are_the_values_they_average(name: str) -> None:
    """An instrument that only reports mean and number of scans."""
    counts = np.array([1, 3, 5, 2])
    rows = np.array([4, 12, 25, 31])
    raw = [[value(int(row), i) for i in range(n)] for row, n in zip(rows, counts, strict=True)]
    single, averaged = build(name, seed=4), build(name, seed=4)
    single.tell(np.repeat(rows, counts), [v for each in raw for v in each])
    averaged.tell(rows, means=[np.mean(each) for each in raw], counts=counts)
    assert averaged.evaluations == single.evaluations == 11
    np.testing.assert_allclose(averaged.posterior.mean(X), single.posterior.mean(X), atol=1e-12)
    np.testing.assert_allclose(
        averaged.posterior.variance(X), single.posterior.variance(X), atol=1e-12
    )
    assert averaged.certificate().beta == pytest.approx(single.certificate().beta, rel=1e-12)
    assert step(averaged) == step(single)


def test_averages_close_as_many_open_evaluations_as_they_count() -> None:
    """Otherwise the batch would be measured a second time."""
    optimizer = nr.mini_gp_ucb(nr.Pool([[0.0]]), kernel=KERNEL, noise_std=2.0, limit=4.0, start=[])
    batch = optimizer.ask(at_most=8)
    assert len(batch) == 8
    optimizer.tell([0], means=[0.2], counts=[5])
    assert len(optimizer.ask()) == 3
    optimizer.tell([0], means=[0.1], counts=[7])
    assert optimizer.ask(at_most=1).ticket == batch.ticket + 1
    assert optimizer.evaluations == 12


@every_algorithm
@pytest.mark.parametrize("turns", [0, 1, 4, 9])
def test_at_most_cuts_a_prefix(name: str, turns: int) -> None:
    """A smaller oven must not change what comes first."""
    whole = rows_of(warm(name, turns).ask(at_most=60))
    for k in (1, 2, 4):
        part = warm(name, turns).ask(at_most=k)
        assert len(part) <= k
        assert rows_of(part) == whole[:k]


REASONS = {
    "gp_ucb": "fixed size 1 reached",
    "gp_ei": "fixed size 1 reached",
    "gp_bucb-product": "limit reached (product bound)",
    "gp_bucb-local": "limit reached (local ratio)",
    "bkb": "fixed size 1 reached",
    "bbkb-global": "limit reached (global ratio)",
    "bbkb-local": "limit reached (local ratio)",
    "mini_gp_ucb": "repeat rule",
    "mini_gp_ei": "repeat rule",
    "uniform": "fixed size 6 reached",
    "epsilon_greedy": "fixed size 6 reached",
}


@every_algorithm
def test_a_batch_says_why_it_ended(name: str) -> None:
    """A user who waits for a full plate must see what keeps it small."""
    optimizer = build(name)
    first = optimizer.ask()
    if name in MODELS:
        assert first.reason == "start: one candidate drawn uniformly"
    optimizer.tell(first, values(first, 0))
    for _ in range(5):
        batch = optimizer.ask(at_most=500)
        assert batch.reason == REASONS[name]
        optimizer.tell(batch, values(batch, optimizer.spent))


@pytest.mark.parametrize("name", [n for n in REASONS if REASONS[n] != "fixed size 1 reached"])
def test_a_batch_cut_by_at_most_says_so(name: str) -> None:
    """Else the user would blame the rule for a plate that he cut himself."""
    optimizer = warm(name, turns=9)
    assert len(warm(name, turns=9).ask(at_most=500)) > 1
    batch = optimizer.ask(at_most=1)
    assert len(batch) == 1
    assert batch.reason == "at_most 1 reached"


def test_starts_are_given_once_and_first() -> None:
    """Controls on every plate: first, each once, and not those already measured."""
    optimizer = nr.mini_gp_ucb(POOL, kernel=KERNEL, noise_std=0.3, start=[5, 8, 13])
    optimizer.tell([8], [0.1])
    batch = optimizer.ask(at_most=1)
    assert (rows_of(batch), batch.reason) == ([5], "start: candidates given")
    optimizer.tell(batch, values(batch, 0))
    batch = optimizer.ask()
    assert rows_of(batch) == [13]
    optimizer.tell(batch, values(batch, 0))
    assert optimizer.ask().reason == "repeat rule"


@pytest.mark.parametrize("name", ["gp_bucb", "bbkb"])
def test_a_minimum_batch_is_kept_after_the_start(name: str) -> None:
    """96 wells are to be filled: that is what uncertainty sampling was for."""
    make = {"gp_bucb": nr.gp_bucb, "bbkb": nr.bbkb}[name]
    settings = {"rule": "global", "limit": 3.0, "min_batch": 4, "preset": "experiments"}
    optimizer = make(POOL, kernel=KERNEL, noise_std=0.5, **settings)  # type: ignore[operator]  # a table of functions
    started = False
    for _ in range(8):
        batch = optimizer.ask(at_most=200)
        started = started or "start" not in batch.reason
        if started:
            assert len(batch) >= 4
        else:
            assert batch.reason == "start: uncertainty sampling for a minimum batch"
        optimizer.tell(batch, values(batch, optimizer.spent))
    assert started


@pytest.mark.parametrize("name", ["gp_ucb", "mini_gp_ucb", "gp_bucb-product", "mini_gp_ei"])
@pytest.mark.parametrize("seed", range(4))
def test_a_certificate_holds_where_its_assumptions_do(name: str, seed: int) -> None:
    """f has norm 1 and is told to have it: nobody may be promised more than is true."""
    problem = rkhs_problem(seed, candidates=120)
    optimizer = MODELS[name](problem.pool, kernel=problem.kernel, noise_std=0.1, delta=0.05)
    for budget in (1, 5, 40):
        drive(optimizer, problem, budget, seed)
        certificate, best = optimizer.certificate(), optimizer.best()
        assert certificate.id == best.id
        assert certificate.is_sound
        assert certificate.delta == 0.05
        true, top = problem.values[int(best.id)], problem.values.max()
        assert certificate.gap >= top - true
        assert certificate.reachable >= top
        assert certificate.guaranteed <= true
        assert best.lower <= true <= best.upper
        assert certificate.guaranteed == pytest.approx(best.lower, abs=1e-10)
        assert certificate.gap == pytest.approx(certificate.reachable - certificate.guaranteed)


@pytest.mark.parametrize(
    ("make", "theorem", "sound"),
    [
        (nr.gp_ucb, "MINI (2022) Theorem 4.4", True),
        (nr.gp_ei, "MINI (2022) Theorem 4.4", True),
        (nr.gp_bucb, "MINI (2022) Theorem 4.4", True),
        (nr.mini_gp_ucb, "MINI (2022) Theorem 4.4", True),
        (partial(nr.mini_gp_ucb, width=nr.BayesianWidth(0.2)), "MINI (2022) Theorem 4.5", True),
        (nr.bkb, "BKB (2019) Theorem 2", False),
        (nr.bbkb, "BBKB (2020) Theorem 2", False),
        (partial(nr.bkb, preset="theory"), "BKB (2019) Theorem 2", True),
        (partial(nr.bbkb, preset="theory"), "BBKB (2020) Theorem 2", True),
        (partial(nr.bbkb, preset="theory", oversample=2.0), "BBKB (2020) Theorem 2", False),
    ],
)
def test_a_certificate_names_its_theorem_and_whether_it_applies(
    make: Callable[..., nr.Optimizer], theorem: str, sound: bool
) -> None:
    """Figures' constants are not the theorem's; who shows them as such must be told."""
    optimizer = make(POOL, kernel=KERNEL, noise_std=0.3, delta=0.2)
    for _ in range(3):
        step(optimizer)
    certificate = optimizer.certificate()
    assert certificate.theorem.startswith(theorem)
    assert certificate.is_sound is sound
    assert certificate.delta == 0.2
    assert ("DOES NOT HOLD" in str(certificate)) is not sound
    assert "with probability 0.8" in str(certificate).splitlines()[0].lower()


@every_model
def test_the_gap_closes(name: str) -> None:
    """Otherwise a certificate would never let anybody stop."""
    optimizer = build(name, nr.Pool(X[:6]))
    step(optimizer)
    early = optimizer.certificate().gap
    rows = np.arange(6)
    optimizer.tell(rows, means=F[:6], counts=np.full(6, 100_000))
    optimizer.tell(optimizer.ask(at_most=1), F[int(optimizer.ask().ids[0])])
    assert optimizer.certificate().gap < 0.2 * early
    assert optimizer.best().id == int(np.argmax(F[:6]))


@every_model
def test_best_is_the_highest_mean_of_evaluated_rows(name: str) -> None:
    """Not the luckiest value, and not a candidate nobody has ever made."""
    optimizer = warm(name, turns=6)
    evaluated = np.array(sorted({row for _ in range(3) for row in step(optimizer)}))
    best = optimizer.best()
    mean, std = optimizer.posterior.mean(X), optimizer.posterior.std(X)
    assert best.mean == pytest.approx(mean[int(best.id)], abs=1e-12)
    assert best.std == pytest.approx(std[int(best.id)], abs=1e-9)
    assert np.all(mean[evaluated] <= best.mean + 1e-12)
    beta = optimizer.certificate().beta
    assert best.upper - best.mean == pytest.approx(beta * best.std, rel=1e-6)
    np.testing.assert_array_equal(best.x, X[int(best.id)])


def test_a_baseline_names_the_highest_average() -> None:
    """It has no model; a single lucky value among many must not be averaged away wrongly."""
    optimizer = nr.uniform(POOL)
    optimizer.tell([3, 3, 8, 5, 5], [1.0, 3.0, 1.9, 2.0, 2.0])
    best = optimizer.best()
    assert (best.id, best.mean, best.evaluations) == (3, 2.0, 2)
    assert np.isnan([best.std, best.lower, best.upper]).all()
    assert str(best) == "3: average 2, evaluated twice"


def test_epsilon_greedy_stays_on_the_best_average_once_it_is_sure() -> None:
    """With a/t^b near 0 it must exploit, and never the excluded."""
    optimizer = nr.epsilon_greedy(POOL, a=1e-9, b=1.0, batch_size=5)
    optimizer.tell([3, 8, 5], [1.0, 2.0, 2.0])
    assert step(optimizer) == [5] * 5
    optimizer.exclude([5])
    assert step(optimizer) == [8] * 5
    eager = nr.epsilon_greedy(POOL, a=1e9, b=1.0, batch_size=40)
    eager.tell([3], [1.0])
    assert len(set(step(eager, at_most=40))) > 20


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3)), min_size=1, max_size=25))
def test_any_history_gives_the_textbook_posterior(history: Sequence[tuple[int, float]]) -> None:
    """Told singly, in any order and with repeats, off the ask path."""
    optimizer = nr.gp_ucb(nr.Pool(X[:6]), kernel=KERNEL, noise_std=0.4)
    rows: Indices = np.array([row for row, _ in history])
    y: Vector = np.array([v for _, v in history])
    for row, v in history:
        optimizer.tell(row, v)
    dense = DenseGP(KERNEL, 0.16, X[rows], y)
    np.testing.assert_allclose(optimizer.posterior.mean(X), dense.mean(X), atol=1e-8)
    np.testing.assert_allclose(optimizer.posterior.variance(X), dense.variance(X), atol=1e-8)
    np.testing.assert_allclose(
        optimizer.posterior.covariance(X[:4], X[4:9]), dense.covariance(X[:4], X[4:9]), atol=1e-8
    )
    assert optimizer.posterior.log_det == pytest.approx(dense.log_det(), abs=1e-8)
    assert optimizer.posterior.effective_dimension() == pytest.approx(dense.effective_dimension())


def test_repr_counts() -> None:
    """What a notebook shows after a run."""
    optimizer = warm("mini_gp_ucb", turns=3)
    text = f"Optimizer(Bandit, {optimizer.pool!r}, {optimizer.evaluations} evaluations of "
    assert repr(optimizer) == f"{text}{optimizer.unique} candidates)"


@every_algorithm
def test_peeking_shows_what_ask_will_give_and_opens_nothing(name: str) -> None:
    """Somebody looks over the shoulder; the run must not notice."""
    optimizer, twin = warm(name), warm(name)
    for turn in range(3):
        looked = optimizer.peek(at_most=5)
        again = optimizer.peek(at_most=5)
        assert optimizer.batches == twin.batches == len(optimizer.trace)
        batch = optimizer.ask(at_most=5)
        assert twin.ask(at_most=5).sequence.tolist() == rows_of(batch)
        for seen in (looked, again, optimizer.peek(at_most=5)):
            assert (seen.ticket, seen.reason) == (batch.ticket, batch.reason)
            np.testing.assert_array_equal(seen.sequence, batch.sequence)
            np.testing.assert_array_equal(seen.x, batch.x)
        for run in (optimizer, twin):
            run.tell(batch, values(batch, turn))


def test_peeking_numbers_new_points_of_a_box_as_ask_will() -> None:
    """A point shown as number 4 must be number 4 when it is told."""
    box = nr.Box([(0.0, 2.0), (0.0, 1.0)])
    optimizer = nr.gp_bucb(box, kernel=nr.RBF(0.3), noise_std=0.5, limit=6.0, seed=2)
    for _ in range(5):
        looked, batch = optimizer.peek(at_most=4), optimizer.ask(at_most=4)
        np.testing.assert_array_equal(looked.sequence, batch.sequence)
        np.testing.assert_allclose(looked.x, batch.x)
        optimizer.tell(looked, [float(x.sum()) for x in looked])
    assert optimizer.evaluations == optimizer.trace["size"].sum()


def test_what_was_only_peeked_at_cannot_be_told() -> None:
    """It was never asked for: the ticket does not exist."""
    optimizer = nr.uniform(POOL)
    with pytest.raises(nr.NoRegretError, match="was not given out"):
        optimizer.tell(optimizer.peek(), [0.0])
    with pytest.raises(nr.NoRegretError, match=r"peek\(at_most"):
        optimizer.peek(at_most=0)
    with pytest.raises(nr.NoRegretError, match=r"peek\(worker"):
        optimizer.peek(worker=3)  # type: ignore[arg-type]  # wrong on purpose


def test_the_goal_is_told_back() -> None:
    """Plots turn their arrows by it."""
    assert nr.uniform(POOL).goal == "max"
    assert nr.uniform(POOL, goal="min").goal == "min"


@pytest.mark.parametrize("make", [nr.auto, nr.uniform, nr.regularized_evolution])
def test_of_candidates_that_are_alike_the_first_told_is_recommended(
    make: Callable[..., nr.Optimizer],
) -> None:
    """Else the first row of a pool would be, in every run in which nobody has clicked yet."""
    opt = make(nr.Pool(np.arange(12.0)[:, None]), seed=0)
    opt.tell([7, 3, 11, 0], [0.0, 0.0, 0.0, 0.0])
    assert opt.best().id == 7
    opt.tell([3], [1.0])
    assert opt.best().id == 3

"""tell, fail and exclude: what a user may rely on, in parts, late, by id or as averages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from small_optimizers import (
    BASELINES,
    KERNEL,
    MODELS,
    POOL,
    F,
    X,
    build,
    every_algorithm,
    every_model,
    rows_of,
    step,
    value,
    values,
    warm,
)


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


WAYS: dict[str, Callable[[nr.Optimizer, nr.Batch, list[float]], object]] = {
    "at once": lambda o, b, v: o.tell(b, v),
    "as array": lambda o, b, v: o.tell(b, np.array(v)),
    "as tuple": lambda o, b, v: o.tell(b[:], tuple(v)),
    "in two": lambda o, b, v: (o.tell(b[:2], v[:2]), o.tell(b[2:], v[2:])),
    "one by one": lambda o, b, v: [o.tell(b[i : i + 1], v[i]) for i in range(len(b))],
    "by ids": lambda o, b, v: o.tell(b.sequence, v),
    "by single ids": lambda o, b, v: [o.tell(*one) for one in zip(rows_of(b), v, strict=True)],
    "as averages": lambda o, b, v: o.tell(b.sequence, means=v, counts=[1] * len(v)),
}


@every_algorithm
def test_splitting_a_tell_changes_nothing(name: str) -> None:
    """Bit for bit: whether a plate is reported well by well or as a whole is not information."""
    seen = {}
    for said, way in WAYS.items():
        optimizer, trace = build(name), list[list[int]]()
        for _ in range(7):
            batch = optimizer.ask(at_most=5)
            way(optimizer, batch, values(batch, optimizer.spent))
            trace.append(rows_of(batch))
        bits = b"" if name in BASELINES else optimizer.posterior.mean(X).tobytes()
        seen[said] = (trace, bits)
    assert seen == dict.fromkeys(WAYS, seen["at once"])


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

"""What is told of instruments, how it is explained, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret.errors import TellError
from noregret.optimizer.feedback import Report, reports
from small_instruments import NOISE, Diary, live_through, make
from small_optimizers import (
    BASELINES,
    KERNEL,
    POOL,
    build,
    everything,
    refused_by,
)


def test_telling_again_by_another_instrument_is_an_error(tmp_path: Path) -> None:
    """Twice the same is a network that stutters; another noise is another measurement."""
    optimizer = make("gp_bucb-product", seed=3)
    for _ in range(3):
        optimizer.tell(optimizer.ask(at_most=1), [0.2])
    batch = optimizer.ask(at_most=3)
    rest = nr.FAILED, *[0.2] * (len(batch) - 1)
    noise = [float("nan"), *[0.1] * (len(batch) - 1)]  # of what failed nothing need be known
    optimizer.tell(batch, rest, noise_std=noise)
    before = everything(optimizer, tmp_path)
    optimizer.tell(batch, rest, noise_std=noise)
    assert everything(optimizer, tmp_path) == before
    if len(batch) > 1:
        for other in (None, 0.2):
            with pytest.raises(TellError, match="batch 3 was told before with another noise_std"):
                optimizer.tell(batch[1:], rest[1:], noise_std=other)
    optimizer.tell(batch[:1], [0.3], noise_std=0.1)  # late, after it failed
    optimizer.tell(optimizer.ask(), [0.2] * len(optimizer.ask()))  # which closes the batch before
    before = everything(optimizer, tmp_path)
    optimizer.tell(batch, [0.3, *rest[1:]], noise_std=0.1)
    assert everything(optimizer, tmp_path) == before
    with pytest.raises(TellError, match="was told before"):
        optimizer.tell(batch, [0.3, *rest[1:]])


def test_averages_of_open_evaluations_close_the_oldest_first() -> None:
    """Five reports of two instruments on what two workers hold and nobody asked for."""
    optimizer = nr.mini_gp_ucb(nr.Pool([[0.0]]), kernel=KERNEL, noise_std=2.0, limit=3.0)
    for worker in "ab":
        optimizer.ask(worker=worker, at_most=2)
    optimizer.tell([0, 0, 0], means=[0.1, 0.2, 0.3], counts=[1, 2, 2], noise_std=[1.0, 2.0, 4.0])
    known, total = optimizer.evidence, 4.0 + 2 * 1.0 + 2 * 0.25
    assert known.asked_counts.tolist() == [1, 2]
    assert known.asked_weights.tolist() == [4.0, 1.0 + 1.0]
    assert known.unasked_weights.tolist() == [total - 6.0] == [known.told.w[0] - 6.0]


def _of_one_row(weights: list[float]) -> Report:
    (report,) = reports(np.zeros(len(weights), dtype=np.int64), None, np.array(weights))
    return report


def test_reports_are_a_list_of_evaluations() -> None:
    rows, counts = np.array([4, 2, 4, 2, 4]), np.array([1, 3, 2, 1, 1])
    weights = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    each = {r.row: r for r in reports(rows, counts, weights)}
    of_four = [0.5, 2.0, 2.0, 8.0]
    for cut in range(5):
        first = each[4].first(cut)
        assert first is not None
        assert first.tolist() == of_four[:cut]
        left = each[4].without(cut)
        assert (left.count, left.added_to(1.0)) == (4 - cut, 1.0 + sum(of_four[cut:]))
    assert each[2].added_to(0.0) == 7.0
    one, rest = (_of_one_row(part) for part in ([0.1], [0.2, 0.3]))
    both = _of_one_row([0.1, 0.2, 0.3])
    assert rest.added_to(one.added_to(0.0)) == both.added_to(0.0)  # to the last bit
    plain = list(reports(rows, counts))
    assert [(r.row, r.count, r.first(1), r.added_to(0.5)) for r in plain] == [
        (2, 4, None, 4.5),
        (4, 4, None, 4.5),
    ]
    assert [(r.row, r.count) for r in reports(rows)] == [(2, 2), (4, 3)]


BAD: dict[str, tuple[object, str]] = {
    "no noise": (0.0, r"must be above 0 .*noise_std=0\.5, got 0\. .*give a hundredth"),
    "less than none": ([0.1, -0.2], r"above 0 .*got -0\.2"),
    "a NaN": ([float("nan"), 0.1], "above 0 .*got nan"),
    "endless noise": (float("inf"), "within a factor 1e\\+06 .*got inf"),
    "far too little": (1e-9, "within a factor 1e\\+06 .*got 1e-09"),
    "far too much": ([0.1, 1e9], r"within a factor 1e\+06 .*got 1e\+09"),
    "too many": ([0.1, 0.1, 0.1], r"got 2 values and noise_std=... of shape \(3,\)"),
    "one in a list": ([0.1], r"got 2 values and noise_std=... of shape \(1,\)"),
    "a table": ([[0.1, 0.2]], r"of shape \(1, 2\)"),
    "words": (["fine", "coarse"], "must be a number, or one per value, got .*'fine'"),
}


@pytest.mark.parametrize("wrong", BAD)
@pytest.mark.parametrize("name", ["mini_gp_ucb", "bbkb-global", "ts_qff"])
def test_wrong_noise_is_refused_and_changes_nothing(wrong: str, name: str, tmp_path: Path) -> None:
    noise, words = BAD[wrong]
    optimizer = make(name)
    live_through(optimizer, Diary(), 1)
    new = [[0.123, 0.456], [0.5, 0.5]]
    batch = optimizer.ask(at_most=2)
    calls: list[Callable[[], None]] = [
        lambda: optimizer.tell([1, 2], [0.1, 0.2], noise_std=noise),
        lambda: optimizer.tell(new, [0.1, 0.2], noise_std=noise),
        lambda: optimizer.tell([1, 2], means=[0.1, 0.2], counts=[2, 2], noise_std=noise),
    ]
    if len(batch) == 2:
        calls.append(lambda: optimizer.tell(batch, [0.1, 0.2], noise_std=noise))
    for call in calls:
        with refused_by(optimizer, tmp_path, words):
            call()


@pytest.mark.parametrize("name", [*BASELINES, "auto"])
def test_without_a_noise_of_its_own_a_run_can_weigh_nothing(name: str, tmp_path: Path) -> None:
    """auto fits noise to the values, and would have to know which of them are of one kind."""
    optimizer = build(name)
    optimizer.tell([1, 2], [0.1, 0.2])
    words = r"was given none\. .*such as noregret.mini_gp_ucb"
    with refused_by(optimizer, tmp_path, words):
        optimizer.tell([1, 2], [0.1, 0.2], noise_std=0.1)


def test_an_explanation_says_what_values_weigh() -> None:
    optimizer = make("gp_ucb")
    optimizer.tell([3, 3], [0.1, 0.2], noise_std=[NOISE, NOISE / 2])
    why = optimizer.explain(3)
    assert (why.evaluations, why.weight) == (2, 5.0)
    assert "Evaluated twice, weighing 5, average 0.18." in str(why)
    optimizer.tell([4], [0.1])
    assert "Evaluated once, average 0.1." in str(optimizer.explain(4))


def test_the_spread_of_values_is_in_units_of_the_run() -> None:
    """Replicates by several instruments scatter each by its own noise: by weight, by one."""
    rng, optimizer = np.random.default_rng(0), make("gp_ucb")
    noise = rng.choice([0.1, 0.5, 2.0], 4000)
    optimizer.tell([1] * 4000, 0.3 + noise * rng.standard_normal(4000), noise_std=noise)
    assert optimizer.evaluated.deviations[0] == pytest.approx(NOISE, rel=0.05)


def test_all_of_several_may_fail() -> None:
    optimizer = nr.gp_ucb(nr.Pool.numbered(3), kernel=nr.RBF(), noise_std=1.0)
    optimizer.tell([0, 2], [nr.FAILED, nr.FAILED], noise_std=[1.0, 2.0])
    assert (optimizer.evaluations, optimizer.spent) == (0, 2)


@pytest.mark.parametrize("told", [0.0, NOISE])
def test_deterministic_values_have_no_noise_to_tell(told: float, tmp_path: Path) -> None:
    """0 says what is known; anything else contradicts it."""
    optimizer = nr.gp_ucb(POOL, kernel=KERNEL, noise_std=told, deterministic=True)
    optimizer.tell([1, 2], [0.1, nr.FAILED], noise_std=[0.0, 0.3])
    optimizer.tell([3], [0.2], noise_std=0)
    assert optimizer.evaluated.weights.tolist() == [1.0, 1.0]
    for noise in (0.1, float("nan"), [0.0, 0.1]):
        with refused_by(optimizer, tmp_path, "must be 0 where deterministic=True .*got"):
            optimizer.tell([4, 5], [0.1, 0.2], noise_std=noise)

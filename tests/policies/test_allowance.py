"""No candidate is evaluated more often than a run allows, whoever chooses and whatever happens."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import AskError, ExhaustedError
from noregret.policies import Evidence, Proposal
from noregret.policies.allowance import Allowance
from noregret.policies.baselines import Nothing
from small_caps import ALGORITHMS, MODEL, ON_POOLS, POOL, counts, measured

every_algorithm = pytest.mark.parametrize("name", ON_POOLS)


def until_exhausted(optimizer: nr.Optimizer, at_most: int = 5) -> str:
    """Ask and tell until nothing is left, and return what is said then."""
    for _ in range(10_000):
        try:
            batch = optimizer.ask(at_most=at_most)
        except ExhaustedError as error:
            return str(error)
        optimizer.tell(batch, measured(batch))
    raise AssertionError("the run does not end")


@every_algorithm
@pytest.mark.parametrize("most", [1, 3])
def test_every_candidate_is_evaluated_as_often_as_allowed_and_then_it_is_said(
    name: str, most: int
) -> None:
    """The last sample of each patient: no more, and none left over that could have been taken."""
    optimizer = ON_POOLS[name](POOL, at_most_each=most, seed=2)
    said = until_exhausted(optimizer)
    assert counts(optimizer) == dict.fromkeys(range(len(POOL)), most)
    often = {1: "once", 3: "3 times"}[most]
    assert f"every candidate that is not excluded was evaluated {often}" in said
    word = {1: " (or deterministic=True)", 3: ""}[most]
    assert f"at_most_each={most}{word} allows no more of any. Stop here and take best()." in said
    assert optimizer.best().id in range(len(POOL))


@every_algorithm
@given(st.integers(0, 2**20), st.integers(1, 4))
def test_no_more_is_handed_out_than_allowed_whatever_happens(
    name: str, seed: int, most: int
) -> None:
    """Workers, late and partial tells, failures, unasked values, exclusion, saving and loading."""
    rng = np.random.default_rng(seed)
    optimizer = ON_POOLS[name](POOL, at_most_each=most, seed=int(rng.integers(9)))
    for step in range(14):
        before, held = counts(optimizer), optimizer.batches
        worker = "abc"[int(rng.integers(3))]
        try:
            batch = optimizer.ask(at_most=int(rng.integers(1, 12)), worker=worker)
        except AskError:
            closed = optimizer.evidence.excluded
            rows = np.flatnonzero(~closed).tolist()
            given_up = set(optimizer.evidence.failed_rows.tolist())  # by auto
            assert all(before[row] >= most or row in given_up for row in rows)
            break
        if optimizer.batches > held:
            for row, count in Counter(np.asarray(batch.sequence).tolist()).items():
                assert before[row] + count <= most
        event = rng.random()
        if event < 0.2:
            optimizer.fail(batch[: len(batch) // 2])
        elif event < 0.7:
            part = batch[: int(rng.integers(len(batch) + 1))] if event < 0.4 else batch
            optimizer.tell(part, measured(part, seed))
        if rng.random() < 0.15:
            optimizer.tell([int(rng.integers(len(POOL)))], [0.3])
        if rng.random() < 0.1 and step < 5:
            optimizer.exclude([int(rng.integers(len(POOL)))])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_points_of_a_box_are_counted_too(name: str) -> None:
    """A box of whole numbers has candidates as a pool has; the same setting twice is the same."""
    optimizer = ALGORITHMS[name](nr.Box([(0, 2), (1, 3)], integer=[0, 1]), at_most_each=2, seed=1)
    said = until_exhausted(optimizer)
    seen = counts(optimizer)
    assert max(seen.values()) <= 2
    assert sum(seen.values()) >= 12  # of 18: the last few need not be found
    assert "at_most_each" in said or "no candidate is left" in said or "no point was found" in said


@pytest.mark.parametrize("name", ["gp_ei", "plate", "mini_gp_ucb", "batch_thompson", "auto"])
def test_a_point_of_a_box_is_not_taken_again(name: str) -> None:
    """Where no point may come twice, a corner that is the best is left after its first value."""
    optimizer = ALGORITHMS[name](nr.Box([(0, 1), (0, 1)]), at_most_each=1, seed=1)
    for _ in range(12):
        batch = optimizer.ask(at_most=4)
        optimizer.tell(batch, [x[0] + x[1] for x in batch])
    assert optimizer.unique == optimizer.evaluations


@pytest.mark.parametrize("name", ["plate", "batch_thompson", "uniform", "epsilon_greedy", "ts_qff"])
def test_plates_are_full_while_candidates_are_left(name: str) -> None:
    """A plate with empty wells costs as much as a full one."""
    size = 7 if name == "plate" else 6
    optimizer = ON_POOLS[name](POOL, at_most_each=1, **({"start": []} if size == 7 else {}))
    for left in (len(POOL), len(POOL) - size):
        batch = optimizer.ask()
        assert len(batch) == min(size, left)
        optimizer.tell(batch, measured(batch))


def test_a_batch_of_mini_is_cut_at_the_cap() -> None:
    """MINI 2022, §6: where evaluations of one candidate are limited, so are its stays."""
    make = partial(nr.mini_gp_ucb, POOL, limit=9.0, start=[], **MODEL)
    plain, capped = make().ask(), make(at_most_each=3).ask()
    assert (len(plain), plain.reason) == (8, "repeat rule")
    assert capped.repeats.tolist() == [3]
    assert capped.reason == "at_most_each 3 reached"
    assert make(at_most_each=8).ask().reason == "repeat rule"
    assert make(at_most_each=3).ask(at_most=3).reason == "at_most 3 reached"


def test_what_fails_gives_its_place_back() -> None:
    """A tube that was dropped was not measured."""
    optimizer = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=2, at_most_each=1)
    batch = optimizer.ask()
    with pytest.raises(
        ExhaustedError,
        match=r"excluded is under way once, .* Tell the 2 evaluations under way first",
    ):
        optimizer.ask(worker="b")
    optimizer.tell(batch[1:], [0.3])
    said = r"excluded was evaluated or is under way once, .* Tell the 1 evaluation under way first"
    with pytest.raises(ExhaustedError, match=said):
        optimizer.ask(worker="c")
    optimizer = nr.uniform(nr.Pool([[0.0], [1.0]]), batch_size=4, at_most_each=2)
    batch = optimizer.ask()
    optimizer.fail(batch[:1])
    assert optimizer.ask(worker="b").ids.tolist() == batch.ids[:1].tolist()


@every_algorithm
@pytest.mark.parametrize(
    "given", [{"at_most_each": 1}, {"at_most_each": 2}, {"deterministic": True}]
)
def test_a_candidate_that_always_fails_is_given_up(name: str, given: dict[str, Any]) -> None:
    """The simulation that crashed will crash again; the others are evaluated all the same."""
    most = given.get("at_most_each", 1)
    if ("auto-" in name or name == "mini_gp_ei") and "deterministic" in given:
        pytest.skip("what makes it stay or wait is refused together with deterministic=True")
    optimizer, failed = ON_POOLS[name](POOL, seed=2, **given), Counter[int]()
    X = POOL.rows(np.arange(len(POOL)))
    first = (X[:, None] == X).all(axis=2).argmax(axis=1)  # equal rows have equal values
    for _ in range(200):
        try:
            batch = optimizer.ask(at_most=5)
        except ExhaustedError:
            break
        rows = np.asarray(batch.sequence).tolist()
        failed.update(row for row in rows if row in (3, 7))
        values = [nr.FAILED if row in (3, 7) else float(first[row]) for row in rows]
        optimizer.tell(batch, values)
    else:
        raise AssertionError("the run does not end")
    assert min(failed.values()) >= most > max(failed.values()) / 2  # a batch may hold several
    assert counts(optimizer) == {row: most for row in range(len(POOL)) if row not in (3, 7)}
    if optimizer.evidence.at_most_each is not None:  # of auto the model is what gives up
        assert "it will not be asked for again" in str(optimizer.explain(3))


def test_nothing_but_failures_is_said() -> None:
    """There is no best to be taken then."""
    optimizer = nr.uniform(nr.Pool.numbered(2), batch_size=2, deterministic=True)
    optimizer.fail(optimizer.ask())
    said = r"not excluded failed once, and at_most_each=1 \(or determ.*\) allows .* Stop here\.$"
    with pytest.raises(ExhaustedError, match=said):
        optimizer.ask()


@given(st.integers(0, 2**20), st.integers(1, 3))
def test_what_is_left_of_each_is_counted_one_by_one(seed: int, most: int) -> None:
    """By hand from what was told, is under way and failed, in an order that is not that of rows."""
    rng = np.random.default_rng(seed)
    optimizer = nr.uniform(nr.Pool.numbered(8), batch_size=4, at_most_each=most, seed=seed)
    told, failed = Counter[int](), Counter[int]()
    for row in rng.integers(0, 8, 6).tolist():
        if rng.random() < 0.6:
            optimizer.tell([row], [0.1])
            told[row] += 1
        else:
            optimizer.tell([row], [nr.FAILED])
            failed[row] += 1
    open_: Counter[int] = Counter()
    if any(told[row] < most and failed[row] < most for row in range(8)):
        open_.update(optimizer.ask().sequence.tolist())
    allowance = Allowance(optimizer.evidence)
    for row in range(8):
        left = 0 if failed[row] >= most else max(most - told[row] - open_[row], 0)
        assert allowance.of(row) == left
        assert (row in optimizer.evidence.spent) == (left == 0)
        if left > 1:
            assert not allowance.take(row, 1)
            assert allowance.of(row) == left - 1


def test_a_row_is_a_candidate() -> None:
    """Two patients whose features agree are two patients."""
    optimizer = nr.uniform(nr.Pool(np.zeros((4, 2))), batch_size=9, at_most_each=1)
    assert sorted(optimizer.ask().ids.tolist()) == [0, 1, 2, 3]


def test_what_is_spent_is_still_the_bar_that_others_have_to_pass() -> None:
    """Improving on the second best is no improvement: the best so far may be recommended."""
    agree = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        pool = nr.Pool(rng.random((100, 2)))
        settings: dict[str, Any] = {"noise_std": 0.1, "width": nr.ConstantWidth(1.0)}
        optimizer = nr.gp_ei(pool, kernel=nr.RBF(0.1), at_most_each=1, **settings)
        optimizer.tell(np.arange(8), rng.standard_normal(8))
        mean, variance = optimizer.posterior.mean(pool.X), optimizer.posterior.variance(pool.X)
        best, left = [], np.arange(100) >= 8
        for bar in (mean.max(), mean[left].max()):
            score = nr.ExpectedImprovement().score(mean, variance, 1.0, float(bar))
            best.append(int(np.argmax(np.where(left, score, -np.inf))))
        assert optimizer.ask().ids.tolist() == best[:1]
        assert optimizer.best().id in range(8)
        assert optimizer.certificate().reachable >= optimizer.best().upper  # of all, spent or not
        agree += best[0] == best[1]
    assert agree < 12


def test_explain_says_that_a_candidate_is_spent() -> None:
    """Who asks why the best is not measured again must be told."""
    optimizer = nr.gp_ucb(POOL, at_most_each=1, **MODEL)
    optimizer.tell([3], [0.4])
    assert "at_most_each=1 is reached: it will not be asked for again." in str(optimizer.explain(3))
    assert optimizer.explain(3).rank is None
    assert optimizer.explain(4).candidates == len(POOL) - 1


@pytest.mark.parametrize(
    ("name", "cap"), [("mini_gp_ucb", 2), ("batch_thompson", 1), ("auto", 2), ("uniform", 3)]
)
def test_a_saved_run_keeps_its_cap(name: str, cap: int, tmp_path: Path) -> None:
    """The cap is a fact of the laboratory, and must not be forgotten over night."""
    unbroken = ON_POOLS[name](POOL, at_most_each=cap, seed=2)
    broken = ON_POOLS[name](POOL, at_most_each=cap, seed=2)
    for _ in range(5):
        batches = []
        for optimizer in (unbroken, broken):
            batch = optimizer.ask(at_most=2)
            optimizer.tell(batch, measured(batch))
            batches.append(batch.sequence.tolist())
        assert batches[0] == batches[1]
        broken.save(tmp_path / "run")
        broken = nr.load(tmp_path / "run", pool=POOL)
    assert broken.evidence.at_most_each == cap


def test_a_run_saved_before_there_were_caps_has_none(tmp_path: Path) -> None:
    """Runs of last month go on."""
    optimizer = nr.uniform(POOL, batch_size=3)
    optimizer.tell(optimizer.ask(), [0.1, 0.2, 0.3])
    optimizer.save(tmp_path / "run")
    with zipfile.ZipFile(tmp_path / "run") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(parts["run.json"])
    del tree["run"]["tuple"][2]["fields"]["at_most_each"]
    with zipfile.ZipFile(tmp_path / "old", "w") as archive:
        for name, content in parts.items():
            text = json.dumps(tree).encode() if name == "run.json" else content
            archive.writestr(name, text)
    again = nr.load(tmp_path / "old", pool=POOL)
    assert again.evidence.at_most_each is None
    assert again.ask().sequence.tolist() == optimizer.ask().sequence.tolist()


def test_maximize_ends_when_all_is_spent() -> None:
    """A budget larger than what can be evaluated is no error."""
    result = nr.maximize(lambda x: x[0], POOL, budget=99, at_most_each=2, progress=False)
    assert len(result.values) == 24
    assert result.ended == "every candidate evaluated"


class BlindToCaps(nr.policies.Baseline):
    """A policy that does not look at what is available."""

    def begin(self) -> Nothing:
        return Nothing()

    def propose(self, state: Nothing, evidence: Evidence, room: int) -> tuple[Proposal, Nothing]:
        picks = evidence.points.picks(np.array([0, 0, 1])[:room])
        return Proposal.of_singles(picks, "always the same"), state


def test_a_policy_that_does_not_know_of_caps_is_held_to_them() -> None:
    """A policy of one's own may be older than this; the promise is the optimizer's."""
    optimizer = nr.Optimizer(POOL, BlindToCaps(), at_most_each=1)
    batch = optimizer.peek()
    assert batch.ids.tolist() == [0, 1]
    assert batch.reason == "at_most_each 1 reached"
    optimizer.tell(optimizer.ask(), [0.0, 1.0])
    with pytest.raises(AskError, match=r"BlindToCaps.*only candidates .* evidence\.unavailable"):
        optimizer.ask()

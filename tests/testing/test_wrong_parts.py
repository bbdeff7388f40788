"""Every rule of every suite catches a part that breaks it: one that passes any part tests none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.batching import BatchRuleBase, Choice, Fill
from noregret.policies import Evidence, Proposal, Purpose
from noregret.testing import BatchRuleSuite, KernelSuite, PolicySuite, PoolSuite, Suite, WidthSuite
from noregret.widths import Assumption

RBF, X = nr.RBF(0.5), np.random.default_rng(2).random((20, 2))
count = itertools.count(1)
Methods = dict[str, Any]


class RightKernel:
    def __call__(self, X: Any, Z: Any) -> Any:
        return RBF(X, Z)

    def diagonal(self, X: Any) -> Any:
        return np.ones(len(X))


class RightWidth:
    delta, theorem = 0.1, "none"

    def beta(self, inputs: Any) -> float:
        return 2.0

    def assumptions(self, inputs: Any) -> Any:
        return (Assumption("it is wide enough"),)


class RightRule(BatchRuleBase):
    limit, reason = 2.0, "full"

    def take(self, fill: Fill, choice: Choice) -> tuple[int, Fill]:
        return nr.GlobalRatio(self.limit).take(fill, choice)

    def count_pending(self, fill: Fill, choice: Choice, count: int) -> Fill:
        return nr.GlobalRatio(self.limit).count_pending(fill, choice, count)

    def admits(self, batch: int) -> float:
        return (self.limit - 1) / batch


class RightPool:
    dim = 2

    def __init__(self, rows: Any = X) -> None:
        self.X, self.inner = rows.copy(), nr.Pool(rows)

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, index: Any) -> Any:
        return self.X[index]

    def chunks(self, size: int) -> Any:
        return self.inner.chunks(size)

    def keys(self, index: Any) -> Any:
        return index

    def find(self, keys: Any) -> Any:
        return self.inner.find(keys)

    def read(self, name: str, X: object) -> Any:
        return self.inner.read(name, X)

    def shown(self, X: Any) -> Any:
        return X

    def fingerprint(self) -> str:
        return self.inner.fingerprint()


class RightPolicy:
    def begin(self) -> Any:
        return 0

    def vet(self, X: Any) -> None: ...

    def propose(self, state: Any, evidence: Evidence, room: int) -> tuple[Proposal, Any]:
        rng = evidence.rng(Purpose.POLICY)
        picks = evidence.points.sample(evidence.unavailable, min(room, 3), rng)
        return Proposal.of_singles(picks, "drawn"), state + 1


def altered(change: Callable[[Proposal], Proposal]) -> Methods:
    """Let a policy propose something else."""

    def propose(self: Any, *given: Any) -> tuple[Proposal, Any]:
        proposal, state = RightPolicy.propose(self, *given)
        return change(proposal), state

    return {"propose": propose}


def scribbled(self: Any, X: Any, Z: Any) -> Any:
    X[0] = 0.0
    return RBF(X, Z)


def asked_about(self: Any, state: Any, evidence: Evidence, room: int) -> Any:
    """What is chosen depends on when it was asked for."""
    rows = np.array([next(count) % evidence.points.candidates])
    return Proposal.of_singles(evidence.points.picks(rows), "drawn"), state


def beyond_the_cap(self: Any, state: Any, evidence: Evidence, room: int) -> Any:
    """One that wants the first candidate left to it, however often it was evaluated."""
    rows = np.flatnonzero(~evidence.excluded)[:1]
    return Proposal.of_singles(evidence.points.picks(rows), "first"), state


def strict(self: Any, X: Any) -> None:
    raise nr.NoRegretError("I have never seen such points.")


def in_turn(self: Any, state: Any, evidence: Evidence, room: int) -> Any:
    """One that stumbles where nothing has come of what it asked for."""
    rows = evidence.told.rows[-1:] + 1 if evidence.step else np.array([0])
    assert not evidence.failed_rows.size, "what now?"
    return Proposal.of_singles(evidence.points.picks(rows % 20), "next"), state


def hoarding(self: Any, fill: Fill, choice: Choice) -> tuple[int, Fill]:
    """A rule that holds what belongs to a batch."""
    self.taken = getattr(self, "taken", 0) + 1
    return min(self.taken, choice.room), replace(fill, over=True)


def at_least_three(self: Any, fill: Fill, choice: Choice) -> tuple[int, Fill]:
    taken, fill = nr.GlobalRatio(2.0).take(fill, choice)
    return max(taken, 3), fill


def slopes(self: Any, X: Any, Z: Any) -> Any:
    return RBF(X, Z), lambda C: 2.0 * RBF.slopes(X, Z)[1](C)


def reversed_when_all(self: Any, index: Any) -> Any:
    return X[index] if len(index) < len(X) else X[::-1][index]


def shifted_chunks(self: Any, size: int) -> Any:
    return ((start, np.roll(rows, 1, axis=0)) for start, rows in self.inner.chunks(size))


def each_its_own(self: Any, X: Any, Z: Any) -> Any:
    self.scale = getattr(self, "scale", next(count))
    return nr.RBF(self.scale)(X, Z)


def of_its_block(self: Any, X: Any, Z: Any) -> Any:
    return RBF(X, Z) / len(Z) if len(Z) else RBF(X, Z)


KERNEL: list[tuple[str, Methods]] = [
    ("every_pair_of_rows_has_a_number", {"diagonal": lambda self, X: 1.0}),
    ("every_pair_of_rows_has_a_number", {"__call__": lambda self, X, Z: RBF(X, Z)[:, :1]}),
    ("it_is_symmetric", {"__call__": lambda self, X, Z: RBF(X, Z) * (1 + X[:, :1] - Z[:, 0])}),
    ("its_diagonal_is_that_of_its_blocks", {"diagonal": lambda self, X: np.full(len(X), 1.1)}),
    ("it_is_positive_semidefinite", {"__call__": lambda self, X, Z: 2.0 - RBF(X, Z)}),
    ("a_pair_has_the_same_number_in_any_block", {"__call__": of_its_block}),
    ("it_leaves_its_arguments_alone", {"__call__": scribbled}),
    (
        "it_says_the_same_again",
        {"__call__": lambda self, X, Z: RBF(X, Z) * (1 + 1e-12 * next(count))},
    ),
    ("its_slopes_are_those_of_its_values", {"slopes": slopes}),
    (
        "posteriors_on_it_are_those_of_dense_algebra",
        {"diagonal": lambda self, X: 2 * np.ones(len(X))},
    ),
    ("a_run_is_saved_and_goes_on", {"__call__": each_its_own}),
]
WIDTH: list[tuple[str, Methods]] = [
    ("beta_is_a_positive_number", {"beta": lambda self, inputs: inputs.evaluations - 3.0}),
    ("beta_is_a_positive_number", {"beta": lambda self, inputs: np.nan}),
    (
        "beta_does_not_fall_as_a_run_goes_on",
        {"beta": lambda self, inputs: 9.0 - inputs.evaluations / 9},
    ),
    ("beta_depends_on_its_inputs_alone", {"beta": lambda self, inputs: float(next(count))}),
    ("it_says_how_often_it_fails_and_by_which_theorem", {"delta": 10}),
    ("it_says_how_often_it_fails_and_by_which_theorem", {"theorem": ""}),
    ("its_assumptions_are_sentences", {"assumptions": lambda self, inputs: ("f is smooth",)}),
    ("it_can_be_scaled", {"__mul__": lambda self, factor: self}),
    ("a_run_is_saved_and_goes_on", {}),  # not marked @storable
]
RULE: list[tuple[str, Methods]] = [
    ("batches_end", {"take": lambda self, fill, choice: (1, fill)}),
    ("batches_end", {"reason": ""}),
    ("it_takes_at_least_one_and_at_most_the_room", {"take": at_least_three}),
    ("it_takes_at_least_one_and_at_most_the_room", {"take": lambda self, fill, choice: (0, fill)}),
    (
        "variances_stay_within_its_limit",
        {"take": lambda self, fill, choice: nr.GlobalRatio(4.0).take(fill, choice)},
    ),
    (
        "evaluations_under_way_count_towards_its_limit",
        {"count_pending": lambda self, fill, choice, count: fill},
    ),
    ("it_admits_what_it_promises", {"admits": lambda self, batch: 3.0 / batch}),
    ("batches_do_not_share_state", {"take": hoarding}),
    ("a_run_is_saved_and_goes_on", {}),
]
POOL: list[tuple[str, Methods]] = [
    ("features_are_kept_as_they_were_given", {"shown": lambda self, X: 2 * X}),
    ("features_are_kept_as_they_were_given", {"dim": 3}),
    ("features_of_another_width_are_refused", {"read": lambda self, name, X: np.asarray(X)[:, :2]}),
    ("its_fingerprint_tells_it_from_others", {"fingerprint": lambda self: str(next(count))}),
    ("its_fingerprint_tells_it_from_others", {"fingerprint": lambda self: "mine"}),
    ("rows_are_those_asked_for", {"rows": lambda self, index: X[np.sort(index)]}),
    ("rows_are_those_asked_for", {"rows": lambda self, index: X[index].astype(np.float32)}),
    ("rows_are_a_copy", {"rows": lambda self, index: self.X}),
    ("chunks_of_any_size_are_its_rows_in_order", {"chunks": shifted_chunks}),
    ("find_is_the_inverse_of_keys", {"find": lambda self, keys: self.inner.find(keys) - 1}),
    ("unknown_keys_are_refused", {"find": lambda self, keys: np.atleast_1d(keys).astype(int) % 20}),
    ("candidates_are_known_by_their_features", {"chunks": shifted_chunks}),
    ("choices_are_those_over_a_plain_pool", {"rows": reversed_when_all}),
    ("a_run_is_saved_and_goes_on", {"fingerprint": lambda self: str(next(count))}),
]
POLICY: list[tuple[str, Methods]] = [
    ("its_proposals_fit", altered(lambda one: replace(one, repeats=one.repeats + 5))),
    ("its_proposals_fit", altered(lambda one: replace(one, X=one.X[::-1] + 1))),
    ("its_proposals_fit", altered(lambda one: replace(one, reason=""))),
    ("it_chooses_by_state_and_evidence_alone", {"propose": asked_about}),
    ("looking_does_not_change_choices", {"propose": asked_about}),
    ("it_goes_on_after_failures_and_with_work_under_way", {"propose": in_turn}),
    (
        "what_is_excluded_is_never_proposed",
        altered(lambda one: replace(one, rows=np.arange(len(one.rows)))),
    ),
    ("no_candidate_is_proposed_more_often_than_allowed", {"propose": beyond_the_cap}),
    ("it_takes_what_was_never_asked_for", {"vet": strict}),
    ("a_run_is_saved_and_goes_on", {}),
]
WRONG: dict[type, tuple[type, list[tuple[str, Methods]]]] = {
    KernelSuite: (RightKernel, KERNEL),
    WidthSuite: (RightWidth, WIDTH),
    BatchRuleSuite: (RightRule, RULE),
    PoolSuite: (RightPool, POOL),
    PolicySuite: (RightPolicy, POLICY),
}


def suite(kind: type, right: type, methods: Methods) -> Suite[Any]:
    """Return a suite for a part that is right but for some methods."""
    part = type("Wrong", (right,), methods)
    given = {"make": lambda self: part(), "other": lambda self: part(X + 1.0)}
    return type("Test", (kind,), given)()  # type: ignore[no-any-return]  # made here


def cases() -> Iterator[Any]:
    for kind, (right, wrong) in WRONG.items():
        for at, (rule, methods) in enumerate(wrong):
            yield pytest.param(kind, right, methods, rule, id=f"{kind.__name__}: {rule}, {at}")


@pytest.mark.parametrize(("kind", "right", "methods", "rule"), list(cases()))
def test_the_rule_is_broken(kind: type, right: type, methods: Methods, rule: str) -> None:
    """By name, so that who reads the report knows where to look."""
    assert f"test_{rule}" in suite(kind, right, methods).broken()


def test_a_report_names_rules_and_what_was_found() -> None:
    """As who runs a suite without pytest reads it."""
    of = suite(KernelSuite, RightKernel, {"diagonal": lambda self, X: np.full(len(X), 1.5)})
    with pytest.raises(
        AssertionError, match=r"blocks: .*differ by 0.5 of[^\n]*\n    Prior variances come"
    ):
        of.run()


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_every_rule_has_a_part_that_breaks_it(kind: type) -> None:
    """And nothing else than saving is wrong with what they are made of."""
    right, wrong = WRONG[kind]
    of = suite(kind, right, {})
    assert {f"test_{rule}" for rule, _ in wrong} == {n for n in dir(of) if n.startswith("test_")}
    assert set(of.broken()) <= {"test_a_run_is_saved_and_goes_on"}

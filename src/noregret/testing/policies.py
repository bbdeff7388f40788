"""Rules for a policy."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from noregret.errors import ExhaustedError, NoRegretError
from noregret.optimizer import FAILED, Optimizer
from noregret.policies import Policy
from noregret.testing.base import Suite, measured, play


class PolicySuite(Suite[Policy[Any]]):
    """What an optimizer promises its user, and so relies on in a policy."""

    def optimizer(self) -> Optimizer:
        return Optimizer(self.domain(), self.make(), seed=5)

    def test_its_proposals_fit(self) -> None:
        """At least one evaluation and at most the room; rows, features and repeats in step."""
        optimizer = self.optimizer()
        for room in (1, 2, 7, 1, 2, 7):
            evidence = optimizer.evidence
            found, _ = optimizer.policy.propose(optimizer.state, evidence, room)
            total = int(found.repeats.sum())
            assert 1 <= total <= room, f"{total} evaluations are proposed, with room for {room}"
            assert (found.repeats >= 1).all(), f"repeats are {found.repeats}"
            sizes = [len(part) for part in (found.rows, found.X, found.repeats, found.variances)]
            assert len(set(sizes)) == 1, f"rows, X, repeats and variances: lengths {sizes}"
            assert found.reason, "reason is empty: say why the batch ended"
            if evidence.points.candidates:
                same = np.array_equal(found.X, evidence.points.rows(found.rows))
                assert same, "X holds other features than those of the rows"
            play(optimizer, 1, room)

    def test_it_chooses_by_state_and_evidence_alone(self) -> None:
        """What a policy keeps in itself is lost when a run is saved, and shared between runs."""
        policy = self.make()
        one, two = (Optimizer(self.domain(), policy, seed=5) for _ in "ab")
        assert play(one, 5) == play(two, 5), "a second run of the same policy chooses otherwise"
        again = [policy.propose(one.state, one.evidence, 4)[0].X.tolist() for _ in "ab"]
        assert again[0] == again[1], "the same state and evidence lead to two proposals"

    def test_looking_does_not_change_choices(self) -> None:
        """A progress display may ask for the best one at any time."""
        plain, watched = self.optimizer(), self.optimizer()
        for _ in range(6):
            expected = watched.peek(at_most=4).x.tolist()
            for look in ("best", "account", "certificate", "look"):
                with suppress(NoRegretError):  # nothing told yet, or no model
                    getattr(watched, look)()
            found = play(watched, 1)
            assert found[0][2] == expected, "peek() shows another batch than ask() hands out"
            assert found == play(plain, 1), "who looks is given other candidates"

    def test_it_goes_on_after_failures_and_with_work_under_way(self) -> None:
        """Evaluations fail, several workers ask, and values come late and in parts."""
        optimizer = self.optimizer()
        optimizer.fail(optimizer.ask(at_most=3))
        batch = optimizer.ask(at_most=2)
        optimizer.tell(batch, [FAILED] * len(batch))
        batches = [optimizer.ask(at_most=3, worker=worker) for worker in "abc"]
        optimizer.tell(batches[0][:1], measured(batches[0])[:1])  # the others may follow later
        for batch in [optimizer.ask(at_most=2, worker="d"), *batches[::-1]]:
            optimizer.tell(batch, measured(batch))
        play(optimizer, 2)

    def test_what_is_excluded_is_never_proposed(self) -> None:
        """Sold out, forbidden or broken: it cannot be evaluated. (A box excludes nothing.)"""
        optimizer = self.optimizer()
        points = optimizer.evidence.points
        if points.candidates:
            half = points.keys(np.arange(points.candidates // 2))
            play(optimizer, 2)
            optimizer.exclude(half)
            before = len(optimizer.sequence)
            play(optimizer, 5)
            wrong = np.intersect1d(optimizer.sequence[before:], half)
            assert not wrong.size, f"{wrong} are proposed though they are excluded"

    def test_no_candidate_is_proposed_more_often_than_allowed(self) -> None:
        """`at_most_each` is a promise: what `evidence.unavailable` marks must not be chosen."""
        optimizer = Optimizer(self.domain(), self.make(), seed=5, at_most_each=1)
        with suppress(ExhaustedError):
            for _ in range(30):
                play(optimizer, 1)
        told = optimizer.evidence.told
        often = told.rows[told.counts > 1]
        assert not often.size, f"{often} are evaluated more than once"

    def test_it_takes_what_was_never_asked_for(self) -> None:
        """A history told by features: `vet` lets pass what can be believed."""
        optimizer = self.optimizer()
        X = optimizer.evidence.points.some(6, np.random.default_rng(1))
        optimizer.tell(optimizer.pool.shown(X), np.linspace(0.0, 1.0, len(X)))
        play(optimizer, 3)
        best = optimizer.best()
        assert best.id in optimizer.evaluated.ids, f"{best.id!r} is best, and was never evaluated"
        assert np.isfinite(best.mean), f"the mean of the best is {best.mean}"

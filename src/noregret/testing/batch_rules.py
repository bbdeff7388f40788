"""Rules for a batch rule."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from noregret.algorithms import gp_bucb
from noregret.arrays import Indices, Matrix, Vector
from noregret.batching import BatchRule, Choice, Opening
from noregret.kernels import RBF
from noregret.optimizer import Optimizer
from noregret.testing.base import Suite

RIDGE, ROWS, CASES = 0.25, 15, 8
TINY = 1e-12  # beside every variance, so that of those that are 0 none falls
SCALES = (0.01, 0.1, 1.0, 10.0)  # variances before the batch, over the ridge


class Filled(NamedTuple):
    """A batch as a rule filled it."""

    runs: list[tuple[int, int]]  # row and count of each choice
    ended: bool  # by the rule, not for want of room
    ratio: float  # the largest σ²_stale/σ²_now before its last evaluation

    @property
    def size(self) -> int:
        return sum(count for _, count in self.runs)


class BatchRuleSuite(Suite[BatchRule]):
    """What the loop over choices, starts and saved runs rely on in a batch rule.

    Batches are filled with random choices, under covariances small and large against the noise.
    """

    longest = 200  # choices after which a batch that has not ended never will

    def limit(self) -> float:
        """Return the factor that stale variances may be off by: the field `limit`, or none."""
        return float(getattr(self.make(), "limit", math.inf))

    def optimizer(self) -> Optimizer:
        return gp_bucb(self.domain(), kernel=RBF(0.4), noise_std=1.0, rule=self.make(), start=[])

    def test_batches_end(self) -> None:
        """A batch learns nothing before it ends; its user reads why it did."""
        assert self.make().reason, "reason is empty"
        for case in range(CASES):
            found = self.filled(case, room=10**6)
            assert found.ended, f"{len(found.runs)} choices, {found.size} evaluations and no end"

    def test_it_takes_at_least_one_and_at_most_the_room(self) -> None:
        """An ask without an evaluation is no answer, and at_most is a promise to the user."""
        for room, scale, under_way in ((1, 1.0, 0), (2, 1.0, 50), (5, 0.01, 0), (5, 0.0, 0)):
            for found in (self.filled(case, room, scale, under_way) for case in range(CASES)):
                least = min(count for _, count in found.runs)
                assert least >= 1, f"a choice is taken {least} times, with room for {room}"
                assert found.size <= room, f"{found.size} evaluations, with room for {room}"

    def test_variances_stay_within_its_limit(self) -> None:
        """While a batch goes on, and up to the evaluation that crosses the limit."""
        self._check_ratios(under_way=0)

    def test_evaluations_under_way_count_towards_its_limit(self) -> None:
        """What other workers evaluate makes variances stale too."""
        self._check_ratios(under_way=2)

    def test_it_admits_what_it_promises(self) -> None:
        """With variances of at most `admits(n)` times the ridge, n evaluations fit: `min_batch`."""
        for size in (1, 2, 5, 9):
            most = min(self.make().admits(size), 1e3)
            for case in range(CASES if most > 0 else 0):
                found = self.filled(case, 100, most * (1 - 1e-9)).size
                assert found >= size, f"admits({size}) is {most:.3g}, and {found} fit"

    def test_batches_do_not_share_state(self) -> None:
        """A rule is a value; what a batch holds is in its `Fill`."""
        rule = self.make()
        first, again = ([self.filled(k, 50, rule=rule).runs for k in range(CASES)] for _ in "ab")
        assert first == again, "an earlier batch changes how the same rule fills a later one"

    def _check_ratios(self, under_way: int) -> None:
        limit = self.limit()
        for case, scale in ((case, scale) for case in range(CASES) for scale in SCALES):
            ratio = self.filled(case, 40, scale, under_way).ratio
            assert ratio <= limit * (1 + 1e-6), (
                f"stale variances are {ratio:.4g} times the true ones, the limit being {limit:g}"
            )

    def filled(
        self,
        case: int,
        room: int,
        scale: float = 1.0,
        under_way: int = 0,
        rule: BatchRule | None = None,
    ) -> Filled:
        """Fill a batch with random choices, each the best for a few times in a row."""
        rng, rule = np.random.default_rng([1, case]), rule or self.make()
        X, counts, left = rng.random((ROWS, 2)), np.zeros(ROWS), room
        K = RIDGE * scale * RBF(0.3)(X, X)

        def covariances(rows: Indices, others: Indices) -> tuple[Matrix, Matrix]:
            return K[np.ix_(rows, others)], K[np.ix_(rows, others)]

        def choice(row: int) -> Choice:
            now, streak = float(_after(K, counts)[row, row]), int(rng.integers(1, 4))
            return Choice(row, float(K[row, row]), now, left, lambda most: min(most, streak))

        none = np.zeros(ROWS, dtype=np.bool_)
        fill = rule.open(Opening(RIDGE, none, lambda rows: np.diag(K)[rows], covariances))
        for row in rng.integers(ROWS, size=2 if under_way else 0).tolist():
            fill = rule.count_pending(fill, choice(row), under_way)
            counts[row] += under_way
        runs, ended, ratio = list[tuple[int, int]](), False, 1.0
        while left > 0 and not ended and len(runs) < self.longest:
            ratio = max(ratio, _ratio(K, counts)) if runs else ratio  # one is always given
            row = int(rng.integers(ROWS))
            count, fill = rule.take(fill, choice(row))
            runs.append((row, count))
            counts[row], left, ended = counts[row] + count, left - count, rule.is_full(fill)
        counts[runs[-1][0]] -= 1
        more = room - left > 1
        return Filled(runs, ended, max(ratio, _ratio(K, counts)) if more else ratio)


def _after(K: Matrix, counts: Vector) -> Matrix:
    """Return the covariance after so many evaluations of each row."""
    seen = np.flatnonzero(counts)
    A = K[np.ix_(seen, seen)] + np.diag(RIDGE / counts[seen])
    return np.asarray(K - K[:, seen] @ np.linalg.solve(A, K[seen]))


def _ratio(K: Matrix, counts: Vector) -> float:
    """Return the largest factor by which a variance has fallen."""
    return float(((np.diag(K) + TINY) / (np.diag(_after(K, counts)) + TINY)).max())

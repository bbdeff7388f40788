"""Methods that fill plates: what they hand out, what they are told, what they recommend."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import noregret as nr
from evaluation.methods import optuna, told_a_kernel, trees
from evaluation.methods.by_plate import FILLERS
from evaluation.methods.players import OursByPlate, Player
from evaluation.methods.trees import TopK, features
from evaluation.problems.base import NOISE, Problem
from noregret.arrays import Vector
from small_readings import PROBLEMS, bits, numeric, table


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is in the extra bench or baybe")


OF_PEERS = pytest.mark.filterwarnings("ignore")  # what they warn of is not for us to change
PEERS = [
    pytest.param(who, marks=[needs(package), OF_PEERS])
    for who, package in (("tpe", "optuna"), ("q-log-nei", "botorch"), ("baybe", "baybe"))
]


class Straight:
    """Predicts what it is told to, and keeps what it was fitted to."""

    def __init__(self, scores: list[float]) -> None:
        self.scores = np.array(scores)

    def fit(self, X: Any, y: Vector, sample_weight: Vector) -> None:
        self.told = X[:, 0].tolist(), y.tolist(), sample_weight.tolist()

    def predict(self, X: Any) -> Vector:
        return self.scores[: len(X)]


def filled(player: Player, held: Problem, size: int, plates: int) -> list[list[int]]:
    """Return the rows of some plates, told their true values."""
    found = []
    for _ in range(plates):
        player.ask(size)
        rows = player.points()
        player.tell(held.truth(rows))
        found.append(rows.tolist())
    return found


def test_the_highest_predictions_come_next_and_nobody_twice() -> None:
    held = table()
    player = TopK(held, 0, Straight([5, 6, 7, 8, 9, 1, 2, 3, 4]))
    first, second, third = filled(player, held, 3, 3)
    assert len(set(first)) == 3
    left = [row for row in (4, 3, 2, 1, 0, 8, 7, 6, 5) if row not in first]
    assert second == left[:3]
    assert third == left[3:]
    (fourth,) = filled(player, held, 3, 1)  # all have been evaluated
    assert fourth == [4, 3, 2]


def test_a_fifth_is_drawn_and_candidates_come_again() -> None:
    held = table(noise=NOISE)
    player = TopK(held, 0, Straight([0, 0, 0, 0, 0, 4, 3, 2, 1]), share=0.2, again=True)
    _, *plates = filled(player, held, 5, 200)
    assert all(plate[:4] == [5, 6, 7, 8] for plate in plates)
    drawn = np.bincount([plate[4] for plate in plates], minlength=9)
    assert drawn[5:].sum() == 0
    assert drawn[:5].min() > 20


def test_trees_learn_averages_by_how_often_they_were_evaluated() -> None:
    held, model = table(noise=NOISE), Straight([0.0] * 9)
    player = TopK(held, 0, model, again=True)
    player.X = np.arange(9.0)[:, None]
    filled(player, held, 9, 1)
    player.tell(held.truth(player.points()) + 1.0)
    player.ask(1)
    assert model.told == ([*range(9)], [row + 0.5 for row in range(9)], [2.0] * 9)


@pytest.mark.parametrize(("noise", "recommended"), [(0.0, 8), (NOISE, 4)])
def test_values_or_predictions_are_recommended(noise: float, recommended: int) -> None:
    held = table(noise=noise)
    player = TopK(held, 0, Straight([5, 6, 7, 8, 9, 1, 2, 3, 4]))
    filled(player, held, 9, 1)
    assert player.advise().point.tolist() == [recommended]


def test_trees_see_bits_of_the_candidates() -> None:
    """A pool's rows are in another order."""
    held = bits()
    assert isinstance(held.domain, nr.BitPool)
    assert held.order is not None
    rows = np.unpackbits(held.domain.X.astype(np.uint8), axis=1)
    assert np.array_equal(features(held)[held.order], rows)
    assert np.array_equal(features(numeric()), numeric().numbers.astype(np.float32))


def test_a_forest_finds_what_is_simple() -> None:
    held = numeric()
    plates = filled(trees.forest(held, 0, 5), held, 5, 4)
    found = [float(held.gaps(np.array(plate)).mean()) for plate in plates]
    assert min(found[1:]) < 0.5 * held.uniform


class InPieces:
    """An optimizer whose batches hold at most two."""

    def __init__(self) -> None:
        self.asked, self.told = list[tuple[int, str]](), list[list[float]]()

    def ask(self, *, at_most: int, worker: str) -> list[int]:
        self.asked.append((at_most, worker))
        return [len(self.asked)] * min(2, at_most)

    def tell(self, batch: list[int], values: Vector) -> None:
        assert len(batch) == len(values)
        self.told.append(values.tolist())


def test_a_plate_is_filled_by_other_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    held, optimizer = table(), InPieces()
    monkeypatch.setattr(Problem, "batch", lambda _, batch: np.array(batch))
    player = OursByPlate(held, optimizer)  # type: ignore[arg-type]
    player.ask(5)
    assert optimizer.asked == [(5, ""), (3, "part 1"), (1, "part 2")]
    assert player.points().tolist() == [1, 1, 2, 2, 3]
    player.tell(np.arange(5.0))
    assert optimizer.told == [[0, 1], [2, 3], [4]]


def test_ours_are_told_of_the_candidates_that_were_evaluated() -> None:
    """Rows of a pool are candidates in another order."""
    held = numeric(noise=NOISE)
    player = OursByPlate(held, nr.auto(held.domain, workers=6))
    rows = [row for plate in filled(player, held, 6, 3) for row in plate]
    best = player.advise().point
    assert best[0] in rows
    assert held.order is not None
    known = player.optimizer.evaluated
    told = dict(zip(held.order[np.array(known.ids)], known.averages, strict=True))
    assert told == pytest.approx({row: float(held.truth(np.array([row]))[0]) for row in rows})


@pytest.mark.parametrize("held", [numeric(noise=NOISE), bits()], ids=["numbers", "bits"])
def test_the_kernel_told_is_by_the_first_plate(held: Problem) -> None:
    values = np.array([1.0, 2.0, 3.0, 6.0])
    told: Any = told_a_kernel.model(held, values)
    pool, kernel = told["pool"], told["kernel"]
    assert told["offset"] == 3.0
    assert told["noise_std"] == pytest.approx(max(held.noise_std, 0.01 * values.std()))
    assert kernel.diagonal(pool.X[:1])[0] == pytest.approx(values.var())
    if not isinstance(pool, nr.BitPool):
        assert held.order is not None
        standard = (held.numbers / held.numbers.std(axis=0))[held.order]
        assert np.allclose(pool.X, standard)
        apart = [np.linalg.norm(a - b) for a in standard for b in standard]
        K = values.var() * nr.Matern(nu=2.5, lengthscale=float(np.mean(apart)) / 2)(pool.X, pool.X)
        assert np.abs(kernel(pool.X, pool.X) - K).max() < 0.1 * values.var()


@pytest.mark.parametrize("who", ["gp-bucb", "thompson"])
def test_those_told_a_kernel_know_the_first_plate(who: str) -> None:
    held = numeric(noise=NOISE)
    player = FILLERS[who].make(held, 0, 8)
    (first,) = filled(player, held, 20, 1)
    assert len(set(first)) == 20
    assert held.gaps(player.advise().point)[0] <= np.sort(held.gaps(np.array(first)))[2]
    (second,) = filled(player, held, 8, 1)
    assert len(second) == 8
    assert held.gaps(np.array(second)).mean() < held.gaps(np.array(first)).mean()


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "box"])
@pytest.mark.parametrize("who", PEERS)
def test_a_peer_fills_plates(who: str, name: str) -> None:
    held = PROBLEMS[name]
    again = filled(FILLERS[who].make(held, 7, 3), held, 3, 3)
    player = FILLERS[who].make(held, 7, 3)  # now: a seed may be that of the whole process
    plates = filled(player, held, 3, 3)
    assert plates == again
    assert all(len(plate) == 3 for plate in plates)
    if who != "tpe":
        assert all(len(set(plate)) == 3 for plate in plates)
    assert player.advise().point[0] in {row for plate in plates for row in plate}


@needs("optuna")
def test_optuna_is_told_a_whole_plate() -> None:
    """Every trial with the value of its own member, those that are no members left out."""
    held = table()
    player = optuna.tpe_by_plate(held, 0, 8)
    rows = [row for plate in filled(player, held, 8, 3) for row in plate]
    trials = [one for one in player.study.trials if one.state.name == "COMPLETE"]
    assert sorted(one.user_attrs["row"] for one in trials) == sorted(rows)
    assert all(one.value == one.user_attrs["row"] for one in trials)
    assert not [one for one in player.study.trials if one.state.name == "RUNNING"]
    assert player.advise().point.tolist() == [max(rows)]


@needs("optuna")
def test_optuna_fills_no_more_than_is_left() -> None:
    player = optuna.tpe_by_plate(table(), 0, 8)
    player.ask(3)
    assert len(player.points()) == 3


@needs("botorch")
@OF_PEERS
def test_q_log_nei_looks_at_all_candidates() -> None:
    held = numeric()
    _, second, third = filled(FILLERS["q-log-nei"].make(held, 0, 6), held, 6, 3)
    assert float(held.gaps(np.array(second + third)).mean()) < 0.7 * held.uniform

"""Small changes of a candidate, against loops over all pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret import arrays
from noregret.arrays import Mask, Matrix
from noregret.errors import ArgumentError
from noregret.policies import as_groups, evolution
from noregret.policies.evolution import Groups, Kin, stepped
from noregret.pools import BitSquares, Points, Scales, numbers
from slow_search import distances, nearest, siblings


def kin_of(X: Matrix, groups: Groups | None = None, neighbours: int = 4) -> Kin:
    return Kin(Points(nr.Pool(X)), groups, neighbours)


@st.composite
def coded(draw: st.DrawFn) -> tuple[Matrix, Mask, int]:
    """Rows of small codes, many of them alike, some excluded, and one to look from."""
    N, seed = draw(st.integers(1, 40)), draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    X = rng.integers(draw(st.integers(1, 4)), size=(N, 4)).astype(np.float64)
    return X, rng.random(N) < 0.3, int(rng.integers(N))


@given(coded())
def test_siblings_differ_in_one_group_alone(case: tuple[Matrix, Mask, int]) -> None:
    """A child that differs in two ways is not a mutation of one."""
    X, excluded, row = case
    groups: Groups = ((0, 2), (1,), (3,))
    found = [rows.tolist() for rows in kin_of(X, groups).siblings(row, excluded)]
    assert found == siblings(X, groups, row, excluded)


@given(coded(), st.integers(1, 50))
def test_the_nearest_are_the_nearest(case: tuple[Matrix, Mask, int], most: int) -> None:
    """Copies of the row itself are none of its neighbours; the order is up to rounding."""
    X, excluded, row = case
    found = kin_of(X, neighbours=most).nearest(row, excluded)
    squares = distances(X, row)
    np.testing.assert_array_equal(squares[found], squares[nearest(X, row, excluded, most)])
    assert len(set(found.tolist())) == len(found)
    assert not excluded[found].any()
    assert (squares[found] > 0).all()


@st.composite
def fingerprints(draw: st.DrawFn) -> tuple[Matrix, Mask, int]:
    """Rows of bits: rare ones and frequent ones, some never or always set, copies among the rows.

    The deviations differ by much, so that sums of their inverse squares cancel badly.
    """
    N, bits, seed = draw(st.integers(1, 80)), draw(st.integers(1, 100)), draw(st.integers(0, 2**20))
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.03, 0.5, 0.97, 1.0], size=bits)
    X = (rng.random((N, bits)) < shares).astype(np.float64)
    X = X[rng.integers(N, size=N)] if draw(st.booleans()) else X
    return X, rng.random(N) < draw(st.sampled_from([0.0, 0.3, 1.0])), int(rng.integers(N))


@given(fingerprints(), st.integers(1, 100))
def test_the_nearest_of_packed_bits_are_those_of_numbers(
    case: tuple[Matrix, Mask, int], most: int
) -> None:
    """To the last bit: rounding may not decide between two rows in another way."""
    X, excluded, row = case
    pool = nr.BitPool(X)
    spread = np.unpackbits(pool.X.view(np.uint8), axis=1).astype(np.float64)  # whole words
    kin, twin = Kin(Points(pool), None, most), kin_of(spread, neighbours=most)
    found = kin.nearest(row, excluded)
    np.testing.assert_array_equal(found, twin.nearest(row, excluded))
    squares = distances(X, row)
    np.testing.assert_array_equal(squares[found], squares[nearest(X, row, excluded, most)])


@given(fingerprints())
def test_squares_of_bits_are_within_their_slack(case: tuple[Matrix, Mask, int]) -> None:
    """Else a neighbour could be overlooked."""
    X, _, row = case
    points = Points(nr.BitPool(X))
    scales = Scales.of(points)
    x = points.rows(np.array([row]))
    rough, slack = BitSquares(points, scales).to(x)
    whole = np.concatenate([block for _, block in numbers(points)])
    assert np.abs(rough - scales.standard_squares(whole, whole[row])).max() <= slack
    assert slack < 1e-6  # a bit that differs counts for 4 or more


def test_kin_of_bits_are_found_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows equally near are measured in pieces too."""
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1)  # 64 rows a chunk
    X = np.repeat(np.eye(20), 15, axis=0)
    X = np.concatenate([np.zeros((1, 20)), X])
    kin, excluded = Kin(Points(nr.BitPool(X)), None, 7), np.zeros(len(X), dtype=np.bool_)
    assert kin.nearest(0, excluded).tolist() == list(range(1, 8))
    excluded[2:290] = True
    assert kin.nearest(0, excluded).tolist() == [1, *range(290, 296)]


def test_a_point_off_the_pool_has_neighbours_in_it() -> None:
    """It may have bits that no candidate has."""
    X = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])
    points = Points(nr.BitPool(X))
    row = int(points.register(points.domain.read("X", np.array([1, 1, 0, 1])))[0])
    assert row == 3
    assert Kin(points, None, 1).nearest(row, np.zeros(3, dtype=np.bool_)).tolist() == [2]


def test_ties_go_to_the_lowest_rows() -> None:
    """On a line of whole numbers both sides are equally far."""
    kin = kin_of(np.array([4.0, 6.0, 5.0, 3.0, 7.0, 0.0])[:, None], neighbours=3)
    assert kin.nearest(2, np.zeros(6, dtype=np.bool_)).tolist() == [0, 1, 3]
    assert kin.nearest(2, np.array([1, 0, 0, 0, 0, 0], dtype=bool)).tolist() == [1, 3, 4]


def test_kin_are_found_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool is walked in pieces; none may be lost."""
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1)  # 64 rows a chunk
    X = np.array(list(itertools.product(range(6), repeat=3)), dtype=np.float64)
    groups: Groups = ((0,), (1,), (2,))
    excluded = np.zeros(len(X), dtype=np.bool_)
    kin = kin_of(X, groups, 7)
    for row in (0, 100, 215):
        found = [rows.tolist() for rows in kin.siblings(row, excluded)]
        assert found == siblings(X, groups, row, excluded)
        assert kin.nearest(row, excluded).tolist() == nearest(X, row, excluded, 7)


def test_a_group_is_drawn_before_a_row() -> None:
    """A group of many values must not be mutated more often for it."""
    X = np.array([[a, b] for a in range(2) for b in range(21)], dtype=np.float64)
    kin, excluded = kin_of(X, ((0,), (1,))), np.zeros(len(X), dtype=np.bool_)
    rng = np.random.default_rng(0)
    children = [kin.mutated(0, excluded, rng) for _ in range(2000)]
    other = sum(child == 21 for child in children)  # the only one that differs in the first column
    assert abs(other - 1000) < 4 * np.sqrt(500)  # four deviations
    assert {child for child in children if child != 21} == set(range(1, 21))


def test_nearest_rows_stand_in_where_no_group_can_change_alone() -> None:
    """Pools with holes have candidates without siblings."""
    X = np.array([[0, 0], [1, 1], [2, 2], [9, 9]], dtype=np.float64)
    kin = kin_of(X, ((0,), (1,)), 2)
    rng, none = np.random.default_rng(0), np.zeros(4, dtype=np.bool_)
    assert {kin.mutated(0, none, rng) for _ in range(50)} == {1, 2}
    assert {kin.mutated(0, np.array([0, 1, 0, 0], dtype=bool), rng) for _ in range(50)} == {2, 3}


def test_kin_that_was_found_before_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by one who remembers nothing, whether or not some are excluded by then."""
    monkeypatch.setattr(evolution, "KEPT", 3)
    rng = np.random.default_rng(1)
    X = rng.integers(3, size=(30, 4)).astype(np.float64)
    kin, groups = kin_of(X, ((0,), (1,), (2, 3))), ((0,), (1,), (2, 3))
    for step in range(200):
        row, excluded = int(rng.integers(8)), rng.random(30) < (0.5 if step % 3 == 0 else 0.0)
        child = kin.mutated(row, excluded, np.random.default_rng(step))
        assert child == kin_of(X, groups).mutated(row, excluded, np.random.default_rng(step))


def test_nobody_to_turn_to() -> None:
    rng = np.random.default_rng(0)
    for X in ([[1.0]], [[1.0], [1.0]]):
        kin = kin_of(np.array(X), ((0,),))
        assert kin.mutated(0, np.zeros(len(X), dtype=np.bool_), rng) is None
    kin = kin_of(np.array([[0.0], [1.0]]))
    assert kin.mutated(0, np.array([False, True]), rng) is None


def test_a_step_moves_one_dimension_and_stays_inside() -> None:
    """Near and far are both tried; walls reflect."""
    box = nr.Box([(0, 1), (-5, 5), (1e-3, 1e3)], log=[2])
    rng, u = np.random.default_rng(0), np.array([0.0, 0.5, 1.0])
    children = np.concatenate([stepped(box, u, rng) for _ in range(3000)])
    assert ((children >= 0) & (children <= 1)).all()
    moved = children != u
    assert (moved.sum(axis=1) == 1).all()
    shares = moved.mean(axis=0)
    assert np.abs(shares - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 3000)
    lengths = np.abs(children - u)[moved]
    assert np.quantile(lengths, 0.1) < 0.005
    assert np.quantile(lengths, 0.9) > 0.2


def test_whole_numbers_move_by_one_at_least() -> None:
    """A short step must not give the parent back."""
    box = nr.Box([(0, 1), (1, 5)], integer=[0, 1])
    rng, u = np.random.default_rng(0), box.read("u", [[1, 3]])[0]
    children = np.concatenate([stepped(box, u, rng) for _ in range(500)])
    assert ((children != u).sum(axis=1) == 1).all()
    seen = {tuple(x) for x in box.shown(children).tolist()}
    assert seen == {(0, 3), (1, 1), (1, 2), (1, 4), (1, 5)}


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([[0, 1]], "column 2 stands in 0 groups"),
        ([[0, 1], [1, 2]], "column 1 stands in 2 groups"),
        ([0, 1, 3], "column 3 is not there"),
        ([0, 1, -1], "column -1 is not there"),
        ([[0, 1], []], "group \\[\\]"),
        ([0, 1.5], "group 1.5"),
        ([True, False, 2], "group True"),
        ("012", "got '012'"),
        (3, "got 3"),
        ([[[0, 1], [2, 2]]], "group"),
        ([], "column 0 stands in 0 groups"),
    ],
)
def test_groups_must_part_the_columns(groups: object, match: str) -> None:
    """A column forgotten would never be seen to differ."""
    with pytest.raises(ArgumentError, match=match) as caught:
        as_groups(groups, 3)
    assert "range(3)" in str(caught.value)


def test_groups_may_be_numbers_lists_or_arrays() -> None:
    assert as_groups(range(3), 3) == ((0,), (1,), (2,))
    assert as_groups([[0, 2], 1], 3) == ((0, 2), (1,))
    assert as_groups(np.arange(4).reshape(2, 2), 4) == ((0, 1), (2, 3))
